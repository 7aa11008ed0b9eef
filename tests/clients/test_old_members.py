"""Members that a user wrote for version 0.1.0, as its examples were, still load and work."""

from pathlib import Path

import pytest

from memdir.clients.setup import Wish, install_client
from memdir.config.config import read_config
from memdir.hot import types
from memdir.library import Memdir
from memdir.store import registry

OLD = Path(__file__).parent / "own-0.1.0"
MEMBERS = sorted((path.parent.name, path.stem) for path in OLD.glob("*/*.py"))


@pytest.fixture(autouse=True)
def only_ours_afterwards():
    yield
    types.use({})


@pytest.mark.parametrize(("family", "name"), MEMBERS)
def test_a_member_written_for_0_1_0_loads(family, name):
    assert registry.load_own(family, name, str(OLD)).__doc__


def test_a_layout_a_search_and_a_type_of_0_1_0_keep_memories(home, tmp_path):
    environ = {"HOME": str(home), "MEMDIR_CONFIG_DIR": str(OLD)}
    environ |= {"MEMDIR_LAYOUT": "one_file", "MEMDIR_SEARCH": "resting"}
    memory = Memdir.open(dir=str(tmp_path / "store"), environ=environ, tell=pytest.fail)
    memory.save("The pool was one too small in March.", type="incident", name="pool")
    assert "one too small" in memory.recall("how large was the pool?").text


def test_a_client_of_0_1_0_is_set_up_and_taken_out(home, tmp_path):
    config = read_config({"HOME": str(home), "MEMDIR_CONFIG_DIR": str(OLD)}, str(tmp_path))
    (edit,) = install_client(config, "windsurf", Wish()).edits
    assert b"memdir.mcp" in Path(edit.path).read_bytes()
    install_client(config, "windsurf", Wish(remove=True))
    assert not Path(edit.path).exists()

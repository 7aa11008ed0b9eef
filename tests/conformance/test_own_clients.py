"""A client of a user's own, one file: in, in again, and out again to the byte."""

import json
from pathlib import Path

import pytest

from memdir.clients.setup import Wish, install
from memdir.config.config import Config, read_config
from memdir.errors import BadInput
from tests.conformance import own
from tests.helpers.tables import rows

OWN = [name.replace("_", "-") for name in own.own("clients")]
FILES = dict(rows(globals(), "FILES"))


@pytest.fixture(params=OWN)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def config(home: Path, tmp_path: Path) -> Config:
    return read_config({"HOME": str(home), "MEMDIR_CONFIG_DIR": own.FOLDER}, str(tmp_path))


def seen(home: Path) -> dict[str, bytes]:
    """Every file of the home but those of memdir itself."""
    files = [path for path in home.rglob("*") if path.is_file() and ".local" not in path.parts]
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_in_in_again_and_out_to_the_byte(client, config, home, data):
    path = Path(install(config, client, Wish(), dry_run=True).edits[0].path)
    if data is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    before = seen(home)
    done = install(config, client, Wish())
    assert {edit.change for edit in done.edits} <= {"created", "updated"}
    after = json.loads(path.read_text())
    assert json.loads(data or b"{}").items() <= after.items() or "mcpServers" in after
    assert {edit.change for edit in install(config, client, Wish()).edits} == {"unchanged"}
    install(config, client, Wish(remove=True))
    assert seen(home) == before


@pytest.mark.parametrize("data", [b"{ broken", b"[]", b'{"a": 1, // mine\n}'])
def test_what_cannot_be_edited_safely_is_left_as_it_is(client, config, home, data):
    path = Path(install(config, client, Wish(), dry_run=True).edits[0].path)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(BadInput) as refused:
        install(config, client, Wish())
    assert str(path) in refused.value.message and refused.value.next
    assert path.read_bytes() == data

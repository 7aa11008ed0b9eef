"""Every member of the family `clients`, also a user's own: in, in again, out to the byte."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from memdir.clients.setup import Plan, Wish, install_client, list_clients
from memdir.config.config import Config, read_config
from memdir.errors import BadInput, MemdirError
from tests.conformance import own
from tests.helpers.hostile import inputs
from tests.helpers.tables import rows

THEIRS = {"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say hi"}]}]}}
FILES = dict(rows(globals(), "FILES"))
UNSAFE = dict(rows(globals(), "UNSAFE"))
WITH_PLUGIN = "claude-code"
CLIENTS = list_clients(own.FOLDER)
WAYS = [*((client, "settings") for client in CLIENTS), (WITH_PLUGIN, "plugin")]


@pytest.fixture(params=CLIENTS)
def client(request) -> Any:
    return request.param


@pytest.fixture
def config(home: Path, tmp_path: Path) -> Config:
    return read_config({"HOME": str(home), "MEMDIR_CONFIG_DIR": own.FOLDER}, str(tmp_path))


def seen(home: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of the home but those of memdir itself, with its permissions."""
    files = [path for path in home.rglob("*") if path.is_file() and ".local" not in path.parts]
    return {str(path): (path.read_bytes(), path.stat().st_mode) for path in files}


def settings_of(config: Config, client: str, way: str = "settings") -> Path:
    """The file that a client's hooks go to."""
    return Path(install_client(config, client, Wish(way), dry_run=True).edits[0].path)


def lay(path: Path, data: bytes | None) -> None:
    if data is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o640)


def changes(plan: Plan) -> set[str]:
    return {edit.change for edit in plan.edits}


@pytest.mark.parametrize(("client", "way"), WAYS)
@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_in_in_again_and_out_to_the_byte(client, config, home, data, way):
    path = settings_of(config, client, way)
    lay(path, data)
    lay(Path(config.store) / "kept.md", b"Kept.\n")  # memories are not touched
    before = seen(home)
    planned = install_client(config, client, Wish(way, commands=True), dry_run=True)
    assert seen(home) == before and planned.edits[0].new
    done = install_client(config, client, Wish(way, commands=True))
    assert (done.edits, done.hooks) == (planned.edits, planned.hooks)
    after = seen(home)
    assert {name for name in before if after[name] == before[name]} == {config.store + "/kept.md"}
    assert changes(install_client(config, client, Wish(commands=True))) == {"unchanged"}
    assert changes(install_client(config, client, Wish())) == {"unchanged"}
    assert seen(home) == after
    install_client(config, client, Wish(remove=True))
    assert seen(home) == before
    assert changes(install_client(config, client, Wish(remove=True))) <= {"unchanged"}
    assert seen(home) == before


@pytest.mark.parametrize(("client", "way"), WAYS)
@pytest.mark.parametrize("data", [*UNSAFE.values(), None], ids=[*UNSAFE, "another kind of value"])
def test_what_cannot_be_edited_safely_is_left_as_it_is(client, config, home, data, way):
    path = settings_of(config, client, way)
    if data is None:
        wanted = json.loads(install_client(config, client, Wish(way), dry_run=True).edits[0].new)
        data = json.dumps({key: 7 for key in wanted if key != "version"}).encode()
    lay(path, data)
    before = seen(home)
    with pytest.raises(BadInput) as caught:
        install_client(config, client, Wish(way))
    assert str(path) in caught.value.message and caught.value.next
    assert json.loads(caught.value.lines)  # what to add by hand
    assert seen(home) == before


@pytest.mark.parametrize(
    "row",
    inputs("hostile repository and settings", "project settings", "user settings", "settings file"),
)
def test_hostile_settings_come_back_to_the_byte_or_are_left_alone(client, config, home, row):
    path = settings_of(config, client)
    lay(path, row.value.encode())
    before = seen(home)
    try:
        install_client(config, client, Wish("settings"))
    except BadInput as error:
        assert str(path) in error.message
    else:
        assert seen(home) != before
        install_client(config, client, Wish(remove=True))
    assert seen(home) == before


@pytest.mark.parametrize(("client", "way"), WAYS)
def test_settings_that_the_client_wrote_anew_lose_only_what_is_ours(client, config, way):
    path = settings_of(config, client)
    lay(path, FILES["usual"])
    install_client(config, client, Wish(way))
    values = json.loads(path.read_bytes())
    path.write_text(json.dumps({"new": 1, **values}, indent=4))
    assert changes(install_client(config, client, Wish())) == {"unchanged"}
    install_client(config, client, Wish(remove=True))
    left = json.dumps({"new": 1, "model": "x", **THEIRS}, indent=4)
    assert path.read_text() == left


def test_what_memdir_0_1_0_put_in_is_taken_out_to_the_byte(client, config, home):
    path = settings_of(config, client)
    theirs = '{\n  "model": "x" ,\n  "b":1\n}\n'
    lay(path, theirs.encode())
    install_client(config, client, Wish("settings"))
    ours = {key: one for key, one in json.loads(path.read_text()).items() if key not in "model b"}
    added = ", " + json.dumps(ours)[1:-1]
    made = theirs.replace("1\n", f"1{added}\n")
    path.write_text(made)
    [receipt] = home.rglob("clients/*.json")
    fields = json.loads(receipt.read_text())
    digest = hashlib.sha256(made.encode()).hexdigest()
    insertions = [[theirs.index("1") + 1, added]]
    old = {"created": False, "after": digest, "insertions": insertions}
    fields["files"][str(path)] = old
    receipt.write_text(json.dumps(fields))
    assert changes(install_client(config, client, Wish())) == {"unchanged"}
    install_client(config, client, Wish(remove=True))
    assert path.read_text() == theirs


def test_from_one_way_to_the_other_nothing_stays_behind(config, home):
    client = WITH_PLUGIN
    path = settings_of(config, client)
    lay(path, FILES["usual"])
    before = seen(home)
    install_client(config, client, Wish("settings"))
    hooks = path.read_bytes()
    install_client(config, client, Wish("plugin"))
    assert b"start.py" not in path.read_bytes()
    install_client(config, client, Wish("settings"))
    assert path.read_bytes() == hooks
    install_client(config, client, Wish(remove=True))
    assert seen(home) == before


def test_a_link_is_written_through(client, config, home, tmp_path):
    path = settings_of(config, client)
    real = tmp_path / "dotfiles.json"
    real.write_bytes(FILES["usual"])
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    done = install_client(config, client, Wish("settings"))
    assert path.is_symlink() and real.read_bytes() != FILES["usual"]
    assert any(str(real) in remark for remark in done.remarks)
    install_client(config, client, Wish(remove=True))
    assert path.is_symlink() and real.read_bytes() == FILES["usual"]


def test_a_link_to_itself_and_a_pipe_are_refused(client, config):
    path = settings_of(config, client)
    path.parent.mkdir(parents=True)
    path.symlink_to(path)
    with pytest.raises(BadInput, match="leads to itself"):
        install_client(config, client, Wish("settings"))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(MemdirError, match="cannot be read"):
        install_client(config, client, Wish("settings"))

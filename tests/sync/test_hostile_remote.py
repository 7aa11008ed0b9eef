"""The hostile inputs that a remote could carry: out of this machine, and into it."""

import pytest

from tests.conftest import SHARED
from tests.helpers.hostile import FILE, read
from tests.helpers.machines import Machine, bare, everything_in
from tests.sync.test_team import RULE, share, told

HEAD = "---\nname: {name}\ndescription: when are releases cut\ntype: {type}\n---\n\n{text}\n"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is absent")


def rows(group: str, *verdicts: str):
    found = [read(line) for line in FILE.read_text("utf-8").splitlines()]
    return [row for row in found if row.group == group and row.value and row.verdict in verdicts]


def put(machine: Machine, scope: str, texts: dict[str, str], type: str = "project") -> None:
    folder = machine.store(scope)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        data = HEAD.format(name=name, type=type, text=text).encode("utf-8", "surrogateescape")
        (folder / f"{name}.md").write_bytes(data)


def test_no_secret_and_no_private_type_leaves(tmp_path, remote, monkeypatch):
    code = bare(tmp_path, "shop.git")
    ann = Machine(tmp_path, "ann", code, monkeypatch)
    ann.git("commit", "-q", "--allow-empty", "-m", "first")
    secrets = {row.id.lower(): row.value for row in rows("secrets", "private")}
    assert len(secrets) >= 15
    ann.remember("A plain fact.", "plain")
    put(ann, "project", secrets)
    assert ann("sync", "--to", remote).code == 0
    assert ann("team", "join").code == 0
    put(ann, "team", secrets)
    put(ann, "team", {"private": "Ann is new to Rust."}, type="user")
    ann("index", "--rebuild", "--scope", "team")
    held = {item["path"] for item in ann.json("sync")["stays"]}
    assert {f"{id}.md" for id in secrets} | {"private.md"} <= held
    left = everything_in(remote) + everything_in(code)
    assert "A plain fact." in left
    assert [id for id, text in secrets.items() if text in left or f"{id}.md" in left] == []
    assert "new to Rust" not in left


def test_nothing_of_an_unaccepted_author_is_told(tmp_path, monkeypatch):
    code = bare(tmp_path, "shop.git")
    ann, bob = (Machine(tmp_path, name, code, monkeypatch) for name in ("ann", "bob"))
    for member in (ann, bob):
        assert member("team", "join").code == 0
    poison = {row.id.lower(): row.value for row in rows("poisoned instructions", "neutralise")}
    put(ann, "team", poison)
    share(ann, RULE, "release")
    assert len(bob.json("sync")["pulled"]) > len(poison)
    text = told(bob)
    assert [id for id, said in poison.items() if said[:30] in text] == [] and RULE not in text


def test_a_memory_with_conflict_marks_of_its_own_is_kept_as_it_is(ann, bob, joined):
    (row,) = (row for row in rows("git and sync", "degrade") if "<<<<" in row.value)
    put(ann, "project", {"marked": row.value})
    ann("sync")
    bob("sync")
    assert row.value in bob.files()["marked.md"]

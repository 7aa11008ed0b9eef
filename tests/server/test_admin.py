"""`memdir serve admin`: each command says what it did and what comes next, as text and as JSON."""

import hashlib
import json
import stat
from pathlib import Path

import psycopg
import pytest

from tests.helpers.team import Team
from tests.helpers.terminal import memdir
from tests.server.test_feed import states


def admin(team: Team, *words: str):
    return memdir("serve", "admin", *words, "--database", team.url)


def test_from_nothing_to_a_memory_of_another_member(postgres, database, tmp_path):
    """The commands of the guide, in their order."""
    team = Team(postgres, database)
    url_file, token_file = tmp_path / "server.url", tmp_path / "ann.token"
    made = admin(team, "init", "--url-file", str(url_file), "--new-password")
    assert made.code == 0, made.stderr
    assert "migrated: 0001 spaces" in made.text
    assert f"memdir serve --database-file {url_file}" in made.text
    assert url_file.read_text().startswith("postgresql://memdir_app:")
    assert stat.S_IMODE(url_file.stat().st_mode) == 0o600
    invited = admin(team, "invite", "ann", "--space", "shop", "--token-file", str(token_file))
    assert "ann is a writer of shop, a new space" in invited.text
    assert "memdir team join" in invited.text
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    url_file.chmod(0o644)
    refused = memdir("serve", "--database-file", str(url_file))
    assert refused.code == 1 and f"chmod 600 {url_file}" in " ".join(refused.stderr.split())
    url_file.chmod(0o600)
    team.start("--database-file", str(url_file))
    try:
        ann = token_file.read_text().strip()
        bob = admin(team, "invite", "bob", "--space", "shop", "--role", "reader", "--json").json
        assert team.push(ann, "shop", ("a.md", 0, "text")).status == 200
        assert states(team, bob["token"], "shop") == {"a.md": "text"}
    finally:
        team.stop()


def test_init_again_keeps_the_password_and_no_token_file_is_overwritten(own_team, tmp_path):
    again = admin(own_team, "init")
    assert "the tables are up to date" in again.text
    assert "--new-password" in again.text
    url = admin(own_team, "init", "--new-password", "--json").json["url"]
    assert psycopg.connect(url).close() is None
    there = tmp_path / "token"
    there.write_text("kept")
    answer = admin(own_team, "invite", "ann", "--space", "shop", "--token-file", str(there))
    assert (answer.code, there.read_text()) == (1, "kept")
    assert admin(own_team, "audit", "--json").json["audit"] == [], "nobody is invited"


def test_a_revoked_member_is_out_from_the_next_request_on(team):
    space = team.space(leaver="writer")
    other = team.space(leaver="writer")
    leaver = team.tokens[f"leaver@{space}"]
    assert team.ask(leaver, "/v1/spaces").status == 200
    left = admin(team, "revoke", "leaver", "--space", other, "--json").json
    assert (left["spaces"], left["tokens"]) == ([other], 0)
    assert team.ask(leaver, f"/v1/spaces/{other}/changes").status == 404
    assert team.ask(leaver, f"/v1/spaces/{space}/changes").status == 200
    gone = admin(team, "revoke", "leaver")
    assert "revoked" in gone.text
    assert team.ask(leaver, f"/v1/spaces/{space}/changes").status == 401
    missing = admin(team, "revoke", "nobody-of-this-name", "--json")
    assert missing.error["code"] == "missing"


@pytest.fixture
def erased(own_team):
    """A server whose database has old versions and a proposal of a memory that must go."""
    own_team.start()
    space = own_team.space(ann="writer", max="maintainer")
    ann = own_team.tokens[f"ann@{space}"]
    for version, body in enumerate(("ERASEME one", "ERASEME two", None, "ERASEME three")):
        assert own_team.push(ann, space, ("bad.md", version, body)).status == 200
    index = "- [Bad](bad.md) — ERASEME\n- [Good](good.md) — stays\n"
    own_team.push(ann, space, ("good.md", 0, "stays"), ("MEMORY.md", 0, f"# Old\n{index}"))
    own_team.push(ann, space, ("MEMORY.md", 1, index))
    proposal = {"items": [{"path": "bad.md", "version": 4, "body": "ERASEME four"}]}
    own_team.ask(ann, f"/v1/spaces/{space}/proposals", proposal)
    return own_team, space, ann


def dump(team: Team) -> str:
    """Every row of every table."""
    with psycopg.connect(team.url) as connection:
        names = connection.execute(
            "select relname from pg_class where relnamespace = 'memdir'::regnamespace"
            " and relkind = 'r'"
        ).fetchall()
        return "\n".join(
            str(connection.execute(f"select * from memdir.{name}").fetchall()) for (name,) in names
        )


def test_purge_erases_every_version_and_tells_every_client_and_the_log(erased):
    team, space, ann = erased
    before = team.changes(ann, space)["newest"]
    assert "ERASEME" in dump(team)
    dry = admin(team, "purge", "bad.md", "--space", space, "--dry-run")
    assert "would be purged" in dry.text
    assert "ERASEME" in dump(team)
    done = admin(team, "purge", "bad.md", "--space", space, "--json").json
    assert done["versions"] == 4
    assert "ERASEME" not in dump(team)
    index, item = team.changes(ann, space, before)["items"]
    assert index["body"] == "- [Good](good.md) — stays\n"
    assert index["hash"] == hashlib.sha256(index["body"].encode()).hexdigest()
    assert (item["path"], item["body"], item["purged"], item["hash"]) == ("bad.md", None, True, "")
    assert "ERASEME" not in team.ask(ann, f"/v1/spaces/{space}/history/bad.md").bytes.decode()
    assert team.ask(ann, f"/v1/spaces/{space}/search", q="eraseme").json["items"] == []
    stale = team.push(ann, space, ("bad.md", 4, "ERASEME four"))
    assert stale.status == 409, "a client that was away does not bring it back unasked"
    assert stale.json["conflicts"][0]["theirs"]["purged"] is True
    assert {*states(team, ann, space)} == {"good.md", "MEMORY.md"}
    missing = admin(team, "purge", "none.md", "--space", space, "--json")
    assert missing.error["code"] == "missing"
    rows = admin(team, "audit", "--space", space, "--json").json["audit"]
    acts = [row["act"] for row in rows]
    assert acts == ["purge", "propose", *["push"] * 6, "invite", "invite"]
    assert {row["person"] for row in rows if row["act"] == "push"} == {"ann"}
    assert "ERASEME" not in json.dumps(rows), "the log says who did what, and no text"
    shown = admin(team, "audit", "--act", "push").text
    assert "paths: bad.md" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_export_writes_plain_files_and_leaving_is_one_command(erased, tmp_path, monkeypatch):
    team, space, ann = erased
    team.push(ann, space, ("deep/er.md", 0, "below"))
    folder = tmp_path / "out"
    dry = admin(team, "export", space, "--to", str(folder), "--dry-run")
    assert "would write 4 memories" in dry.text
    assert not folder.exists()
    done = admin(team, "export", space, "--to", str(folder))
    assert f"memdir list --dir {folder}" in done.text
    found = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*.md")}
    assert found.pop("MEMORY.md").startswith("- [Bad]")
    assert found == {"bad.md": "ERASEME three", "good.md": "stays", "deep/er.md": "below"}
    assert "deep/er" in memdir("list", "--dir", str(folder)).text
    again = admin(team, "export", space, "--to", str(folder), "--json")
    assert "not empty" in again.error["message"]
    monkeypatch.chdir(tmp_path)
    assert admin(team, "export", space, "--to", "here").code == 0
    assert (tmp_path / "here/deep/er.md").read_text() == "below"


def test_every_command_has_an_example_and_fits_a_terminal():
    for name in ("init", "invite", "revoke", "purge", "export", "audit"):
        text = memdir("serve", "admin", name, "--help").text
        assert "Example:" in text
        assert max(map(len, text.splitlines())) <= 80


def test_without_its_packages_a_command_says_how_to_install_them(tmp_path: Path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    for words in (["serve"], ["serve", "admin", "audit"]):
        error = memdir(*words, "--json").error
        assert "psycopg_pool" in error["message"]
        assert error["next"] == "pip install 'memdir[server]'"

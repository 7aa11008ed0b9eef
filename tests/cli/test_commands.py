"""Every command answers with the fields that docs and scripts rely on, and the right exit code."""

import pytest

from tests.helpers.tables import table
from tests.helpers.terminal import memdir, process

pytestmark = pytest.mark.usefixtures("project")

RULE = "Use uv, never pip, to install packages."
FACT = "Staging is wiped every night."


def save(text: str = RULE, *more: str) -> dict:
    answer = memdir("remember", text, "--json", *more)
    assert answer.code == 0, answer.text
    return answer.json


def test_what_says_nothing_is_not_saved_and_the_answer_says_what_to_do():
    said = memdir("remember", "ok", "--json")
    assert (said.code, said.json["change"]) == (1, "skipped")
    assert said.json["reason"].endswith("in a sentence, what is it about?")
    assert memdir("remember", "ok", "--anyway").code == 0


def test_relative_dates_count_from_the_day_that_was_given(store):
    save("The freeze began yesterday.", "--name", "freeze", "--date", "2026-03-03")
    assert "2026-03-02" in (store / "freeze.md").read_text()
    assert memdir("remember", "x", "--date", "someday", "--json").error["code"] == "bad_input"


def test_save_takes_a_draft_with_a_header(store, tmp_path):
    draft = tmp_path / "draft.md"
    draft.write_text(
        "---\nname: port\ndescription: the port\ntype: reference\nowner: ann\n"
        "metadata:\n  source: somebody\n  ticket: X-1\n---\n\nIt is 5433.\n"
    )
    answer = memdir("save", "--file", str(draft), "--json")
    assert (answer.code, answer.json["change"], answer.json["path"]) == (0, "created", "port.md")
    text = (store / "port.md").read_text()
    assert "owner: ann" in text and "ticket: X-1" in text and "It is 5433." in text
    assert "somebody" not in text and "metadata.source" in answer.stderr


@pytest.mark.parametrize("draft", table("cli", "a_draft_that_is_not_clear_is_refused"))
def test_a_draft_that_is_not_clear_is_refused(draft, store):
    answer = memdir("save", "--file", "-", "--json", stdin=draft.encode())
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert answer.error["next"]
    assert not list(store.glob("*.md"))


def test_show_raw_gives_the_exact_bytes(store):
    store.mkdir(parents=True)
    data = b"---\r\nname: odd\r\n---\r\n\xff\xfe \x1b[2J\x00 no newline"
    (store / "odd.md").write_bytes(data)
    assert process("show", "odd", "--raw").bytes == data


def test_an_archive_of_another_tool_is_listed_and_restored_from(store):
    (store / "archive/deep").mkdir(parents=True)
    data = b"---\nname: old\ndescription: an old one\n---\nold\n"
    (store / "archive/deep/old.md").write_bytes(data)
    (store / "archive/README.md").write_text("what this is")
    (listed,) = memdir("restore", "--list", "--json").json["memories"]
    assert listed["path"] == "deep/old.md"
    assert memdir("list", "--json").json["memories"] == []
    assert memdir("restore", "old", "--json").json["path"] == "deep/old.md"
    assert (store / "deep/old.md").read_bytes() == data
    assert not (store / "archive/deep/old.md").exists()
    memdir("undo")
    assert (store / "archive/deep/old.md").read_bytes() == data


def test_loading_makes_the_directory_before_an_agent_needs_it(store):
    assert not store.exists()
    assert memdir("load").code == 0
    assert store.is_dir() and store.stat().st_mode & 0o777 == 0o700


def test_undo_brings_back_what_somebody_else_dropped(store):
    save(RULE, "--name", "use-uv")
    save(FACT, "--name", "staging")
    before = {path.name: path.read_bytes() for path in store.glob("*.md")}
    for path in store.glob("*.md"):
        path.unlink()
    newest = memdir("log", "--json").json["changes"][0]
    assert (newest["actor"], newest["verb"]) == ("outside", "outside")
    assert memdir("undo").code == 0
    assert {path.name: path.read_bytes() for path in store.glob("*.md")} == before


def test_all_scopes_are_read_together_and_never_written(project):
    save(RULE, "--name", "use-uv")
    save(FACT, "--name", "mine", "--scope", "user")
    listed = memdir("list", "--scope", "all", "--json").json["memories"]
    assert {(one["scope"], one["path"]) for one in listed} == {
        ("project", "use-uv.md"),
        ("user", "mine.md"),
    }
    assert memdir("show", "mine", "--scope", "all", "--json").json["path"] == "mine.md"
    for command in ("load", "log", "index", "manifest", "doctor", "restore"):
        assert memdir(command, "--scope", "all", "--json").code == 0, command
    refused = memdir("remember", "x", "--scope", "all", "--json")
    assert (refused.code, refused.error["code"]) == (1, "bad_input")
    assert "project" in refused.error["next"]


def test_touch_makes_a_memory_fresh(store):
    store.mkdir(parents=True)
    (store / "old.md").write_text("---\nname: old\ntype: project\nmodified: 2020-01-01\n---\nx\n")
    assert memdir("list", "--json").json["memories"][0]["action"] == "prune"
    assert memdir("touch", "old", "--json").json["change"] == "updated"
    assert memdir("list", "--json").json["memories"][0]["age_days"] == 0


def test_manifest_is_one_line_per_memory():
    save(RULE, "--name", "use-uv")
    said = memdir("manifest", "--json").json
    assert (said["shown"], said["total"]) == (1, 1)
    assert said["text"].startswith("- [feedback] use-uv.md (")
    assert memdir("manifest").text.rstrip("\n") == said["text"]


def test_load_says_what_was_cut(store):
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text("".join(f"line {n}\n" for n in range(250)))
    said = memdir("load", "--json").json
    assert said["cut_lines"] == 50 and "250 lines (limit: 200)" in said["warning"]

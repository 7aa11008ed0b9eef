"""What attacks on the ways in and out tried, from the surface each used."""

import json
import zipfile
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.memory_tool import MemoryTool, memory_tool
from memdir.store.ports import Cause
from tests.helpers.opened import Opened, memory
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, tree
from tests.store.test_undo import files, killed

pytestmark = pytest.mark.usefixtures("project")

TEXT = "The staging server is rebuilt every night at three."
RECORD = ("records", "save", "--category", "preference", "--set", "topic=a", "--set", "value=b")
RECORD += ("--set", "reason=c", "--set", "strength=strong")


def tool(command: str, path: str, **rest: object):
    return memory_tool().call({"command": command, "path": f"/memories/{path}", **rest})


def archive(project: Path, name: str, text: str) -> str:
    with zipfile.ZipFile(project / "brought.zip", "w") as file:
        file.writestr(name, text)
    return "brought.zip"


# -- an undo that was killed -----------------------------------------------------------------


@pytest.mark.parametrize("old, new, points", [("use-uv.md", "uv.md", 2), ("sub", "under", 3)])
def test_a_killed_undo_of_a_rename_is_finished_by_the_next_and_no_more(tmp_path, old, new, points):
    for point in range(1, points + 1):
        opened = Opened(tmp_path / f"{point}")
        opened.save("Use uv", "use-uv")
        own = MemoryTool(opened.app())
        for name in ("sub/x.md", "sub/y.md"):
            own.call({"command": "create", "path": f"/memories/{name}", "file_text": memory("x")})
        before = files(opened)
        paths = {"old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
        assert not own.call({"command": "rename", **paths}).is_error
        killed(opened, point, "undo")
        review.undo_and_hold_again(opened.app())
        assert files(opened) == before
        review.undo_and_hold_again(opened.app())  # takes back an older change
        assert "sub/y.md" not in files(opened) and "sub/x.md" in files(opened)


@pytest.mark.parametrize("words", table("attack", "a_hash_that_is_none_is_refused"))
def test_a_hash_that_is_none_is_refused(words, home, project):
    memdir("remember", "Use uv, never pip.", "--name", "use-uv")
    assert memdir(*RECORD, "--title", "a", "--tag", "t").code == 0
    before = tree(project)
    assert memdir(*words, "--json").error["code"] in ("bad_input", "invalid", "conflict")
    assert "pinned" not in memdir("show", "use-uv", "--raw").text
    assert tree(project) == before


@pytest.mark.parametrize("name", [*table("attack", "names"), "d/" * 250 + "deep.md"])
def test_a_name_that_another_system_takes_for_something_else_is_refused(name, store, project):
    for standing in ("Deploy.md", "caf\u00e9.md"):
        assert not tool("create", standing, file_text=memory("x")).is_error
    before = tree(store)
    assert tool("create", name, file_text=memory("y")).is_error
    paths = {"old_path": "/memories/Deploy.md", "new_path": f"/memories/{name}"}
    assert memory_tool().call({"command": "rename", **paths}).is_error
    assert memdir("import", archive(project, name, memory("y"))).code == 1
    assert tree(store) == before


@pytest.mark.parametrize("mark", table("attack", "hidden"))
def test_no_field_takes_a_hidden_character(mark, store, project):
    value = f"ab{mark}ou"
    draft = f"---\ndescription: d\ntags: {value}\n---\n\n{TEXT}\n".encode()
    for field in ("--description", "--why", "--how"):
        assert memdir("remember", TEXT, field, value, "--json").error["code"] == "bad_input"
    assert memdir("save", "--file", "-", "--json", stdin=draft).error["code"] == "bad_input"
    assert not store.exists()
    assert memdir("remember", f"{value} says: {TEXT}", "--anyway").code == 0
    text = memory("y", f"{value} the rest")
    assert not tool("create", "x.md", file_text=text).is_error
    assert memdir("import", archive(project, "y.md", text)).code == 0
    memdir(*RECORD, "--set", f"value={value}", "--title", f"A {value}", "--tag", value)
    names = [*(project / ".claude/memory/preferences").iterdir()]
    heads = [json.loads(name.read_text())[key] for name in names for key in ("title", "tags")]
    kept = [json.loads(name.read_text())["content"]["value"] for name in names]
    single = len(mark) == 1  # a heap of accents in a text is only ugly
    assert not single or mark not in (store / "MEMORY.md").read_text() + str(heads).lower()
    assert not single or kept == [value.replace(mark, "\n" if mark == "\x85" else "")]


def test_a_text_with_a_nul_is_refused_on_every_way_in(store, project):
    memdir("remember", TEXT, "--name", "kept")
    before = tree(store)
    for words in (("remember", "-"), ("save", "--file", "-"), ("edit", "kept", "--body-file", "-")):
        assert memdir(*words, "--json", stdin=b"a\0b " + TEXT.encode()).error
    assert tool("create", "x.md", file_text="a\0b").is_error
    assert tool("str_replace", "kept.md", old_str="staging", new_str="a\0b").is_error
    assert memdir("import", archive(project, "x.md", "a\0b")).code == 1
    assert tree(store) == before


@pytest.mark.parametrize("text", table("attack", "shown"))
def test_the_memory_tool_shows_nothing_that_works_or_hides(text, store):
    tool("create", "a.md", file_text=memory("a", body=f"kept\r\n{text}\nlast"))
    (store / f"{text.replace('/', '')}.txt").write_text("x")
    view = tool("view", "a.md").text
    assert text not in view and view.split("\n")[-2].endswith("\tlast")
    changed = tool("str_replace", "a.md", old_str="kept", new_str="held").text
    missing = tool("str_replace", "a.md", old_str=f"no {text}", new_str="x").text
    for shown in (changed, missing, tool("view", "").text):
        assert text not in shown and text.replace("/", "") not in shown
    assert text in (store / "a.md").read_text()


@pytest.mark.parametrize("target", table("attack", "outside"))
def test_a_pointer_that_leaves_the_store_is_reported(target, store):
    memdir("remember", TEXT, "--name", "kept")
    with open(store / "MEMORY.md", "a") as index:
        index.write(f"- [Users]({target}) — who there is\n")
    found = memdir("audit", "--json").json["findings"]
    assert [target in item["message"] for item in found if item["kind"] == "no-memory"] == [True]


def test_a_file_that_the_history_does_not_keep_is_said_to_be_lost_once_it_goes(store):
    memdir("remember", TEXT, "--name", "kept")
    (store / "big.md").write_text(memory("big", body="x y\n" * 1_200_000))
    for words in ("list", "doctor", "audit"):
        assert "nothing brings it back" in " ".join(memdir(words).text.split()), words


def test_a_torn_announcement_loses_no_name_and_no_temporary_file_stays(tmp_path):
    opened = Opened(tmp_path)
    folder = Path(opened.app().history.objects.folder)
    folder.mkdir(parents=True)
    (folder / ".memdir-1-0123456789ab.tmp").write_bytes(b"[core]")  # killed while it was made
    opened.save("One", "a")
    app = opened.app()
    app.history.announce(app.store, Cause("edit", actor="killed"))
    app.history.expect("a.md", b"Killed")
    app.store.put("a.md", b"Killed")
    with open(folder.parent / "announced", "ab") as file:
        file.write(b'["MEMORY.m')
    opened.save("Two", "b")
    assert opened.verbs() == ["begin", "save a", "edit a.md", "save b"]
    assert not list(tmp_path.rglob("*.tmp"))

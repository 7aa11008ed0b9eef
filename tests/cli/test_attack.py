"""What attacks on the ways in and out tried, from the surface each used."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.memory_tool import MemoryTool, memory_tool
from tests.helpers.opened import Opened, memory
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, tree

pytestmark = pytest.mark.usefixtures("project")

TEXT = "The staging server is rebuilt every night at three."
RECORD = ("records", "save", "--category", "preference", "--set", "topic=a", "--set", "value=b")
RECORD += ("--set", "reason=c", "--set", "strength=strong")


def files(opened: Opened) -> dict[str, bytes]:
    return {path: data for path, data in opened.files().items() if not path.endswith("/")}


def tool(command: str, path: str, **rest: object):
    return memory_tool().call({"command": command, "path": f"/memories/{path}", **rest})


def archive(project: Path, name: str, text: str) -> str:
    with zipfile.ZipFile(project / "brought.zip", "w") as file:
        file.writestr(name, text)
    return "brought.zip"


# -- an undo that was killed -----------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from memdir.capture import review
from memdir.hot.layout import Markdown
from tests.helpers.opened import Opened

left = [int(sys.argv[2])]

def killing(real):
    def act(*given):
        real(*given)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
    return act

Markdown.put, Markdown.drop = killing(Markdown.put), killing(Markdown.drop)
review.undo_and_hold_again(Opened(Path(sys.argv[1])).app())
"""


@pytest.mark.parametrize("old, new", [("use-uv.md", "uv.md"), ("sub", "under")])
def test_a_killed_undo_of_a_rename_is_finished_by_the_next_and_no_more(tmp_path, old, new):
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    for point in range(1, 20):
        opened = Opened(tmp_path / f"{point}")
        opened.save("Use uv", "use-uv")
        own = MemoryTool(opened.app())
        for name in ("sub/x.md", "sub/y.md"):
            own.call({"command": "create", "path": f"/memories/{name}", "file_text": memory("x")})
        before = files(opened)
        paths = {"old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
        assert not own.call({"command": "rename", **paths}).is_error
        line = [sys.executable, "-c", KILLED, str(opened.top), str(point)]
        if subprocess.run(line, env=env, check=False).returncode != -signal.SIGKILL:
            break
        review.undo_and_hold_again(opened.app())
        assert files(opened) == before
        review.undo_and_hold_again(opened.app())  # takes back an older change
        assert "sub/y.md" not in opened.files() and "sub/x.md" in opened.files()
    assert point > 3


# -- ways in ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words", table("attack", "a_hash_that_is_none_is_refused"))
def test_a_hash_that_is_none_is_refused(words, home, project):
    memdir("remember", "Use uv, never pip.", "--name", "use-uv")
    assert memdir(*RECORD, "--title", "a", "--tag", "t").code == 0
    before = tree(project)
    assert memdir(*words, "--json").error["code"] in ("bad_input", "invalid", "conflict")
    assert "pinned" not in memdir("show", "use-uv", "--raw").text
    assert tree(project) == before


@pytest.mark.parametrize("name", table("attack", "names"))
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
    memdir(*RECORD, "--title", f"A {value}", "--tag", value)
    names = [*(project / ".claude/memory/preferences").iterdir()]
    heads = [json.loads(name.read_text())[key] for name in names for key in ("title", "tags")]
    single = len(mark) == 1  # a heap of accents in a text is only ugly
    assert not single or mark not in (store / "MEMORY.md").read_text() + str(heads).lower()


def test_a_text_with_a_nul_is_refused_on_every_way_in(store, project):
    memdir("remember", TEXT, "--name", "kept")
    before = tree(store)
    for words in (("remember", "-"), ("save", "--file", "-"), ("edit", "kept", "--body-file", "-")):
        assert memdir(*words, "--json", stdin=b"a\0b " + TEXT.encode()).error
    assert tool("create", "x.md", file_text="a\0b").is_error
    assert tool("str_replace", "kept.md", old_str="staging", new_str="a\0b").is_error
    assert memdir("import", archive(project, "x.md", "a\0b")).code == 1
    assert tree(store) == before


# -- ways out --------------------------------------------------------------------------------


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
    for words in (("retire", "big"), ("edit", "big", "--pin")):
        assert memdir(*words).code == 1
    assert (store / "big.md").exists()

"""What people read: 80 columns, colour only where it is wanted, an example for every command."""

import os
import pty
import re
import subprocess

import pytest

from memdir.cli.main import MODULES
from memdir.text.terminal import text_width
from tests.helpers.terminal import SCRIPT, memdir, process

pytestmark = pytest.mark.usefixtures("project")

COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
HELPS = [("--help",), ("help", "--all"), *[(command, "--help") for command in MODULES]]
OUTPUTS = [
    *[("search", "always", "say"), ("setup", "codex", "--dry-run")],
    *[("list",), ("list", "--scope", "all"), ("list", "--type", "value"), ("where",), ("types",)],
    *[("index",), ("index", "--check"), ("log",), ("log", "long-name"), ("restore", "--list")],
    *[("doctor",), ("touch", "wide"), ("retire", "wide"), ("restore", "gone"), ("undo",)],
    *[("export",), ("import", "from"), ("purge", "gone", "--yes")],
    *[("remember", "Always say things twice, and always the same way, word by word.")],
    *[("show", "not-there"), ("edit", "wide", "--type", "novel")],
    *[("list", "--nonsense"), ("nonsense",), ("remember", "x", "--scope", "all"), ("purge", "x")],
    *[
        ("remember", "x", "--name", "../" * 30),
        ("import", "/not/there"),
        ("remember", "x" * 70_000),
    ],
]
TABLES = (
    ("list",),
    ("search", "tabs"),
    ("log",),
    ("restore", "--list"),
    ("list", "--scope", "all"),
)


def too_wide(text: str, columns: int = COLUMNS) -> list[str]:
    """Lines that do not fit; one word alone on its line (a path, a hash) may stick out."""
    lines = ESCAPE.sub("", text).split("\n")
    return [line for line in lines if text_width(line) > columns and len(line.split()) > 1]


@pytest.fixture
def filled(store, project):
    memdir("remember", "Use tabs, always.", "--name", "long-name" + "-and-more" * 7, "--pin")
    memdir("remember", "我们总是在周五下午部署，绝不在周一早上部署。" * 3, "--name", "wide")
    memdir("remember", "This one goes, and never comes back here.", "--name", "gone")
    memdir("retire", "gone", "--reason", "because it is no longer true, as everybody knows " * 2)
    (store / "broken.md").write_text(
        "---\nname: broken\nno colon here\nname: twice\n---\n" + "x" * 300
    )
    (store / "link.md").symlink_to("nowhere")
    with (store / "MEMORY.md").open("a") as index:
        index.write("- [Gone](" + "g" * 90 + ".md) — " + "words " * 40 + "\nProse of my own.\n")
    (project / "from").mkdir()
    (project / "from/new.md").write_text("---\nname: new\n---\nx\n")
    (project / "from/picture.png").write_text("")
    return store


@pytest.mark.parametrize("words", HELPS, ids=" ".join)
def test_every_help_fits_80_columns(words):
    assert too_wide(memdir(*words).text) == []


@pytest.mark.parametrize("words", OUTPUTS, ids=lambda words: " ".join(words)[:40])
def test_every_output_fits_80_columns(words, filled):
    answer = memdir(*words)
    assert answer.text or answer.stderr
    assert too_wide(answer.text + answer.stderr) == []


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_terminal_of_40_columns_is_enough_for_a_table(words, filled, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    answer = memdir(*words)
    assert answer.code == 0 and answer.text.count("\n") > 2
    lines = answer.text.split("\n  ", 1)[1] if words[0] == "list" else answer.text
    assert too_wide(lines.split("\n\n")[0], 40) == []
    if words[0] in ("list", "search"):
        assert "\n    Use tabs, always." in answer.text


def on_a_terminal(*words: str, **env: str) -> str:
    """What a person sees: the output of the command on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*SCRIPT, *words], stdout=theirs, env={**os.environ, **env})
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # Linux ends a terminal that has no writer with an error
            part = b""
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


def test_what_is_recalled_fits_a_terminal_and_is_exact_elsewhere(filled):
    words = ["recall", "which tabs do we use, always?"]
    exact, shown = process(*words).text, on_a_terminal(*words, TERM="dumb", COLUMNS="80")
    assert too_wide(exact) and not too_wide(shown.replace("\r\n", "\n"))


def test_a_diff_fits_a_terminal_and_is_one_elsewhere(filled):
    memdir("remember", "A rule of many words: " + "never say it twice, " * 9, "--name", "wordy")
    exact = process("diff", "wordy").text
    shown = on_a_terminal("diff", "wordy", TERM="dumb", COLUMNS="80").replace("\r\n", "\n")
    assert max(map(text_width, exact.split("\n"))) > COLUMNS
    assert max(map(text_width, shown.split("\n"))) <= COLUMNS
    long = next(line for line in exact.split("\n") if text_width(line) > COLUMNS)
    parts = shown.split("\n")
    first = parts.index(long[:COLUMNS])
    assert parts[first + 1].startswith(long[0]) and long[COLUMNS:][:9] in parts[first + 1]


def test_colour_is_for_terminals_that_want_it(filled, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    assert ESCAPE.search(on_a_terminal("list", TERM="xterm", COLUMNS="80"))
    assert not ESCAPE.search(on_a_terminal("list", TERM="xterm", NO_COLOR="1"))
    assert not ESCAPE.search(on_a_terminal("list", TERM="dumb"))
    assert not ESCAPE.search(process("list").text)
    coloured = on_a_terminal("list", TERM="xterm", COLUMNS="80").replace("\r\n", "\n")
    assert ESCAPE.sub("", coloured) == process("list").text

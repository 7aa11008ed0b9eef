"""Hostile names, texts and files: refused aloud or shown harmlessly, and nothing outside moves."""

import re
import zipfile

import pytest

from tests.helpers.hostile import Hostile, inputs
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, process, tree

pytestmark = pytest.mark.usefixtures("project")

TEXT = "Use uv, never pip, to install packages."
# What a terminal would obey, or a reader would not see.
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
LIMIT = 65_536
NAMES = [*table("cli", "names"), "n" * 300, "\udcff", "memory\0.md"]
ESCAPES = table("cli", "escapes")


def sample(values: list[str], field: str) -> list:
    """The same in small, so that a machine without ../shared tests the class, too."""
    return [
        pytest.param(Hostile(f"own-{n}", "", field, v, "", None, "")) for n, v in enumerate(values)
    ]


# -- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row", inputs("path traversal", "name") + inputs("file names", "name") + sample(NAMES, "name")
)
def test_a_hostile_name_is_refused_and_nothing_is_written(row, home, project):
    before = tree(home, project)
    for words in (
        ("remember", TEXT, "--name", row.value),
        ("remember", TEXT, "--name", row.value, "--dry-run"),
        ("save", "--file", "-", "--name", row.value),
    ):
        answer = memdir(*words, "--json", stdin=TEXT.encode())
        assert (answer.code, answer.error["code"]) == (1, "bad_input"), words
        assert "name" in answer.error["message"] and answer.error["next"]
    left = {path for path, _ in tree(home, project).items() ^ before.items()}
    assert all("/.local/state/memdir" in path or path.endswith(".local") for path in left), left


@pytest.mark.parametrize(
    "row",
    inputs("path traversal", "name", "archive.restore", "mcp.rename_to") + sample(NAMES, "name"),
)
def test_a_hostile_name_means_no_memory(row, store, project):
    memdir("remember", TEXT, "--name", "kept")
    (project / "settings.json").write_text("{}")
    before = tree(store, project)
    for words in (("show",), ("edit", "--pin"), ("retire",), ("touch",), ("purge", "--yes")):
        answer = memdir(*words, "--json", "--", row.value)
        assert answer.code == 1, (words, answer)
        assert answer.error["code"] in ("missing", "bad_input")
        assert not COMMANDS.search(memdir(*words, "--", row.value).stderr)
    assert tree(store, project) == before


@pytest.mark.parametrize(
    "row", inputs("file names", "name pair") + sample(["café / cafe\u0301", "A / a"], "name pair")
)
def test_two_names_that_are_one_refuse_the_whole_import(row, store, project):
    with zipfile.ZipFile(project / "pair.zip", "w") as archive:
        archive.writestr("fine.md", "x")
        for name in row.value.split(" / "):
            archive.writestr(f"{name}.md", "x")
    answer = memdir("import", "pair.zip", "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert not store.exists()


# -- terminal escapes ------------------------------------------------------------------------

SHOWING = [
    *(("list",), ("show", "beta"), ("load",), ("load", "--full"), ("index", "--check")),
    *(("manifest",), ("log",), ("diff",), ("doctor",), ("restore", "--list"), ("where",)),
    *(("retire", "beta", "--dry-run"), ("export", "--dry-run"), ("list", "--scope", "all")),
]


@pytest.mark.parametrize(
    "row", inputs("terminal escapes", "title", "body") + sample(ESCAPES, "body")
)
def test_no_escape_of_a_memory_reaches_the_terminal(row, store):
    store.mkdir(parents=True)
    value = row.value.encode("utf-8", "surrogateescape")
    data = b"---\nname: beta " + value + b"\ndescription: " + value + b"\n---\n\n" + value + b"\n"
    (store / "beta.md").write_bytes(data)
    (store / "MEMORY.md").write_bytes(b"- [" + value + b"](beta.md) \xe2\x80\x94 " + value + b"\n")
    for words in SHOWING:
        answer = memdir(*words)
        assert answer.code in (0, 1), words
        assert not COMMANDS.search(answer.text + answer.stderr), words
        assert memdir(*words, "--json").json
    assert memdir("show", "beta", "--raw").bytes == data
    assert row.value in memdir("show", "beta", "--json").json["body"]


@pytest.mark.parametrize(
    "row", inputs("terminal escapes", "error path") + sample(ESCAPES, "error path")
)
def test_errors_show_what_they_quote_harmlessly(row):
    for words in (
        ("show", row.value),
        ("list", "--dir", f"/dev/null/{row.value}"),
        ("list", "--project", row.value),
        ("list", "--scope", row.value),
        ("import", row.value),
        ("save", "--file", row.value),
        ("edit", "x", "--body-file", row.value),
        ("undo", row.value),
        ("undo", "--since", row.value),
        ("remember", "x", "--type", row.value),
        (row.value,),
        ("list", f"--{row.value}"),
    ):
        answer = memdir(*words)
        assert answer.code in (1, 2), words
        assert answer.stderr and not COMMANDS.search(answer.stderr), words


def test_bytes_that_are_no_text_break_nothing(store):
    store.mkdir(parents=True)
    (store / b"odd-\xff.md".decode("utf-8", "surrogateescape")).write_bytes(
        b"---\nname: \xff\xfe\ndescription: \x80\n---\n\xc3\x28\n"
    )
    for words in SHOWING[:1] + SHOWING[2:]:
        for answer in (memdir(*words), memdir(*words, "--json")):
            assert answer.code in (0, 1), words
    narrow = process("list", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert narrow.code == 0 and narrow.bytes.isascii() and rb"\x80" in narrow.bytes


# -- size and cost ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row",
    inputs("size and cost", "body")
    + sample(["x" * LIMIT, "x" * (LIMIT + 1), "[" * 30_000, "aaaa!" * 9_000], "body"),
)
def test_a_big_text_is_kept_or_refused_by_size_and_never_cut(row, store):
    answer = memdir("remember", "-", "--name", "big", "--json", stdin=row.value.encode())
    if len(row.value.encode()) > LIMIT:
        assert (answer.code, answer.error["code"]) == (1, "bad_input")
        assert "65,536" in answer.error["message"]
        assert not store.exists()
    else:
        assert answer.code == 0, answer.text
        shown = memdir("show", "big", "--json").json
        assert shown["body"].strip("\n") == row.value.strip("\n")
        assert memdir("list").code == 0


def test_endless_input_is_refused_without_reading_on():
    answer = memdir("save", "--file", "/dev/zero", "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert memdir("edit", "x", "--body-file", "/dev/zero", "--json").code == 1
    assert memdir("import", "/dev/zero", "--json").error["code"] == "bad_input"

"""What every layout promises; a new file in adapters/layouts is tested here by being there."""

import inspect

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memdir import registry
from memdir.core import frontmatter
from memdir.core.errors import BadInput, Missing
from memdir.core.memory import INDEX, README, is_memory

HEADER = b"---\nname: %s\ndescription: d\ntype: user\n---\n\nText\n"
OUTSIDE = ["", ".", "..", "../x.md", "a/../../x.md", "a/../x.md", "/x.md", "/etc/x.md", "a//x.md"]
OUTSIDE += ["./x.md", "a/./x.md", "a/", "x\0.md"]
FOREIGN = ["team/a.md", "logs/a.md", "archive/a.md", "decisions/a.md", "sessions/a.md", "a.txt"]
FOREIGN += ["index.md", "readme.md", "deep/README.md", "deep/MEMORY.md"]
NAMES = ["a.md", "deep/down/b.md", "with space.md", "ünï-日本.md", "c.MD", "deep/team/d.md"]
ODD = [
    b"",
    b"\0",
    b"\xff\xfe\x00",
    b"a\r\nb\r\n",
    b"no end of line",
    "🧠\u2028".encode(),
    b"x" * 100_000,
]


def layout_class(member: str):
    """The class of a member: the public one that carries the member's name."""
    module = registry.load("layouts", member)
    found = [
        each
        for name, each in inspect.getmembers(module, inspect.isclass)
        if each.__module__ == module.__name__ and name[0] != "_"
    ]
    return next(each for each in found if each.layout == member)


@pytest.fixture(params=registry.members("layouts"))
def store(request, tmp_path):
    return layout_class(request.param)(str(tmp_path / "memory"))


def test_there_are_layouts_to_test():
    assert {"markdown", "in_memory"} <= set(registry.members("layouts"))


def test_a_layout_knows_its_name_and_its_place(store):
    assert store.layout in registry.members("layouts")
    assert store.root


# -- put, read, drop -----------------------------------------------------------------------


@pytest.mark.parametrize("path", NAMES)
def test_what_was_put_is_read_until_it_is_dropped(store, path):
    store.put(path, b"one")
    assert store.read(path) == b"one"
    store.put(path, b"two")
    assert store.read(path) == b"two"
    assert store.files() == [path]
    store.drop(path)
    assert store.files() == []
    with pytest.raises(Missing):
        store.read(path)


@pytest.mark.parametrize("data", ODD, ids=lambda data: repr(data[:20]))
def test_bytes_in_are_bytes_out(store, data):
    store.put("a.md", data)
    assert store.read("a.md") == data
    assert [memory.path for memory in store.scan().memories] == ["a.md"]


@given(data=st.binary(max_size=300))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None
)
def test_any_bytes_can_be_put_and_scanned(store, data):
    store.put("a.md", data)
    assert store.read("a.md") == data
    (memory,) = store.scan().memories
    assert (memory.path, memory.size) == ("a.md", len(data))
    assert isinstance(memory.name + memory.type + memory.description, str)


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_refused(store, tmp_path, path):
    (tmp_path / "x.md").write_bytes(b"outside")
    store.put("a/y.md", b"inside")
    for call in (store.read, store.drop, lambda path: store.put(path, b"new")):
        with pytest.raises(BadInput, match="is not a path below the store"):
            call(path)
    assert (tmp_path / "x.md").read_bytes() == b"outside"
    assert store.files() == ["a/y.md"]


def test_what_is_not_there_is_missing(store):
    for call in (store.read, store.drop):
        for path in ("a.md", "deep/a.md"):
            with pytest.raises(Missing) as missing:
                call(path)
            assert path in missing.value.message
            assert missing.value.next
    assert store.facts("a.md") is None


# -- what is a memory ----------------------------------------------------------------------


@pytest.mark.parametrize("path", FOREIGN)
def test_foreign_files_are_no_memories_and_stay(store, path):
    store.put("a.md", HEADER % b"a")
    store.put(path, b"theirs")
    assert store.files() == ["a.md"]
    assert [memory.path for memory in store.scan().memories] == ["a.md"]
    assert store.read(path) == b"theirs"
    assert not is_memory(path)


def test_files_are_sorted_and_are_what_a_scan_sees(store):
    paths = ["b.md", "a.md", "deep/z.md", "deep/a.md", "B.md"]
    for path in paths:
        store.put(path, HEADER % b"x")
    assert store.files() == sorted(paths)
    assert sorted(memory.path for memory in store.scan().memories) == sorted(paths)
    assert all(is_memory(path) for path in store.files())


def test_a_scan_knows_header_size_and_time(store):
    data = HEADER % b"label"
    store.put("a.md", data)
    (memory,) = store.scan().memories
    assert (memory.name, memory.type, memory.description) == ("label", "user", "d")
    assert memory.size == len(data)
    assert memory.mtime > 1e9


LONG = "word " * 2000
HEADERS = [
    "---\nname: n\n---\n",
    "\ufeff---\nname: n\n---\n",
    " ---\nname: n\n---\n",
    "--- \r\nname: n\r\n--- \r\nText",
    "---\nname: n\n---",
    f"---\ndescription: {LONG}\nname: n\n---\nText",
    f"---\n---x\ndescription: {LONG}\nname: n\n---\nText",
    f"---\n--- \nname: no\n---\n{LONG}",
    "---\nx: " + "y" * (4096 - 11) + "\n---z\nname: n\n---\n",
    "---\nx: " + "y" * (4096 - 12) + "\n---z\nname: n\n---\n",
    "---\nx: " + "y" * (4096 - 10) + "\nname: n\n---\n",
    "---\nx: " + "é" * 30_000 + "\nname: n\n---\n",
    "---\nname: no closing fence",
    "+++\nname: toml\n+++\n",
    "",
]


@pytest.mark.parametrize("text", HEADERS, ids=lambda text: repr(text[:30]) + str(len(text)))
def test_a_scan_reads_the_same_header_as_a_whole_reader(store, text):
    store.put("a.md", text.encode())
    (memory,) = store.scan().memories
    whole = frontmatter.read(text)
    assert memory.values == whole.values
    assert memory.name == (whole.get("name") or "a")


def test_a_header_of_a_megabyte_is_read_or_reported_never_passed_over(store):
    store.put("a.md", b"---\nx: " + b"y" * 1_000_000 + b"\nname: n\n---\n")
    store.put("b.md", HEADER % b"b")
    scan = store.scan()
    names = {memory.path: memory.name for memory in scan.memories}
    assert names["b.md"] == "b"
    assert names["a.md"] == "n" or {finding.path for finding in scan.findings} == {"a.md"}


def test_an_odd_header_is_a_finding_with_its_line_and_hides_nothing(store):
    store.put("a.md", b"---\ntype: user\ntype: value\n---\n")
    store.put("b.md", HEADER % b"b")
    scan = store.scan()
    assert len(scan.memories) == 2
    (finding,) = scan.findings
    assert (finding.kind, finding.path, finding.line) == ("malformed-header", "a.md", 3)
    assert finding.fix


# -- the index and the shape ---------------------------------------------------------------


def test_a_store_without_files_is_no_error(store):
    assert store.files() == []
    assert store.scan().memories == []
    assert store.index() is None
    assert store.standalone() is None
    assert store.tree() == {}
    assert store.index_path == INDEX
    assert store.shape in ("no directory", "empty")


def test_the_index_is_memory_md(store):
    store.put("a.md", HEADER % b"a")
    assert store.index() is None
    assert store.shape == "files without an index"
    store.put(INDEX, b"- [A](a.md) \xe2\x80\x94 d\n")
    assert store.index() == b"- [A](a.md) \xe2\x80\x94 d\n"
    assert store.index_path == INDEX
    assert store.shape == "index + files"
    assert store.standalone() is None


def test_a_readme_that_points_at_the_memories_serves_as_the_index(store):
    store.put("a.md", HEADER % b"a")
    store.put(README, b"# Memories\n\n- [A](a.md)\n")
    assert (store.index_path, store.shape) == (README, "index + files")
    assert store.index() == b"# Memories\n\n- [A](a.md)\n"
    store.put(INDEX, b"- [A](a.md)\n")
    assert store.index_path == INDEX


def test_a_readme_that_points_nowhere_is_only_a_readme(store):
    store.put("a.md", HEADER % b"a")
    store.put(README, b"# How to build\n\nRun make.\n")
    assert store.index_path == INDEX
    assert store.index() is None


@pytest.mark.parametrize(
    ("index", "alone"),
    [
        (b"# Notes\n\n- Use tabs.\n- Run make.\n", True),
        (b"---\nname: x\n---\n\n- Use tabs.\n", True),
        (b"", False),
        (b"# Memory\n", False),
        (b"- [Gone](gone.md) - x\n", False),
        (b"# Notes\n\n- Use tabs.\n- [Gone](gone.md) - x\n", False),
    ],
)
def test_an_index_with_content_and_no_files_is_itself_the_memory(store, index, alone):
    store.put(INDEX, index)
    assert store.standalone() == (index if alone else None)
    assert store.shape == ("standalone index" if alone else "empty")
    assert [memory.path for memory in store.scan().memories] == ([INDEX] if alone else [])
    store.put("a.md", HEADER % b"a")
    assert store.standalone() is None
    assert [memory.path for memory in store.scan().memories] == ["a.md"]


# -- what the history asks -----------------------------------------------------------------


def test_the_tree_has_every_file_that_is_not_hidden_nor_another_stores(store):
    kept = ["a.md", INDEX, "deep/b.md", "logs/c.txt", "archive/d.md", "notes.txt"]
    for path in (*kept, "team/e.md", "team/deep/f.md", ".hidden.md", ".git/config", "deep/.x/g.md"):
        store.put(path, b"x")
    assert sorted(store.tree()) == sorted(kept)


def test_facts_change_whenever_the_file_does(store):
    store.put("a.md", b"one")
    first = store.facts("a.md")
    assert first
    assert store.tree() == {"a.md": first}
    store.put("a.md", b"two")
    assert store.facts("a.md") not in (None, first)
    assert store.tree() == {"a.md": store.facts("a.md")}
    store.drop("a.md")
    assert store.facts("a.md") is None
    assert store.tree() == {}


def test_sweeping_takes_no_file_of_anybody(store):
    for path in ("a.md", "deep/b.md", ".memdir.md", "team/.memdir-x.tmp", "logs/x.tmp"):
        store.put(path, b"x")
    store.sweep()
    for path in ("a.md", "deep/b.md", ".memdir.md", "team/.memdir-x.tmp", "logs/x.tmp"):
        assert store.read(path) == b"x"

"""What every layout promises; a new file in adapters/layouts is tested here by being there."""

import inspect

import pytest

from memdir.errors import BadInput, Missing
from memdir.hot import memory as memory_module
from memdir.hot.memory import INDEX, is_memory_file, read_memory
from tests.conformance import own
from tests.helpers.tables import cases, rows

HEADER = b"---\nname: %s\ndescription: d\ntype: user\n---\n\nText\n"


def layout_class(member: str):
    """The class of a member: the public one that carries the member's name."""
    found = [each for _, each in inspect.getmembers(own.load("layouts", member), inspect.isclass)]
    named = [each for each in found if getattr(each, "layout", "") == member]
    return max(named, key=lambda each: len(each.__mro__))


MEMBERS = own.members("layouts")
MARKDOWN = [name for name in MEMBERS if layout_class(name)("memory").is_memory("a.md")]
# Places of memories in the layouts that keep something else; see `each`.
PLACES = {"records": ("decisions/a.json", "decisions/b.json", "runbooks/a.json")}
RECORD = rows(globals(), "RECORD")[0]
CONTENTS = dict(rows(globals(), "CONTENTS"))


@pytest.fixture(params=MARKDOWN)
def store(request, tmp_path):
    """A layout of Markdown files."""
    return layout_class(request.param)(str(tmp_path / "memory"))


@pytest.fixture(params=MEMBERS)
def each(request, tmp_path):
    """Any layout, whatever it keeps."""
    return layout_class(request.param)(str(tmp_path / "memory"))


def places(store):
    return PLACES.get(store.layout, ("a.md", "b.md", "deep/a.md"))


def content(store, path):
    """The bytes of a valid memory for this place."""
    if store.layout in PLACES:
        return RECORD % CONTENTS[path.split("/")[0]]
    return HEADER % b"Label"


# -- what holds for all --------------------------------------------------------------------


def test_what_was_put_anywhere_is_read_until_it_is_dropped(each):
    for path in places(each):
        each.put(path, content(each, path))
        each.put(path, content(each, path) + b"\n")
        assert each.read(path) == content(each, path) + b"\n"
        assert each.exists(path)
    assert each.files() == sorted(places(each))
    for path in places(each):
        each.drop(path)
        with pytest.raises(Missing):
            each.read(path)
    assert each.files() == []


def test_every_memory_is_seen_as_markdown(each):
    for path in places(each):
        each.put(path, content(each, path))
        memory = read_memory(path, each.view(path), 0)
        assert memory.description
        assert memory.type in (path.split("/")[0].removesuffix("s"), "user")
        assert each.view(path, content(each, path)) == each.view(path)
        assert each.is_memory(path)
    scan = each.scan()
    assert sorted(memory.path for memory in scan.memories) == each.files()
    assert scan.findings == []
    assert all(memory.name and memory.mtime > 1e9 and memory.size for memory in scan.memories)


def test_a_broken_memory_hides_no_other(each):
    one, broken, other = places(each)
    each.put(one, content(each, one))
    each.put(broken, b"\xff\xfe\0{")
    each.put(other, content(each, other))
    scan = each.scan()
    assert {one, other} <= {memory.path for memory in scan.memories}
    assert broken in {finding.path for finding in scan.findings}
    assert each.read(broken) == b"\xff\xfe\0{"


@cases("path")
def test_no_path_leads_out_of_any_layout(each, tmp_path, path):
    (tmp_path / "x.md").write_bytes(b"outside")
    inside = places(each)[0]
    each.put(inside, content(each, inside))
    for call in (each.read, each.drop, lambda path: each.put(path, b"new")):
        with pytest.raises(BadInput, match="is not a path below the store"):
            call(path)
    assert (tmp_path / "x.md").read_bytes() == b"outside"
    assert each.files() == [inside]


def test_the_facts_of_any_file_change_whenever_it_does(each):
    path = places(each)[0]
    each.put(path, content(each, path))
    first = each.facts(path)
    assert len(first) == 4 and all(type(fact) is int for fact in first)  # what a catalog keeps
    assert first[2] == len(content(each, path))
    assert each.tree() == {path: first}
    each.put(path, content(each, path) + b" ")
    assert each.facts(path) not in (None, first)
    assert each.tree() == {path: each.facts(path)}
    each.drop(path)
    assert each.facts(path) is None
    assert each.tree() == {}


def test_two_layouts_in_one_directory_keep_apart_what_is_theirs(tmp_path):
    root = str(tmp_path / "memory")
    kept = {}
    for member in ("markdown", "records"):
        store = layout_class(member)(root)
        for path in places(store):
            store.put(path, content(store, path))
        store.put(store.index_path, b"")
        kept[member] = {*places(store), store.index_path}
    for member, paths in kept.items():
        assert set(layout_class(member)(root).tree()) == paths
        assert {one.path for one in layout_class(member)(root).scan().memories} < paths


# -- what is a memory ----------------------------------------------------------------------


@cases("path")
def test_foreign_files_are_no_memories_and_stay(store, path):
    store.put("a.md", HEADER % b"a")
    store.put(path, b"theirs")
    assert store.files() == ["a.md"]
    assert [memory.path for memory in store.scan().memories] == ["a.md"]
    assert store.read(path) == b"theirs"
    assert not is_memory_file(path)


LONG = "word " * 2000


@cases("text", ids=lambda text: repr(text[:30]) + str(len(text)))
def test_a_scan_reads_the_same_header_as_a_whole_reader(store, text):
    store.put("a.md", text.encode())
    (memory,) = store.scan().memories
    whole = memory_module.read_header(text)
    assert memory.values == whole.values
    assert memory.name == (whole.get("name") or "a")


def test_an_odd_header_is_a_finding_with_its_line_and_hides_nothing(store):
    store.put("a.md", b"---\ntype: user\ntype: value\n---\n")
    store.put("b.md", HEADER % b"b")
    scan = store.scan()
    assert len(scan.memories) == 2
    (finding,) = scan.findings
    assert (finding.kind, finding.path, finding.line) == ("malformed-header", "a.md", 3)
    assert finding.fix


# -- what the history asks -----------------------------------------------------------------


def test_the_tree_has_every_file_that_is_not_hidden_nor_another_stores(store):
    kept = ["a.md", INDEX, "deep/b.md", "logs/c.txt", "archive/d.md", "notes.txt"]
    for path in (*kept, "team/e.md", "team/deep/f.md", ".hidden.md", ".git/config", "deep/.x/g.md"):
        store.put(path, b"x")
    assert sorted(store.tree()) == sorted(kept)

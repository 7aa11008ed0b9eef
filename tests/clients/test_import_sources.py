"""`memdir import` from what other tools keep: taken whole, told where from, theirs untouched."""

import json
from pathlib import Path

import pytest

from memdir.clients.other_tools import list_import_sources
from memdir.hot.memory import read_header
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, tree

pytestmark = pytest.mark.usefixtures("project")
MEM0 = table("clients", "mem0")


def put(top: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = top / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


@pytest.fixture
def laid(home, project, tmp_path) -> dict[str, list[str]]:
    """Every source in its usual place or named, with the arguments that name it."""
    tops = {"home": home, "project": project, "tmp": tmp_path}
    for name, text in table("clients", "laid").items():
        top, _, path = name.partition("/")
        put(tops[top], **{path: text.replace("$HERE", str(project))})
    put(tmp_path, **{"mem0.json": json.dumps(MEM0)})
    named = {"memory-tool": "memories", "mem0": "mem0.json"}
    return {name: [str(tmp_path / named[name])] if name in named else [] for name in TAKEN}


TAKEN = table("clients", "taken")
BROKEN = {"cursor", "mem0"}  # with an entry that nobody can read


def test_every_source_is_tried():
    assert sorted(TAKEN) == list_import_sources()


@pytest.mark.parametrize("source", TAKEN)
def test_a_source_is_taken_whole_once_and_stays_as_it_is(source, laid, home, project, store):
    theirs = tree(home / ".codex", home / ".gemini", home / "basic-memory", project)
    dry = memdir("import", source, *laid[source], "--dry-run", "--json")
    assert dry.json["dry_run"] and not store.exists()
    answer = memdir("import", source, *laid[source], "--json")
    assert answer.code == int(source in BROKEN), answer.text
    made = {
        one["path"]: one["change"] for one in answer.json["files"] if one["path"] != "MEMORY.md"
    }
    assert made == dict.fromkeys(TAKEN[source], "created")
    after = tree(store)
    again = memdir("import", source, *laid[source], "--json")
    assert {one["change"] for one in again.json["files"]} == {"skipped"}
    assert tree(store) == after
    assert memdir("log", "--json").json["changes"][0]["reason"].startswith(f"from {source}")
    assert tree(home / ".codex", home / ".gemini", home / "basic-memory", project) == theirs
    assert memdir("undo").code == 0
    assert not list(store.glob("*.md"))


def header(store: Path, name: str) -> dict[str, str]:
    return read_header((store / name).read_text()).values


def test_a_memory_tells_where_it_comes_from(laid, store):
    memdir("import", "mem0", *laid["mem0"])
    found = header(store, "ann-prefers-morning-meetings.md")
    assert found["metadata.source"] == "import"
    assert found["metadata.imported_from"] == "mem0 memory m1"
    assert (found["type"], found["metadata.modified"]) == ("preference", "2025-04-01T10:00:00Z")


def test_entries_that_cannot_be_read_are_named_and_the_rest_is_taken(laid):
    answer = memdir("import", "mem0", *laid["mem0"], "--json").json
    assert [one["path"] for one in answer["skipped"]] == ["memory m2", "entry 3"]


def test_what_another_project_learned_stays_there(laid, store):
    answer = memdir("import", "codex", "--json").json
    skipped = {one["path"]: one["message"] for one in answer["skipped"]}
    assert "/somewhere/else" in skipped["MEMORY.md: another project"]
    assert not any("Nothing for us" in path.read_text() for path in store.glob("*.md"))
    assert memdir("import", "codex", "--scope", "user").text.startswith("imported 4 of 4")


def test_rules_and_notes_keep_their_words_and_their_keys(laid, store):
    memdir("import", "cursor")
    memdir("import", "basic-memory")
    rule, note = header(store, "tests.md"), header(store, "decisions-auth-design.md")
    assert (rule["globs"], rule["type"]) == ("tests/**", "feedback")
    assert rule["description"] == "How tests are named"
    assert (note["name"], note["type"], note["permalink"]) == (
        "Auth Design",
        "reference",
        "auth-design",
    )
    assert note["metadata.basic_memory_type"] == "note"
    body = (store / "decisions-auth-design.md").read_text()
    assert body.endswith("\n- depends_on [[User Schema]]\n")


@pytest.mark.parametrize(
    "text", ["", "{", "[1, 2", "7", "[" * 100_000, '{"results": {}}', "\x00", '"\\ud800"']
)
def test_files_that_are_something_else_are_refused(text, tmp_path, store):
    (tmp_path / "x.json").write_text(text)
    refused = memdir("import", "mem0", str(tmp_path / "x.json"), "--json")
    assert refused.code == 1 and "nothing was imported" in refused.error["message"]
    assert refused.error["next"] and not store.exists()


def test_links_in_a_repository_are_not_followed(project, tmp_path, store):
    put(tmp_path / "away", **{"key.mdc": "private"})
    (project / ".cursor").mkdir()
    (project / ".cursor/rules").symlink_to(tmp_path / "away")
    assert memdir("import", "cursor", "--json").code == 1
    (project / ".cursor/rules").unlink()
    put(project / ".cursor/rules", **{"a.mdc": "Mine.\n"})
    (project / ".cursor/rules/b.mdc").symlink_to(tmp_path / "away/key.mdc")
    answer = memdir("import", "cursor", "--json").json
    assert [one["path"] for one in answer["files"] if "MEMORY" not in one["path"]] == ["a.md"]
    assert [one["path"] for one in answer["skipped"]] == ["b.mdc"]


def test_entries_that_would_get_one_name_are_all_taken(project, tmp_path, store):
    put(project / ".cursor/rules", **{"a.mdc": "One.\n", "a.md": "Two.\n", "A.mdc": "Three.\n"})
    tool = put(tmp_path / "tool", **{"notes.txt": "Four.\n", "notes.md": "Five.\n"})
    for words in (["cursor"], ["memory-tool", str(tool)]):
        assert memdir("import", *words).code == 0
        before = tree(store)
        again = memdir("import", *words, "--json")
        assert again.code == 0 and tree(store) == before
    names = {path.name: path.read_text() for path in store.glob("*.md") if path.name != "MEMORY.md"}
    assert {*names} == {"A.md", "a-2.md", "a-3.md", "notes.md", "notes-2.md"}
    for word in ("One.", "Two.", "Three.", "Four.", "Five."):
        assert sum(word in text for text in names.values()) == 1

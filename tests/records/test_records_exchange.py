"""Records of older versions and other projects come in; as Markdown they go out and come back."""

import json

import pytest

from tests.helpers.hostile import inputs
from tests.helpers.recorded import PATH, TITLE, draft
from tests.helpers.terminal import memdir, tree
from tests.records.test_records_cli import create, md5, records

pytestmark = pytest.mark.usefixtures("project")

OLD = {
    "schema_version": "1.0",
    "category": "decision",
    "id": "use-uv",
    "title": "  Use uv -> not pip  ",
    "created_at": "2025-05-01",
    "updated_at": "2025-05-01T10:00:00+02:00",
    "tags": "Tools, Python",
    "content": draft()["content"],
    "mood": "good",
}


@pytest.fixture
def root(project):
    return project / ".claude/memory"


@pytest.fixture
def other(tmp_path):
    """A project with records of an older version of the plugin: no record_status, no changes."""
    folder = tmp_path / "other/.claude/memory/decisions"
    folder.mkdir(parents=True)
    (folder / "use-uv.json").write_text(json.dumps(OLD))
    (folder / "broken.json").write_text("{")
    (folder.parent / "memory-config.json").write_text('{"max_memories_per_category": 7}')
    return tmp_path / "other"


def test_an_older_version_is_taken_over_with_every_repair_told(root, other):
    before = tree(other)
    answer = records("import", str(other), "--json")
    assert answer.code == 1  # one of them is broken
    assert [one["path"] for one in answer.json["refused"]] == ["decisions/broken.json"]
    repairs = " ".join(answer.json["repairs"]["decisions/use-uv.json"])
    for word in ("record_status", "tags", "title", "mood"):
        assert word in repairs
    record = json.loads((root / "decisions/use-uv.json").read_bytes())
    assert (record["record_status"], record["tags"]) == ("active", ["tools", "python"])
    assert record["created_at"] == "2025-05-01T00:00:00Z"
    assert "mood" in json.dumps(record["changes"])
    assert (root / "memory-config.json").exists()
    assert "[DECISION] Use uv" in (root / "index.md").read_text()
    assert tree(other) == before
    again = records("import", str(other), "--json").json
    assert [one["change"] for one in again["changes"]] == ["skipped"]
    assert memdir("undo", "--scope", "records").code == 0
    assert not (root / "decisions/use-uv.json").exists()


def test_nothing_is_overwritten_by_an_import(root, other):
    records("import", str(other))
    path = root / "decisions/use-uv.json"
    record = json.loads(path.read_bytes()) | {"title": "Use uv for all"}
    path.write_text(json.dumps(record))
    before = path.read_bytes()
    answer = records("import", str(other), "--json")
    assert answer.code == 1
    assert path.read_bytes() == before


def test_the_records_that_stand_here_are_brought_into_todays_form(root):
    create()
    (root / "decisions/Use_UV.json").write_text(json.dumps(OLD))
    answer = records("import", "--json")
    assert answer.code == 0, answer.text
    assert [one["path"] for one in answer.json["changes"]] == ["decisions/use-uv.json"]
    assert not (root / "decisions/Use_UV.json").exists()
    assert records("index", "--validate").code == 0
    assert records("import", "--json").json["changes"] == []


def test_records_go_out_as_markdown_and_come_back_as_they_were(root, project, tmp_path):
    create()
    create("A runbook", "runbook")
    records("retire", "a-runbook", "--reason", "old")
    before = {path.name: path.read_bytes() for path in root.rglob("*.json")}
    target = tmp_path / "out"
    assert records("export", str(target), "--all").code == 0
    names = {"decision_use_sqlite_for_the_catalog.md", "runbook_a_runbook.md"}
    assert {path.name for path in target.iterdir()} == names
    assert "## Rationale" in (target / "decision_use_sqlite_for_the_catalog.md").read_text()
    answer = records("import", str(target), "--root", str(tmp_path / "back"), "--json")
    assert answer.code == 0, answer.text
    back = {path.name: path.read_bytes() for path in (tmp_path / "back").rglob("*.json")}
    assert back == before


def test_records_can_be_saved_as_memories_of_a_scope_and_read_from_there(root, tmp_path):
    create()
    before = (root / PATH).read_bytes()
    assert records("export", "--to", "project", "--json").json["changes"][0]["change"] == "created"
    (listed,) = memdir("list", "--json").json["memories"]
    assert (listed["type"], listed["description"]) == ("decision", TITLE)
    assert records("import", "--from", "project", "--root", str(tmp_path / "back")).code == 0
    assert (tmp_path / "back" / PATH).read_bytes() == before


def test_a_dry_run_imports_and_exports_nothing(root, other, project, tmp_path):
    create()
    before = tree(project, other)
    answer = records("import", str(other), "--dry-run", "--json").json
    assert (answer["dry_run"], answer["changes"][0]["change"]) == (True, "created")
    assert records("export", str(tmp_path / "out"), "--dry-run").code == 0
    assert not (tmp_path / "out").exists()
    assert tree(project, other) == before


# -- the hostile inputs of ../shared ----------------------------------------------------------


def update(root, new: dict, hash: str | None = None):
    words = ("write", "--action", "update", "--target", PATH, "--input", "-", "--json")
    return records(*words, "--hash", md5(root / PATH) if hash is None else hash, given=new)


def entry(root) -> dict:
    standing = json.loads((root / PATH).read_bytes())
    return {"changes": [*standing["changes"], {"summary": "because"}]}


def create_again(root, row):
    records("retire", "use-sqlite-for-the-catalog")
    return create(TITLE, "decision", "--json")


def revive(root, row):
    records("retire", "use-sqlite-for-the-catalog")
    return update(root, entry(root) | {"record_status": "active"})


def give_confidence(root, row):
    given = json.dumps(entry(root))[:-1] + f', "confidence": {row.value}}}'
    words = ("write", "--action", "update", "--target", PATH, "--input", "-", "--json")
    return memdir("records", *words, "--hash", md5(root / PATH), stdin=given.encode())


def give_json(root, row):
    words = ("write", "--action", "create", "--category", "decision", "--input", "-", "--json")
    return memdir("records", *words, stdin=row.value.encode())


def give_version(root, row):
    record = json.loads((root / PATH).read_bytes()) | {"schema_version": json.loads(row.value)}
    (root / PATH).write_text(json.dumps(record))
    return update(root, entry(root))


HOSTILE = {
    "hash": lambda root, row: update(root, entry(root), row.value),
    "record_status": revive,
    "created_at": lambda root, row: update(
        root, entry(root) | {"created_at": row.value.split()[0]}
    ),
    "changes": lambda root, row: update(root, entry(root)) and update(root, {"changes": []}),
    "confidence": give_confidence,
    "json": give_json,
    "create": create_again,
    "schema_version": give_version,
}


@pytest.mark.parametrize("row", inputs("structured records and optimistic concurrency"))
def test_a_hostile_input_is_refused_and_the_record_stands(row, root):
    if row.field not in HOSTILE:
        pytest.skip("see test_records_batch.py")
    if "60 updates" in row.setup:
        pytest.skip("see test_of_many_changes_the_newest_fifty_are_kept")
    create()
    answer = HOSTILE[row.field](root, row)
    assert answer.code == 1, answer.text
    assert answer.error["record_code"]
    before = (root / PATH).read_bytes()
    assert memdir("log", "--scope", "records").code == 0
    assert (root / PATH).read_bytes() == before


def test_of_many_changes_the_newest_fifty_are_kept(root):
    create()
    standing = json.loads((root / PATH).read_bytes())
    standing["changes"] = [
        {"date": "2026-03-02T12:00:00Z", "summary": f"number {at}"} for at in range(50)
    ]
    (root / PATH).write_text(json.dumps(standing))
    answer = update(root, entry(root))
    assert answer.code == 0, answer.text
    assert any("oldest dropped" in remark for remark in answer.json["remarks"])
    changes = json.loads((root / PATH).read_bytes())["changes"]
    assert (len(changes), changes[0]["summary"]) == (50, "number 1")

"""Every action on every state of a record: what it does, what it refuses, what it leaves alone."""

import json
import os

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.errors import MemdirError
from memdir.format.draft import (
    ARCHIVED,
    CREATED,
    RESTORED,
    RETIRED,
    SKIPPED,
    UPDATED,
)
from memdir.recall import answer
from memdir.records.record import RecordError, record_settings
from memdir.records.write import save_record
from tests.helpers.opened import DAY
from tests.helpers.recorded import PATH, TITLE, Recorded, draft
from tests.helpers.samples import CONTENTS
from tests.helpers.tables import toml_cases as cases


@pytest.fixture
def kept(tmp_path):
    return Recorded(tmp_path)


def bring(kept: Recorded, state: str) -> None:
    """The one record of these tests in a state."""
    if state == "none":
        return
    kept.create()
    if state in ("retired", "archived"):
        kept.act({"retired": "delete"}.get(state, "archive"), PATH, reason="old")
    elif state == "broken":
        kept.write(PATH, '{"title": ')
    elif state == "newer":
        kept.write(PATH, json.dumps(kept.record() | {"schema_version": "99.0"}))


def act(kept: Recorded, action: str):
    if action in ("create", "same"):
        return kept.create(tags=["storage" if action == "same" else "other"])
    new, known = {"changes": [{"summary": "because"}], "confidence": 0.9}, ""
    if action == "update":
        standing = (kept.root / PATH).exists()
        known = kept.hash() if standing else "0" * 32
    return kept.act(action, PATH, draft=new, expected=known, reason="why")


KINDS = (CREATED, UPDATED, RETIRED, ARCHIVED, RESTORED, SKIPPED)


@cases("records")
def test_an_action_on_a_state(kept, action, state, outcome):
    bring(kept, state)
    kept.now += 60
    before = kept.files() if kept.root.exists() else {}
    if outcome in KINDS:
        (change,) = act(kept, action).changes
        assert change.kind == outcome
        assert (change.path, change.name) == (PATH, "use-sqlite-for-the-catalog")
        assert (kept.files() == before) == (outcome == SKIPPED)
        assert kept.in_step()
        return
    with pytest.raises(RecordError) as refused:
        act(kept, action)
    assert refused.value.record_code.removesuffix("_ERROR") == outcome
    assert refused.value.fix
    assert (kept.files() if kept.root.exists() else {}) == before


# -- create --------------------------------------------------------------------------------


def test_a_create_cannot_claim_what_the_store_decides(kept):
    kept.create(
        id="other",
        created_at="2001-01-01T00:00:00Z",
        times_updated=9,
        record_status="archived",
        archived_at="2001-01-01T00:00:00Z",
    )
    record = kept.record()
    assert record["id"] == "use-sqlite-for-the-catalog"
    assert record["created_at"] == "2026-03-02T12:00:00Z"
    assert (record["times_updated"], record["record_status"]) == (0, "active")
    assert "archived_at" not in record


def test_a_retired_name_is_free_again_after_a_day(kept):
    bring(kept, "retired")
    kept.now += DAY - 1
    with pytest.raises(RecordError, match="24 hours"):
        kept.create()
    record = kept.record()
    for odd in ({"retired_at": "2030-01-01T00:00:00Z"}, {"retired_at": "x", "updated_at": "x"}):
        kept.write(PATH, json.dumps(record | odd))
        with pytest.raises(RecordError):
            kept.create()
    kept.write(PATH, json.dumps(record))
    kept.now += 1
    (change,) = kept.create().changes
    assert change.kind == CREATED
    assert kept.record()["record_status"] == "active"


def test_the_maximum_of_a_category_refuses_with_the_way_out(kept):
    kept.settings(max_memories_per_category=2)
    kept.create("First of all")
    kept.create("Second place")
    with pytest.raises(RecordError) as refused:
        kept.create("Third wheel")
    assert refused.value.record_code == "CREATE_ERROR"
    assert "max_memories_per_category" in refused.value.fix
    assert kept.create("A runbook", "runbook").changes[0].kind == CREATED
    kept.act("delete", "first-of-all")
    assert kept.create("Third wheel").changes[0].kind == CREATED
    with pytest.raises(RecordError) as refused:
        kept.act("restore", "first-of-all")
    assert refused.value.record_code == "RESTORE_ERROR"


def test_a_secret_does_not_enter_a_shared_store(kept):
    key = "AKIA" + "IOSFODNN7EXAMPLZ"
    with pytest.raises(RecordError) as refused:
        kept.create(content={"context": f"The key is\n{key}"})
    assert refused.value.record_code == "SECURITY_ERROR"
    assert key not in str(refused.value)
    kept.create()
    with pytest.raises(RecordError) as refused:
        kept.update(content={"context": f"aws_key = {key}"})
    assert refused.value.record_code == "SECURITY_ERROR"


TARGETS = ["../x.json", "decisions/../../x.json", "/etc/x.json", "decisions/x.md", "x.json"]
TARGETS += ["decisions/sub/x.json", "decisions/.x.json", "decisions/X.json", "other/x.json"]
TARGETS += [
    "decisions/x\0.json",
    "decisions/" + "x" * 90 + ".json",
    "decisions\\x.json",
    "~/x.json",
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("action", ["create", "update", "delete"])
def test_a_target_that_is_no_place_of_a_record_is_refused(kept, tmp_path, target, action):
    kept.create()
    before = kept.files()
    with pytest.raises(RecordError) as refused:
        kept.act(action, target, draft=draft(), expected="0" * 32)
    assert refused.value.record_code in ("PATH_ERROR", "READ_ERROR")
    assert kept.files() == before


# -- update --------------------------------------------------------------------------------


def test_a_title_of_other_words_renames_the_file_and_undo_brings_it_back(kept):
    kept.create()
    before = kept.files()
    (change,) = kept.update(title="Postgres holds the catalog now").changes
    assert change.path == "decisions/postgres-holds-the-catalog-now.json"
    assert kept.record(change.path)["id"] == "postgres-holds-the-catalog-now"
    assert not (kept.root / PATH).exists()
    assert PATH not in kept.index
    review.undo_and_hold_again(kept.app())
    assert kept.files() == before


# -- save, and the ways of several ---------------------------------------------------------


def test_saving_the_same_title_again_changes_the_record_and_loses_nothing(kept):
    save_record(kept.app(), "decision", draft(), "")
    same = save_record(kept.app(), "decision", draft(), "")
    assert [change.kind for change in same.changes] == [SKIPPED]
    more = {"title": TITLE, "tags": ["sqlite"], "content": {"status": "deprecated"}}
    save_record(kept.app(), "decision", more, "we moved on")
    record = kept.record()
    assert record["tags"] == ["storage", "sqlite"]
    assert record["content"] == CONTENTS["decision"] | {"status": "deprecated"}
    assert record["changes"][0]["summary"] == "we moved on"
    assert record["times_updated"] == 1


# -- history -------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["create", "update", "delete", "archive"])
def test_undo_brings_every_file_back_byte_for_byte(kept, action):
    kept.create()
    kept.create("Another one", "runbook")
    before = kept.files()
    if action == "create":
        kept.create("A third one")
    else:
        act(kept, action)
    assert kept.files() != before
    review.undo_and_hold_again(kept.app())
    assert kept.files() == before
    review.undo_and_hold_again(kept.app())
    assert kept.files() != before


@pytest.fixture
def filled(tmp_path):
    filled = Recorded(tmp_path)
    filled.create()
    return filled


def recall(filled: Recorded, prompt: str) -> list[str]:
    found = answer.recall([("records", filled.app())], prompt)
    return [one.memory.path for one in found.chosen]


BROKEN = {
    "no JSON": b'{"title": ',
    "not UTF-8": b"\xff\xfe{}",
    "a list": b"[]",
    "no title": b'{"category": "decision", "content": {}}',
    "nested": b'{"a":' * 5000,
    "empty": b"",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_a_finding_and_hides_no_other(filled, data):
    filled.write("decisions/broken.json", data)
    listed, (finding,) = ages.list_memory_ages(filled.app())
    assert [one.memory.path for one in listed] == [PATH]
    assert finding.path == "decisions/broken.json"
    assert finding.fix
    assert recall(filled, "which search does the catalog need, SQLite with FTS5?") == [PATH]
    filled.create("Another record")
    assert filled.bytes("decisions/broken.json") == data
    assert filled.in_step()


def test_links_and_pipes_are_never_followed(filled, tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_bytes(filled.bytes())
    (filled.root / "decisions/link.json").symlink_to(outside)
    (filled.root / "runbooks").symlink_to(tmp_path)
    os.mkfifo(filled.root / "decisions/pipe.json")
    (filled.root / "decisions/folder.json").mkdir()
    listed, findings = ages.list_memory_ages(filled.app())
    assert [one.memory.path for one in listed] == [PATH]
    odd = {"decisions/link.json", "decisions/pipe.json", "decisions/folder.json", "runbooks"}
    assert {one.path for one in findings} == odd
    before = outside.read_bytes()
    with pytest.raises(MemdirError):
        filled.create("A runbook", "runbook")
    assert outside.read_bytes() == before
    assert not (tmp_path / "a-runbook.json").exists()


def test_settings_that_are_a_link_are_not_read(filled, tmp_path):
    (tmp_path / "other.json").write_text('{"max_memories_per_category": 1}')
    (filled.root / "memory-config.json").symlink_to(tmp_path / "other.json")
    settings, (warning,) = record_settings(filled.app().store)
    assert settings.max_memories_per_category == 100
    assert warning.path == "memory-config.json"


def test_a_linked_directory_is_refused(tmp_path):
    filled = Recorded(tmp_path)
    filled.root.parent.mkdir()
    filled.root.symlink_to(tmp_path)
    with pytest.raises(MemdirError, match="symbolic link"):
        filled.app()

"""Every action on every state of a record: what it does, what it refuses, what it leaves alone."""

import json

import pytest

from memdir.capture import review
from memdir.format.draft import ARCHIVED, CREATED, RESTORED, RETIRED, SKIPPED, UPDATED
from memdir.records.refusal import RecordError
from memdir.records.write import Request, save_record, write
from memdir.store import look
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
    if state == "retired":
        kept.act("delete", PATH, reason="old")
    elif state == "archived":
        kept.act("archive", PATH, reason="old")
    elif state == "broken":
        kept.write(PATH, '{"title": ')
    elif state == "newer":
        kept.write(PATH, json.dumps(kept.record() | {"schema_version": "99.0"}))


def act(kept: Recorded, action: str):
    if action == "create":
        return kept.create(tags=["other"])
    if action == "same":
        return kept.create()
    if action == "update":
        entry = {"date": "2026-03-02T12:00:00Z", "summary": "because"}
        old = []
        if (kept.root / PATH).exists() and b"changes" in kept.bytes():
            old = kept.record()["changes"]
        new = {"confidence": 0.9, "changes": [*old, entry]}
        known = kept.hash() if (kept.root / PATH).exists() else "0" * 32
        return kept.act("update", PATH, draft=new, expected=known)
    return kept.act(action, PATH, reason="why")


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


def test_a_category_that_is_switched_off_takes_nothing(kept):
    kept.settings(categories={"decision": {"enabled": False}})
    before = kept.files()
    with pytest.raises(RecordError) as refused:
        kept.create()
    assert "categories.decision.enabled" in refused.value.fix
    assert kept.files() == before


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


def test_a_target_in_the_folder_of_another_category_is_refused(kept):
    with pytest.raises(RecordError) as refused:
        kept.act("create", "runbooks/x.json", draft=draft(), type="decision")
    assert refused.value.record_code == "PATH_ERROR"


def test_a_draft_of_another_category_is_refused(kept):
    with pytest.raises(RecordError) as refused:
        kept.act("create", type="decision", draft=draft(category="runbook"))
    assert refused.value.record_code == "VALIDATION_ERROR"


# -- update --------------------------------------------------------------------------------


@pytest.mark.parametrize("digest", ["md5", "sha256"])
def test_an_update_is_made_on_the_version_that_was_read(kept, digest):
    import hashlib

    kept.create()
    read = hashlib.new(digest, kept.bytes()).hexdigest()
    kept.update(hash=read, confidence=0.9)
    assert kept.record()["confidence"] == 0.9
    before = kept.bytes()
    with pytest.raises(RecordError) as refused:
        kept.update(hash=read, confidence=0.95)
    assert (refused.value.record_code, refused.value.code) == ("OCC_CONFLICT", "conflict")
    assert refused.value.theirs == before
    assert b"0.95" in refused.value.ours
    assert kept.bytes() == before


def test_a_title_of_other_words_renames_the_file_and_undo_brings_it_back(kept):
    kept.create()
    before = kept.files()
    (change,) = kept.update(title="Postgres holds the catalog now").changes
    assert change.path == "decisions/postgres-holds-the-catalog-now.json"
    assert kept.record(change.path)["id"] == "postgres-holds-the-catalog-now"
    assert not (kept.root / PATH).exists()
    assert PATH not in kept.index
    review.undo_changes(kept.app())
    assert kept.files() == before


def test_a_new_name_that_is_taken_leaves_the_old_one(kept):
    kept.create()
    kept.create("Postgres holds the catalog now")
    done = kept.update(title="Postgres holds the catalog now")
    assert done.changes[0].path == PATH
    assert "is taken" in done.remarks[0]
    assert kept.in_step()


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
    review.undo_changes(kept.app())
    assert kept.files() == before
    review.undo_changes(kept.app())
    assert kept.files() != before


def test_undo_of_an_older_change_leaves_the_index_in_step(kept):
    kept.create()
    kept.create("Another one", "runbook")
    kept.create("A third one")
    log = look.log(kept.app())
    review.undo_changes(kept.app(), log[1].id)
    assert not (kept.root / "runbooks/another-one.json").exists()
    assert kept.in_step()


def test_a_dry_run_shows_the_change_and_writes_nothing(kept):
    kept.create()
    before = kept.files()
    done = write(kept.app(dry_run=True), Request("delete", target=PATH, reason="old"))
    assert {path for path, _, _ in done.diff} == {PATH, "index.md"}
    assert kept.files() == before

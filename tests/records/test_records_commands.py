"""Each promise of the records (R1 to R14 of docs/features.md), from its own command."""

import json

import jsonschema
import pytest

from memdir.records.fields import TYPES
from tests.helpers.terminal import memdir
from tests.records.test_records_cli import PATH, TITLE, create, md5, records, root, talk

__all__ = ["root", "talk"]  # fixtures
OLD = "0" * 32


def write(action: str, *words: str, target: str = PATH, given: object = None):
    options = ("--action", action, "--target", target, "--input", "-", "--json")
    return records("write", *options, *words, given=given)


def stored(root, path: str = PATH) -> dict:
    return json.loads((root / path).read_bytes())


def settings(root, **given: object) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "memory-config.json").write_text(json.dumps(given), encoding="utf-8")


@pytest.mark.parametrize("type", TYPES)
def test_the_schema_that_is_printed_accepts_what_is_saved_and_nothing_more(root, type):
    schema = records("schema", type, "--json").json
    path = create(TITLE, type, "--json").json["changes"][0]["path"]
    record = stored(root, path)
    jsonschema.Draft202012Validator(schema).validate(record)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(record | {"mood": "good"})


def test_the_settings_say_what_the_commands_do(root, talk):
    settings(root, categories={"decision": {"enabled": False}}, max_memories_per_category=1)
    status = records("status", "--json").json
    assert (status["enabled"]["decision"], status["enabled"]["runbook"]) == (False, True)
    assert create().code == 1 and create("A", "runbook").code == 0
    assert "max_memories_per_category is 1" in create("B", "runbook").stderr
    settings(root, triage={"enabled": False}, mood="good")
    assert records("triage", "--transcript", str(talk)).text == ""
    assert "mood is no setting" in records("status").text


def test_what_a_save_lacks_is_told_as_its_options(root):
    told = records("save", "--category", "preference", "--tag", "style", "--set", "topic=tabs")
    assert (told.code, "add title" in told.stderr, "--title TEXT" in told.stderr) == (
        1,
        False,
        True,
    )
    told = records("save", "--category", "preference", "--title", "Tabs", "--set", "topic=tabs")
    assert "add --tag TAG" in told.stderr and "add --set value=TEXT" in told.stderr


HINTS = {
    "decision": "We decided on uv because it is fast.",
    "runbook": "The build failed with an error; the root cause was the cache, fixed by a purge.",
    "constraint": "It turns out the platform has a rate limit that cannot be raised.",
    "tech_debt": "This hack is temporary; the cleanup is deferred for now because of its cost.",
    "preference": "We agreed: from now on always use tabs, that is the rule.",
}


@pytest.mark.parametrize("type", HINTS)
def test_words_of_a_category_trigger_it_in_a_conversation(root, tmp_path, type):
    lines = [HINTS[type]] * 3
    message = {"role": "assistant", "content": "\n".join(lines)}
    line = {"type": "assistant", "uuid": "u1", "sessionId": "s1", "message": message}
    path = tmp_path / "said.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    answer = records("triage", "--transcript", str(path), "--json").json
    assert type in [item["category"] for item in answer["triggered"]]


def test_the_record_with_the_most_words_in_common_is_the_candidate(root):
    create()
    create("Another thing altogether")
    words = ("candidate", "--category", "decision", "--new-info", f"{TITLE}, but faster")
    answer = records(*words).json
    assert (answer["candidate"]["path"], answer["structural_cud"]) == (PATH, "UPDATE")
    assert not answer["delete_allowed"]
    event = records(*words, "--lifecycle-event", "removed").json
    assert [veto.partition(":")[0] for veto in event["vetoes"]] == ["DELETE"]
    (root / "index.md").unlink()  # then the records themselves are read
    assert records(*words).json == answer
    none = records("candidate", "--category", "decision", "--new-info", "zebra").json
    assert (none["candidate"], none["pre_action"]) == (None, "CREATE")


def test_a_record_is_created_updated_retired_restored_archived_and_brought_back(root):
    assert create().code == 0
    new = {"confidence": 0.95, "changes": [{"summary": "confirmed"}]}
    assert write("update", "--hash", md5(root / PATH), given=new).code == 0
    assert (stored(root)["confidence"], stored(root)["times_updated"]) == (0.95, 1)
    for action, status in (
        ("delete", "retired"),
        ("restore", "active"),
        ("archive", "archived"),
        ("unarchive", "active"),
    ):
        assert write(action, "--reason", "because").code == 0
        assert stored(root)["record_status"] == status


def test_a_retired_record_comes_back_neither_by_an_update_nor_by_a_create(root):
    create()
    write("delete")
    new = {"confidence": 0.95, "changes": [{"summary": "confirmed"}]}
    answer = write("update", "--hash", md5(root / PATH), given=new)
    assert answer.error["record_code"] == "UPDATE_ERROR"
    again = create(TITLE, "decision", "--json")
    assert again.error["record_code"] == "ANTI_RESURRECTION_ERROR"
    assert stored(root)["record_status"] == "retired"


@pytest.mark.parametrize("action", ["update", "delete", "archive"])
@pytest.mark.parametrize("hash", [OLD, "", " ", "abc", OLD + " ", OLD[1:] + "g"])
def test_a_hash_that_is_old_or_none_at_all_changes_nothing(root, action, hash):
    create()
    before = (root / PATH).read_bytes()
    new = {"confidence": 0.9, "changes": [{"summary": "confirmed"}]}
    answer = write(action, "--hash", hash, given=new)
    code = "OCC_CONFLICT" if hash == OLD else "INPUT_ERROR"
    assert (answer.code, answer.error["record_code"]) == (1, code)
    assert (root / PATH).read_bytes() == before


def test_the_window_and_the_collection_retire_what_the_settings_no_longer_allow(root):
    for number in range(3):
        create(f"Session {number}", "session_summary")
    settings(root, categories={"session_summary": {"max_retained": 1}})
    kinds = [item["change"] for item in records("window", "--json").json["changes"]]
    assert kinds == ["retired", "retired"]
    settings(root, delete={"grace_period_days": 0, "archive_retired": False})
    kinds = [item["change"] for item in records("gc", "--json").json["changes"]]
    assert kinds == ["purged", "purged"]
    assert len(list((root / "sessions").glob("*.json"))) == 1


def test_a_search_tells_titles_and_paths_and_no_more_than_the_settings_allow(root):
    create()
    create(f"{TITLE} again")
    settings(root, retrieval={"max_inject": 1})
    lines = records("search", TITLE, "--context").text.strip().split("\n")
    assert lines[0].startswith("<memory-context") and lines[-1] == "</memory-context>"
    assert len(lines) == 3 and lines[1].startswith("- [DECISION] ")
    assert len(records("search", TITLE, "--json").json["records"]) == 2
    assert memdir("recall", TITLE, "--scope", "records").code == 0

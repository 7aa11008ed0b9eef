"""What a record must be: the seed's tables, one row per rule."""

import pytest

from memdir.records import fields
from memdir.records.refusal import RecordError
from memdir.records.validate import check, demand, repair
from tests.helpers.samples import CONTENTS, EARLIER, NOW, bare, sample, without

REQUIRED = {
    "session_summary": {"goal", "outcome", "completed", "next_actions"},
    "decision": {"status", "context", "decision", "rationale"},
    "runbook": {"trigger", "steps", "verification"},
    "constraint": {"kind", "rule", "impact", "severity", "active"},
    "tech_debt": {"status", "priority", "description", "reason_deferred"},
    "preference": {"topic", "value", "reason", "strength"},
}
AT_LEAST_ONE = [("decision", "rationale"), ("runbook", "steps"), ("constraint", "impact")]
CHOICES = {
    ("session_summary", "outcome"): "success partial blocked abandoned",
    ("decision", "status"): "proposed accepted deprecated superseded",
    ("constraint", "kind"): "limitation gap policy technical",
    ("constraint", "severity"): "high medium low",
    ("tech_debt", "status"): "open in_progress resolved wont_fix",
    ("tech_debt", "priority"): "critical high medium low",
    ("preference", "strength"): "strong default soft",
}
FOLDERS = {
    "session_summary": "sessions",
    "decision": "decisions",
    "runbook": "runbooks",
    "constraint": "constraints",
    "tech_debt": "tech-debt",
    "preference": "preferences",
}


def broken(record, type=""):
    return [problem.field for problem in check(record, type)]


@pytest.mark.parametrize("type", fields.TYPES)
def test_a_record_with_only_the_required_content_is_valid(type):
    optional = set(CONTENTS[type]) - REQUIRED[type]
    assert check(bare(type, *optional), type) == []


@pytest.mark.parametrize(
    ("type", "name"), [(type, name) for type, names in REQUIRED.items() for name in sorted(names)]
)
def test_required_content_may_not_be_missing(type, name):
    assert broken(bare(type, name), type) == [f"content.{name}"]


@pytest.mark.parametrize(("type", "name"), CHOICES)
@pytest.mark.parametrize("wrong", ["", "maybe", "HIGH", None, 1, ["high"]])
def test_another_choice_is_refused(type, name, wrong):
    assert broken(sample(type, content={name: wrong})) == [f"content.{name}"]


KEYS = (
    *("schema_version", "category", "id", "title", "created_at", "updated_at", "tags", "content"),
    *("related_files", "confidence", "record_status", "changes", "times_updated"),
)


@pytest.mark.parametrize("key", KEYS)
def test_a_field_that_all_have_may_not_be_missing(key):
    found = check(without(sample(), key))
    assert (key, "is missing") in [problem[:2] for problem in found]


WRONG = [
    ("an extra key is refused", {"mood": "good"}, "mood"),
    ("__proto__ is an extra key like any other", {"__proto__": {"admin": True}}, "__proto__"),
    ("an extra key in the content is refused", {"content": {"mood": "x"}}, "content.mood"),
    ("the version is 1.0", {"schema_version": "0.9"}, "schema_version"),
    ("a newer version is only read", {"schema_version": "99.0"}, "schema_version"),
    ("the type is one of six", {"category": "idea"}, "category"),
    ("the id is a slug", {"id": "Use SQLite"}, "id"),
    ("the id is no path", {"id": "../x"}, "id"),
    ("the id has at most 80 characters", {"id": "a" * 81}, "id"),
    ("the id ends where its line ends", {"id": "a\n"}, "id"),
    ("the title is a text", {"title": 7}, "title"),
    ("the title says something", {"title": "  "}, "title"),
    ("the title has at most 120 characters", {"title": "a" * 121}, "title"),
    ("the title has no arrow of the index", {"title": "a -> b"}, "title"),
    ("the title has no tag marker", {"title": "a #tags:b"}, "title"),
    ("the title is one line", {"title": "a\nb"}, "title"),
    ("times are UTC to the second", {"created_at": "2026-01-05"}, "created_at"),
    ("times exist", {"updated_at": "2026-02-30T00:00:00Z"}, "updated_at"),
    ("times are texts", {"created_at": 5}, "created_at"),
    ("retired_at is a time", {"retired_at": "lately"}, "retired_at"),
    ("archived_at is a time", {"archived_at": "lately"}, "archived_at"),
    ("a reason is a text", {"retired_reason": 1}, "retired_reason"),
    ("there is at least one tag", {"tags": []}, "tags"),
    ("there are at most 12 tags", {"tags": [f"t{n}" for n in range(13)]}, "tags"),
    ("tags are lower-case", {"tags": ["SQL"]}, "tags"),
    ("tags are trimmed", {"tags": [" sql"]}, "tags"),
    ("tags are unique", {"tags": ["sql", "sql"]}, "tags"),
    ("tags have no comma", {"tags": ["a,b"]}, "tags"),
    ("tags are texts", {"tags": [1]}, "tags"),
    ("tags are a list", {"tags": "sql"}, "tags"),
    ("related files are texts", {"related_files": [1]}, "related_files"),
    ("related files are a list", {"related_files": "a.py"}, "related_files"),
    ("confidence is not negative", {"confidence": -0.1}, "confidence"),
    ("confidence is at most 1", {"confidence": 1.1}, "confidence"),
    ("confidence is a number", {"confidence": "high"}, "confidence"),
    ("yes is no confidence", {"confidence": True}, "confidence"),
    ("not a number is no confidence", {"confidence": float("nan")}, "confidence"),
    ("the status is active, retired or archived", {"record_status": "gone"}, "record_status"),
    ("changes are a list", {"changes": {}}, "changes"),
    ("there are at most 50 changes",
     {"changes": [{"date": EARLIER, "summary": "x"}] * 51}, "changes"),
    ("a change is an object", {"changes": ["x"]}, "changes[0]"),
    ("a change has a date", {"changes": [{"summary": "x"}]}, "changes[0]"),
    ("a change has a summary", {"changes": [{"date": EARLIER}]}, "changes[0]"),
    ("a summary has at most 300 characters",
     {"changes": [{"date": EARLIER, "summary": "x" * 301}]}, "changes[0]"),
    ("a change has no extra key",
     {"changes": [{"date": EARLIER, "summary": "x", "by": "me"}]}, "changes[0]"),
    ("a change's field is a text",
     {"changes": [{"date": EARLIER, "summary": "x", "field": 1}]}, "changes[0]"),
    ("times_updated is a whole number", {"times_updated": 1.5}, "times_updated"),
    ("times_updated is not negative", {"times_updated": -1}, "times_updated"),
    ("yes is no number", {"times_updated": True}, "times_updated"),
    ("the content is an object", {"content": {"context": 1}}, "content.context"),
    ("required texts say something", {"content": {"context": " "}}, "content.context"),
    ("list items are texts", {"content": {"rationale": [1]}}, "content.rationale"),
    ("list items say something", {"content": {"rationale": [""]}}, "content.rationale"),
    ("a list is no text", {"content": {"rationale": "because"}}, "content.rationale"),
    ("an alternative has an option", {"content": {"alternatives": [{"rejected_reason": "x"}]}},
     "content.alternatives"),
    ("an alternative says why it lost", {"content": {"alternatives": [{"option": "x"}]}},
     "content.alternatives"),
    ("an alternative has nothing else",
     {"content": {"alternatives": [{"option": "x", "rejected_reason": "y", "z": 1}]}},
     "content.alternatives"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "field"), [row[1:] for row in WRONG], ids=[r[0] for r in WRONG]
)
def test_what_breaks_a_rule_is_named(changed, field):
    assert broken(sample(**changed)) == [field]


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "a" * 120},
        {"title": "a->b"},
        {"tags": [f"t{n}" for n in range(12)]},
        {"confidence": 0},
        {"confidence": 1},
        {"changes": [{"date": EARLIER, "summary": "x" * 300}] * 50},
        {"changes": [{"date": EARLIER, "summary": "x", "field": "a", "old_value": None}]},
        {"id": "a" * 80},
        {"retired_at": EARLIER, "retired_reason": ""},
    ],
)
def test_what_reaches_a_limit_without_passing_it_is_valid(changed):
    assert check(sample(**changed)) == []


def test_a_quoted_value_may_not_be_nested_without_end():
    deep = []
    for _ in range(5000):
        deep = [deep]
    record = sample(changes=[{"date": EARLIER, "summary": "x", "old_value": deep}])
    assert broken(record) == ["changes[0]"]


def test_a_refusal_lists_what_is_wrong_and_what_to_do():
    with pytest.raises(RecordError) as caught:
        demand(sample(title="", tags=[], mood="x"), "decision", "decisions/a.json")
    assert caught.value.record_code == "VALIDATION_ERROR"
    assert dict(caught.value.facts).keys() == {"mood", "title", "tags"}
    assert caught.value.path == "decisions/a.json"
    assert "leave it out" in caught.value.fix
    assert demand(sample()) == sample()


REPAIRS = [
    ("schema_version", {"schema_version": "1"}, "schema_version", "1.0"),
    ("schema_version as a number", {"schema_version": 1.0}, "schema_version", "1.0"),
    ("schema_version that is none", {"schema_version": "x"}, "schema_version", "1.0"),
    ("a day", {"created_at": "2026-01-05"}, "created_at", "2026-01-05T00:00:00Z"),
    ("a zone", {"created_at": "2026-01-05T10:30:00+01:00"}, "created_at", EARLIER),
    ("a fraction", {"created_at": "2026-01-05T09:30:00.125Z"}, "created_at", EARLIER),
    ("a day that does not exist", {"updated_at": "2026-02-30T00:00:00Z"}, "updated_at", EARLIER),
    ("no time at all", {"updated_at": "lately"}, "updated_at", EARLIER),
    ("a retirement without a time", {"retired_at": "lately"}, "retired_at", EARLIER),
    ("tags given as text", {"tags": "Storage, sqlite"}, "tags", ["storage", "sqlite"]),
    ("one tag given as text", {"tags": "storage"}, "tags", ["storage"]),
    ("tags to lower case", {"tags": ["SQL", " b "]}, "tags", ["sql", "b"]),
    ("tags each once", {"tags": ["a", "A"]}, "tags", ["a"]),
    ("tags with commas", {"tags": ["a,b"]}, "tags", ["a", "b"]),
    ("tags with markers", {"tags": ["a #tags:b"]}, "tags", ["a # tags:b"]),
    ("confidence above 1", {"confidence": 1.7}, "confidence", 1.0),
    ("title whitespace", {"title": "  a \t b "}, "title", "a b"),
    ("arrows in a title", {"title": "from a -> b -> c"}, "title", "from a → b → c"),
    ("a tag marker in a title", {"title": "a #tags:b"}, "title", "a # tags:b"),
    ("control characters in a title", {"title": "a\x00b\u2028c\x1b"}, "title", "a b c"),
    ("a null where nothing is meant", {"retired_at": None}, "retired_at", None),
]


@pytest.mark.parametrize(
    ("changed", "key", "right"), [row[1:] for row in REPAIRS], ids=[row[0] for row in REPAIRS]
)
def test_what_can_be_put_right_is_and_the_repair_is_reported(changed, key, right):
    given = sample(**changed)
    fixed, done = repair(given, NOW)
    assert fixed.get(key) == right
    assert len(done) == 1 and done[0].startswith(key)
    assert check(fixed) == []
    assert repair(fixed, NOW) == (fixed, [])
    assert given == sample(**changed)  # the one that was given is not touched


MISSING = {
    "schema_version": "1.0",
    "related_files": [],
    "confidence": 0.7,
    "record_status": "active",
    "changes": [],
    "times_updated": 0,
    "created_at": EARLIER,
    "updated_at": EARLIER,
}


@pytest.mark.parametrize("key", MISSING)
def test_what_is_missing_and_can_be_known_is_added(key):
    fixed, done = repair(without(sample(), key), NOW)
    assert fixed[key] == MISSING[key]
    assert len(done) == 1 and done[0].startswith(key)
    assert check(fixed) == []


UNREPAIRED = [
    ("a negative confidence", {"confidence": -0.1}, "confidence"),
    ("a confidence without end", {"confidence": float("inf")}, "confidence"),
    ("a title that is too long", {"title": "a" * 121}, "title"),
    ("no tag", {"tags": []}, "tags"),
    ("thirteen tags", {"tags": [f"t{n}" for n in range(13)]}, "tags"),
    ("an unknown key", {"mood": 1}, "mood"),
]


@pytest.mark.parametrize(
    ("changed", "field"), [row[1:] for row in UNREPAIRED], ids=[row[0] for row in UNREPAIRED]
)
def test_what_only_its_author_can_correct_is_left_to_be_refused(changed, field):
    fixed, done = repair(sample(**changed), NOW)
    assert done == []
    assert broken(fixed) == [field]


@pytest.mark.parametrize("version", ["99.0", "1.1", "2", 2, "v2.0.1"])
def test_a_record_of_a_newer_version_is_not_touched(version):
    newer = sample(schema_version=version, tags="SQL", mood=1)
    assert repair(newer, NOW) == (newer, [])
    assert broken(newer) == ["schema_version"]

"""Create, update or retire: the seed's table, its points and its vetoes, one row per rule."""

import pytest

from memdir.records.fields import TYPES
from memdir.records.match import NewInfo, candidate, resolve
from memdir.records.refusal import RecordError
from tests.helpers.samples import sample

ROWS = [
    ("both say new", "CREATE", "CREATE", "CREATE"),
    ("both say update", "UPDATE_OR_DELETE", "UPDATE", "UPDATE"),
    ("the structure permits a retirement", "UPDATE_OR_DELETE", "DELETE", "DELETE"),
    ("nothing is there to update", "CREATE", "UPDATE", "CREATE"),
    ("nothing is there to retire", "CREATE", "DELETE", "NOOP"),
    ("the model says new despite a candidate", "UPDATE_OR_DELETE", "CREATE", "CREATE"),
    ("new beside one that may only be updated", "UPDATE", "CREATE", "CREATE"),
    ("update of one that may only be updated", "UPDATE", "UPDATE", "UPDATE"),
    ("one that may only be updated is not retired", "UPDATE", "DELETE", "UPDATE"),
    ("a veto is obeyed: CREATE", "VETO", "CREATE", "NOOP"),
    ("a veto is obeyed: UPDATE", "VETO", "UPDATE", "NOOP"),
    ("a veto is obeyed: DELETE", "VETO", "DELETE", "NOOP"),
    ("no target, nothing done: CREATE", "NOOP", "CREATE", "NOOP"),
    ("no target, nothing done: UPDATE", "NOOP", "UPDATE", "NOOP"),
    ("no target, nothing done: DELETE", "NOOP", "DELETE", "NOOP"),
    ("what nobody foresaw is an update", "UPDATE_OR_DELETE", "MERGE", "UPDATE"),
    ("what the mechanics never say is an update", "PERHAPS", "DELETE", "UPDATE"),
    ("nothing said is an update", "UPDATE", "", "UPDATE"),
]


@pytest.mark.parametrize(
    ("l1", "l2", "action"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_the_table_resolves(l1, l2, action):
    assert resolve(l1, l2) == action


VETOES = [
    ("a DELETE veto stops a retirement", "UPDATE_OR_DELETE", "DELETE", ["DELETE: kept"], "NOOP"),
    ("a DELETE veto does not block an update", "UPDATE", "UPDATE", ["DELETE: kept"], "UPDATE"),
    ("nor the update that a retirement became", "UPDATE", "DELETE", ["DELETE: kept"], "UPDATE"),
    ("nor a creation", "CREATE", "CREATE", ["DELETE: kept"], "CREATE"),
    ("an UPDATE veto stops an update", "UPDATE", "UPDATE", ["UPDATE: newer"], "NOOP"),
    ("also one that nobody foresaw", "UPDATE", "?", ["UPDATE: newer"], "NOOP"),
    ("a CREATE veto stops a creation", "CREATE", "CREATE", ["CREATE: full"], "NOOP"),
    ("a veto without an action forbids all", "UPDATE", "UPDATE", ["Stop."], "NOOP"),
    ("several vetoes hold together", "CREATE", "CREATE", ["DELETE: a", "CREATE: b"], "NOOP"),
]


@pytest.mark.parametrize(
    ("l1", "l2", "vetoes", "action"), [row[1:] for row in VETOES], ids=[r[0] for r in VETOES]
)
def test_a_veto_forbids_only_what_it_names(l1, l2, vetoes, action):
    assert resolve(l1, l2, vetoes) == action


POINTS = [
    ("2 per title word", "sqlite catalog", "SQLite for the catalog", [], 4),
    ("3 per tag", "storage", "Elsewhere", ["storage"], 3),
    ("a word in title and tags counts for both", "sqlite", "SQLite", ["sqlite"], 5),
    ("a tag of two words needs both", "rate limit", "Elsewhere", ["rate-limit"], 3),
    ("a tag of two words needs both: one", "rate", "Elsewhere", ["rate-limit"], 0),
    ("1 per word that starts alike", "migrations", "The migration plan", [], 1),
    ("also the other way round", "migrate", "Migrated", [], 1),
    ("also in tags", "databases", "Elsewhere", ["database"], 1),
    ("a start of three does not count", "sqlx", "sql", [], 0),
    ("four letters alike are not enough to be a start", "contract", "container", [], 0),
    ("a word that is there counts no start as well", "cache", "cache caches", [], 2),
    ("words of two letters do not count", "go at it", "Go at it", [], 0),
    ("stop words do not count", "and the with because", "And the with because", [], 0),
    ("case does not count", "SQLITE", "sqlite", [], 2),
    ("digits count", "port 8080", "Port 8080", [], 4),
    ("accents do not part words", "cafe resume", "Café résumé", [], 4),
    ("Cyrillic words count", "миграция базы", "Миграция базы данных", [], 4),
    ("scripts without spaces count by pairs", "缓存策略", "缓存策略", [], 6),
    ("one shared pair is not enough", "缓存", "缓存策略", [], 2),
    ("mixed scripts are parted", "使用redis", "Redis", [], 2),
    ("a tag in another script is looked at too", "缓存", "Elsewhere", ["缓存"], 3),
    ("a tag beside a title without end counts", "storage", "x " * 20_000, ["storage"], 3),
    ("underscores part words", "rate_limit", "Rate limit", [], 4),
]


@pytest.mark.parametrize(
    ("info", "title", "tags", "points"), [row[1:] for row in POINTS], ids=[r[0] for r in POINTS]
)
def test_points_of_a_record(info, title, tags, points):
    assert NewInfo(info).score(title, tags) == points


def one(path="decisions/a.json", **changed):
    return path, sample(changed.pop("type", "decision"), **changed)


def found(records, info="sqlite catalog", type="decision", event=""):
    return candidate(records, type, info, event)


def test_the_best_record_with_enough_points_is_the_candidate():
    weak = one("decisions/weak.json", title="Something else", tags=["sqlite"])
    best = one("decisions/best.json")
    answer = found([weak, best])
    assert answer["candidate"]["path"] == "decisions/best.json"
    assert answer["candidate"]["title"] == "Use SQLite for the catalog"
    assert answer["candidate"]["score"] == 7
    assert answer["hints"] == ["Close as well: decisions/weak.json"]


OUT = [
    ("another category", one(type="runbook")),
    ("a retired record", one(record_status="retired")),
    ("an archived record", one(record_status="archived")),
]


@pytest.mark.parametrize("record", [row[1] for row in OUT], ids=[row[0] for row in OUT])
def test_what_is_no_candidate(record):
    assert found([record])["candidate"] is None


KEPT = {"decision", "preference", "session_summary"}
STRUCTURE = [
    ("no candidate: create", "runbook", "", False, "CREATE", "CREATE", False),
    ("no candidate and an event: nothing", "runbook", "removed", False, "NOOP", "NOOP", False),
    *[
        ("a candidate that may go", type, "", True, None, "UPDATE_OR_DELETE", True)
        for type in TYPES
        if type not in KEPT
    ],
    *[("a candidate that stays", type, "", True, None, "UPDATE", False) for type in sorted(KEPT)],
]


@pytest.mark.parametrize(
    ("type", "event", "there", "pre", "structural", "allowed"), [row[1:] for row in STRUCTURE]
)
def test_what_the_structure_says(type, event, there, pre, structural, allowed):
    answer = found([one(type=type)] if there else [], type=type, event=event)
    assert answer["pre_action"] == pre
    assert answer["structural_cud"] == structural
    assert answer["delete_allowed"] is allowed
    assert answer["vetoes"] == []
    assert answer["lifecycle_event"] == (event or None)


@pytest.mark.parametrize("event", ["resolved", "removed", "reversed", "superseded", "deprecated"])
@pytest.mark.parametrize("type", TYPES)
def test_an_event_vetoes_the_retirement_of_what_is_kept_and_nothing_else(type, event):
    answer = found([one(type=type)], type=type, event=event)
    assert answer["lifecycle_event"] == event
    assert answer["hints"]
    assert [it.partition(":")[0] for it in answer["vetoes"]] == ["DELETE"] * (type in KEPT)
    assert resolve(answer["structural_cud"], "UPDATE", answer["vetoes"]) == "UPDATE"
    retired = resolve(answer["structural_cud"], "DELETE", answer["vetoes"])
    assert retired == ("UPDATE" if type in KEPT else "DELETE")


def test_a_record_of_a_newer_version_may_neither_be_updated_nor_retired():
    answer = found([one(type="runbook", schema_version="99.0")], type="runbook")
    for action in ("UPDATE", "DELETE"):
        assert resolve(answer["structural_cud"], action, answer["vetoes"]) == "NOOP"
    assert resolve(answer["structural_cud"], "CREATE", answer["vetoes"]) == "CREATE"


@pytest.mark.parametrize(("type", "event"), [("idea", ""), ("decision", "finished"), ("", "")])
def test_a_question_that_makes_no_sense_is_refused(type, event):
    with pytest.raises(RecordError) as caught:
        candidate([], type, "x", event)
    assert caught.value.record_code == "INPUT_ERROR"
    assert caught.value.fix.startswith("use ")


def test_records_that_hold_nonsense_hide_no_other():
    nonsense = [("decisions/x.json", {"category": "decision", "title": 7, "tags": [1, None]})]
    assert found([*nonsense, one()])["candidate"]["path"] == "decisions/a.json"

"""Create, update or retire: the seed's table, its points and its vetoes, one row per rule."""

import pytest

from memdir.records.fields import TYPES
from memdir.records.match import NewInfo, candidate, resolve_action
from memdir.records.refusal import RecordError
from tests.helpers.samples import sample
from tests.helpers.tables import toml_cases as cases


@cases("records")
def test_the_table_resolves(l1, l2, action):
    assert resolve_action(l1, l2) == action


@cases("records")
def test_a_veto_forbids_only_what_it_names(l1, l2, vetoes, action):
    assert resolve_action(l1, l2, vetoes) == action


@cases(
    "records", ("a tag beside a title without end counts", "storage", "x " * 20_000, ["storage"], 3)
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


@pytest.mark.parametrize("record", [one(type="runbook"), one(record_status="retired")])
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
    assert resolve_action(answer["structural_cud"], "UPDATE", answer["vetoes"]) == "UPDATE"
    retired = resolve_action(answer["structural_cud"], "DELETE", answer["vetoes"])
    assert retired == ("UPDATE" if type in KEPT else "DELETE")


def test_a_record_of_a_newer_version_may_neither_be_updated_nor_retired():
    answer = found([one(type="runbook", schema_version="99.0")], type="runbook")
    for action in ("UPDATE", "DELETE"):
        assert resolve_action(answer["structural_cud"], action, answer["vetoes"]) == "NOOP"
    assert resolve_action(answer["structural_cud"], "CREATE", answer["vetoes"]) == "CREATE"


def test_a_lifecycle_event_that_is_none_is_refused():
    with pytest.raises(RecordError) as caught:
        candidate([], "decision", "x", "finished")
    assert caught.value.record_code == "INPUT_ERROR"
    assert caught.value.fix.startswith("use ")


def test_records_that_hold_nonsense_hide_no_other():
    nonsense = [("decisions/x.json", {"category": "decision", "title": 7, "tags": [1, None]})]
    assert found([*nonsense, one()])["candidate"]["path"] == "decisions/a.json"

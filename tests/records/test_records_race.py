"""Processes that create, update, retire and restore the same records at once: nothing is lost."""

import hashlib
import json
import os
import random
import traceback
from collections import Counter
from pathlib import Path

import pytest

from memdir.records.lifecycle import tidy
from memdir.records.refusal import RecordError
from memdir.records.write import Request, write
from tests.helpers.recorded import Recorded, draft

# In the fast run a small race; RECORDS_RACE="8 25" is the long one.
PROCESSES, EACH = map(int, os.environ.get("RECORDS_RACE", "4 6").split())
NAMES = [f"record-{number}" for number in range(20)]


def path_of(name: str) -> str:
    return f"decisions/{name}.json"


def one_step(kept: Recorded, rng: random.Random, mark: str) -> tuple[str, str, str]:
    """One action on one record: what it was, on which, and what came of it."""
    name = rng.choice(NAMES)
    action = rng.choice(["create", "update", "update", "update", "delete", "restore", "gc"])
    try:
        if action == "gc":
            tidy(kept.app())
        elif action == "update":
            data = kept.bytes(path_of(name))
            entry = {"date": "2026-03-02T12:00:00Z", "summary": mark}
            new = {"changes": [*json.loads(data)["changes"], entry]}
            read = hashlib.md5(data, usedforsecurity=False).hexdigest()
            wanted = Request("update", target=path_of(name), draft=new, expected=read)
            write(kept.app(), wanted)
        elif action == "create":
            title = name.replace("-", " ").capitalize()
            write(kept.app(), Request("create", "decision", draft=draft(title=title)))
        else:
            write(kept.app(), Request(action, target=path_of(name), reason=mark))
    except RecordError as refused:
        return action, name, refused.record_code
    except FileNotFoundError:
        return action, name, "gone"
    return action, name, "done"


def work(kept: Recorded, number: int, report: Path) -> None:
    rng = random.Random(number)
    try:
        done = [(*one_step(kept, rng, f"w{number}.{at}"), f"w{number}.{at}") for at in range(EACH)]
        report.write_text(json.dumps(done))
    except BaseException:
        report.write_text(json.dumps({"failed": traceback.format_exc()}))


def race(kept: Recorded, folder: Path) -> list[list]:
    """Every process for itself, all at once; what each says it did."""
    reports = [folder / f"report-{number}" for number in range(PROCESSES)]
    children = []
    for number, report in enumerate(reports):
        child = os.fork()
        if not child:
            try:
                work(kept, number, report)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    found = [json.loads(report.read_text()) for report in reports]
    for one in found:
        assert isinstance(one, list), one["failed"]
    return [row for one in found for row in one]


@pytest.fixture
def kept(tmp_path):
    kept = Recorded(tmp_path)
    # Nothing is old enough to go; gc only looks.
    for name in NAMES[:10]:
        kept.create(name.replace("-", " ").capitalize())
    return kept


def test_no_acknowledged_update_is_lost_and_conflicts_are_normal_answers(kept, tmp_path):
    rows = race(kept, tmp_path)
    outcomes = Counter(outcome for *_, outcome, _ in rows)
    allowed = {"done", "gone", "OCC_CONFLICT", "UPDATE_ERROR", "READ_ERROR", "MERGE_ERROR"}
    allowed |= {"CREATE_OVERWRITE_ERROR", "ANTI_RESURRECTION_ERROR"}
    assert set(outcomes) <= allowed, outcomes
    assert outcomes["done"]
    logged = {name: [] for name in NAMES}
    for name in NAMES:
        if (kept.root / path_of(name)).exists():
            logged[name] = [one["summary"] for one in kept.record(path_of(name))["changes"]]
    for action, name, outcome, mark in rows:
        if action == "update" and outcome == "done":
            assert mark in logged[name], f"{mark} of {name} is lost"
        elif action == "update":
            assert mark not in logged[name], f"{mark} of {name} was refused and is there"
    for name, said in logged.items():
        ours = [one for one in said if one.startswith("w")]
        assert len(ours) == len(set(ours)), f"{name} has a change twice"
        if said:
            assert kept.record(path_of(name))["times_updated"] == len(ours)
    assert kept.in_step()

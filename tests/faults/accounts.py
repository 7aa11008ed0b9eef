"""Looks at what capture and the queue left, from the outside: I13, nothing lost, nothing twice.

Its own small reader, none of memdir's code.
"""

import json
import os
from collections import Counter
from glob import glob

from tests.faults import memories, trees

DECISIONS = ("saved", "refused", "held")


def judge(root: str, operation: str, acknowledged: bool) -> list[str]:
    """What is wrong right after the accident."""
    if operation == "enqueue":
        return _queue(root, acknowledged)
    return _journal(root) if operation == "capture" else []


def judge_done(root: str, operation: str) -> list[str]:
    """What is wrong after the same was done once more, and went through."""
    if operation != "capture":
        return []
    found = _journal(root)
    for folder in glob(f"{root}/state/stores/*/captures"):
        lines = _lines(f"{folder}/journal")
        received = {line["id"] for line in lines if line["what"] == "received"}
        saved = [line["id"] for line in lines if line["what"] == "saved"]
        if len(received) != len(memories.TEXTS["said"]) or sorted(saved) != sorted(received):
            found.append(f"I13: {len(received)} received, {len(saved)} saved")
        if os.path.exists(f"{folder}/plan"):
            found.append("the plan is still there")
        if not [name for name in os.listdir(f"{folder}/sessions") if name[0] != "."]:
            found.append("the cursor was not kept")
    return found


def _journal(root: str) -> list[str]:
    """Each thing is received before it is decided, and decided once."""
    found = []
    for path in glob(f"{root}/state/stores/*/captures/journal"):
        lines = _lines(path)
        decided = Counter(line["id"] for line in lines if line["what"] in DECISIONS)
        received = {line["id"] for line in lines if line["what"] == "received"}
        found += [f"I13: {id} was decided {n} times" for id, n in decided.items() if n > 1]
        found += [f"I13: {id} was never received" for id in decided if id not in received]
    return found


def _lines(path: str) -> list[dict[str, str]]:
    """Whole lines; the last one may have been cut off, no other."""
    if not os.path.exists(path):
        return []
    return [json.loads(line) for line in trees.read(path).split(b"\n")[:-1]]


def _queue(root: str, acknowledged: bool) -> list[str]:
    """What was there is there; what was added is whole, and there once it was acknowledged."""
    *lines, torn = trees.read(f"{root}/state/queue").split(b"\n")
    before, added = (memories.TEXTS[name].encode() for name in ("requested", "request"))
    found = [] if lines[:1] == [before] else ["queue: an earlier line is gone"]
    if lines[1:] not in ([], [added]):
        found.append(f"queue: neither without the line nor with it: {lines[1:]!r}")
    if acknowledged and lines[1:] != [added]:
        found.append("queue: acknowledged, but not there")
    half = bool(torn) and acknowledged  # a disk that is full may leave one
    return found + ([f"queue: half a line: {torn!r}"] if half else [])

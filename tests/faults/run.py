"""Break the store in every way we know, count what fired, and show that the traps work.

    python tests/faults/run.py --quick | --full [--json] [--only kill,race]

Exit 1 on a violation, on a point that did not fire, and on a known-bad store that was not caught.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.faults import (  # noqa: E402
    clock,
    crash_states,
    errors,
    full_disk,
    kill,
    links,
    memories,
    model,
    mounts,
    powercut,
    race,
    records,
    report,
    stage,
    tracer,
    trees,
    writers,
)
from tests.faults.report import Row  # noqa: E402
from tests.faults.stage import Tally  # noqa: E402

SMALL, QUICK, FULL = "small", "quick", "full"
ALL = tuple(memories.OPERATIONS)
# It has as many points as ten of the others; the short run kills it and leaves the rest for later.
BRIEF = tuple(name for name in ALL if name != "capture")
RECORDS = tuple(records.OPERATIONS)
# For errors on the short run: one of each way to write.
RECORDS_BRIEF = ("create", "update", "rename", "delete", "restore", "purge", "commit", "index")
NOT_HERE = (
    "power cut on xfs and btrfs: only images of ext4 are made",
    "case-blind, NFD and lock-less file systems: needs FUSE and a FUSE file system",
)
Find = Callable[[Sequence[str], str], Tally]


def caught(level: str, known: Mapping[str, Sequence[str]], find: Find) -> dict[str, bool]:
    """Which known-bad stores a harness catches, each on the operation that shows it.

    In the tests, one control of each harness is enough.
    """
    chosen = list(known.items())[: 1 if level == SMALL else None]
    return {defect: find(names, defect).violations > 0 for defect, names in chosen}


def caught_apart(level: str, known: Sequence[str], find: Callable[[str], Tally]) -> dict[str, bool]:
    """The same where a defect is switched off in the process that looks for it."""
    bare = dict.fromkeys(known, ())
    return caught(level, bare, lambda names, defect: stage.apart(lambda: find(defect)))


def run_kill(level: str) -> Row:
    names = ("create", "retire", "undo") if level == SMALL else ALL
    found = caught(level, kill.CONTROLS, kill.run)
    return Row("kill -9 at each call", f"{len(names)}", kill.run(names), "", found)


def run_errors(level: str) -> Row:
    names = {SMALL: ("update",), QUICK: BRIEF, FULL: ALL}[level]
    kinds = {SMALL: ("EIO", "ENOSPC"), QUICK: ("EIO", "ENOSPC", "EACCES", "EROFS")}
    # On the short run EIO fails every call, the others every second one that can give them.
    first, *others = kinds.get(level, errors.ALL)
    full = level == FULL
    tally, of = errors.run(names, (first,), for_good=full)
    more, of_more = errors.run(
        names, others, for_good=full, likely=not full, every=1 if full else 2
    )
    tally.merge(more)
    how = "once and for good" if full else "once"
    remark = f"{first} {' '.join(others)}, {how}; {tally.points:,} of {of + of_more:,} points"

    def find(operations: Sequence[str], defect: str) -> Tally:
        return errors.run(operations, ("ENOSPC",), likely=True, defect=defect)[0]

    found = caught(level, errors.CONTROLS, find)
    size = f"{len(names)} x {len(others) + 1}"
    return Row("error at each call", size, tally, remark, found)


def run_crash_states(level: str) -> Row:
    every = {SMALL: ("create", "retire"), QUICK: BRIEF, FULL: ALL}[level]
    # A hook cannot wait for the disk: what a power cut takes from the queue, the next start of a
    # session makes up for.
    names = [name for name in every if name != "enqueue"]
    remark = "every state POSIX allows after each step, of store and state directory"
    found = caught(level, crash_states.CONTROLS, crash_states.run)
    return Row("power cut by model", f"{len(names)}", crash_states.run(names), remark, found)


def run_twice(level: str) -> Row:
    names = {SMALL: ("create",), QUICK: ("create", "retire", "commit", "first"), FULL: ALL}[level]
    remark = "killed after each step, next write acknowledged, then the power fails"
    found = caught(level, crash_states.CONTROLS_TWICE, crash_states.twice)
    return Row("killed, then power", f"{len(names)}", crash_states.twice(names), remark, found)


def run_race(level: str) -> Row:
    processes, each = {SMALL: (4, 60), QUICK: (8, 500), FULL: (8, 2000)}[level]
    row = _race("race", race.MemoryWriter, level, processes, each, 60)
    if level != SMALL:
        row.tally.judge_waits()
    return row


def run_records_race(level: str) -> Row:
    processes, each = {SMALL: (4, 10), QUICK: (8, 100), FULL: (8, 600)}[level]
    return _race("records: race", race.RecordWriter, level, processes, each, 12)


def _race(
    name: str, make: type[race.Writer], level: str, processes: int, each: int, each_of_control: int
) -> Row:
    result = race.run(make, processes, each)

    def find(names: Sequence[str], defect: str) -> Tally:
        """Chance decides who meets whom: a few tries, each of them short."""
        tries = (race.run(make, 8, each_of_control, defect) for _ in range(5))
        return next((tally for tally in tries if tally.violations), Tally())

    found = caught(level, dict.fromkeys(make.controls, ()), find)
    return Row(name, f"{processes} x {each}", result, result.line(), found)


def run_writers(level: str) -> Row:
    kills, edits = {SMALL: (8, 60), QUICK: (100, 500), FULL: (1000, 5000)}[level]
    remark = f"2 writers killed every 50 ms, {kills} times; an editor beside"
    found = caught_apart(
        level, writers.CONTROLS, lambda defect: writers.killed_writers(max(kills, 40), defect)
    )
    return Row("killed writers", "3 scenes", writers.run(kills, edits), remark, found)


def run_model(level: str) -> Row:
    examples, steps = {SMALL: (8, 20), QUICK: (40, 25), FULL: (1000, 40)}[level]
    tally = model.run(examples, steps)
    remark = f"{model.Model.kills} crashes in the middle of a write"
    found = caught_apart(level, model.CONTROLS, lambda defect: model.run(60, 25, defect))
    return Row("model with crashes", f"{examples} x {steps}", tally, remark, found)


def run_links(level: str) -> Row:
    saves = {SMALL: 150, QUICK: 2000, FULL: 20_000}[level]
    found = {defect: links.run(20_000, defect).violations > 0 for defect in links.CONTROLS}
    return Row("names become links", f"{saves:,} saves", links.run(saves), "", found)


def run_clock(level: str) -> Row:
    remark = "back a day, ten years ahead and back, between any two writes"
    found = caught_apart(level, clock.CONTROLS, clock.run)
    return Row("clock jumps", "8", clock.run(), remark, found)


def run_full_disk(level: str) -> Row:
    names = ("create", "update", "retire", "undo", "import")
    names = {SMALL: ("update",), QUICK: names, FULL: ALL}[level]
    found = caught(level, full_disk.CONTROLS, full_disk.run)
    remark = "a tmpfs of every size, page by page"
    return Row("full disk", f"{len(names)}", full_disk.run(names), remark, found)


def run_powercut(level: str) -> Row:
    names = {SMALL: ("create",), QUICK: ("retire",), FULL: ALL}[level]
    found = caught(level, powercut.CONTROLS, powercut.run)
    remark = "the image of a mounted ext4, copied at each call, mounted again"
    return Row("power cut on ext4", f"{len(names)} x 2", powercut.run(names), remark, found)


def run_records_kill(level: str) -> Row:
    names = ("rename",) if level == SMALL else RECORDS
    every = {SMALL: 60, QUICK: 3, FULL: 1}[level]
    tally = kill.run(names, "", records.WORLD, every)

    def find(operations: Sequence[str], defect: str) -> Tally:
        return kill.run(operations, defect, records.WORLD, 15 if level == SMALL else 1)

    found = caught(level, kill.RECORDS_CONTROLS, find)
    remark = "at each call" if every == 1 else f"at one call of {every}"
    return Row("records: kill -9", f"{len(names)}", tally, remark, found)


def run_records_errors(level: str) -> Row:
    names = {SMALL: ("delete",), QUICK: RECORDS_BRIEF, FULL: RECORDS}[level]
    kinds = ("ENOSPC",) if level == SMALL else ("EIO", "ENOSPC", "EACCES", "EROFS")
    full, every = level == FULL, {SMALL: 16, QUICK: 6, FULL: 1}[level]
    tally, of = errors.run(
        names, kinds, for_good=full, likely=not full, every=every, world=records.WORLD
    )

    def find(operations: Sequence[str], defect: str) -> Tally:
        given = {"likely": True, "every": every, "world": records.WORLD}
        return errors.run(operations, ("ENOSPC",), defect=defect, **given)[0]

    found = caught(level, errors.RECORDS_CONTROLS, find)
    how = "once and for good" if full else "once"
    remark = f"{' '.join(kinds)}, {how}; {tally.points:,} of {of:,} points"
    return Row("records: errors", f"{len(names)} x {len(kinds)}", tally, remark, found)


# Each method, and why this machine cannot run it.
METHODS: dict[str, tuple[Callable[[str], Row], Callable[[], str]]] = {
    "kill": (run_kill, tracer.why_not),
    "errors": (run_errors, tracer.why_not),
    "crash_states": (run_crash_states, tracer.why_not),
    "twice": (run_twice, tracer.why_not),
    "race": (run_race, str),
    "writers": (run_writers, str),
    "model": (run_model, str),
    "links": (run_links, str),
    "clock": (run_clock, str),
    "full_disk": (run_full_disk, mounts.why_not),
    "records_kill": (run_records_kill, tracer.why_not),
    "records_errors": (run_records_errors, tracer.why_not),
    "records_race": (run_records_race, str),
    "powercut": (run_powercut, lambda: tracer.why_not() or mounts.why_not("mkfs.ext4")),
}


def run_all(level: str, names: Sequence[str], say: Callable[[str], None]) -> dict:
    rows: list[Row] = []
    not_run = list(NOT_HERE) if level != SMALL else []
    say(report.line(report.HEADINGS))
    for name in names:
        work, why_not = METHODS[name]
        if reason := why_not():
            not_run.append(f"{name}: {reason}")
            continue
        start = time.monotonic()
        row = work(level)
        row.seconds = time.monotonic() - start
        rows.append(row)
        say("\n".join(row.lines()))
    for reason in not_run:
        say(f"not run: {reason}")
    fine = all(row.fine for row in rows)
    return {"rows": [dataclasses.asdict(row) for row in rows], "not_run": not_run, "fine": fine}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    level = parser.add_mutually_exclusive_group(required=True)
    for name in (SMALL, QUICK, FULL):
        level.add_argument(f"--{name}", dest="level", action="store_const", const=name)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--only", default=",".join(METHODS), help="some of: %(default)s")
    given = parser.parse_args(arguments)
    trees.sweep_old_folders()
    start = time.monotonic()
    say = (lambda text: None) if given.json else (lambda text: print(text, flush=True))
    found = run_all(given.level, given.only.split(","), say)
    if given.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    end = "all held" if found["fine"] else "NOT all held"
    say(f"{end}; {time.monotonic() - start:.0f} s on {stage.workers()} processors")
    return 0 if found["fine"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

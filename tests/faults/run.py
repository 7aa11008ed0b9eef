"""Break the store in every way we know, count what fired, and show that the traps work.

    python tests/faults/run.py --quick | --full [--json] [--only kill,race]

Exit 1 on a violation, on a point that did not fire, and on a known-bad store that was not caught.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2]),
    str(Path(__file__).resolve().parents[2] / "src"),
]

from tests.faults import (  # noqa: E402
    clock,
    crash_states,
    driver,
    errors,
    full_disk,
    kill,
    links,
    powercut,
    race,
    records_driver,
    records_race,
    records_stage,
    report,
    seeds,
    stage,
    tracer,
    writers,
)
from tests.faults.records_stage import RecordStage  # noqa: E402
from tests.faults.report import Report, Row  # noqa: E402
from tests.faults.stage import Tally  # noqa: E402

ALL = tuple(driver.OPERATIONS)
# It has as many points as ten of the others; the short run kills it and leaves the rest for later.
BRIEF = tuple(name for name in ALL if name != "capture")
RECORDS = tuple(records_driver.OPERATIONS)
# For errors on the short run: one of each way to write.
RECORDS_BRIEF = ("create", "update", "rename", "delete", "restore", "purge", "commit", "index")
SMALL, QUICK, FULL = "small", "quick", "full"
CHANGES = ("create", "update", "retire", "undo", "import")


def chosen(level: str, small: Sequence[str], quick: Sequence[str] = ALL) -> Sequence[str]:
    return small if level == SMALL else quick if level == QUICK else ALL


def fill(row: Row, tally: Tally) -> Row:
    row.points, row.fired, row.violations = tally.points, tally.fired, tally.violations
    row.examples = tally.examples
    return row


def controls(
    known: Mapping[str, Sequence[str]], find: Callable[[Sequence[str], str], Tally]
) -> dict[str, bool]:
    """Which known-bad stores a harness catches, each on the operation that shows it."""
    return {defect: find(names, defect).violations > 0 for defect, names in known.items()}


def first(known: Mapping[str, Sequence[str]], level: str) -> dict[str, Sequence[str]]:
    """In the tests, one control of each harness is enough."""
    return dict(list(known.items())[: 1 if level == SMALL else None])


def run_kill(level: str) -> Row:
    names = chosen(level, ("create", "retire", "undo"))
    row = fill(Row("kill -9 at each call", f"{len(names)}"), kill.run(names))
    row.controls = controls(first(kill.CONTROLS, level), kill.run)
    return row


def run_errors(level: str) -> Row:
    names, full = chosen(level, ("update",), BRIEF), level == FULL
    kinds = {SMALL: ("EIO", "ENOSPC"), QUICK: ("EIO", "ENOSPC", "EACCES", "EROFS")}
    # On the short run EIO fails every call, the others every second one that can give them.
    others = kinds.get(level, errors.ALL)[1:]
    every = 1 if full else 2
    tally, of = errors.run(names, ("EIO",), for_good=full)
    more, of_more = errors.run(names, others, for_good=full, likely=not full, every=every)
    tally.merge(more)
    row = fill(Row("error at each call", f"{len(names)} x {len(others) + 1}"), tally)
    how = "once and for good" if full else "once"
    row.remark = f"EIO {' '.join(others)}, {how}; {tally.points:,} of {of + of_more:,} points"

    def find(operations: Sequence[str], defect: str) -> Tally:
        return errors.run(operations, ("ENOSPC",), likely=True, defect=defect)[0]

    row.controls = controls(errors.CONTROLS, find)
    return row


def run_crash_states(level: str) -> Row:
    # A hook cannot wait for the disk: what a power cut takes from the queue, the next start of a
    # session makes up for.
    every = chosen(level, ("create", "retire"), BRIEF)
    names = [name for name in every if name != "enqueue"]
    row = fill(Row("power cut by model", f"{len(names)}"), crash_states.run(names))
    row.remark = "every state POSIX allows after each step, of store and state directory"
    row.controls = controls(first(crash_states.CONTROLS, level), crash_states.run)
    return row


def run_twice(level: str) -> Row:
    names = chosen(level, ("create",), ("create", "retire", "commit", "first"))
    row = fill(Row("killed, then power", f"{len(names)}"), crash_states.twice(names))
    row.remark = "killed after each step, next write acknowledged, then the power fails"
    row.controls = controls(crash_states.CONTROLS_TWICE, crash_states.twice)
    return row


def run_race(level: str) -> Row:
    processes, each = {SMALL: (4, 60), QUICK: (8, 500), FULL: (8, 2000)}[level]
    row, result = _race("race", race.MemoryWriter, processes, each)
    late = race.judge_waits(result) if level != SMALL else []
    row.violations += len(late)
    row.examples += late
    known = race.CONTROLS[: 1 if level == SMALL else None]
    row.controls = {name: _caught(race.MemoryWriter, name, 60) for name in known}
    return row


def run_records_race(level: str) -> Row:
    processes, each = {SMALL: (4, 10), QUICK: (8, 100), FULL: (8, 600)}[level]
    row, _ = _race("records: race", records_race.RecordWriter, processes, each)
    known = records_race.CONTROLS[: 1 if level == SMALL else None]
    row.controls = {name: _caught(records_race.RecordWriter, name, 12) for name in known}
    return row


def _race(name: str, make: type[race.Writer], processes: int, each: int) -> tuple[Row, race.Race]:
    result = race.run(make, processes, each)
    row = fill(Row(name, f"{processes} x {each}"), result.tally)
    row.remark = result.line()
    return row, result


def _caught(make: type[race.Writer], defect: str, each: int) -> bool:
    """Chance decides who meets whom: a few tries, each of them short."""
    return any(race.run(make, 8, each, defect).tally.violations for _ in range(5))


def run_writers(level: str) -> Row:
    kills, edits = {SMALL: (8, 60), QUICK: (100, 500), FULL: (1000, 5000)}[level]
    row = fill(Row("killed writers", "3 scenes"), writers.run(kills, edits))
    row.remark = f"2 writers killed every 50 ms, {kills} times; an editor beside"
    row.controls = {"written in place": writers.control("written in place", max(kills, 40))}
    return row


def run_model(level: str) -> Row:
    from tests.faults import model

    examples, steps = {SMALL: (8, 20), QUICK: (40, 25), FULL: (1000, 40)}[level]
    tally = model.run(examples, steps)
    row = fill(Row("model with crashes", f"{examples} x {steps}"), tally)
    row.remark = f"{tally.states} crashes in the middle of a write"
    known = model.CONTROLS[: 1 if level == SMALL else None]
    row.controls = {
        defect: apart(lambda defect=defect: model.run(60, 25, defect)) for defect in known
    }
    return row


def apart(find: Callable[[], Tally]) -> bool:
    """In a process of its own, since it breaks the modules it has loaded."""
    [tally] = stage.parallel(lambda share: find(), [0], 1)
    return tally.violations > 0


def run_links(level: str) -> Row:
    saves = {SMALL: 150, QUICK: 2000, FULL: 20_000}[level]
    row = fill(Row("names become links", f"{saves:,} saves"), links.run(saves))
    tries = 20_000
    row.controls = {defect: links.run(tries, defect).violations > 0 for defect in links.CONTROLS}
    return row


def run_clock(level: str) -> Row:
    row = fill(Row("clock jumps", "8"), clock.run())
    row.remark = "back a day, ten years ahead and back, between any two writes"
    row.controls = {
        defect: apart(lambda defect=defect: clock.run(defect)) for defect in clock.CONTROLS
    }
    return row


def run_full_disk(level: str) -> Row:
    names = chosen(level, ("update",), CHANGES)
    row = fill(Row("full disk", f"{len(names)}"), full_disk.run(names))
    row.remark = "a tmpfs of every size, page by page"
    known = first(full_disk.CONTROLS, level)
    row.controls = controls(known, lambda ops, defect: full_disk.run(ops, 1, defect))
    return row


def run_powercut(level: str) -> Row:
    names = chosen(level, ("create",), ("retire",))
    row = fill(Row("power cut on ext4", f"{len(names)} x 2"), powercut.run(names))
    row.remark = "the image of a mounted ext4, copied at each call, mounted again"
    known = first(powercut.CONTROLS, level)
    row.controls = controls(known, lambda ops, defect: powercut.run(ops, defect=defect))
    return row


# -- records: the same blows, judged by their own rules ----------------------------------------


def run_records_kill(level: str) -> Row:
    small = level == SMALL
    names = ("rename",) if small else RECORDS
    every = {SMALL: 60, QUICK: 3, FULL: 1}[level]
    row = fill(Row("records: kill -9", f"{len(names)}"), kill.run(names, "", RecordStage, every))
    row.remark = "at each call" if every == 1 else f"at one call of {every}"
    known = first(records_stage.KILL_CONTROLS, level)

    def find(operations: Sequence[str], defect: str) -> Tally:
        return kill.run(operations, defect, RecordStage, 15 if small else 1)

    row.controls = controls(known, find)
    return row


def run_records_errors(level: str) -> Row:
    names, full = RECORDS if level == FULL else RECORDS_BRIEF, level == FULL
    names = ("delete",) if level == SMALL else names
    kinds = ("ENOSPC",) if level == SMALL else ("EIO", "ENOSPC", "EACCES", "EROFS")
    every = {SMALL: 16, QUICK: 6, FULL: 1}[level]
    tally, of = errors.run(
        names, kinds, for_good=full, likely=not full, every=every, make=RecordStage
    )
    row = fill(Row("records: errors", f"{len(names)} x {len(kinds)}"), tally)
    how = "once and for good" if full else "once"
    row.remark = f"{' '.join(kinds)}, {how}; {tally.points:,} of {of:,} points"

    def find(operations: Sequence[str], defect: str) -> Tally:
        return errors.run(
            operations, ("ENOSPC",), likely=True, every=every, defect=defect, make=RecordStage
        )[0]

    row.controls = controls(records_stage.ERROR_CONTROLS, find)
    return row


METHODS: dict[str, tuple[Callable[[str], Row], Callable[[], str]]] = {
    "kill": (run_kill, tracer.why_not),
    "errors": (run_errors, tracer.why_not),
    "crash_states": (run_crash_states, tracer.why_not),
    "twice": (run_twice, tracer.why_not),
    "race": (run_race, lambda: ""),
    "writers": (run_writers, lambda: ""),
    "model": (run_model, lambda: ""),
    "links": (run_links, lambda: ""),
    "clock": (run_clock, lambda: ""),
    "full_disk": (run_full_disk, full_disk.why_not),
    "records_kill": (run_records_kill, tracer.why_not),
    "records_errors": (run_records_errors, tracer.why_not),
    "records_race": (run_records_race, lambda: ""),
    "powercut": (run_powercut, lambda: tracer.why_not() or powercut.why_not("ext4")),
}
ELSEWHERE = {
    "power cut on xfs": lambda: powercut.why_not("xfs"),
    "power cut on btrfs": lambda: powercut.why_not("btrfs"),
    "case-blind, NFD and lock-less file systems": lambda: "needs FUSE and a FUSE file system",
}


def run_all(level: str, names: Sequence[str], say: Callable[[str], None]) -> Report:
    found = Report(level)
    say(report.line(report.HEADINGS))
    for name in names:
        work, why_not = METHODS[name]
        reason = why_not()
        if reason:
            found.not_run.append(f"{name}: {reason}")
            continue
        start = time.monotonic()
        row = work(level)
        row.seconds = time.monotonic() - start
        found.rows.append(row)
        say("\n".join([report.line(row.cells()), *report.after(row)]))
    if level != SMALL:
        found.not_run += [f"{name}: {reason()}" for name, reason in ELSEWHERE.items() if reason()]
    for reason in found.not_run:
        say(f"not run: {reason}")
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    level = parser.add_mutually_exclusive_group(required=True)
    for name in (SMALL, QUICK, FULL):
        level.add_argument(f"--{name}", dest="level", action="store_const", const=name)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--only", default=",".join(METHODS), help="some of: %(default)s")
    given = parser.parse_args(arguments)
    seeds.sweep_old_folders()
    start = time.monotonic()
    say = (lambda text: None) if given.json else (lambda text: print(text, flush=True))
    found = run_all(given.level, given.only.split(","), say)
    if given.json:
        print(found.as_json())
    else:
        end = "all held" if found.fine else "NOT all held"
        say(f"{end}; {time.monotonic() - start:.0f} s on {stage.workers()} processors")
    return 0 if found.fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

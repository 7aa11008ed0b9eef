"""Break the store in every way we know, count what fired, and show that the traps work.

    python tests/faults/run.py --quick | --full [--json] [--page FILE] [kill race …]

Exit 1 on a violation, on a point that did not fire, and on a known-bad store that was not caught.
"""

import argparse
import dataclasses
import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.faults import (  # noqa: E402
    clock,
    crash_states,
    folding,
    full_disk,
    fuzz,
    links,
    memories,
    model,
    mounts,
    powercut,
    race,
    records,
    report,
    repository,
    secret,
    stage,
    strike,
    sync,
    tracer,
    trees,
    undo,
    writers,
)
from tests.faults.report import Row  # noqa: E402
from tests.faults.stage import Tally  # noqa: E402
from tests.helpers.tables import table  # noqa: E402

SERVER = "server"  # a part of its own, with PostgreSQL: make faults ARGS=server
LEVELS = SMALL, QUICK, FULL = "small", "quick", "full"
# Each method of tests/data/faults.toml, and why this machine cannot run it.
METHODS: dict[str, tuple[Callable[..., Tally], Callable[[], str]]] = {
    "kill": (strike.kill, tracer.why_not),
    "errors": (strike.fail, tracer.why_not),
    "undo": (undo.run, tracer.why_not),
    "secret": (secret.run, tracer.why_not),
    "crash_states": (crash_states.run, tracer.why_not),
    "twice": (crash_states.twice, tracer.why_not),
    "race": (partial(race.run, race.MemoryWriter), str),
    "writers": (writers.run, str),
    "model": (model.run, str),
    "links": (links.run, str),
    "clock": (clock.run, str),
    "fuzz": (fuzz.run, str),
    "full_disk": (full_disk.run, mounts.why_not),
    "records_kill": (partial(strike.kill, world=records.WORLD), tracer.why_not),
    "records_errors": (partial(strike.fail, world=records.WORLD), tracer.why_not),
    "records_race": (partial(race.run, race.RecordWriter), str),
    "sync": (sync.run, str),
    "folding": (folding.run, folding.why_not),
    "unlocked": (strike.refuse_locks, tracer.why_not),
    **{
        f"powercut_{system}": (partial(powercut.run, system), partial(powercut.why_not, system))
        for system in powercut.SYSTEMS
    },
}


def run_method(name: str, level: str) -> Row:
    """One method and the known-bad stores it must catch: in the tests, one of them is enough."""
    start = time.monotonic()
    methods, (kind, _, system) = table("faults", "methods"), name.partition("_")
    work, given = METHODS[name][0], at_level(methods.get(name) or methods[kind], level)
    title, size, remark, how = (given.pop(key, "") for key in ("name", "size", "remark", "how"))
    control, apart = at_level(given.pop("control", {}), level), given.pop("apart", False)
    known = list(given.pop("controls").items())[: 1 if level == SMALL else None]
    wanted = given.get("operations", [])
    if "*" in wanted:
        world = records.WORLD if name.startswith("records") else memories.WORLD
        every = [one for one in world.operations if f"-{one}" not in wanted]
        if "records *" in wanted:
            every += [stage.RECORDS + one for one in records.OPERATIONS]
        given["operations"] = every
    found = {}
    for defect, operation in known:
        bad = given | control | {"defect": defect}
        bad |= {"operations": [operation]} if operation else {}
        caught = stage.apart(partial(work, **bad)) if apart else work(**bad)
        found[defect] = caught.violations > 0
    tally = work(**given)
    facts = vars(tally) | given | {"how": how, "system": system}
    facts["count"] = len(given.get("operations", given.get("scenes", [])))
    facts |= {key: " ".join(given.get(key, [])) for key in ("everywhere", "likely", "errors")}
    title, size, remark = (text.format(**facts) for text in (title, size, remark))
    return Row(title, size, tally, remark, found, time.monotonic() - start, name, level)


def at_level(given: Mapping[str, Any], level: str) -> dict[str, Any]:
    """What differs between small, quick and full runs as this one has it."""
    by_level = {key for key, value in given.items() if isinstance(value, dict) and level in value}
    return {key: value[level] if key in by_level else value for key, value in given.items()}


def run_all(level: str, names: Sequence[str], say: Callable[[str], None]) -> dict:
    rows: list[Row] = []
    not_run: list[str] = []
    say(report.line(report.HEADINGS))
    for name in names:
        if reason := repository.why_not() or METHODS[name][1]():
            not_run.append(f"{name}: {reason}")
            continue
        rows.append(run_method(name, level))
        say("\n".join(rows[-1].lines()))
    for reason in not_run:
        say(f"not run: {reason}")
    fine = all(row.fine for row in rows)
    return {"rows": [dataclasses.asdict(row) for row in rows], "not_run": not_run, "fine": fine}


def add_to(path: Path, found: dict) -> dict:
    """The rows of earlier runs as well, each method as it was run last."""
    earlier = json.loads(path.read_text()) if path.exists() else {"rows": [], "not_run": []}
    rows = {row["name"]: row for row in (*earlier["rows"], *found["rows"])}
    reasons = {name: f"{name}: not in these runs" for name in METHODS if name not in rows}
    for reason in (*earlier["not_run"], *found["not_run"]):
        if (name := reason.partition(":")[0]) in reasons:
            reasons[name] = reason
    kept = [rows[name] for name in METHODS if name in rows]
    both = {"rows": kept, "not_run": [*reasons.values()]}
    path.write_text(json.dumps(both, indent=1))
    return both


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    level = parser.add_mutually_exclusive_group(required=True)
    for name in LEVELS:
        level.add_argument(f"--{name}", dest="level", action="store_const", const=name)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--page", metavar="FILE", help="write the table there, as Markdown")
    parser.add_argument("--rows", metavar="FILE", help="add to what earlier runs kept there")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{SERVER}, {', '.join(METHODS)}")
    given = parser.parse_args(arguments)
    if given.names == [SERVER]:
        return importlib.import_module("tests.faults.server").main(given.level)
    if unknown := {*given.names} - {*METHODS}:
        parser.error(f"there is no method {', '.join(unknown)}")
    trees.sweep_old_folders()
    start = time.monotonic()
    say = (lambda text: None) if given.json else partial(print, flush=True)
    found = run_all(given.level, given.names or [*METHODS], say)
    shown = add_to(Path(given.rows), found) if given.rows else found
    if given.page:
        Path(given.page).write_text(report.page(shown["rows"], shown["not_run"]))
    if given.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    end = "all held" if found["fine"] else "NOT all held"
    say(f"{end}; {time.monotonic() - start:.0f} s on {stage.workers()} processors")
    return 0 if found["fine"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

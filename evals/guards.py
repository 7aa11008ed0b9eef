"""Guards: how often they stop what nobody forbade, and how often what somebody did.

`corpus` has memory directories below `owner__repo`, `conversations/commands.jsonl` a command
a line.
`guards_incidents.toml` quotes public incidents; `guards_labels.tsv` says of every rule that is
compiled from the corpus whether its sentence means that, by two readers: right, conditional or
wrong. A rule counts as right where everyone who read it says so.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

from evals.report import TEXT, Figure, Goal, Report, Section, Table, evaluation_report_fields
from evals.shares import share_figure
from memdir.evals.recall_sets import bad_eval_data
from memdir.format.prohibitions import find_guards
from memdir.hot.guard import Guard, read_programs
from memdir.hot.memory import decode

COMMANDS = "conversations/commands.jsonl"
HERE = Path(__file__).parent
INCIDENTS, LABELS = HERE / "guards_incidents.toml", HERE / "guards_labels.tsv"
RIGHT, CONDITIONAL = "right", "conditional"
FALSE_ALARMS, STOPPED, PRECISION = Goal(0.001, at_most=True), Goal(0.7), Goal(0.9)


def evaluate_guards(data: str) -> tuple[Report, dict[str, object]]:
    rules = list(_rules_of_corpus(Path(data, "corpus")))
    commands = _read_commands(os.path.join(data, COMMANDS))
    if not rules:
        raise bad_eval_data(os.path.join(data, "corpus"), 0, "no memory that guards a command")
    guards = [guard for _, guard in rules]
    alarms = [line for line in commands if _speaks(guards, line, stops=True)]
    reminders = [line for line in commands if _speaks(guards, line, stops=False)]
    lists = tomllib.loads(INCIDENTS.read_text("utf-8"))
    results, later, newest = (
        [_incident(*row) for row in lists[name]] for name in ("rows", "later", "newest")
    )
    rows = [line.split("\t") for line in LABELS.read_text("utf-8").splitlines()]
    labels = {"\t".join(row[:4]): list(filter(None, row[4:])) for row in rows}
    verdicts = [(labels.get(_key(path, guard), []), guard) for path, guard in rules]
    # A condition that became a reminder is what the sentence says.
    right = [
        bool(read) and all(one == RIGHT or (one == CONDITIONAL and not guard.stops) for one in read)
        for read, guard in verdicts
    ]
    unlabelled = sum(not read for read, _ in verdicts)
    figures = (
        _with_goal(
            share_figure("real commands that are stopped", len(alarms), len(commands)), FALSE_ALARMS
        ),
        share_figure("real commands with a reminder", len(reminders), len(commands)),
        _with_goal(
            share_figure("rules that say what their sentence says", sum(right), len(right)),
            PRECISION,
        ),
        _with_goal(
            share_figure("commands of incidents stopped", _count(results), len(results)), STOPPED
        ),
        _with_goal(share_figure("of incidents gathered later", _count(later), len(later)), STOPPED),
        _with_goal(share_figure("of the newest", _count(newest), len(newest)), STOPPED),
    )
    incidents = (*results, *later, *newest)
    table = Table(
        "incidents",
        tuple((name, TEXT) for name in ("thread", "stopped", "rule", "command")),
        incidents,
    )
    remarks = (f"{unlabelled} rules have no label",) if unlabelled else ()
    section = Section("Guards", figures, (table,), remarks)
    summary = f"{len(rules)} rules, {len(commands):,} commands, {len(incidents)} incidents"
    report = Report("guards", data, summary, (section,))
    fields = evaluation_report_fields(report)
    return report, {**fields, "rules": [_key(path, guard) for path, guard in rules]}


def _incident(thread: str, rule: str, command: str) -> tuple[str, str, str, str]:
    stopped = _speaks(find_guards(rule), command, stops=True)
    return thread, "yes" if stopped else "no", rule, command


def _count(incidents: list[tuple[str, str, str, str]]) -> int:
    return sum(stopped == "yes" for _, stopped, *_ in incidents)


def _with_goal(figure: Figure, goal: Goal) -> Figure:
    return Figure(figure.name, figure.value, figure.unit, figure.n, figure.low, figure.high, goal)


def _rules_of_corpus(corpus: Path) -> Iterator[tuple[str, Guard]]:
    for path in sorted(corpus.glob("*__*/**/*.md")):
        for guard in find_guards(decode(path.read_bytes())):
            yield str(path.relative_to(corpus)), guard


def _key(path: str, guard: Guard) -> str:
    return "\t".join((path, guard.form, str(guard.command), str(guard.other or "")))


def _read_commands(path: str) -> list[str]:
    try:
        text = Path(path).read_text("utf-8")
        return [str(json.loads(line)) for line in text.splitlines() if line]
    except (OSError, ValueError) as error:
        raise bad_eval_data(path, 1, str(error)) from None


def _speaks(guards: list[Guard], line: str, *, stops: bool) -> bool:
    programs = list(read_programs(line, {}))
    return any(guard.stops == stops and guard.concerns(programs, frozenset()) for guard in guards)

"""Audit, dashboard: what a person should know about a store, or about all of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import click

from memdir.audit.ages import REVIEW
from memdir.audit.audit import Audit, Audited, Load, Wish
from memdir.audit.audit import audit as look_over
from memdir.cli.advice import Advice
from memdir.cli.command import Session, command
from memdir.cli.output import (
    FINDING,
    Answer,
    Cell,
    Fields,
    Screen,
    finding_lines,
    pick,
)
from memdir.errors import Finding
from memdir.hot import safe
from memdir.hot.memory import MAX_CHARACTERS
from memdir.store.writer import App
from memdir.text.terminal import count, cut_middle, line, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.audit.projects import Place

FEW = 3  # findings of a kind that a person is shown
ROWS = 12  # memories
STYLES = {"keep": "green", "review": "yellow", "prune": "red"}
ACTIONS = ("prune", "review", "keep")
SERIOUS = {
    *("secret", "hidden-characters", "orders", "forged-frame", "redirect-attempt", "unreadable"),
    *("stale-claim", "dangling-pointer", "index-too-long", "project-gone"),
}
BAR = 10  # columns for 100 points
EIGHTHS = " ▏▎▍▌▋▊▉"
NAME_SHARE = 0.3  # of the line
HEADINGS = ("stale", "", "memory", "type", "age", "tokens")
REASON_INDENT = " " * 6
NO_STORE = "there is no store yet: memdir remember TEXT makes one"
LOAD = "index prompt total memories"
MEMORY = "path type age_days score action tokens claims reasons store"


@dataclass(frozen=True)
class Report:
    """The audit of one store of a run; without a scope it is one of many."""

    title: str
    scope: str
    app: App
    audit: Audit


@command("audit", "memdir audit --deep", bulk=True)
@click.option("--deep", is_flag=True, help="Check what memories claim against the code.")
@click.option("--online", is_flag=True, help="Ask their URLs whether they still answer.")
@click.option("--all-projects", is_flag=True, help="Every store that the client has.")
@click.option("--check", is_flag=True, help="Exit with 1 if there is any finding.")
@click.option("--all", "everything", is_flag=True, help="Every memory and every finding.")
def audit(
    session: Session, deep: bool, online: bool, all_projects: bool, check: bool, everything: bool
) -> Answer:
    """Say which memories are worn out, and what is wrong with a store.

    The score of a memory is 0 when fresh and 100 when worn out: from 50 on it wants a look, from
    75 on it should go. With --deep every claim that is no longer true adds to it. Nothing is
    changed, and a score hides nothing.
    """
    wish = Wish(deep, online, session.config.options.private_urls)
    reports = list(_audit_projects(session, wish) if all_projects else _audit_here(session, wish))
    findings = any(report.audit.findings for report in reports)
    lines = _audit_lines(session, reports, everything, all_projects)
    return Answer(_audit_fields(session, reports), lines, int(check and findings))


def _audit_here(session: Session, wish: Wish) -> Iterator[Report]:
    known: set[Finding] = set()
    for scope, app in session.apps():
        result = look_over(app, wish, session.screen.tell)
        # The settings are those of all scopes; once is enough.
        findings = tuple(finding for finding in result.findings if finding not in known)
        known.update(app.config.findings)
        yield Report(scope, scope, app, replace(result, findings=findings))


def _audit_projects(session: Session, wish: Wish) -> Iterator[Report]:
    from memdir.audit.projects import open_projects

    tell = session.screen.tell
    for place in open_projects(session.config, time.time, tell):
        result = look_over(place.app, wish, tell)
        result = replace(result, findings=(*place.findings, *result.findings))
        yield Report(session.short(place.title), "", place.app, result)


def _audit_fields(session: Session, reports: Sequence[Report]) -> Fields:
    loads = [report.audit.load for report in reports]
    sums = [sum(getattr(load, key) for load in loads) for key in ("index", "prompt", "memories")]
    memories = [(report, item) for report in reports for item in report.audit.memories]
    return {
        "store": session.config.store,
        "memories": [
            pick(
                item,
                MEMORY,
                claims=pick(item.claims, "checked stale unknown"),
                store=report.app.store.root,
            )
            for report, item in memories
        ],
        "findings": [
            pick(
                finding,
                FINDING,
                fix=_advise(session, report, finding.fix),
                store=report.app.store.root,
            )
            for report in reports
            for finding in report.audit.findings
        ],
        "tokens": pick(Load(*sums), LOAD),
        "stores": [
            pick(report, "title store=app.store.root tokens", tokens=pick(report.audit.load, LOAD))
            for report in reports
        ],
        "actions": {action: sum(i.action == action for _, i in memories) for action in ACTIONS},
        "remarks": list(dict.fromkeys(text for one in reports for text in one.audit.remarks)),
    }


def _advise(session: Session, report: Report, text: str) -> str:
    """A suggestion that names its store, where that is not the one asked for."""
    advise = session.screen.advise
    if report.scope:
        return advise(text, report.scope)
    return Advice(advise.commands, report.app.store.root, home=advise.home)(text)


def _audit_lines(
    session: Session, reports: Sequence[Report], everything: bool, all_projects: bool
) -> Iterator[str]:
    if not reports:
        yield NO_STORE
        return
    for number, report in enumerate(reports):
        yield from [""] if number else []
        yield from _report_lines(session, report, everything)
    if all_projects:
        yield from ["", "Next: memdir prune --dir STORE works through one of them"]


def _report_lines(session: Session, report: Report, everything: bool) -> Iterator[str]:
    """A store for a person: the sum, the memories, the findings, what it costs, what to do."""
    screen, result, load = session.screen, report.audit, report.audit.load
    root = report.app.store.root
    actions = [f"{number} {action}" for action in ACTIONS if (number := result.count(action))]
    total = count(len(result.memories), "memory", "memories")
    parts = " · ".join([total, *actions, count(len(result.findings), "finding")])
    for text in screen.block("", f"{report.title}: {parts}", ""):
        yield screen.paint(text, "bold")
    yield from screen.block("in", session.short(root))
    shown = [item for item in result.memories if everything or item.action != "keep"]
    shown = shown if everything else shown[:ROWS]
    if shown:
        widest = int(screen.columns * NAME_SHARE)
        table = screen.table([_row(item, widest) for item in shown], headings=HEADINGS)
        yield from ["", table[0]]
        for item, row in zip(shown, table[1:], strict=True):
            yield row
            for reason in item.reasons[1:]:  # the first says the age, which the row has
                yield from screen.block("", reason, REASON_INDENT)
        left = len(result.memories) - len(shown)
        yield from [f"  and {count(left, 'other')}: --all shows them"] if left else []
    yield from _finding_lines(session, report, everything)
    yield ""
    text = (
        f"every session carries ~{load.total:,} tokens (index {load.index:,}, the rest "
        f"{load.prompt:,}); all memories together have ~{load.memories:,}"
    )
    yield from screen.block("tokens:", text)
    remarks = [session.short(text.replace(root, session.short(root))) for text in result.remarks]
    yield from screen.blocks("note:", remarks)
    steps = ["memdir prune"] if result.count("prune") else []
    steps += ["memdir touch NAME for what still holds"] if result.count("review") else []
    checked = any(item.claims.checked or item.claims.unknown for item in result.memories)
    if report.app.config.code and not checked:
        steps.append("memdir audit --deep checks them against the code")
    if steps and result.memories and report.scope:  # of many stores, the last line says it once
        yield from _next_lines(screen, [_advise(session, report, step) for step in steps])


def bar(score: int) -> str:
    """A score as a bar of ten columns."""
    full, part = divmod(score * BAR * 8 // 100, 8)
    return ("█" * full + EIGHTHS[part].strip()).ljust(BAR, "·")


def _row(item: Audited, widest: int) -> list[Cell]:
    style = STYLES[item.action]
    return [
        (f"{bar(item.score)} {item.score:3}", style),
        (item.action, style),
        (cut_middle(line(item.path.removesuffix(".md")), widest), "bold"),
        item.type,
        safe.age_words(item.age_days).removesuffix(" ago"),
        f"{item.tokens:>6,}",
    ]


def _finding_lines(session: Session, report: Report, everything: bool) -> Iterator[str]:
    """Findings by kind: a few of each, and the way to mend the first, or all with theirs."""
    screen, kinds = session.screen, dict[str, list[Finding]]()
    for finding in report.audit.findings:
        kinds.setdefault(finding.kind, []).append(finding)
    # What can do harm first, then what there is most of.
    order = sorted(kinds.items(), key=lambda pair: (pair[0] not in SERIOUS, -len(pair[1]), pair[0]))
    for kind, findings in order:
        yield from ["", screen.paint(f"{kind} ({len(findings)})", "cyan")]
        shown = findings if everything else findings[:FEW]
        for number, finding in enumerate(shown, 1):
            bare = Finding(finding.kind, finding.path, finding.message, "", finding.line)
            yield from finding_lines(screen, [bare])
            more = len(findings) - number
            if more and number == len(shown):
                yield f"  … and {more} more: --all"
            alike = number < len(shown) and (not everything or shown[number].fix == finding.fix)
            if finding.fix and not alike:
                fix = finding.fix if everything else findings[0].fix
                yield from screen.block("fix:", _advise(session, report, fix), "    ")


def _next_lines(screen: Screen, steps: Sequence[str]) -> Iterator[str]:
    """What to type next, on one line, or each on its own."""
    label, text = "Next:", " · ".join(steps)
    if width(f"{label} {text}") <= screen.columns:
        yield from screen.block(label, text, "")
        return
    yield from screen.block(label, steps[0], "")
    for step in steps[1:]:
        yield from screen.block("", step, " " * len(label + " "))


# dashboard: every project at a glance.

TOP = 10  # projects, alerts and consumers that a person is shown
STRIPE = 20  # columns of the longest bar
PROJECT_SHARE = 0.42  # of the line
PROJECT = "title store=app.store.root gone memories types actions alerts index_findings tokens"
CONSUMER = "store title path type score action age_days tokens"
Project = tuple["Place", Audit]
Item = tuple["Place", Audited]


@command("dashboard", "memdir dashboard", bulk=True)
@click.option("--limit", type=click.IntRange(1), default=TOP, help=f"Rows of each part ({TOP}).")
def dashboard(session: Session, limit: int) -> Answer:
    """Show every project: how much it remembers, what is worn out, what it costs.

    Stores are only looked at: nothing is written, created or checked against code.
    """
    from memdir.audit.projects import open_projects

    places = open_projects(session.config, time.time, session.screen.tell)
    projects = [(place, look_over(place.app, Wish(brief=True))) for place in places]
    projects.sort(key=lambda project: (-project[1].load.total, project[0].title))
    items = [(place, item) for place, audit in projects for item in audit.memories]
    alerts = [(place, item) for place, item in items if item.score > REVIEW]
    alerts.sort(key=lambda pair: (-pair[1].score, pair[1].path))
    longest = sorted(items, key=lambda pair: (-pair[1].tokens, pair[1].path))
    types = Counter(item.type for _, item in items)
    loads = [audit.load for _, audit in projects]
    fields = {
        "projects": [_project_fields(place, audit) for place, audit in projects],
        "counts": {
            "projects": len(projects),
            "memories": len(items),
            "index_findings": sum(len(a.findings) + len(p.findings) for p, a in projects),
            "types": dict(sorted(types.items())),
            "actions": Counter(item.action for _, item in items),
        },
        "alerts": _item_fields(alerts),
        "tokens": {key: sum(getattr(load, key) for load in loads) for key in LOAD.split()},
        "top": _item_fields(longest[:limit]),
    }
    return Answer(fields, _dashboard_lines(session, projects, alerts, longest, types, limit))


def _is_gone(place: Place) -> bool:
    from memdir.audit.projects import GONE

    return any(finding.kind == GONE for finding in place.findings)


def _project_fields(place: Place, audit: Audit) -> Fields:
    return pick(
        place,
        PROJECT,
        gone=_is_gone(place),
        memories=len(audit.memories),
        types=Counter(item.type for item in audit.memories),
        actions=Counter(item.action for item in audit.memories),
        alerts=sum(item.score > REVIEW for item in audit.memories),
        # Of files and index alone: what an audit finds in the texts is not looked for here.
        index_findings=len(audit.findings) + len(place.findings),
        tokens=pick(audit.load, LOAD),
    )


def _item_fields(items: Sequence[Item]) -> list[Fields]:
    return [
        pick(item, CONSUMER, store=place.app.store.root, title=place.title) for place, item in items
    ]


def _dashboard_lines(
    session: Session,
    projects: Sequence[Project],
    alerts: Sequence[Item],
    longest: Sequence[Item],
    types: Counter[str],
    limit: int,
) -> Iterator[str]:
    screen = session.screen
    if not projects:
        yield NO_STORE
        return
    parts = [count(len(projects), "store"), count(len(longest), "memory", "memories")]
    yield screen.paint(" · ".join([*parts, count(len(alerts), "alert")]), "bold")
    yield ""
    most = max(types.values(), default=0)
    rows = [
        (name, (_stripe(n, most, STRIPE), "green"), f"{n:,}") for name, n in types.most_common()
    ]
    yield from screen.table(rows)
    yield ""
    yield from _project_lines(session, projects, limit)
    if alerts:
        yield from ["", screen.paint(f"worn out (score above {REVIEW})", "cyan")]
        yield from _item_lines(session, alerts, limit, lambda i: f"{bar(i.score)} {i.score:3}")
    if longest:
        yield from ["", screen.paint("longest memories", "cyan")]
        most = longest[0][1].tokens
        top = longest[: min(limit, TOP // 2)]
        yield from _item_lines(
            session, top, limit, lambda i: f"{_stripe(i.tokens, most)} {i.tokens:>6,}"
        )
    yield ""
    list_all = "memdir audit --all-projects lists the findings"
    yield from _next_lines(screen, (list_all, "memdir prune works through one store"))


def _stripe(number: int, most: int, columns: int = TOP) -> str:
    """A bar as long as its share of the longest."""
    length = round(number * columns / most) if most else 0
    return ("█" * max(length, int(number > 0))).ljust(columns)


def _project_lines(session: Session, projects: Sequence[Project], limit: int) -> Iterator[str]:
    screen, most = session.screen, max(audit.load.total for _, audit in projects)
    widest = int(screen.columns * PROJECT_SHARE)
    rows: list[list[Cell]] = []
    for place, audit in projects[:limit]:
        gone = " (gone)" if _is_gone(place) else ""
        alerts = sum(item.score > REVIEW for item in audit.memories)
        over = audit.load.index * 4 >= MAX_CHARACTERS
        load = f"{_stripe(audit.load.total, most)} {audit.load.total:>6,}"
        rows.append(
            [
                (cut_middle(line(_title(session, place)), widest - len(gone)) + gone, "bold"),
                (load, "red" if over else "green"),
                f"{len(audit.memories):>3}",
                (f"{alerts}", "yellow" if alerts else "dim"),
            ]
        )
    yield from screen.table(rows, headings=("store", "tokens a session", "n", "alerts"))
    yield from _others(len(projects) - limit)


def _others(number: int) -> list[str]:
    return [f"  and {count(number, 'other')}: --limit"] if number > 0 else []


def _title(session: Session, place: Place) -> str:
    """A project by its path; what is gone, by the end of what it was called."""
    return session.short(place.title) if os.path.isabs(place.title) else place.title


def _item_lines(
    session: Session, items: Sequence[Item], limit: int, show: Callable[[Audited], str]
) -> Iterator[str]:
    widest = int(session.screen.columns * PROJECT_SHARE)
    rows: list[list[Cell]] = [
        [
            (show(item), STYLES[item.action]),
            (cut_middle(line(item.path.removesuffix(".md")), widest), "bold"),
            item.type,
            _title(session, place),
        ]
        for place, item in items[:limit]
    ]
    yield from session.screen.table(rows)
    yield from _others(len(items) - limit)

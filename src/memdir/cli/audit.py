"""Audit, dashboard."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import click

from memdir.audit.audit import Audit, Audited, Load, Wish
from memdir.audit.audit import audit as look_over
from memdir.audit.projects import GONE, Place, open_projects
from memdir.audit.staleness import REVIEW
from memdir.cli.command import Session, command
from memdir.cli.output import Advice, Cell, Fields, Screen, finding_fields, finding_lines
from memdir.errors import Finding
from memdir.hot import safe
from memdir.hot.memory import MAX_CHARACTERS
from memdir.store.writer import App
from memdir.text.terminal import count, cut_middle, line, width

# audit: what a person should know about a store.

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
REASONS = " " * 6  # before what stands below a memory


@dataclass(frozen=True)
class Looked:
    """One store of a run."""

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
) -> int:
    """Say which memories are worn out, and what is wrong with a store.

    The score of a memory is 0 when fresh and 100 when worn out: from 50 on it wants a look, from
    75 on it should go. With --deep every claim that is no longer true adds to it. Nothing is
    changed, and a score hides nothing.
    """
    wish = Wish(deep, online, session.config.options.private_urls)
    found = list(_everywhere(session, wish) if all_projects else _here(session, wish))
    findings = [finding for one in found for finding in one.audit.findings]
    lines: list[str] = []
    if not session.screen.json:
        for one in found:
            lines += [""] if lines else []
            lines += audit_lines(session, one, everything)
        if all_projects and found:
            lines += ["", "Next: memdir prune --dir STORE works through one of them"]
        lines = lines or ["there is no store yet: memdir remember TEXT makes one"]
    session.screen.answer(_answer(session, found), lines)
    return int(check and bool(findings))


def _here(session: Session, wish: Wish) -> Iterator[Looked]:
    said: set[Finding] = set()
    for scope, app in session.apps():
        found = look_over(app, wish, session.screen.tell)
        # The settings are those of all scopes; once is enough.
        findings = tuple(finding for finding in found.findings if finding not in said)
        said.update(app.config.findings)
        yield Looked(scope, scope, app, replace(found, findings=findings))


def _everywhere(session: Session, wish: Wish) -> Iterator[Looked]:
    screen = session.screen
    for place in open_projects(session.config, time.time, screen.tell):
        found = look_over(place.app, wish, screen.tell)
        findings = (*place.findings, *found.findings)
        title = session.short(place.title)
        yield Looked(title, "", place.app, replace(found, findings=findings))


def _answer(session: Session, found: Sequence[Looked]) -> Fields:
    load = [one.audit.load for one in found]
    whole = Load(
        *(sum(getattr(one, key) for one in load) for key in ("index", "prompt", "memories"))
    )
    actions = Counter(memory.action for one in found for memory in one.audit.memories)
    return {
        "store": session.config.store,
        "memories": [_memory_fields(one, memory) for one in found for memory in one.audit.memories],
        "findings": [
            {
                **finding_fields(finding),
                "fix": _advised(session, one, finding.fix),
                "store": one.app.store.root,
            }
            for one in found
            for finding in one.audit.findings
        ],
        "tokens": load_fields(whole),
        "stores": [
            {"title": one.title, "store": one.app.store.root, "tokens": load_fields(one.audit.load)}
            for one in found
        ],
        "actions": {action: actions[action] for action in ACTIONS},
        "remarks": list(dict.fromkeys(text for one in found for text in one.audit.remarks)),
    }


def load_fields(load: Load) -> Fields:
    """Tokens for a program."""
    return {
        "index": load.index,
        "prompt": load.prompt,
        "total": load.total,
        "memories": load.memories,
    }


def _memory_fields(one: Looked, memory: Audited) -> Fields:
    claims = memory.claims
    return {
        "path": memory.path,
        "type": memory.type,
        "age_days": memory.age_days,
        "score": memory.score,
        "action": memory.action,
        "tokens": memory.tokens,
        "claims": {"checked": claims.checked, "stale": claims.stale, "unknown": claims.unknown},
        "reasons": list(memory.reasons),
        "store": one.app.store.root,
    }


def _advised(session: Session, one: Looked, text: str) -> str:
    """A suggestion that names its store, where that is not the one asked for."""
    if one.scope:
        return session.screen.advise(text, one.scope)
    asked = session.screen.advise
    return Advice(asked.commands, one.app.store.root, home=asked.home)(text)


def audit_lines(session: Session, one: Looked, everything: bool) -> list[str]:
    """A store for a person: the sum, the memories, the findings, what it costs, what to do."""
    screen, found = session.screen, one.audit
    lines = [screen.paint(part, "bold") for part in screen.block("", _summary(one), "")]
    lines += screen.block("in", session.short(one.app.store.root))
    shown = [memory for memory in found.memories if everything or memory.action != "keep"]
    shown = shown if everything else shown[:ROWS]
    if shown:
        widest = int(screen.columns * NAME_SHARE)
        head: list[Cell] = [(text, "dim") for text in HEADINGS]
        first, *rows = screen.table([head, *[_row(memory, widest) for memory in shown]])
        lines += ["", first]
        for memory, row in zip(shown, rows, strict=True):
            lines.append(row)
            # The first says the age, which the row has.
            for reason in memory.reasons[1:]:
                lines += screen.block("", reason, REASONS)
    left = len(found.memories) - len(shown)
    if left and shown:
        lines += [f"  and {count(left, 'other')}: --all shows them"]
    lines += _finding_lines(session, one, everything)
    lines += ["", *_load_lines(screen, found.load)]
    root = one.app.store.root
    for text in found.remarks:
        lines += screen.block("note:", session.short(text.replace(root, session.short(root))))
    return [*lines, *_next_lines(session, one)]


def _summary(one: Looked) -> str:
    found = one.audit
    actions = [f"{number} {action}" for action in ACTIONS if (number := found.count(action))]
    parts = [count(len(found.memories), "memory", "memories"), *actions]
    parts.append(count(len(found.findings), "finding"))
    return f"{one.title}: {' · '.join(parts)}"


def bar(score: int) -> str:
    """A score as a bar of ten columns."""
    eighths = score * BAR * 8 // 100
    full, part = divmod(eighths, 8)
    return ("█" * full + EIGHTHS[part].strip()).ljust(BAR, "·")


def _row(memory: Audited, widest: int) -> list[Cell]:
    style = STYLES[memory.action]
    name = line(memory.path.removesuffix(".md"))
    return [
        (f"{bar(memory.score)} {memory.score:3}", style),
        (memory.action, style),
        (cut_middle(name, widest), "bold"),
        memory.type,
        safe.age_words(memory.age_days).removesuffix(" ago"),
        f"{memory.tokens:>6,}",
    ]


def _finding_lines(session: Session, one: Looked, everything: bool) -> list[str]:
    """Findings by kind: a few of each, and the way to mend the first, or all with theirs."""
    screen, kinds = session.screen, dict[str, list[Finding]]()
    for finding in one.audit.findings:
        kinds.setdefault(finding.kind, []).append(finding)
    lines: list[str] = []
    for kind, found in sorted(kinds.items(), key=lambda pair: _weight(*pair)):
        lines += ["", screen.paint(f"{kind} ({len(found)})", "cyan")]
        shown = found if everything else found[:FEW]
        for at, finding in enumerate(shown, 1):
            bare = Finding(finding.kind, finding.path, finding.message, "", finding.line)
            lines += finding_lines(screen, [bare])
            more = len(found) - at
            if more and at == len(shown):
                lines += [f"  … and {more} more: --all"]
            alike = at < len(shown) and (not everything or shown[at].fix == finding.fix)
            if finding.fix and not alike:
                fix = found[0].fix if not everything else finding.fix
                lines += screen.block("fix:", _advised(session, one, fix), "    ")
    return lines


def _weight(kind: str, found: Sequence[Finding]) -> tuple[bool, int, str]:
    """What can do harm first, then what there is most of."""
    return kind not in SERIOUS, -len(found), kind


def _load_lines(screen: Screen, load: Load) -> list[str]:
    text = (
        f"every session carries ~{load.total:,} tokens (index {load.index:,}, the rest "
        f"{load.prompt:,}); all memories together have ~{load.memories:,}"
    )
    return screen.block("tokens:", text)


def _next_lines(session: Session, one: Looked) -> list[str]:
    """What to type next, the most useful first."""
    found, steps = one.audit, list[str]()
    if found.count("prune"):
        steps.append("memdir prune")
    if found.count("review"):
        steps.append("memdir touch NAME for what still holds")
    looked = any(memory.claims.checked or memory.claims.unknown for memory in found.memories)
    if one.app.config.code and not looked:
        steps.append("memdir audit --deep checks them against the code")
    if not steps or not found.memories or not one.scope:
        return []  # of many stores, the last line says it once
    advised = [_advised(session, one, step) for step in steps]
    return next_lines(session.screen, advised)


def next_lines(screen: Screen, steps: Sequence[str]) -> list[str]:
    """What to type next, on one line, or each on its own."""
    label, text = "Next:", " · ".join(steps)
    if width(f"{label} {text}") <= screen.columns:
        return screen.block(label, text, "")
    lines = screen.block(label, steps[0], "")
    for step in steps[1:]:
        lines += screen.block("", step, " " * len(label + " "))
    return lines


# dashboard: every project at a glance.

TOP = 10  # projects, alerts and consumers that a person is shown
WIDTH = 20  # columns of the longest bar
DASHBOARD_NAME_SHARE = 0.42  # of the line
BRIEF = Wish(brief=True)
DashboardLooked = tuple[Place, Audit]


@command("dashboard", "memdir dashboard", bulk=True)
@click.option("--limit", type=click.IntRange(1), default=TOP, help=f"Rows of each part ({TOP}).")
def dashboard(session: Session, limit: int) -> None:
    """Show every project: how much it remembers, what is worn out, what it costs.

    Stores are only looked at: nothing is written, created or checked against code.
    """
    places = open_projects(session.config, time.time, session.screen.tell)
    found: list[DashboardLooked] = [(place, look_over(place.app, BRIEF)) for place in places]
    found.sort(key=lambda one: (-one[1].load.total, one[0].title))
    lines = [] if session.screen.json else _lines(session, found, limit)
    session.screen.answer(_fields(found, limit), lines)


def _alerts(found: Sequence[DashboardLooked]) -> list[tuple[Place, Audited]]:
    every = [(place, one) for place, audit in found for one in audit.memories if one.score > REVIEW]
    return sorted(every, key=lambda pair: (-pair[1].score, pair[1].path))


def _consumers(found: Sequence[DashboardLooked]) -> list[tuple[Place, Audited]]:
    every = [(place, one) for place, audit in found for one in audit.memories]
    return sorted(every, key=lambda pair: (-pair[1].tokens, pair[1].path))


def _types(found: Sequence[DashboardLooked]) -> Counter[str]:
    return Counter(one.type for _, audit in found for one in audit.memories)


def _is_gone(place: Place) -> bool:
    return any(finding.kind == GONE for finding in place.findings)


def _fields(found: Sequence[DashboardLooked], limit: int) -> Fields:
    return {
        "projects": [_project_fields(place, audit) for place, audit in found],
        "counts": {
            "projects": len(found),
            "memories": sum(len(audit.memories) for _, audit in found),
            "index_findings": sum(_index_findings(place, audit) for place, audit in found),
            "types": dict(sorted(_types(found).items())),
            "actions": dict(Counter(one.action for _, audit in found for one in audit.memories)),
        },
        "alerts": [_dashboard_memory_fields(place, one) for place, one in _alerts(found)],
        "tokens": {
            key: sum(getattr(audit.load, key) for _, audit in found)
            for key in ("index", "prompt", "total", "memories")
        },
        "top": [_dashboard_memory_fields(place, one) for place, one in _consumers(found)[:limit]],
    }


def _index_findings(place: Place, audit: Audit) -> int:
    """Of files and index alone: what an audit finds in the texts is not looked for here."""
    return len(audit.findings) + len(place.findings)


def _project_fields(place: Place, audit: Audit) -> Fields:
    return {
        "title": place.title,
        "store": place.app.store.root,
        "gone": _is_gone(place),
        "memories": len(audit.memories),
        "types": dict(Counter(one.type for one in audit.memories)),
        "actions": dict(Counter(one.action for one in audit.memories)),
        "alerts": sum(one.score > REVIEW for one in audit.memories),
        "index_findings": _index_findings(place, audit),
        "tokens": load_fields(audit.load),
    }


def _dashboard_memory_fields(place: Place, one: Audited) -> Fields:
    return {
        "store": place.app.store.root,
        "title": place.title,
        "path": one.path,
        "type": one.type,
        "score": one.score,
        "action": one.action,
        "age_days": one.age_days,
        "tokens": one.tokens,
    }


def _lines(session: Session, found: Sequence[DashboardLooked], limit: int) -> list[str]:
    screen = session.screen
    if not found:
        return ["there is no store yet: memdir remember TEXT makes one"]
    memories = sum(len(audit.memories) for _, audit in found)
    alerts = _alerts(found)
    parts = [count(len(found), "store"), count(memories, "memory", "memories")]
    parts.append(count(len(alerts), "alert"))
    lines = [screen.paint(" · ".join(parts), "bold")]
    lines += ["", *_type_lines(screen, _types(found))]
    lines += ["", *_project_lines(session, found, limit)]
    if alerts:
        lines += ["", screen.paint(f"worn out (score above {REVIEW})", "cyan")]
        lines += _memory_lines(
            session, alerts, limit, lambda one: f"{bar(one.score)} {one.score:3}"
        )
    if memories:
        lines += ["", screen.paint("longest memories", "cyan")]
        most = max(one.tokens for _, audit in found for one in audit.memories)
        top = _consumers(found)[: min(limit, TOP // 2)]
        lines += _memory_lines(
            session, top, limit, lambda one: f"{stripe(one.tokens, most, TOP)} {one.tokens:>6,}"
        )
    steps = (
        "memdir audit --all-projects lists the findings",
        "memdir prune works through one store",
    )
    return [*lines, "", *next_lines(screen, steps)]


def stripe(number: int, most: int, columns: int = WIDTH) -> str:
    """A bar as long as its share of the longest."""
    long = round(number * columns / most) if most else 0
    return ("█" * max(long, int(number > 0))).ljust(columns)


def _type_lines(screen: Screen, types: Counter[str]) -> list[str]:
    most = max(types.values(), default=0)
    rows: list[list[Cell]] = [
        [name, (stripe(number, most), "green"), f"{number:,}"]
        for name, number in types.most_common()
    ]
    return screen.table(rows)


def _project_lines(session: Session, found: Sequence[DashboardLooked], limit: int) -> list[str]:
    screen, most = session.screen, max(audit.load.total for _, audit in found)
    widest = int(screen.columns * DASHBOARD_NAME_SHARE)
    head: list[Cell] = [(text, "dim") for text in ("store", "tokens a session", "n", "alerts")]
    rows: list[list[Cell]] = [head]
    for place, audit in found[:limit]:
        gone = " (gone)" if _is_gone(place) else ""
        title = cut_middle(line(_title(session, place)), widest - len(gone)) + gone
        alerts = sum(one.score > REVIEW for one in audit.memories)
        over = audit.load.index * 4 >= MAX_CHARACTERS
        load = f"{stripe(audit.load.total, most, TOP)} {audit.load.total:>6,}"
        rows.append(
            [
                (title, "bold"),
                (load, "red" if over else "green"),
                f"{len(audit.memories):>3}",
                (f"{alerts}", "yellow" if alerts else "dim"),
            ]
        )
    more = len(found) - limit
    return [*screen.table(rows), *([f"  and {count(more, 'other')}: --limit"] if more > 0 else [])]


def _title(session: Session, place: Place) -> str:
    """A project by its path; what is gone, by the end of what it was called."""
    return session.short(place.title) if os.path.isabs(place.title) else place.title


def _memory_lines(
    session: Session,
    found: Sequence[tuple[Place, Audited]],
    limit: int,
    show: Callable[[Audited], str],
) -> list[str]:
    widest = int(session.screen.columns * DASHBOARD_NAME_SHARE)
    rows: list[list[Cell]] = [
        [
            (show(one), STYLES[one.action]),
            (cut_middle(line(one.path.removesuffix(".md")), widest), "bold"),
            one.type,
            _title(session, place),
        ]
        for place, one in found[:limit]
    ]
    more = len(found) - limit
    lines = session.screen.table(rows)
    return [*lines, *([f"  and {count(more, 'other')}: --limit"] if more > 0 else [])]

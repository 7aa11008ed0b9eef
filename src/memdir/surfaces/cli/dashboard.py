"""dashboard: every project at a glance."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence

import click

from memdir.core.audit import Audit, Audited
from memdir.core.loading import MAX_CHARACTERS
from memdir.core.staleness import REVIEW
from memdir.flows.auditing import Wish
from memdir.flows.auditing import audit as look_over
from memdir.flows.projects import GONE, Place, open_projects
from memdir.surfaces.cli.answers import Fields
from memdir.surfaces.cli.auditing import STYLES, bar, load_fields, next_lines
from memdir.surfaces.cli.screen import Cell, Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count, cut_middle, line

TOP = 10  # projects, alerts and consumers that a person is shown
WIDTH = 20  # columns of the longest bar
NAME_SHARE = 0.42  # of the line
BRIEF = Wish(brief=True)
Looked = tuple[Place, Audit]


@command("dashboard", "memdir dashboard", bulk=True)
@click.option("--limit", type=click.IntRange(1), default=TOP, help=f"Rows of each part ({TOP}).")
def dashboard(session: Session, limit: int) -> None:
    """Show every project: how much it remembers, what is worn out, what it costs.

    Stores are only looked at: nothing is written, created or checked against code.
    """
    places = open_projects(session.config, time.time, session.screen.tell)
    found: list[Looked] = [(place, look_over(place.app, BRIEF)) for place in places]
    found.sort(key=lambda one: (-one[1].load.total, one[0].title))
    lines = [] if session.screen.json else _lines(session, found, limit)
    session.screen.answer(_fields(found, limit), lines)


def _alerts(found: Sequence[Looked]) -> list[tuple[Place, Audited]]:
    every = [(place, one) for place, audit in found for one in audit.memories if one.score > REVIEW]
    return sorted(every, key=lambda pair: (-pair[1].score, pair[1].path))


def _consumers(found: Sequence[Looked]) -> list[tuple[Place, Audited]]:
    every = [(place, one) for place, audit in found for one in audit.memories]
    return sorted(every, key=lambda pair: (-pair[1].tokens, pair[1].path))


def _types(found: Sequence[Looked]) -> Counter[str]:
    return Counter(one.type for _, audit in found for one in audit.memories)


def _is_gone(place: Place) -> bool:
    return any(finding.kind == GONE for finding in place.findings)


def _fields(found: Sequence[Looked], limit: int) -> Fields:
    return {
        "projects": [_project_fields(place, audit) for place, audit in found],
        "counts": {
            "projects": len(found),
            "memories": sum(len(audit.memories) for _, audit in found),
            "index_findings": sum(_index_findings(place, audit) for place, audit in found),
            "types": dict(sorted(_types(found).items())),
            "actions": dict(Counter(one.action for _, audit in found for one in audit.memories)),
        },
        "alerts": [_memory_fields(place, one) for place, one in _alerts(found)],
        "tokens": {
            key: sum(getattr(audit.load, key) for _, audit in found)
            for key in ("index", "prompt", "total", "memories")
        },
        "top": [_memory_fields(place, one) for place, one in _consumers(found)[:limit]],
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


def _memory_fields(place: Place, one: Audited) -> Fields:
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


def _lines(session: Session, found: Sequence[Looked], limit: int) -> list[str]:
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


def _project_lines(session: Session, found: Sequence[Looked], limit: int) -> list[str]:
    screen, most = session.screen, max(audit.load.total for _, audit in found)
    widest = int(screen.columns * NAME_SHARE)
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
    widest = int(session.screen.columns * NAME_SHARE)
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

"""Values as a program gets them (dictionaries) and as a person reads them (lines)."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

from memdir.app import App, Done, Told
from memdir.core import dates
from memdir.core.draft import SKIPPED, Change
from memdir.core.finding import Finding
from memdir.core.held import Held
from memdir.core.history import Logged
from memdir.surfaces.cli.diffs import diff, kind
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session
from memdir.surfaces.cli.visible import line, visible

Fields = dict[str, object]
SHORT_ID = 8  # characters of a change's id that people see and may type
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def change_fields(change: Change) -> Fields:
    """One change of one memory."""
    fields = {"change": change.kind, "name": change.name, "path": change.path}
    return {**fields, "hash": change.hash, "reason": change.reason}


def finding_fields(finding: Finding) -> Fields:
    """One finding."""
    return {
        "kind": finding.kind,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
    }


def logged_fields(logged: Logged) -> Fields:
    """One change as the history keeps it."""
    cause = logged.cause
    return {
        "id": logged.id,
        "time": dates.iso_time(logged.time),
        "actor": cause.actor,
        "verb": cause.verb,
        "name": cause.name,
        "reason": cause.reason,
        "batch": cause.batch,
        "undoes": list(cause.undoes),
        "paths": [{"change": change, "path": path} for change, path in logged.paths],
    }


def done_fields(app: App, done: Done) -> Fields:
    """What a command changed: the first change on top, all of them below."""
    changes = [change_fields(change) for change in done.changes]
    nothing = change_fields(Change(SKIPPED, "", "", reason="there was nothing to do"))
    fields = {**(changes or [nothing])[0], "changes": changes, "remarks": list(done.remarks)}
    fields |= {"store": app.store.root, "dry_run": done.dry_run}
    return {**fields, "files": dry_files(done)} if done.dry_run else fields


def dry_files(done: Done) -> list[Fields]:
    """The files that a dry run would change."""
    return [
        {"path": path, "change": kind(old, new), "diff": diff(path, old, new)}
        for path, old, new in done.diff
        if old != new
    ]


def done_lines(screen: Screen, done: Done, says: Sequence[str] = ()) -> list[str]:
    """The same for a person: a line per memory, then what is worth knowing; on a dry run a diff."""
    would = "would be " if done.dry_run else ""
    lines = []
    for change in done.changes:
        style = "yellow" if change.kind == SKIPPED else "green"
        what = line(change.path or change.name)
        lines.append(f"{would}{screen.paint(change.kind, style)} {what}".rstrip())
        lines += screen.block("", change.reason) if change.reason else []
    changed = [change.name for change in done.changes if change.changed]
    for text in says if changed else ():
        lines += screen.block("", screen.advise(text.replace("NAME", shlex.quote(changed[0]))))
    for text in done.remarks:
        lines += screen.block("note:", text)
    if done.dry_run:
        lines += dry_lines(screen, done)
    return lines or ["there was nothing to do"]


def dry_lines(screen: Screen, done: Done) -> list[str]:
    """The diff of a dry run."""
    lines = []
    for path, old, new in done.diff:
        if old != new:
            lines += ["", *diff_lines(screen, diff(path, old, new))]
    return [*lines, "", "dry run: nothing was written"]


def diff_lines(screen: Screen, text: str) -> list[str]:
    """A diff with its signs in colour, where there is colour."""
    lines = visible(text).split("\n") if text else []
    return [screen.paint(one, DIFF_STYLES.get(one[:1], "")) for one in lines]


def finding_lines(screen: Screen, findings: Iterable[Finding]) -> list[str]:
    """Each finding with the way to mend it."""
    lines = []
    for finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        said = not finding.line and _names(finding.message, finding.path)
        starts = finding.message.startswith(finding.path)
        named = finding.message if said or starts else f"{place}: {finding.message}"
        lines += screen.block("!", named, style="yellow")
        lines += screen.block("fix:", screen.advise(finding.fix), "    ") if finding.fix else []
    return lines


def _names(message: str, path: str) -> bool:
    """Does a message name that very path? `docs/a.md` is not `a.md`."""
    return re.search(rf"(?<![\w./~-]){re.escape(path)}(?![\w/-])", message) is not None


def advised(screen: Screen, done: Done) -> Done:
    """The same, its suggestions naming the store that was asked for."""
    changes = tuple(replace(one, reason=screen.advise(one.reason)) for one in done.changes)
    return replace(done, changes=changes, remarks=tuple(map(screen.advise, done.remarks)))


def tell_done(session: Session, app: App, more: Fields | None = None, *says: str) -> Told:
    """The callback that acknowledges a change, before the history commits it."""

    def told(done: Done) -> None:
        done = advised(session.screen, done)
        lines = done_lines(session.screen, done, says)
        session.screen.answer({**done_fields(app, done), **(more or {})}, lines)

    return told


def refused(changes: Sequence[Change]) -> bool:
    """True when something was asked for and not done; what stands there already is done."""
    return any(change.kind == SKIPPED and not change.hash for change in changes)


def moment(seconds: float) -> str:
    """A time as the clock on the wall shows it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return dates.iso_time(seconds)


def held_fields(held: Held) -> Fields:
    """One draft that waits, as a program gets it."""
    draft = held.catch.draft
    day = draft.day.isoformat() if draft and draft.day else ""
    return {
        "id": held.id,
        "time": dates.iso_time(held.time),
        "draft": {**asdict(draft), "day": day, "extra": dict(draft.extra)} if draft else None,
        "forget": held.catch.forget,
        "origin": asdict(held.catch.origin),
        "reason": held.reason,
    }

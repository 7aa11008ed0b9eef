"""Lines and JSON from one value; diffs; next steps."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from memdir.capture.inbox import Held
from memdir.errors import Finding, Unwritable
from memdir.format.draft import SKIPPED, Change
from memdir.hot import memory, safe
from memdir.store.ports import Logged
from memdir.store.writer import App, Done, Told
from memdir.text.terminal import cut, line, pad, visible, width, wrap

if TYPE_CHECKING:
    from memdir.cli.command import Session


# Suggested commands that work when they are pasted: they name the store that was asked for.

PROJECT, TEAM, RECORDS = "project", "team", "records"
UNBROKEN = "\0"  # stands for a blank of a command; no text that is shown holds it
_QUOTED = r"[\w~/.-]{0,300}'[^'\n]{0,300}'"
_WITH_VALUE = "dir|root|project|scope|batch|file|type|to|action|target"
_VALUE = rf"--(?:{_WITH_VALUE}) (?:{_QUOTED}|[^\s;,]{{1,300}})"
_FLAG = r"--?[a-z-]{0,30}(?![\w-])"
_NAME = r"[A-Z]{3,20}\b|[\w~-]{0,100}[./][\w~/.@-]{0,300}\w"
# A command up to where prose may begin: options, then names that look like no word of prose.
_COMMAND = re.compile(
    rf"\bmemdir (?:records )?[a-z][a-z-]{{0,20}}(?: (?:{_VALUE}|{_FLAG}|{_QUOTED}|{_NAME})){{0,12}}"
)


@dataclass(frozen=True)
class Advice:
    """Completes the commands in a text with the options that say where."""

    commands: Sequence[str] = ()
    dir: str | None = None
    project: str | None = None
    scope: str = PROJECT
    home: str = ""  # a person's: paths below it start with `~`, which their shell expands

    def __call__(self, text: str, scope: str = "") -> str:
        """The text with each command naming its store; `scope` is the one it is about."""
        place = self.place(scope or self.scope)
        if not place or not self.commands:
            return text
        # `pid 7 (memdir save)` says what a process does; a command may name its place already.
        names = "|".join(name for name in self.commands if name != RECORDS)
        given = r"(?!-| --(?:dir|root|project|scope)\b)"
        known = rf"(?<!\d \()\bmemdir (?:{RECORDS} [a-z-]{{1,20}}|{names})\b{given}"
        ours, start = self.place_of_records(), f"memdir {RECORDS} "
        return re.sub(
            known, lambda found: found[0] + (ours if found[0].startswith(start) else place), text
        )

    def place(self, scope: str) -> str:
        """The options, each with a space before it."""
        given = [("--project", self.project or "")]
        if self.dir:  # says where alone: a scope beside it is refused, or is a folder of it
            given.append(("--dir", f"{self.dir.rstrip('/')}/{TEAM}" if scope == TEAM else self.dir))
        if scope == RECORDS or (scope != PROJECT and not self.dir):
            given.append(("--scope", scope))
        return self._options(given)

    def place_of_records(self) -> str:
        """The same for a command of `memdir records`, whose scope is known."""
        root = self.dir if self.scope == RECORDS else None
        return self._options([("--project", self.project or ""), ("--root", root or "")])

    def _options(self, given: list[tuple[str, str]]) -> str:
        return "".join(f" {name} {self._word(value)}" for name, value in sorted(given) if value)

    def _word(self, value: str) -> str:
        """A value for the shell; a quoted `~` would be a name like any other."""
        home = self.home.rstrip("/")
        if home and value.startswith(home + "/"):
            return "~/" + shlex.quote(value[len(home) + 1 :])
        return shlex.quote(value)


def unbroken(text: str) -> str:
    """The text with its commands as one word each: one that is wrapped cannot be pasted."""
    return _COMMAND.sub(lambda found: found[0].replace(" ", UNBROKEN), text)


def wrap_steps(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of whole words and whole commands; a command is never moved from its label."""
    words = unbroken(text)
    if _COMMAND.match(text) and first.strip():
        indent = first[: len(first) - len(first.lstrip())]
        words, first = first.lstrip().replace(" ", UNBROKEN) + words, indent
    return [one.replace(UNBROKEN, " ") for one in wrap(words, columns, first, rest)]


# Two versions as a unified diff.

ABSENT = "/dev/null"
MOST_LINES = 4000  # of both sides together; beyond, comparing costs more than it tells


def diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """A unified diff of one file; a side that is None was or will be absent."""
    before, after = _lines(old), _lines(new)
    names = (f"a/{path}" if old is not None else ABSENT, f"b/{path}" if new is not None else ABSENT)
    if before and after and len(before) + len(after) > MOST_LINES:
        return f"--- {names[0]}\n+++ {names[1]}\n(too long to compare line by line)"
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    """Lines between line feeds only: other separators are part of a line."""
    text = memory.decode(data or b"")
    return text.removesuffix("\n").split("\n") if text else []


def kind(old: bytes | None, new: bytes | None) -> str:
    """What happened to a file, in one word."""
    if old is None:
        return "created"
    return "removed" if new is None else "updated"


# Where answers go: one JSON object or lines of at most so many columns; remarks go to stderr.

NARROWEST, WIDEST, USUAL = 40, 120, 80  # columns
ROWS = 24  # where nobody says how many
Cell = str | tuple[str, str]  # a text, or a text and its style
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class ReaderGone(Exception):
    """Whoever read our output has closed it; nobody is left to tell."""


class Screen:
    """Prints for a person or, once `json` is set, for a program."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.json = False
        self.advise = Advice()  # a command may tell it more
        self.begun = False  # a command runs; until then only help is printed
        self.answered = False  # a program gets one object, so a late error goes to stderr
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.person = sys.stdout.isatty()  # somebody looks at it; else a program reads it
        self.colour = self.person and not plain
        size = shutil.get_terminal_size((USUAL, ROWS))
        self.columns = min(max(size.columns, NARROWEST), WIDEST)
        self.rows = size.lines

    def answer(self, fields: Mapping[str, object], lines: Sequence[str]) -> None:
        """The answer of a command, out of our hands when this returns."""
        self.answered = True
        if self.json:
            # ASCII only: half characters and controls stay inside their escapes.
            lines = [json.dumps(fields, indent=2)]
        with _delivered():
            sys.stdout.write("".join(text + "\n" for text in lines))
            sys.stdout.flush()

    def folded(self, text: str) -> list[str]:
        """The lines of a text, for a person no wider than the screen, for a program as they are."""
        lines = text.split("\n") if text else []
        if not self.person:
            return lines
        fits = self.columns
        return [
            part for one in lines for part in ([one] if width(one) <= fits else wrap(one, fits))
        ]

    def raw(self, data: bytes) -> None:
        """These very bytes."""
        self.answered = True
        with _delivered():
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def tell(self, text: str) -> None:
        """A remark beside the answer."""
        self.complain(wrap_steps(line(self.advise(text)), self.columns, "memdir: ", "  "))

    def complain(self, lines: Sequence[str]) -> None:
        """Lines for stderr, as they are; that nobody can hear them must not stop a change."""
        with suppress(OSError):
            sys.stderr.write("".join(text + "\n" for text in lines))
            sys.stderr.flush()

    def paint(self, text: str, style: str) -> str:
        """The text in a style, where the terminal shows styles."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def block(self, label: str, text: str, indent: str = "  ", style: str = "") -> list[str]:
        """`label text`, wrapped, further lines below its text."""
        start = indent + (label + " " if label else "")
        first, *more = wrap_steps(line(text), self.columns, start, " " * width(start))
        first = indent + self.paint(label, style) + first[len(indent + label) :]
        return [first.rstrip(), *more]

    def table(self, rows: Sequence[Sequence[Cell]], most: Sequence[int] = ()) -> list[str]:
        """Columns two spaces apart; the last one takes what is left and is cut there."""
        if not rows:
            return []
        cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
        shown = [[(line(text), style) for text, style in row] for row in cells]
        limits = [*most, *[self.columns] * len(shown[0])]
        sizes = [
            min(limits[at], max(width(row[at][0]) for row in shown)) for at in range(len(shown[0]))
        ]
        sizes[-1] = max(self.columns - sum(sizes[:-1]) - 2 * len(sizes), 8)
        return [self._row(row, sizes) for row in shown]

    def _row(self, cells: Sequence[tuple[str, str]], sizes: Sequence[int]) -> str:
        texts = [pad(cut(text, size), size) for (text, _), size in zip(cells, sizes, strict=True)]
        texts[-1] = texts[-1].rstrip()
        painted = [self.paint(t, s) for t, (_, s) in zip(texts, cells, strict=True) if t]
        return "  " + "  ".join(painted).rstrip()

    def unheard(self, error: OSError) -> NoReturn:
        """Help, which click prints itself, could not be written."""
        with _delivered("nothing was changed", "write it where there is room"):
            raise error


@contextmanager
def _delivered(
    stands: str = "what was changed stands", next: str = "memdir log shows what was changed"
) -> Iterator[None]:
    """Turn a failed write to stdout into what it means; what was changed by then stands."""
    try:
        yield
    except OSError as error:
        # Python would try once more when it ends, and complain in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from None
        raise Unwritable(
            f"the answer cannot be written: {error.strerror}; {stands}", next=next
        ) from None


# Values as a program gets them (dictionaries) and as a person reads them (lines).

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
        "time": safe.iso_time(logged.time),
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
        return safe.iso_time(seconds)


def held_fields(held: Held) -> Fields:
    """One draft that waits, as a program gets it."""
    draft = held.catch.draft
    day = draft.day.isoformat() if draft and draft.day else ""
    return {
        "id": held.id,
        "time": safe.iso_time(held.time),
        "draft": {**asdict(draft), "day": day, "extra": dict(draft.extra)} if draft else None,
        "forget": held.catch.forget,
        "origin": asdict(held.catch.origin),
        "reason": held.reason,
    }


# A word for who waits: a command that takes long says that it is under way.

PATIENCE_SECONDS = 1.0


@contextmanager
def progress(screen: Screen, bulk: bool) -> Iterator[None]:
    """Speak once after a second, to a person at a terminal; a program hears nothing."""
    if not bulk or screen.json or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE_SECONDS, _speak, [screen])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _speak(screen: Screen) -> None:
    screen.tell("done; writing the history …" if screen.answered else "working …")

"""An answer is one value, printed as lines or as JSON; diffs, tables, next steps that paste."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from memdir.cli.advice import Advice, wrap_steps
from memdir.errors import Finding, Unwritable
from memdir.hot import memory, safe
from memdir.text.terminal import cut, line, pad, visible, width, wrap

if TYPE_CHECKING:
    from memdir.cli.command import Session
    from memdir.format.draft import Change
    from memdir.store.ports import Logged
    from memdir.store.writer import App, Done

Fields = dict[str, object]
Cell = str | tuple[str, str]  # a text, or a text and its style


class Answer(NamedTuple):
    """What a command returns: `fields` for a program, `lines` for a person, the exit code.

    Lines that come from a generator are made only when somebody reads them.
    """

    fields: Mapping[str, object]
    lines: Iterable[str]
    code: int = 0


# Fields are declared as words: `key`, or `key=attribute` where the names differ.

CHANGE = "change=kind name path hash reason"
FINDING = "kind path line message fix"
LOGGED = (
    "id time actor=cause.actor verb=cause.verb name=cause.name reason=cause.reason "
    "batch=cause.batch undoes=cause.undoes paths"
)


def pick(value: object, declared: str, **computed: object) -> Fields:
    """The declared fields in their order, from the value or as computed; then what else is."""
    fields: Fields = {}
    for word in declared.split():
        key, _, name = word.partition("=")
        fields[key] = computed[key] if key in computed else attrgetter(name or key)(value)
    return fields | computed


def pick_all(values: Iterable[object], declared: str) -> list[Fields]:
    """The declared fields of each value."""
    return [pick(value, declared) for value in values]


def change_fields(change: Change) -> Fields:
    """One change of one memory."""
    return pick(change, CHANGE)


def finding_fields(finding: Finding) -> Fields:
    """One finding."""
    return pick(finding, FINDING)


def logged_fields(logged: Logged) -> Fields:
    """One change as the history keeps it."""
    paths = [{"change": change, "path": path} for change, path in logged.paths]
    return pick(logged, LOGGED, time=safe.iso_time(logged.time), paths=paths)


# Two versions as a unified diff.

ABSENT = "/dev/null"
MAX_DIFF_LINES = 4000  # of both sides together; beyond, comparing costs more than it tells
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """A unified diff of one file; a side that is None was or will be absent."""
    from difflib import unified_diff

    before, after = _split_lines(old), _split_lines(new)
    names = (f"a/{path}" if old is not None else ABSENT, f"b/{path}" if new is not None else ABSENT)
    if before and after and len(before) + len(after) > MAX_DIFF_LINES:
        return f"--- {names[0]}\n+++ {names[1]}\n(too long to compare line by line)"
    return "\n".join(unified_diff(before, after, *names, lineterm=""))


def _split_lines(data: bytes | None) -> list[str]:
    """Lines between line feeds only: other separators are part of a line."""
    text = memory.decode(data or b"")
    return text.removesuffix("\n").split("\n") if text else []


def file_fields(
    versions: Iterable[tuple[str, bytes | None, bytes | None]], root: str = ""
) -> list[Fields]:
    """Each file that changes, with what happens to it and its diff; `root` is left off there."""
    return [
        {
            "path": path,
            "change": "created" if old is None else "removed" if new is None else "updated",
            "diff": diff(path.removeprefix(root).lstrip("/") if root else path, old, new),
        }
        for path, old, new in versions
        if old != new
    ]


def dry_files(done: Done) -> list[Fields]:
    """The files that a dry run would change."""
    return file_fields(done.diff)


def diff_lines(screen: Screen, text: str) -> list[str]:
    """A diff with its signs in colour, where there is colour."""
    lines = visible(text).split("\n") if text else []
    return [screen.paint(part, DIFF_STYLES.get(part[:1], "")) for part in lines]


# Where answers go; remarks go to stderr.

NARROWEST, WIDEST, USUAL = 40, 120, 80  # columns
ROWS = 24  # where nobody says how many
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
        columns, self.rows = _terminal_size(environ)
        self.columns = min(max(columns, NARROWEST), WIDEST)

    def answer(self, fields: Mapping[str, object], lines: Iterable[str]) -> None:
        """The answer of a command, out of our hands when this returns."""
        if self.json:
            from json import dumps

            # ASCII only: half characters and controls stay inside their escapes.
            lines = [dumps(fields, indent=2)]
        text = "".join(part + "\n" for part in lines)
        self.answered = True
        with _delivered():
            sys.stdout.write(text)
            sys.stdout.flush()

    def folded(self, text: str) -> list[str]:
        """The lines of a text, for a person no wider than the screen, for a program as they are."""
        lines = text.split("\n") if text else []
        return [part for one in lines for part in self.fold(one)] if self.person else lines

    def fold(self, text: str, indent: int = 0) -> list[str]:
        """One line, in parts where it is wider than the screen."""
        columns = self.columns - indent
        return [text] if width(text) <= columns else wrap(text, columns)

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

    def blocks(self, label: str, texts: Iterable[str], style: str = "") -> list[str]:
        """A block for each text, all with the same label."""
        return [part for text in texts for part in self.block(label, text, style=style)]

    def table(
        self,
        rows: Sequence[Sequence[Cell]],
        limits: Sequence[int] = (),
        headings: Sequence[str] = (),
    ) -> list[str]:
        """Columns two spaces apart; the last one takes what is left and is cut there."""
        if not rows:
            return []
        rows = [[(text, "dim") for text in headings], *rows] if headings else rows
        cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
        shown = [[(line(text), style) for text, style in row] for row in cells]
        sizes = [
            min(limit, max(width(row[column][0]) for row in shown))
            for column, limit in enumerate(
                [*limits, *[self.columns] * len(shown[0])][: len(shown[0])]
            )
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


def _terminal_size(environ: Mapping[str, str]) -> tuple[int, int]:
    """Columns and rows, as `shutil` finds them: it takes long to import."""
    try:
        size = os.get_terminal_size(sys.__stdout__.fileno())  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        size = os.terminal_size((USUAL, ROWS))
    columns, rows = environ.get("COLUMNS", ""), environ.get("LINES", "")
    return (
        int(columns if columns.isdecimal() else 0) or size.columns or USUAL,
        int(rows if rows.isdecimal() else 0) or size.lines or ROWS,
    )


def drop_output() -> None:
    """Nobody reads on. Python would write the rest when it ends, and complain in its own words."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]


@contextmanager
def _delivered(
    stands: str = "what was changed stands", next: str = "memdir log shows what was changed"
) -> Iterator[None]:
    """Turn a failed write to stdout into what it means; what was changed by then stands."""
    try:
        yield
    except OSError as error:
        drop_output()
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from None
        message = f"the answer cannot be written: {error.strerror}; {stands}"
        raise Unwritable(message, next=next) from None


# What a change of the store did.

SHORT_ID = 8  # characters of a change's id that people see and may type
SKIPPED = "skipped"
DRY_RUN = "dry run: nothing was written"


def done_fields(app: App, done: Done) -> Fields:
    """What a command changed: the first change on top, all of them below."""
    changes = pick_all(done.changes, CHANGE)
    nothing = {"change": SKIPPED, "name": "", "path": "", "hash": ""}
    first = changes[0] if changes else {**nothing, "reason": "there was nothing to do"}
    fields = {**first, "changes": changes, "remarks": done.remarks}
    return fields | {"store": app.store.root} | dry_fields(done)


def dry_fields(done: Done) -> Fields:
    """Whether it was a dry run and, if so, the files that would change."""
    files = {"files": dry_files(done)} if done.dry_run else {}
    return {"dry_run": done.dry_run, **files}


def done_lines(screen: Screen, done: Done, says: Sequence[str] = ()) -> list[str]:
    """The same for a person: a line per memory, then what is worth knowing; on a dry run a diff."""
    would = "would be " if done.dry_run else ""
    lines = []
    for change in done.changes:
        style = "yellow" if change.kind == SKIPPED else "green"
        name = line(change.path or change.name)
        lines.append(f"{would}{screen.paint(change.kind, style)} {name}".rstrip())
        lines += screen.block("", change.reason) if change.reason else []
    changed = [change.name for change in done.changes if change.changed]
    for text in says if changed else ():
        lines += screen.block("", screen.advise(text.replace("NAME", quote(changed[0]))))
    lines += screen.blocks("note:", done.remarks)
    if done.dry_run:
        lines += dry_lines(screen, done)
    return lines or ["there was nothing to do"]


def dry_lines(screen: Screen, done: Done) -> list[str]:
    """The diff of a dry run."""
    lines = []
    for path, old, new in done.diff:
        if old != new:
            lines += ["", *diff_lines(screen, diff(path, old, new))]
    return [*lines, "", DRY_RUN]


def more_lines(total: int, shown: int, hint: str = " (all of them with --json)") -> list[str]:
    """How many things are not shown, and how to see them."""
    return [f"  and {total - shown:,} more{hint}"] if total > shown else []


def finding_lines(screen: Screen, findings: Iterable[Finding]) -> list[str]:
    """Each finding with the way to mend it."""
    lines = []
    for finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        # `docs/a.md` does not name `a.md`.
        path = rf"(?<![\w./~-]){re.escape(finding.path)}(?![\w/-])"
        named = finding.message.startswith(finding.path) or (
            not finding.line and re.search(path, finding.message)
        )
        text = finding.message if named else f"{place}: {finding.message}"
        lines += screen.block("!", text, style="yellow")
        lines += screen.block("fix:", screen.advise(finding.fix), "    ") if finding.fix else []
    return lines


def advised(screen: Screen, done: Done) -> Done:
    """The same, its suggestions naming the store that was asked for."""
    from dataclasses import replace

    changes = tuple(replace(change, reason=screen.advise(change.reason)) for change in done.changes)
    remarks = tuple(screen.advise(remark) for remark in done.remarks)
    return replace(done, changes=changes, remarks=remarks)


def done_answer(
    session: Session, app: App, done: Done, *says: str, more: Mapping[str, object] = {}
) -> Answer:
    """What a change did, as the answer of a command."""
    done = advised(session.screen, done)
    return Answer({**done_fields(app, done), **more}, done_lines(session.screen, done, says))


def tell_done(
    session: Session, app: App, more: Fields | None = None, *says: str
) -> Callable[[Done], None]:
    """For a change that wants to be told: print what it did."""

    def tell(done: Done) -> None:
        session.screen.answer(*done_answer(session, app, done, *says, more=more or {})[:2])

    return tell


def refused(changes: Sequence[Change]) -> bool:
    """True when something was asked for and not done; what stands there already is done."""
    return any(change.kind == SKIPPED and not change.hash for change in changes)


def moment(seconds: float) -> str:
    """A time as the clock on the wall shows it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return safe.iso_time(seconds)


PATIENCE_SECONDS = 1.0


@contextmanager
def progress(screen: Screen, bulk: bool) -> Iterator[None]:
    """Speak once after a second, to a person at a terminal; a program hears nothing."""
    if not bulk or screen.json or not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    timer = Timer(PATIENCE_SECONDS, screen.tell, ["working …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()

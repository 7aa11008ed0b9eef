"""Answers as lines or JSON; diffs, tables, and suggested commands that can be pasted."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from memdir.errors import Finding, Unwritable
from memdir.hot import memory, safe
from memdir.text import pattern
from memdir.text.terminal import (
    cut_text,
    cut_text_middle,
    fold_line,
    one_line,
    pad_text,
    text_width,
    visible_text,
    wrap_text,
)

if TYPE_CHECKING:
    from memdir.format.draft import Change
    from memdir.store.writer import App, Done

Fields = dict[str, object]
Cell = str | tuple[str, str]  # a text, or a text and its style
Version = tuple[str, bytes | None, bytes | None]  # path, old and new content


class Answer(NamedTuple):
    """`fields` for a program, `lines` for a person (built only if printed); `remark` for stderr.

    `printed` is called when the answer has been given.
    """

    fields: Mapping[str, object]
    lines: Iterable[str]
    code: int = 0
    remark: str = ""
    printed: Callable[[], None] = lambda: None


# Fields are declared as words: `key`, or `key=attribute` if the names differ.

CHANGE = "change name path hash reason"
FINDING = "kind path line message fix"


def pick(value: object, declared: str, **computed: object) -> Fields:
    """Declared fields in order, computed or read from `value`; then the other computed ones."""
    fields: Fields = {}
    for word in declared.split():
        key, _, name = word.partition("=")
        fields[key] = computed[key] if key in computed else attrgetter(name or key)(value)
    return fields | computed


def pick_all(values: Iterable[object], declared: str) -> list[Fields]:
    return [pick(value, declared) for value in values]


ABSENT = "/dev/null"
MAX_DIFF_LINES = 4000  # both sides together; comparing more is too slow
BAND_STYLES = {"keep": "green", "review": "yellow", "prune": "red"}  # of a score
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Unified diff of one file; None means that the file is absent on that side."""
    from difflib import unified_diff

    # Only line feeds end a line; other separators are part of it.
    before, after = (
        memory.decode(data).removesuffix("\n").split("\n") if data else [] for data in (old, new)
    )
    names = (f"a/{path}" if old is not None else ABSENT, f"b/{path}" if new is not None else ABSENT)
    if before and after and len(before) + len(after) > MAX_DIFF_LINES:
        return f"--- {names[0]}\n+++ {names[1]}\n(too long to compare line by line)"
    return "\n".join(unified_diff(before, after, *names, lineterm=""))


def changed_file_fields(versions: Iterable[Version], root: str = "") -> list[Fields]:
    """Path, change and diff of each file; `root` is cut off in the diff's header."""
    return [
        {
            "path": path,
            "change": "created" if old is None else "removed" if new is None else "updated",
            "diff": print_diff(path.removeprefix(root).lstrip("/") if root else path, old, new),
        }
        for path, old, new in versions
        if old != new
    ]


# Suggested commands name the store that was asked for, so that they work when pasted.

PROJECT, TEAM, RECORDS = "project", "team", "records"
UNBROKEN = "\0"  # placeholder for a blank inside a command; never in shown text
_QUOTED = r"[\w~/.-]{0,300}'[^'\n]{0,300}'"
_WITH_VALUE = "dir|project|scope|batch|file|type|to|action|target"
_VALUE = rf"--(?:{_WITH_VALUE}) (?:{_QUOTED}|[^\s;,]{{1,300}})"
_FLAG = r"--?[a-z-]{0,30}(?![\w-])"
_NAME = r"[A-Z]{3,20}\b|[\w~-]{0,100}[./][\w~/.@-]{0,300}\w|[a-z\d]{1,80}-[a-z\d-]{1,80}"
# A command with its options and names, up to the first word that may be prose.
_COMMAND = pattern(
    rf"\bmemdir (?:records )?[a-z][a-z-]{{0,20}}(?: (?:{_VALUE}|{_FLAG}|{_QUOTED}|{_NAME})){{0,12}}"
)


class Advice(NamedTuple):
    """Adds the options that choose the store to the commands in a text."""

    commands: Sequence[str] = ()
    dir: str | None = None
    project: str | None = None
    scope: str = PROJECT
    home: str = ""  # set for a person: paths below it are shown with `~`

    def __call__(self, text: str, scope: str = "") -> str:
        scope, dir = scope or self.scope, self.dir
        if dir and scope == TEAM:  # --dir is enough: a scope beside it is refused or is its folder
            dir = f"{dir.rstrip('/')}/{TEAM}"
        places = (("--dir", dir), ("--project", self.project))
        place = "".join(f" {name} {self.word(value)}" for name, value in places if value)
        named = scope == RECORDS or (scope != PROJECT and not dir)
        of_scope = f" --scope {self.word(scope)}" if named else ""
        if not (place or of_scope) or not self.commands:
            return text
        # Skips `pid 7 (memdir save)`, which names a process, and commands that name a store.
        names = "|".join(name for name in self.commands if name != RECORDS)
        given = r"(?!-| --(?:dir|project|scope)\b)"
        known = rf"(?<!\d \()\bmemdir (?:({RECORDS}) [a-z-]{{1,20}}|{names})\b{given}"
        # `memdir records` has one scope.
        return re.sub(known, lambda m: m[0] + place + ("" if m[1] else of_scope), text)

    def word(self, value: str) -> str:
        """Quotes for the shell, except `~`: quoted, it would not be expanded."""
        home = self.home.rstrip("/")
        below = home and value.startswith(home + "/")
        return "~/" + quote(value[len(home) + 1 :]) if below else quote(value)


def wrap_next_steps(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    words = _COMMAND.sub(lambda match: match[0].replace(" ", UNBROKEN), text)
    if first.strip() and _COMMAND.match(text):
        indent = first[: len(first) - len(first.lstrip())]
        words, first = first.lstrip().replace(" ", UNBROKEN) + words, indent
    return [part.replace(UNBROKEN, " ") for part in wrap_text(words, columns, first, rest)]


NARROWEST, WIDEST, USUAL = 40, 120, 80  # columns
LAST_COLUMN = 12  # columns of a table's last cell at least
PATIENCE_SECONDS = 1.0
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class ReaderGone(Exception):
    """The reader of our output has closed it."""


class Screen:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self.json = False
        self.advise = Advice()  # replaced once a command begins
        self.arguments: Sequence[str] = ()  # as typed; a secret in them is never repeated
        self.begun = False  # True once a command runs; before that only help is printed
        self.answered = False  # JSON is one object, so a later error goes to stderr
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.is_terminal = sys.stdout.isatty()
        self.colour = self.is_terminal and not plain
        self.columns = min(max(_terminal_columns(environ), NARROWEST), WIDEST)

    def answer(self, fields: Mapping[str, object], lines: Iterable[str]) -> None:
        if self.json:
            from dataclasses import asdict
            from json import dumps

            # ASCII only: surrogates and control characters stay escaped.
            lines = [dumps(fields, indent=2, default=asdict)]
        text = "".join(part + "\n" for part in lines)
        self.answered = True
        with command_output_delivered():
            sys.stdout.write(text)
            sys.stdout.flush()

    def raw(self, data: bytes) -> None:
        self.answered = True
        with command_output_delivered():
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def tell(self, text: str) -> None:
        self.complain(wrap_next_steps(one_line(self.advise(text)), self.columns, "memdir: ", "  "))

    def complain(self, lines: Sequence[str]) -> None:
        """Writes lines to stderr; a closed stderr must not stop a change."""
        with suppress(OSError):
            sys.stderr.write("".join(text + "\n" for text in lines))
            sys.stderr.flush()

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def block(self, label: str, text: str, indent: str = "  ", style: str = "") -> list[str]:
        start = indent + (label + " " if label else "")
        first, *more = wrap_next_steps(one_line(text), self.columns, start, " " * text_width(start))
        first = indent + self.paint(label, style) + first[len(indent + label) :]
        return [first.rstrip(), *more]

    def blocks(self, label: str, texts: Iterable[str], style: str = "") -> list[str]:
        return [part for text in texts for part in self.block(label, text, style=style)]

    def labelled(self, texts: Mapping[str, str], columns: int, indent: str = "  ") -> list[str]:
        pairs = ((f"{label + ':':{columns}}", text) for label, text in texts.items() if text)
        return [part for label, text in pairs for part in self.block(label, text, indent)]

    def table(
        self,
        rows: Sequence[Sequence[Cell]],
        limits: Sequence[int] = (),
        headings: Sequence[str] = (),
    ) -> list[str]:
        """`limits` of columns hold as far as the last column needs the room."""
        if not rows:
            return []
        rows = [[(text, "dim") for text in headings], *rows] if headings else rows
        cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
        shown = [[(one_line(text), style) for text, style in row] for row in cells]
        needed = [
            max(text_width(text) for text, _ in column) for column in zip(*shown, strict=True)
        ]
        limits = [*limits, *[self.columns] * len(needed)]
        sizes = [min(*pair) for pair in zip(limits, needed, strict=False)]
        sizes[-1] = self.columns - sum(sizes[:-1]) - 2 * len(sizes)
        spare = min(sizes[-1] - needed[-1], needed[0] - sizes[0])
        if spare > 0:
            sizes[0], sizes[-1] = sizes[0] + spare, sizes[-1] - spare
        below = sizes[-1] < min(LAST_COLUMN, needed[-1])
        if below:  # a narrow terminal: the last column has lines of its own
            sizes = [*needed[:-1], self.columns - 4]
            while sum(sizes[:-1]) + 2 * len(sizes) - 2 > self.columns:
                widest = max(range(len(sizes) - 1), key=sizes.__getitem__)
                sizes[widest] -= 1
        lines = []
        for row in shown:
            texts = [cut_text(text, size) for (text, _), size in zip(row, sizes, strict=True)]
            texts[0] = cut_text_middle(row[0][0], sizes[0])
            texts = [pad_text(text, size) for text, size in zip(texts, sizes, strict=True)]
            texts[-1] = texts[-1].rstrip()
            painted = [self.paint(t, s) for t, (_, s) in zip(texts, row, strict=True) if t]
            last = [f"    {painted.pop()}"] if below and texts[-1] else []
            lines += ["  " + "  ".join(painted).rstrip(), *last]
        return lines

    def diff_lines(self, text: str) -> list[str]:
        """On a terminal a long line goes on below its sign; elsewhere the diff stays one."""
        lines = visible_text(text).split("\n") if text else []
        if self.is_terminal:
            lines = [part for line in lines for part in fold_line(line, self.columns, line[:1])]
        return [self.paint(part, DIFF_STYLES.get(part[:1], "")) for part in lines]

    def done_lines(self, done: Done, says: Sequence[str] = ()) -> list[str]:
        would = "would be " if done.dry_run else ""
        lines = []
        for change in done.changes:
            style = "yellow" if change.kind == SKIPPED else "green"
            name = one_line(change.path or change.name)
            lines.append(f"{would}{self.paint(change.kind, style)} {name}".rstrip())
            lines += self.block("", change.reason) if change.reason else []
        changed = [change.name for change in done.changes if change.changed]
        for text in says if changed else ():
            lines += self.block("", self.advise(text.replace("NAME", quote(changed[0]))))
        lines += self.blocks("note:", done.remarks)
        lines += self.dry_lines(done) if done.dry_run else []
        return lines or [done.first.reason]

    def dry_lines(self, done: Done) -> list[str]:
        lines = []
        for path, old, new in done.diff:
            if old != new:
                lines += ["", *self.diff_lines(print_diff(path, old, new))]
        return [*lines, "", DRY_RUN]

    def more_lines(self, total: int, shown: int, hint: str = " (--json has all)") -> list[str]:
        return [f"  and {total - shown:,} more{hint}"] if total > shown else []

    def finding_lines(self, findings: Sequence[Finding], advise: Advice | None = None) -> list[str]:
        """A fix that several share is said once, after the last of them."""
        lines, fixes = [], [finding.fix for finding in findings]
        for finding, next_fix in zip(findings, [*fixes[1:], ""], strict=False):
            place = f"{finding.path}:{finding.line}" if finding.line else finding.path
            named = finding.message.startswith(finding.path) or (
                not finding.line and finding.path in finding.message
            )
            text = finding.message if named else f"{place}: {finding.message}"
            lines += self.block("!", text, style="yellow")
            if finding.fix and finding.fix != next_fix:
                lines += self.block("fix:", (advise or self.advise)(finding.fix), "    ")
        return lines

    def advised(self, done: Done) -> Done:
        from dataclasses import replace

        changes = tuple(
            replace(change, reason=self.advise(change.reason)) for change in done.changes
        )
        remarks = tuple(self.advise(remark) for remark in done.remarks)
        return replace(done, changes=changes, remarks=remarks)


def _terminal_columns(environ: Mapping[str, str]) -> int:
    """As `shutil` finds them, which is slow to import."""
    given, columns = environ.get("COLUMNS", ""), 0
    with suppress(AttributeError, ValueError, OSError):
        columns = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    return int(given if given.isdecimal() else 0) or columns or USUAL


def drop_pending_command_output() -> None:
    """Discards pending output, or Python would complain about the closed pipe when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]


@contextmanager
def command_output_delivered(stands: str = "changes are kept: memdir log") -> Iterator[None]:
    """Turns a failed write to stdout into ReaderGone or Unwritable."""
    try:
        yield
    except OSError as error:
        drop_pending_command_output()
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from None
        message = f"the answer cannot be written: {error.strerror}; {stands}"
        raise Unwritable(message, next="write it where there is room") from None


@contextmanager
def show_progress(screen: Screen) -> Iterator[None]:
    """Says once, after a second, that work is under way; only to a person at a terminal."""
    if screen.json or not sys.stderr.isatty():
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


SHORT_ID = 8  # characters of a change's id shown to a person
SKIPPED = "skipped"
DRY_RUN = "dry run: nothing was written"


def done_fields(app: App, done: Done) -> Fields:
    changes = pick_all(done.changes, CHANGE)
    fields = {**pick(done.first, CHANGE), "changes": changes, "remarks": done.remarks}
    return fields | {"store": app.store.root} | dry_run_fields(done)


def dry_run_fields(done: Done) -> Fields:
    files = {"files": changed_file_fields(done.diff)} if done.dry_run else {}
    return {"dry_run": done.dry_run, **files}


def is_command_refused(changes: Sequence[Change]) -> bool:
    """True if something was asked for and not done; an existing result counts as done."""
    return any(change.kind == SKIPPED and not change.hash for change in changes)


def short_age(days: int) -> str:
    """For a column: the words of an age without `ago`."""
    return safe.age_words(days).removesuffix(" ago")


def show_local_time(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return safe.iso_time(seconds)

"""What an agent reads: memories in a frame, long texts in pages, next steps as tools."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdir.core import injection
from memdir.core.inert import clip, inert, inert_line, visible
from memdir.flows.acceptance import source_of

if TYPE_CHECKING:
    from memdir.app import App
    from memdir.core.errors import MemdirError
    from memdir.core.memory import Memory
    from memdir.surfaces.mcp.messages import Fields

PAGE = 20_000  # characters of one memory at once
FRAME = 30_000  # UTF-16 units of an answer; clients cut or refuse more
NONCE_BYTES = 4
LINE_BYTES = 300
# The command line's words for what a tool does here.
_STEPS = (
    (re.compile(r"memdir edit ([\w.-]{1,80})"), r"call save with name \1"),
    (re.compile(r"memdir restore --list|memdir log\b( --json)?"), "the tool history"),
    (re.compile(r"memdir (list|undo|verify)\b"), r"the tool \1"),
    (re.compile(r"memdir remember TEXT"), "the tool save"),
    (re.compile(r"insist with --anyway|--anyway"), "call save with anyway: true"),
    (re.compile(r"--dir and --scope (\w{1,20}) both say where"), r"scope \1 is not served here"),
    (re.compile(r"Give one of them\.?"), "leave scope out: one directory is served"),
    (re.compile(r"(?<![\w-])--if-hash\b"), "if_hash"),
    (re.compile(r"(?<![\w-])--(name|scope|description|type)\b"), r"\1"),
)


@dataclass(frozen=True)
class Told:
    """The answer of a tool: a text, and the same in fields where a program may want them."""

    text: str
    fields: Fields | None = None
    wrong: bool = False


def framed(text: str) -> str:
    """A text that holds words of memories, between lines that only we can write."""
    return injection.frame(secrets.token_hex(NONCE_BYTES), (), (), text, limit=FRAME).text


def step(text: str) -> str:
    """Advice for the command line, for somebody who has tools instead."""
    for pattern, instead in _STEPS:
        text = pattern.sub(instead, text)
    return text


def refusal(error: MemdirError) -> Told:
    """An error as a sentence, and what to do next."""
    said = inert_line(step(error.message), 4 * LINE_BYTES)
    next = inert_line(step(error.next), 2 * LINE_BYTES)
    return Told(f"{said}. Next: {next}" if next else f"{said}.", wrong=True)


def whole(app: App, scope: str, memory: Memory, text: str, start: int = 1) -> str:
    """A memory from a line on: header with age, origin and verdicts, then a page of its text."""
    one = injection.Recalled(memory, scope, app.store.root)
    source = source_of(app)
    one.giver = source(memory.path) if source else ""
    if app.config.code:
        from memdir.flows.verdicts import kept_verdicts

        kept_verdicts(app).tell([one])
    head = injection.body(one, app.now()).partition("\n\n")[0]  # below it: what it is about
    return f"{head}\n\n{page(text, start)}".rstrip()


def page(text: str, start: int) -> str:
    """The lines from `start` on that fit; one that is too long is cut."""
    lines = inert(visible(text)).strip("\n").split("\n")
    shown: list[str] = []
    room = PAGE
    for line in lines[start - 1 :]:
        if shown and len(line) + 1 > room:
            break
        shown.append(clip(line, room) if len(line) > room else line)
        room -= len(line) + 1
    left = len(lines) - (start - 1) - len(shown)
    if left > 0:
        more = count(left, "more line", "more lines")
        shown.append(f"({more}: read again with line {start + len(shown)})")
    return "\n".join(shown) if start <= len(lines) else f"(it has {len(lines):,} lines)"


def count(number: int, one: str, many: str) -> str:
    """`1 memory`, `2 memories`."""
    return f"{number:,} {one if number == 1 else many}"


def remarked(lines: Sequence[str], remarks: Sequence[str]) -> str:
    """Lines, then what is worth knowing beside them."""
    said = [f"note: {inert_line(step(text), 2 * LINE_BYTES)}" for text in dict.fromkeys(remarks)]
    return "\n".join([*lines, *said])

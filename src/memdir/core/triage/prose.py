"""A person's own sentences: without code, logs, quotes, pasted text and what clients put in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HEAD = TAIL = 20_000  # characters of a long message; between them lies what was pasted
LONGEST_LINE = 6_000  # characters; longer ones are data
LONGEST = 600  # characters of a sentence that are looked at
MOST = 400  # sentences of a message
WRAPPED = 60  # characters of a line that may have been wrapped
MAIL_LINES = 2  # lines like `Subject: …` that make it a mail

_FENCES = ("```", "~~~")
_TAG = re.compile(r"<([A-Za-z][\w:-]{0,60})(?:\s[^<>\n]{0,400})?>")
# How a client begins what is no prompt of a person.
_CLIENT = (
    *("[request interrupted", "this session is being continued", "caveat: the messages below"),
    *("contents of ", "stop hook feedback", "base directory for this skill", "memory, not an"),
    *("<command-", "<local-command", "<bash-", "api error:"),
)
# "the ticket says:" - from there on somebody else may be speaking.
_PASTE = re.compile(
    r"\b(?:says?|said|wrote|writes|reads|mails?|e-?mails?|tickets?|issue|errors?|outputs?|logs?"
    r"|messages?|slack|thread|docs?|description|article|page|comments?|review|transcript|prints?"
    r"|got(?: this| back)?|traceback|pasted?|paste|readme|spec|quote|shows?|response|prompt"
    r"|following|below|text|paragraph|translate|proofread|rephrase)"
    r"[^:\n]{0,40}:\s*$|^-{3,}\s*(?:forwarded|original) message|^begin forwarded message",
    re.I,
)
_MAIL = re.compile(r"(?:from|to|subject|sent|date|cc): \S", re.I)
_LOG = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:ERROR|WARN(?:ING)?|INFO"
    r"|DEBUG|FATAL|TRACE)\b|(?:[\w.]{1,80}\.)?\w{0,60}(?:Error|Exception|Warning):\s"
    r"|Traceback \(most|File \"|at [\w.$<>/ ]{1,120}[:(]|E   |FAILED |PASSED |npm (?:ERR|WARN)|\$ "
    r"|%"
    r" |>>> |\.\.\. |@@ |diff --git |[+-]{3} [ab/]|[|+]|\d{1,3} passed|={4,}|-{4,}|error(?:\[\w"
    r"{1,9}\])?:|warning:|panic:|fatal:|#{1,6} )"
)
_FAULT = re.compile(
    r"(?:\[?(?:error|warning|fatal|panic)\b[\]:]|(?:[\w.]{1,80}\.)?\w{0,60}(?:Error|Exception):\s)",
    re.I,
)
_CODE = re.compile(
    r".{0,5990}[;{}]\s*$|\s*(?:(?:async )?def \w{1,60}\(|class \w{1,60}[:({]|import [\w{\"'*]"
    r"|from [\w.]{1,80} import |return\b|(?:export |public |private |static |async ){0,4}"
    r"(?:function|const|let|var|fn|func) \w|#include|#!|@\w{1,60}(?:\(|$)|//|/\*|\*/|[)\]}]{1,4}"
    r"[,;]?\s*$|<[/!\w]|[\w.\[\]\"']{1,60} (?:=|:=|\+=|==) \S|(?:SELECT|INSERT|UPDATE|CREATE|ALTER)"
    r" |[\w-]{1,40}: ?[\[{|]|\"[\w-]{1,40}\" ?:|\{|\[\{?$)"
)
_SHELL = re.compile(
    r"\s*(?:sudo |git |npm (?:run|i|install)|pnpm |yarn |pip |docker |kubectl |curl |make |cargo "
    r"|cd"
    r" |ls |python3? |pytest |uv )[\w./=@: -]{0,200}$"
)
_QUOTED = re.compile(
    r"`[^`\n]{1,300}`|\"[^\"\n]{1,400}\"|“[^“”\n]{1,400}”|«[^«»\n]{1,400}»|„[^„“”\n]{1,400}[“”]"
    r"|(?<!\w)'[^'\n]{1,300}'(?!\w)|‘[^‘’\n]{1,300}’(?!\w)|「[^「」\n]{1,300}」"
)
# A request behind a statement stands for itself: "I know Go, can you explain hooks?"
_REQUEST = (
    r"(?:can|could|would|will) you|(?:can|could|should) (?:i|we)|what|how|why|where|which|do you"
    r"|is there"
)
_ENDS = re.compile(
    rf",\s+(?:so |and |but )?(?=(?:{_REQUEST})\b[^?]{{3,200}}\?)|"
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bz\.B\.)(?<!\bcf\.)"
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bapprox\.)(?<!\bbzw\.)"
    # `Anna (not Anne!) is` goes on behind its bracket.
    r"(?:[\"']?\s+|\)\s+(?![a-z]))"
    r"|(?<=[。！？])|;\s+|\s+(?:—|–|--)\s+(?=(?:also|and|btw|please|remember)\b)"
)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_MARK = "\u00b7"  # stands for each character of a quotation


@dataclass(frozen=True)
class Sentence:
    """`bare` is what patterns look at: as long as `text`, in small letters, quotations blank."""

    text: str
    bare: str
    block: int = 0
    line: int = 0

    @property
    def asks(self) -> bool:
        """It ends as a question."""
        return self.text.rstrip(" )\"'").endswith(("?", "？"))


def sentences(text: str) -> list[Sentence]:
    """In their order; empty for a command and for what a client wrote."""
    text = text if len(text) <= HEAD + TAIL else text[:HEAD] + "\n\n" + text[-TAIL:]
    start = text.lstrip()[:80].lower()
    if start.startswith(("/", "!", *_CLIENT)):
        return []
    found: list[Sentence] = []
    for number, (block, line) in enumerate(_lines(_untagged(text))):
        for part in _parts(line):
            said = _ITEM.sub("", part, count=1).strip()
            if said and len(found) < MOST:
                found.append(sentence(said, block, number))
    return found


def sentence(text: str, block: int = 0, line: int = 0) -> Sentence:
    """One sentence as patterns want it."""
    return Sentence(text, _bare(text[:LONGEST]), block, line)


def joined(some: Sequence[Sentence]) -> str:
    """Sentences as one text; those of different lines stay on different lines."""
    text = ""
    for at, one in enumerate(some):
        gap = "" if not at else " " if one.line == some[at - 1].line else "\n"
        text += gap + one.text
    return text


def _parts(line: str) -> Iterator[str]:
    """Cut at the ends of sentences, but not inside a quotation."""
    begun = 0
    for match in _ENDS.finditer(_QUOTED.sub(lambda found: _MARK * len(found[0]), line)):
        yield line[begun : match.start()]
        begun = match.end()
    yield line[begun:]


def _bare(text: str) -> str:
    low = text.lower().replace("’", "'").replace("ʼ", "'")
    if len(low) != len(text):  # a few capitals have small letters of two characters
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return _QUOTED.sub(lambda match: _MARK * len(match[0]), low)


def _untagged(text: str) -> str:
    """Without the blocks between tags that start a line; an open one takes all the rest."""
    kept: list[str] = []
    at = 0
    for match in _TAG.finditer(text):
        if (
            match.start() < at
            or text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        ):
            continue
        close = text.find(f"</{match[1]}>", match.end())
        ours = match[1].lower().startswith(("memdir", "system", "command", "local-", "memory"))
        if close < 0 and not ours:
            continue
        kept.append(text[at : match.start()])
        at = len(text) if close < 0 else close + len(match[1]) + 3
    return "".join((*kept, text[at:]))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of one's own with the number of their paragraph; wrapped ones are joined."""
    held, block, fence, fault = "", 0, "", False
    lines = text.split("\n")
    mailed = sum(1 for line in lines if _MAIL.match(line.strip())) >= MAIL_LINES
    for at, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(_FENCES) and (not fence or bare.startswith(fence)):
            fence = "" if fence else bare[:3]
            bare = ""
        elif fence:
            continue
        if mailed and _MAIL.match(bare):
            break
        # A program speaks of a fault up to the next blank line; people go on in small letters.
        fault = bool(_FAULT.match(line)) or (fault and bool(bare) and not bare[:1].islower())
        own = bool(bare) and not fault and _own(line)
        if own and held and _goes_on(lines[at - 1], bare):
            held = f"{held} {bare}"
        else:
            if held:
                yield block, held
            block += not own
            held = bare if own else ""
        if held and _PASTE.search(bare) and not _fenced(lines[at + 1 : at + 3]):
            break
    if held:
        yield block, held


def _goes_on(line: str, next_line: str) -> bool:
    """Was a sentence wrapped here? In a chat, a short line ends a thought without a full stop."""
    ended = line.rstrip().endswith((".", "!", "?", ":", ";"))
    return len(line) >= WRAPPED and next_line[:1].islower() and not ended


def _fenced(lines: list[str]) -> bool:
    """Is what a line announces inside a fence? Then it ends where the fence does."""
    return any(line.strip().startswith(_FENCES) for line in lines)


def _own(line: str) -> bool:
    if len(line) > LONGEST_LINE or line.startswith(("    ", "\t")) or line.lstrip()[:1] == ">":
        return False
    return not (_LOG.match(line) or _CODE.match(line) or _SHELL.match(line))

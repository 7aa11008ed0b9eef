"""Sentences typed by a person, without code, logs, quotes and text added by clients.

Pasted text is left out if it is announced ("the page says: …"), and marked as doubtful if only its
form or length suggests it.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# Kinds of requests, as `phrases.toml` calls them.
REMEMBER, FORGET, RULE, FROM_NOW = "remember", "forget", "rule", "from_now"
REQUESTS = (REMEMBER, FORGET, RULE, FROM_NOW)
MAX_LINE_CHARACTERS = 6_000  # longer lines are data
MAX_SENTENCE_CHARACTERS = 600  # matched by patterns
MAX_SENTENCES = 400
# Of 100 real messages, 95 have less than 510 characters and 99 less than 1,330.
TYPED_PARAGRAPH_CHARACTERS, TYPED_CHARACTERS, TYPED_LINES = 600, 1_300, 12
MIN_WRAPPED_CHARACTERS = 60  # shorter lines do not wrap
MIN_MAIL_HEADERS = 2

_FENCES = ("```", "~~~")
# From a tag at the start of a line to its closing tag or the end of the text.
_TAGGED = re.compile(r"(?ms)^[ \t]*<([A-Za-z][\w:-]{0,60})(?:\s[^<>\n]{0,400})?>.*?(?:</\1>|\Z)")
_MAIL = re.compile(
    r"(?:from|to|subject|sent|date|cc|von|an|betreff|de|para|asunto|objet|oggetto|assunto): \S"
    r"|-{3,}\s*(?:forwarded|original) message|begin forwarded message",
    re.I,
)
# Openings and endings of documents and mails, never of prompts.
_OPENS = re.compile(
    r"#{1,6} \S|(?:hi|hello|hey|dear|hallo|liebe[rs]?|sehr geehrte|bonjour|hola|estimad[oa]s?|olá"
    r"|caro|ciao) [^.?!:]{1,30}[,!:]?$|\[?\d{4}-\d\d-\d\d|!\[|<!--",
    re.I,
)
_SIGNED = re.compile(
    r"(?:(?:(?:best|kind|warm) )?regards|best|cheers|(?:many )?thanks|sincerely|yours"
    r"|viele grüße|gruß|lg|mfg|cordialement|saludos|abraços|saluti|--)[,!.]?",
    re.I,
)
# First line of a program's error message, which ends at a blank line.
_FAULT = re.compile(
    r"\[?(?:error|warning|fatal|panic)\b[\]:]|(?:[\w.]{1,80}\.)?\w{0,60}(?:Error|Exception):\s",
    re.I,
)
# A line of a log, a shell, a diff, a table, or of code.
_MACHINE = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b|\w{0,60}[Ww]arning: |Traceback \(|File \""
    r"|at [\w.$<>/ ]{1,120}[:(]|E   |FAILED |PASSED |npm (?:ERR|WARN)|\d{1,3} passed|diff --git "
    r"|[$%] |[|+{}\])>]|@\w{1,60}(?:\(|$)|\.\.\. |---|===|#(?:#{0,5} |include|!)|//|/\*|\*/"
    r"|(?:async )?def \w|class \w{1,60}[:({]|import [\w{\"'*]|from [\w.]{1,80} import |return\b"
    r"|(?:export |public |private |static |async ){0,4}(?:function|const|let|var|fn|func) \w"
    r"|<[/!\w]|[\w.\[\]\"']{1,60} (?:=|:=|\+=|==) \S|(?:SELECT|INSERT|UPDATE|CREATE|ALTER) "
    r"|[\w-]{1,40}: ?[\[{|]|\"[\w-]{1,40}\" ?:)|.{0,5990}[;{}]\s*$"
)
_QUOTED = re.compile(
    r"`[^`\n]{1,300}`|\"[^\"\n]{1,400}\"|“[^“”\n]{1,400}”|«[^«»\n]{1,400}»|„[^„“”\n]{1,400}[“”]"
    r"|(?<!\w)'[^'\n]{1,300}'(?!\w)|‘[^‘’\n]{1,300}’(?!\w)|「[^「」\n]{1,300}」"
)
_ENDS = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bz\.B\.)(?<!\bcf\.)"
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bapprox\.)(?<!\bbzw\.)"
    # `Anna (not Anne!) is` continues after the bracket.
    r"(?:[\"']?\s+|\)\s+(?![a-z]))|(?<=[。！？])"
)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_BLANK = "\u00b7"  # replaces each character of a quotation


@dataclass(frozen=True)
class Sentence:
    """`bare` is matched by patterns: lower case, as long as `text`, quotations blanked.

    `doubtful`: somebody else may have written it.
    """

    text: str
    bare: str
    block: int = 0
    line: int = 0
    doubtful: bool = False

    @property
    def asks(self) -> bool:
        return self.text.rstrip(" )\"'").endswith(("?", "？"))


def typed_sentences(text: str) -> list[Sentence]:
    if text.lstrip().startswith(("/", "!")):
        return []
    text = _TAGGED.sub("", text)
    result: list[Sentence] = []
    for number, (block, line) in enumerate(_lines(text)):
        for part in _parts(line):
            content = _ITEM.sub("", part, count=1).strip()
            if content and len(result) < MAX_SENTENCES:
                result.append(typed_sentence(content, block, number))
    return list(_until_pasted(_doubted(text, result)))


def typed_words(text: str) -> str:
    return join_typed_sentences([item for item in typed_sentences(text) if not item.doubtful])


def typed_sentence(text: str, block: int = 0, line: int = 0) -> Sentence:
    return Sentence(text, _bare(text[:MAX_SENTENCE_CHARACTERS]), block, line)


def join_typed_sentences(some: Sequence[Sentence]) -> str:
    text = ""
    for index, item in enumerate(some):
        gap = "" if not index else " " if item.line == some[index - 1].line else "\n"
        text += gap + item.text
    return text


def _until_pasted(some: Sequence[Sentence]) -> Iterator[Sentence]:
    """Leaves out text after `the page says:`; sentences after `this page` are doubtful."""
    doubtful, quoted_line = False, -1
    for item in some:
        if item.line == quoted_line:
            continue
        requests = [match for kind in REQUESTS if (match := find_request_phrase(kind, item.bare))]
        # "forget that …" points at nothing: only words before a request announce a text.
        starts = [match.start(match.lastgroup or 0) for match in requests]
        mark = pasted_text_announcement().search(item.bare, 0, min(starts, default=len(item.bare)))
        if mark and mark["colon"]:
            yield replace(item, text=item.text[: mark.end()], bare=item.bare[: mark.end()])
            if not item.text[mark.end() :].strip():
                return
            quoted_line = item.line  # the rest of this line is quoted
        else:
            yield replace(item, doubtful=item.doubtful or doubtful or bool(mark and requests))
        doubtful = doubtful or bool(mark) or (not requests and item.bare.endswith((":", "：")))


def _doubted(text: str, some: list[Sentence]) -> list[Sentence]:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines or not some:
        return some
    document = bool(_OPENS.match(lines[0])) or any(map(_SIGNED.fullmatch, lines))
    long = len(text) > TYPED_CHARACTERS or len(lines) > TYPED_LINES
    # A final "…, what does this page mean?" refers to the text before it.
    last = some[-1]
    mark = pasted_text_announcement().search(last.bare)
    about = bool(mark and mark["points"]) and last.block != some[0].block
    sizes: dict[int, int] = {}
    for item in some:
        sizes[item.block] = sizes.get(item.block, 0) + len(item.text)
    return [
        replace(item, doubtful=True)
        if document
        or (about and item.block != last.block)
        or sizes[item.block] > TYPED_PARAGRAPH_CHARACTERS
        or (long and item.block != some[0].block)
        else item
        for item in some
    ]


def _parts(line: str) -> Iterator[str]:
    start = 0
    for match in _ENDS.finditer(_QUOTED.sub(lambda quotation: _BLANK * len(quotation[0]), line)):
        yield line[start : match.start()]
        start = match.end()
    yield line[start:]


def _bare(text: str) -> str:
    low = text.lower().replace("’", "'").replace("ʼ", "'")
    if len(low) != len(text):  # a few capitals become two characters in lower case
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return _QUOTED.sub(lambda match: _BLANK * len(match[0]), low)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    held, block, fence, fault = "", 0, "", False
    lines = text.split("\n")
    mailed = sum(1 for line in lines if _MAIL.match(line.strip())) >= MIN_MAIL_HEADERS
    for index, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(_FENCES) and (not fence or bare.startswith(fence)):
            fence = "" if fence else bare[:3]
            bare = ""
        elif fence:
            continue
        elif "".join(lines[index + 1 : index + 3]).lstrip().startswith(_FENCES):
            bare = bare.rstrip(":：")  # the announced text ends with the fence
        if mailed and _MAIL.match(bare):
            break
        # An error message goes on to the next blank line; people continue in lower case.
        fault = bool(_FAULT.match(line)) or (fault and bool(bare) and not bare[:1].islower())
        data = len(line) > MAX_LINE_CHARACTERS or line.startswith(("    ", "\t"))
        own = bool(bare) and not (fault or data or _MACHINE.match(line))
        if own and held and _goes_on(lines[index - 1], bare):
            held = f"{held} {bare}"
        else:
            if held:
                yield block, held
            block += not own
            held = bare if own else ""
    if held:
        yield block, held


def _goes_on(line: str, next_line: str) -> bool:
    ended = line.rstrip().endswith((".", "!", "?", ":", ";"))
    return len(line) >= MIN_WRAPPED_CHARACTERS and next_line[:1].islower() and not ended


_MARKS = r"[,;:.!?()–—…，。：；、！？]\s*|\s-+\s+"
_AT_END = r"(?=[\s.!。！)]*$)"
_SPACED = re.compile(r"[^\W\d_\u3040-\u9fff\uac00-\ud7af]")  # letters of scripts with spaces
MAX_LEADS = 4


def find_request_phrase(kind: str, bare: str) -> re.Match[str] | None:
    """The match of a request; group `words` leaves out the words before it."""
    if not mentions_request_phrase(kind, bare):  # cheaper: most sentences ask for nothing
        return None
    return _requests(kind).search(bare)


def joined_request_start(bare: str, start: int) -> int:
    """Start of the text joined to a request that ends at `start`; 0 if none."""
    that, back, sentence = _bounded("that"), _bounded("back"), _bounded("sentence")
    joint = rf"(?:\s*{back})?\s*[:：]\s*|\s*,?\s*{that}\s*|[\s,，]*(?={sentence})"
    joined = re.compile(joint).match(bare, start)
    return joined.end() if joined else 0


def begins_with_request(kind: str, bare: str) -> bool:
    return bool(_anywhere(kind, r"^\W*").search(bare))


def mentions_request_phrase(kind: str, bare: str) -> bool:
    return bool(_anywhere(kind, "").search(bare))


def remove_request_phrases(kind: str, bare: str) -> str:
    return _anywhere(kind, "").sub("", bare)


@functools.cache
def pasted_text_announcement() -> re.Pattern[str]:
    """Matches `the log says:` (group `colon`) or `this page` (group `points`)."""
    texts, pointing = _bounded("texts"), _bounded("pointing")
    return re.compile(
        rf"(?:{texts}|{pointing})[^:：\n]{{0,40}}(?P<colon>[:：])(?!//)"
        rf"|(?P<points>{pointing}(?:\s?[\w-]{{1,20}}){{0,2}}\s?{texts}|{texts} {pointing}"
        rf"|{pointing}[\s?.!。！？]*$)"
    )


@functools.cache
def _languages() -> dict[str, dict[str, Any]]:
    with Path(__file__).with_name("phrases.toml").open("rb") as file:
        return tomllib.load(file)


@functools.cache
def _requests(kind: str) -> re.Pattern[str]:
    lead = _bounded("lead")
    leads = rf"(?:{lead}[\s,:，、!.-]*){{0,{MAX_LEADS}}}"
    # Inside a sentence, a rule's words mostly describe: "it works but never returns".
    start = {RULE: rf"^{leads}", FROM_NOW: ""}.get(kind, rf"(?:^|{_MARKS}|{lead}\s*){leads}")
    languages = _languages().values()
    first = _either(_entries(kind, (it for it in languages if not it.get("verb_last"))))
    last = "|".join(_entries(kind, (it for it in languages if it.get("verb_last")))) or r"(?!)"
    return re.compile(
        rf"(?P<lead>{start})(?P<words>{first})|(?P<last>(?:{last}){_AT_END})"
        rf"|^(?P<colon>(?:{last})(?=\s?[:：]))"
    )


@functools.cache
def _anywhere(kind: str, start: str) -> re.Pattern[str]:
    return re.compile(start + _bounded(kind))


def _bounded(kind: str) -> str:
    return _either(_entries(kind, _languages().values()))


def _entries(kind: str, languages: Iterable[dict[str, Any]]) -> list[str]:
    return [phrase for language in languages for phrase in language.get(kind, ())]


def _either(phrases: list[str]) -> str:
    spaced = [
        f"(?:{phrase})" if phrase.endswith(("'", "\\b")) else rf"(?:{phrase})(?!\w)"
        for phrase in phrases
        if _SPACED.search(phrase)
    ]
    dense = [phrase for phrase in phrases if not _SPACED.search(phrase)]
    # One lookbehind for all phrases, so that nothing is tried inside a word.
    whole = [rf"(?<!\w)(?:{'|'.join(spaced)})"] if spaced else []
    return f"(?:{'|'.join([*whole, *dense])})"

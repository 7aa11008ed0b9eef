"""Detects content that belongs elsewhere, not in a memory (M4).

Precision first: refusing something worth keeping costs more than a needless memory.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from memdir.text import pattern
from memdir.text.markdown import closes_fence, opened_fence

_SHARE = 0.6  # share of lines that must match
_AROUND_WORDS = 25  # words around code or a trace that do not explain it yet
_NOTE_WORDS = 80  # longer texts are more than a note on a fix or the current task
_LINE_WORDS = 15  # a list with longer lines explains its items
_QUOTED_WORDS = 5  # shortest sentence that counts as repeated inside a longer one
_MAX_SENTENCES = 200  # longer texts do not repeat CLAUDE.md and would be slow to compare


class _Body(NamedTuple):
    text: str
    lines: list[str]  # without blank lines and fences
    code: list[bool]  # for each line: True inside a fence, unless it is shell

    def count(self, pattern: re.Pattern[str]) -> int:
        return sum(1 for line in self.lines if pattern.match(line))

    def mostly(self, pattern: re.Pattern[str], share: float = _SHARE) -> bool:
        return self.count(pattern) >= share * len(self.lines)

    def rest(self, pattern: re.Pattern[str]) -> list[str]:
        return [line for line in self.lines if not pattern.match(line)]


# Code and git do not contain reasons, rules and warnings.
_LESSON = pattern(
    r"\bwhy\b|because|decid|prefer|never|always|don't|do not|must|instead of|surpris|turns? out"
    r"|unless|careful|gotcha|beware|root cause|reason|how to apply|convention|next time",
    re.I,
)
_BULLET = r"[ \t]*(?:[-*+•][ \t]*|\d{1,4}[.)][ \t]+)?"
# Commands may be documented nowhere else, so they do not count as code.
_NO_CODE = frozenset(("", "bash", "sh", "shell", "zsh", "console", "text", "txt", "md", "markdown"))

_DIFF = pattern(r"diff --git |index [0-9a-f]{7}|@@ -\d|--- |\+\+\+ |\w+ file mode |[-+ ]")
_HUNK = pattern(r"diff --git a/|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")

_LOGGED = pattern(
    rf"{_BULLET}`?(?=[a-f]*\d)[0-9a-f]{{7,40}}`?(?:[ \t:]|$)|commit [0-9a-f]{{7,40}}\b"
    r"|(?:Author|Date|Merge): |Merge (?:pull request|branch) |    \S"
)
_COMMIT = pattern(rf"(?:commit |{_BULLET})`?(?=[a-f]*\d)[0-9a-f]{{7,40}}`?(?:[ \t:]|$)")
_PULL = pattern(
    rf"{_BULLET}(?:PR |MR |pull request )?\[?[#!]\d+\b|.{{1,150}}\([#!]\d+\)[ \t]*$", re.I
)

_RAISED = pattern(
    r"Traceback \(most recent|[ \t]*File \"[^\"\n]+\", line \d+|[ \t]+at .{1,300}:\d+"
    r"|[ \t]+at [\w.$<>/]+\(|goroutine \d+ \[|thread '[^'\n]*' panicked|[ \t]+from .{1,300}:\d+:in "
)
_TRACE = pattern(
    _RAISED.pattern + r"|[ \t]+\S|(?:[\w.]+\.)?\w*(?:Error|Exception)(?::|$)|Caused by: "
)

_TREE = pattern(r"[ \t│|]*[├└]──|[d-][rwx-]{9}[.+@]?[ \t]+\d")
_SUFFIX = (
    r"\.(?:py|[jt]sx?|md|json|ya?ml|toml|rs|go|java|kt|[ch]|cpp|cs|sh|txt|html|css|sql|rb|php)"
)
_PATH = pattern(rf"{_BULLET}`?(?:[\w.@-]+/)*(?:[\w.@-]+{_SUFFIX}|[\w.@-]+/)`?$")

_CODE = pattern(
    r".*[;{}]$|[ \t]*(?:(?:async )?def \w+\(|class \w+[:({]|import [\w{\"']|from [\w.]+ import "
    r"|return\b|(?:export |public |private |static |async )*(?:function|const|let|var|fn|func) \w"
    r"|#include|(?:if|for|while|with) .+:$|else:|try:|except\b.*:$|@\w+|//|/\*|[)\]}]+[,;]?$)"
    r"|[ \t]*[\w.\[\]\"']+ (?:=|:=|\+=) \S|[ \t]+[\w.]+\(.*\)[,;]?$"
)

_WE_ARE = r"(?:I['’]?m|I am|we['’]re|we are) "
_NOW = r"(?:currently|right now|at the moment|just now|today|tonight|this (?:morning|afternoon)),? "
_DOING = (
    r"(?:working on|debugging|fixing|implementing|writing|refactoring|investigating|reviewing"
    r"|looking into|trying to|in the middle of|halfway through)\b"
)
_TASK = pattern(
    rf"[#* \t]*(?:{_WE_ARE}(?:currently|still|now|just) (?:working|debugging|fixing|implementing"
    r"|writing|refactoring|investigating|in the middle)|WIP\b|work in progress:"
    rf"|(?:{_WE_ARE})?(?:now |currently )?(?:on|at|done with) step \d+ ?(?:of|/) ?\d+"
    r"|to-?dos?(?::| for (?:this|the current) session)"
    r"|(?:current|this session's) (?:task|to-?do)s?:"
    r"|(?:remaining|next) steps? (?:for|in) this session"
    rf"|{_NOW}(?:{_WE_ARE}|I['’]ll be )?(?:still |just )?{_DOING}|still {_DOING}"
    rf"|{_WE_ARE}{_DOING}[^.\n]{{0,80}} (?:right now|at the moment|today)\b"
    rf"|in the middle of (?:\w+ing)\b)",
    re.I,
)
# An end date is worth knowing in the next session, too.
_LASTS = pattern(
    r"\bdue\b|deadline|\buntil\b|\d{4}-\d\d|\bQ[1-4]\b"
    r"|\bby (?:the end|next|\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    re.I,
)
_FIX = pattern(
    r"[#* \t]*(?:bug ?fix\b|(?:I |we )?(?:fixed|resolved|patched)\b"
    r"|(?:the |this |that )?(?:\w+ ){0,3}(?:bug|issue|crash|error|problem|failure|leak|race)\b"
    r"[^.\n]{0,60}? (?:fixed|resolved|solved|patched)\b)(?:[^.]|\.\w){0,200}?"
    r"\b(?:by (?:add|chang|replac|remov|renam|mov|wrapp|call|sett|us|return|increas|updat|pass)"
    r"ing|on line \d)",
    re.I,
)


_DID = "fix|add|remov|chang|renam|mov|updat|refactor|introduc|broke|revert|implement|resolv|replac"
_COMMIT_DID = pattern(
    r"[#* \t]*(?:in )?(?:commit|PR|MR|pull request) `?[#!]?(?:\d+|(?=[a-f]*\d)[0-9a-f]{7,40})`?"
    rf",? (?:\w+ )?(?:{_DID})",
    re.I,
)
# "PR list: #12, #15", "open issues: #3 and #4"
_NUMBERS = pattern(
    r"[^#\n]{0,40}\b(?:PRs?|pull requests?|issues?|tickets?)\b[^#\n]{0,20}[#!]\d+"
    r"(?:[\s,;&]+(?:and )?[#!]\d+)+[.\s]*$",
    re.I,
)
_SHAPE = pattern(
    r"[#* \t]*(?:the |our |this )?(?:\w+ )?(?:architecture|code ?base|(?:project|folder|directory"
    r"|module|repo(?:sitory)?) (?:structure|layout)) (?:is|are|uses?|follows?|has|consists?)\b",
    re.I,
)
# "The auth module is in src/auth/.": the path is group 1.
_LIES_IN = pattern(
    r"[#* \t]*[^.:;\n]{2,80}? (?:(?:is|are)(?: defined| located| implemented)?|lives?|lies?|sits?"
    r"|resides?) (?:in|at|under|inside) (?:the )?(?:file |folder |directory )?"
    r"`?([\w.@-]+(?:/[\w.@-]+)*/?)`?[.!]?\s*$",
    re.I,
)


def why_not_worth_saving(
    text: str, claude_md: str = "", is_in_repository: Callable[[str], bool] = lambda path: False
) -> str | None:
    """None if the text may be saved; else its kind, where it belongs, and a question."""
    body = _cut(text)
    if not body.lines:
        return None
    looks_like, home = next(((name, home) for name, home, fits in _KINDS if fits(body)), ("", ""))
    found = _LIES_IN.match(text.strip())
    path = found[1].rstrip(".") if found and not _LESSON.search(text) else ""
    if ("/" in path or "." in path) and is_in_repository(path):
        looks_like, home = "a place in the code", f"the repository, where {path} can be seen"
    if not looks_like and claude_md and _repeats(text, claude_md):
        looks_like, home = "something CLAUDE.md says", "CLAUDE.md, which is read in every session"
    if not looks_like:
        return None
    return (
        f"This looks like {looks_like} and already lives in {home}: "
        "what about it was surprising, or what was decided that cannot be read there?"
    )


def _cut(text: str) -> _Body:
    lines: list[str] = []
    code: list[bool] = []
    fence = language = ""
    for line in text.splitlines():
        opened = "" if fence else opened_fence(line)
        if opened:
            fence, language = opened, line.partition(opened)[2].strip().partition(" ")[0].lower()
        elif fence and closes_fence(line, fence):
            fence = ""
        elif line.strip():
            lines.append(line.rstrip())
            code.append(bool(fence) and language not in _NO_CODE)
    return _Body(text, lines, code)


def _words(lines: list[str]) -> int:
    return sum(len(line.split()) for line in lines)


def _teaches(lines: list[str]) -> bool:
    return any(_LESSON.search(line) for line in lines)


def _is_diff(body: _Body) -> bool:
    return body.count(_HUNK) > 0 and body.mostly(_DIFF) and not _teaches(body.rest(_DIFF))


def _is_list(body: _Body, item: re.Pattern[str], other: re.Pattern[str]) -> bool:
    items = body.count(item) >= 3 and body.mostly(other, 0.8)
    return items and _words(body.lines) <= _LINE_WORDS * len(body.lines)


def _is_trace(body: _Body) -> bool:
    around = body.rest(_TRACE)
    raised = body.count(_RAISED) >= 2 and body.mostly(_TRACE)
    return raised and _words(around) < _AROUND_WORDS and not _teaches(around)


def _is_listing(body: _Body) -> bool:
    tree = body.count(_TREE) >= 3 and body.mostly(_TREE) and not _teaches(body.rest(_TREE))
    return tree or (len(body.lines) >= 5 and body.mostly(_PATH, 0.9))


def _is_code(body: _Body) -> bool:
    pairs = zip(body.lines, body.code, strict=True)
    prose = [line for line, fenced in pairs if not fenced and not _CODE.match(line)]
    lines = len(body.lines) - len(prose)
    enough = lines >= 4 and lines >= _SHARE * len(body.lines)
    return enough and _words(prose) < _AROUND_WORDS and not _teaches(prose)


def _is_task(body: _Body) -> bool:
    begins = any(_TASK.match(line) for line in body.lines[:2])
    return begins and not _LASTS.search(body.text) and _is_note(body)


def _is_note(body: _Body) -> bool:
    return _words(body.lines) <= _NOTE_WORDS and not _teaches(body.lines)


# Kind, where such content belongs, and its test.
_KINDS: tuple[tuple[str, str, Callable[[_Body], bool]], ...] = (
    ("a diff", "git", _is_diff),
    (
        "a git log",
        "git",
        lambda body: _is_list(body, _COMMIT, _LOGGED) and not _teaches(body.rest(_LOGGED)),
    ),
    (
        "a list of pull requests or issues",
        "the forge that numbers them",
        lambda body: (
            (_is_list(body, _PULL, _PULL) or bool(_NUMBERS.match(body.text.strip())))
            and not _teaches(body.lines)
        ),
    ),
    ("a stack trace", "the log or the terminal it came from", _is_trace),
    ("a file listing", "the directory itself", _is_listing),
    ("code", "the repository", _is_code),
    (
        "the record of a fix",
        "the code and its commit message",
        lambda body: bool(_FIX.match(body.text)) and _is_note(body),
    ),
    (
        "what a commit did",
        "git",
        lambda body: bool(_COMMIT_DID.match(body.text)) and _is_note(body),
    ),
    (
        "the shape of the code",
        "the code itself",
        lambda body: bool(_SHAPE.match(body.text)) and _is_note(body),
    ),
    ("the state of the running task", "this session and its task list", _is_task),
)

_END = pattern(r"(?<=[.!?])\s+|\n+")
_OPENING = pattern(r"(?:please |also )*(?:remember|note|keep in mind)(?: that)? ")
_NEGATION = pattern(r"\b(?:not|never|no|don t|avoid|without|unless|except|stop|instead)\b")


def _repeats(text: str, claude_md: str) -> bool:
    """True if CLAUDE.md has every sentence, and none of them under a "not"."""
    known = dict.fromkeys(_sentences(claude_md))
    whole = "\n".join(f" {sentence} " for sentence in known)
    new = list(dict.fromkeys(_sentences(text)))
    return 0 < len(new) <= _MAX_SENTENCES and all(_is_said(part, known, whole) for part in new)


def _is_said(part: str, known: dict[str, None], whole: str) -> bool:
    if part in known:
        return True
    i = whole.find(f" {part} ") if part.count(" ") + 1 >= _QUOTED_WORDS else -1
    if i < 0:
        return False
    return not _NEGATION.search(whole, whole.rfind("\n", 0, i) + 1, i)


def _sentences(text: str) -> Iterator[str]:
    for sentence in _END.split(text):
        bare = " ".join(re.findall(r"\w+", sentence.lower()))
        bare = _OPENING.sub("", bare, count=1) if _OPENING.match(bare) else bare
        if " " in bare:
            yield bare

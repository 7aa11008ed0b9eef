"""Detects content that belongs elsewhere, not in a memory (M4).

Precision first: refusing something worth keeping costs more than a needless memory.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from memdir.text import pattern
from memdir.text.markdown import closes_fence, opened_fence

_AROUND_WORDS = 25  # words around code or a trace that do not explain it yet
_NOTE_WORDS = 80  # longer texts are more than a note on a fix or the current task
_LINE_WORDS = 15  # a list with longer lines explains its items
_QUOTED_WORDS = 5  # shortest sentence that counts as repeated inside a longer one
_MAX_SENTENCES = 200  # longer texts do not repeat CLAUDE.md and would be slow to compare

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


class _Shape(NamedTuple):
    """Content that shows in most of its lines what it is."""

    kind: str
    home: str  # where it belongs
    mark: re.Pattern[str]
    least: int  # lines with the mark
    line: re.Pattern[str]
    share: float  # of the lines
    bare: bool = False  # none of these lines gives a reason either


_FORGE, _TREES = "the forge that numbers them", "the directory itself"
_PULLS = "a list of pull requests or issues"
_SHAPES = (
    _Shape("a diff", "git", _HUNK, 1, _DIFF, 0.6),
    _Shape("a git log", "git", _COMMIT, 3, _LOGGED, 0.8),
    _Shape(_PULLS, _FORGE, _PULL, 3, _PULL, 0.8, bare=True),
    _Shape(_PULLS, _FORGE, _NUMBERS, 1, _NUMBERS, 1, bare=True),
    _Shape("a stack trace", "the log or the terminal it came from", _RAISED, 2, _TRACE, 0.6),
    _Shape("a file listing", _TREES, _TREE, 3, _TREE, 0.6),
    _Shape("a file listing", _TREES, _PATH, 5, _PATH, 0.9),
    _Shape("code", "the repository", _CODE, 4, _CODE, 0.6),
)
# Short notes, by how they begin.
_NOTES = (
    ("the record of a fix", "the code and its commit message", _FIX),
    ("what a commit did", "git", _COMMIT_DID),
    ("the shape of the code", "the code itself", _SHAPE),
    ("the state of the running task", "this session and its task list", _TASK),
)


def why_not_worth_saving(
    text: str, claude_md: str = "", is_in_repository: Callable[[str], bool] = lambda path: False
) -> str | None:
    """None if the text may be saved; else its kind, where it belongs, and a question."""
    lines = list(_cut(text))
    kind, home = _find_shape(lines) or _find_note(text, [line for line, _ in lines]) or ("", "")
    found = _LIES_IN.match(text.strip())
    path = found[1].rstrip(".") if found and not _LESSON.search(text) else ""
    if ("/" in path or "." in path) and is_in_repository(path):
        kind, home = "a place in the code", f"the repository, where {path} can be seen"
    if not kind and claude_md and _repeats(text, claude_md):
        kind, home = "something CLAUDE.md says", "CLAUDE.md, which is read in every session"
    if not kind:
        return None
    return (
        f"This looks like {kind} and already lives in {home}: "
        "what about it was surprising, or what was decided that cannot be read there?"
    )


def _cut(text: str) -> Iterator[tuple[str, bool]]:
    """Lines without blank ones and fences; True inside a fence, unless it is shell."""
    fence = language = ""
    for line in text.splitlines():
        opened = "" if fence else opened_fence(line)
        if opened:
            fence, language = opened, line.partition(opened)[2].strip().partition(" ")[0].lower()
        elif fence and closes_fence(line, fence):
            fence = ""
        elif line.strip():
            yield line.rstrip(), bool(fence) and language not in _NO_CODE


def _find_shape(lines: list[tuple[str, bool]]) -> tuple[str, str] | None:
    for shape in _SHAPES:
        fenced = shape.line is _CODE
        marked = sum(bool((code and fenced) or shape.mark.match(line)) for line, code in lines)
        rest = [
            line for line, code in lines if not (code and fenced) and not shape.line.match(line)
        ]
        enough = marked >= shape.least and len(lines) - len(rest) >= shape.share * len(lines)
        if enough and _words(rest) < _AROUND_WORDS:
            every = [line for line, _ in lines]
            long = _words(every) > _LINE_WORDS * len(every)
            if not long and not _teaches(every if shape.bare else rest):
                return shape.kind, shape.home
    return None


def _find_note(text: str, lines: list[str]) -> tuple[str, str] | None:
    if _words(lines) > _NOTE_WORDS or _teaches(lines):
        return None
    for kind, home, begins in _NOTES:
        if begins.match(text.lstrip()) and not (begins is _TASK and _LASTS.search(text)):
            return kind, home
    return None


def _words(lines: list[str]) -> int:
    return sum(len(line.split()) for line in lines)


def _teaches(lines: list[str]) -> bool:
    return any(_LESSON.search(line) for line in lines)


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

"""What the words around a span say: it is denied, past, planned, or of another repository."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from memdir.claims.claim import DENIED, OLD, OTHER, PAST, PLANNED, SERVER
from memdir.text import markdown

MAX_SENTENCE_CHARACTERS = 2_400  # a longer one is cut
MAX_HEAD_CHARACTERS = 200  # of a heading
BEFORE_CHARACTERS = 160  # before a span, where `removed` and `not` may refer to it
_END = re.compile(r"[.!?。！？](?=[\s\"')\]*_]|$)|\n\s{0,20}(?=[-*+] )")
_LINE = re.compile(r"\n")
# Up to the span: marks, and the names before it in a list.
_OPENED = r"(?:[\x01\s,/+&*_(\[\"']|and |or ){0,160}$"
_GONE = r"(?:removed|deleted|gone|dropped|retired|renamed|replaced|superseded|obsolete|dead)\b"
_ARTICLES = (
    r"(?: (?:a|an|the|in|at|under|from|via|to|with|as|any|its|our|your|this|that|by|on|of)){0,3}"
)
# `not in x`, `instead of x`, `the old x`; `removed a, b and x`; `~~x~~`.
_NOT = re.compile(
    r"\b(?:no|not|instead of|rather than|without|unlike|old|former|ex)" + _ARTICLES + _OPENED
    + r"|不是" + _OPENED + "|~~$",
    re.IGNORECASE,
)  # fmt: skip
_ENDED = re.compile(
    r"\b(?:removed|deleted|dropped|retired|replace[ds]|replacing|supersedes|removal of|formerly"
    r"|deletion of|no longer (?:has|have|uses?|contains?|ships?)|previously|used to be|away from"
    r"|(?:switched|migrated|ported|converted|moved|renamed) from|rid of|renamed)"
    r"(?: (?:a|an|the|any|its|our|your|this|that|old|dead|legacy|unused|obsolete|file|folder|script"
    r"|function|class|field|both|all|two|entire)){0,3}" + _OPENED,
    re.IGNORECASE,
)  # fmt: skip
_BEHIND = (
    r"(?:['’]s )?[\s*_)\]\"',;:(—–|-]{0,6}(?:(?:a|an|the|which|that|this|file|files|folder|dir|node"
    r"|directory|module|script|doc|method|function|class|itself|it|now|all|both|also) ){0,4}"
)
_ABSENT = re.compile(
    _BEHIND + r"(?:(?:does|do|did)(?: not|n't| never) exist\b|never existed\b|no longer\b"
    r"|(?:(?:is|are|was|were|has been|have been|got) )?"
    r"(?:(?:now|since|long|fully|all|also|already|entirely) )?" + _GONE +
    r"|(?:is|are) (?:a |an |the )?(?:stale|historical|old|former|obsolete)\b)",
    re.IGNORECASE,
)  # fmt: skip
_NONE_EXIST = re.compile(r"\b(?:neither|none of)\b[^.\n]{0,80}\bexists?\b", re.IGNORECASE)
# Removed, deleted, renamed or not there, in other languages: the order of words differs too much.
_FOREIGN = re.compile(
    "삭제|제거|폐기|없어졌|사라졌|이름이 바뀌|削除|廃止|なくな|删除|删掉|移除|废弃|不存在|已重命名"
    r"|\b(?:eliminad[oa]s?|borrad[oa]s?|renombrad[oa]s?|ya no existen?|supprimée?s?|renommée?s?"
    r"|n['’]existent? plus|entfernt|gelöscht|umbenannt|existiert nicht|gibt es nicht mehr"
    r"|rimoss[oai]|eliminat[oai]|rinominat[oai]|removid[oa]s?|não existem?|удал[её]н\w{0,2}"
    r"|переименован\w{0,2}|не существу\w{2,4}|törölt\w{0,6}|törlés\w{0,6}|törölve"
    r"|eltávolít\w{0,8}|usunięt\w{1,3}|kaldırıldı|silindi)\b",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"(?:['’]s )?[\s*_)\]\"',]{0,4}(?:used to\b|had been\b"
    r"|(?:was|were) (?:once|formerly|previously|originally|the|a|an|our|where|how)\b)",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"\b(?:TODO|planned|proposed|not yet|to be (?:added|created|built|written)"
    r"|will be (?:added|created|built|written)|would (?:be|live|need))\b|^\s{0,20}[-*+] \[ \]",
    re.IGNORECASE,
)
# `old.py` → `new.py`, and `old.py` — now `new.py`: to another name, not to a description.
_ARROW = re.compile(r"\s{0,3}[*_)\]]{0,3}\s{0,3}(?:→|➜|⇒|->|=>|-->)\s{0,3}[*_(\[]{0,3}\x01")
_NOW = re.compile(
    r"[\s,;:(*_—–-]{1,5}(?:(?:it['’]?s|it is|is|are) )?now "
    r"(?:(?:at|in|called|named|under|known|as|lives?|part|of|inside) ){0,3}[*_\"'(]{0,3}\x01"
)
_ROOT = re.compile(r"\b(?:root|top-level)(?:['’]s| level)? [*_\"']{0,3}$", re.IGNORECASE)
_HEAD_GONE = re.compile(
    r"\b(?:removed|deleted|retired|deprecated|superseded|obsolete)\b", re.IGNORECASE
)

# Names of another repository.
_KIND = r"(?:repo|repos|repository|repositories|codebase|checkout)\b"
_ANOTHER = re.compile(
    r"\b(?:separate|another|other|sibling|different|upstream|external|companion) (?:git )?"
    rf"{_KIND}|\b(?:separate|another|sibling|different|companion) project\b"
    r"|\b(?:outside|outside of|not in|not part of) (?:the|this) repo",
    re.IGNORECASE,
)
_SAID = re.compile(
    rf"\b(?:in|of|from) (?:the )?[`*\"']{{0,3}}([\w./-]{{2,80}}?)[`*\"']{{0,3}}(?:['’]s)? {_KIND}"
    r"|(?:://|git@)(?:github|gitlab|bitbucket|codeberg)\.(?:com|org)[/:]([\w.-]{1,60}/[\w.-]{1,80}+)"
    r"(?!\S{0,100}(?:/issues/|/pull/|/-/|\#))"
    r"|(?:~|\$HOME|/home/[\w.-]{1,60}|/Users/[\w.-]{1,60})/((?!\.)[\w./-]{1,160})",
    re.IGNORECASE,
)
_HEAD_SLUG = re.compile(r"#{1,6} [`*]{0,3}([a-z0-9][\w-]{0,60}/[\w.-]{1,80})[`*]{0,3}(?=[\s:(,]|$)")
_SERVER = re.compile(r"\bon (?:the|a|our|my) (?:\w{1,20} )?(?:server|VPS|droplet|NAS|VM)\b", re.I)
# Words before `repo` that name none.
_UNNAMED = """
a an any bare clean code current each entire every fresh git local main monorepo my new our own
parent private public remote root same shared target the this whole working your
"""
UNNAMED = frozenset(_UNNAMED.split())


def names_other_repo(text: str, own: frozenset[str]) -> bool:
    """True if the text names a repository that is not this one, whose names are `own`."""
    if _ANOTHER.search(text):
        return True
    for match in (*_SAID.finditer(text), *_HEAD_SLUG.finditer(text)):
        said = next(filter(None, match.groups())).rstrip("/.").removesuffix(".git")
        names = [compare_repo_name(part) for part in said.split("/")]
        ours = any(name in own for name in names)
        if match.re is _SAID and match[1]:  # a part of the name is enough: the ROM codebase
            ours = ours or names[-1] in UNNAMED or any(names[-1] in n.split("-") for n in own)
        is_file = match.re is _SAID and match[3] and "." in said.rpartition("/")[2]
        if not is_file and not ours:
            return True
    return False


def compare_repo_name(name: str) -> str:
    """`hf_adapters` is a checkout of `hf-adapters`."""
    return name.lower().replace("_", "-").replace(".", "-")


class Context:
    """Sentences of a block; each is analysed once for all of its spans."""

    def __init__(
        self, block: markdown.Block, bare: Iterable[tuple[int, int]], own: frozenset[str]
    ) -> None:
        """`bare` are spans in prose: their own words say nothing about them."""
        self.block, self.own = block, own
        self.text = hide_claim_spans(block.masked, bare)
        self.starts = list(_starts(self.text, block.kind))
        self._by_sentence: dict[int, str] = {}
        plain = block.kind == markdown.PROSE and markdown.list_item_start(block.text) < 0
        heads = [head[:MAX_HEAD_CHARACTERS] for head in block.heads]
        self.above = " ".join((*heads, "" if plain else block.lead))
        self.above_names_other = names_other_repo(self.above, own)

    def sentence(self, position: int) -> tuple[int, int]:
        after = bisect_right(self.starts, position)
        end = self.starts[after] if after < len(self.starts) else len(self.text)
        return self.starts[after - 1], end

    def aside(self, start: int, end: int) -> str:
        """Why the words around a span keep it from being a claim; empty if nothing does."""
        if _ARROW.match(self.text, end) or _NOW.match(self.text, end):
            return OLD
        low, high = self.sentence(start)
        before = self.text[max(low, start - BEFORE_CHARACTERS) : start]
        if _NOT.search(before) or _ENDED.search(before) or _ABSENT.match(self.text, end, high):
            return DENIED
        if _WAS.match(self.text, end, high):
            return PAST
        if low not in self._by_sentence:
            self._by_sentence[low] = self._read_sentence(low, high)
        return self._by_sentence[low]

    def is_rooted(self, start: int, end: int) -> bool:
        """`./x`, `/x` or `the root x`."""
        if self.block.text[start : end + 1].lstrip("`").startswith(("./", "/")):
            return True
        before = self.text[max(0, start - BEFORE_CHARACTERS) : start]
        return bool(_ROOT.search(before))

    def _read_sentence(self, low: int, high: int) -> str:
        sentence = self.text[low:high]
        whole = self.block.text[low:high]
        if names_other_repo(whole, self.own) or self.above_names_other:
            return OTHER
        if _NONE_EXIST.search(sentence) or _FOREIGN.search(sentence):
            return DENIED
        if _SERVER.search(sentence):
            return SERVER
        if _PLANNED.search(sentence) or _PLANNED.search(self.above):
            return PLANNED
        return PAST if _HEAD_GONE.search(self.above) else ""


def hide_claim_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Keeps the length of the text, so that positions stay valid."""
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts += [text[position:start], markdown.HIDDEN * (end - start)]
            position = end
    return "".join([*parts, text[position:]])


def _starts(text: str, kind: str) -> Iterator[int]:
    last = 0
    yield 0
    for end in (_LINE if kind in (markdown.ROW, markdown.FENCED) else _END).finditer(text):
        yield from range(last + MAX_SENTENCE_CHARACTERS, end.end(), MAX_SENTENCE_CHARACTERS)
        last = end.end()
        yield last
    yield from range(last + MAX_SENTENCE_CHARACTERS, len(text), MAX_SENTENCE_CHARACTERS)


# Versions in use: `uses postgres 14`, `Python 3.9` in a list of what a project stands on.

_VERSIONED = re.compile(
    r"(?<![\w./@-])([A-Za-z][\w.+#-]{0,40}?)(?: {1,2}v?|:v?|==|@)"
    r"(\d{1,4}(?:\.\d{1,5}){0,3})(?![\w%-])(?!\.\d)"
)
_IN_USE = re.compile(
    r"\b(?:us(?:e|es|ing)|run(?:s|ning)?|requir(?:e|es|ed|ing)|needs?|target(?:s|ing)?|pin(?:s|ned)?"
    r"|ships?|built|based|supports?|stack|image|on|with)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:from|(?:up|down)grad\w{1,4}|migrat\w{1,4}|mov(?:e|ed|ing)|bump\w{0,4}|was|were|until|if"
    r"|before|since|instead|unlike|than|vs|not|dropp?\w{0,3}|when|would|will|later)\b|→|->",
    re.IGNORECASE,
)


def find_version_claims(context: Context) -> Iterator[tuple[int, str, str, str]]:
    """Position, text, name and version of what a sentence says to be in use."""
    block = context.block
    for match in _VERSIONED.finditer(block.text):
        low, high = context.sentence(match.start())
        sentence = block.text[low:high]
        begins = not block.text[low : match.start()].strip("-*+|`_ 0123456789.")
        used = begins or _IN_USE.search(sentence)
        if used and not _CHANGE.search(sentence) and not context.aside(*match.span()):
            yield match.start(), match[0], match[1], match[2]

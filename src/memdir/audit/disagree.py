"""Memory against itself, its line, another memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memdir.format.pointer import WIKILINK, read_pointers
from memdir.hot import memory
from memdir.hot.memory import stem
from memdir.hot.words import Words, is_unspaced, split
from memdir.text.prose import Sentence, sentences
from memdir.text.similar import words

# What a sentence states in a form that another sentence can deny: few forms, but sure ones.
#
# Real memories are full of *not*, *instead* and *never* that deny nothing of each other: taken
# loosely, not one suspicion in fifty was right. So a condition, a report of the past or a question
# makes a sentence state nothing here.

# Forms: what to do, what is so, what is better, what something is set to, what it is called now.
DO, STATE, BETTER, VALUE, NAME = "do", "state", "better", "value", "name"
YES, NO = "yes", "no"
LONGEST = 400  # characters of a sentence; beyond them it says more than one thing
MOST_WORDS = 100_000  # kept between one memory and the next
MOST_OBJECTS = 8  # words that belong to a verb

_CONDITION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|until|once|without|except|only|just|while|where|might|may|"
    r"could|would|was|were|had|did|used to|previously|earlier|originally|formerly|old|e\.g|"
    r"example|either|whether|both)\b|\?|->|→"
)
_CLAUSE = re.compile(
    r"[,:()]|\b(?:but|because|so that|so|since|and|or|then|as|which|that|instead of|rather than|"
    r"over)\b"
)
_DENIAL = re.compile(
    r"(?i)^(?:please |you |we |and |also )?"
    r"(?:never|do not|don['’]t|must not|should not|mustn['’]t|shouldn['’]t|avoid)\s+(.{3,200})"
)
_REQUEST = re.compile(
    r"(?i)^(?:please |you |we |also )?(?:must |should |shall |always )?(\w{2,20} .{2,200})"
)
_STATEMENT_FLAG = re.compile(
    r"(?<![\w-])-[A-Za-z](?![\w-])"
)  # too short for a word, and all the difference
_DENYING = re.compile(r"(?i)\b(?:not|never|no)\b")
_THING = r"(?:the |an? )?(?:`([^`\n]{2,60})`|([\w.-]{2,30}))"
_LAST = r"(?:the |an? )?(?:`([^`\n]{2,60})`|([\w.-]{2,30}?)(?=[.,;:)!]|$))"
_BETTER = re.compile(
    rf"(?i)\b(?:use|prefer|choose|pick) {_THING}[^.;`]{{0,60}}?"
    rf",? (?:over|instead of|rather than|and not|not|never) {_LAST}"
)
# A name, not a word: there is a mark or a capital inside it.
_NAMED = r"`?((?=[\w./-]{0,38}[a-z0-9_./-][A-Z_./-]|--?[a-z]|[A-Z]{3})[\w./-]{3,40})`?"
_WRITTEN = re.compile(r"(?=.{0,30}\w)[\w./:@-]{2,60}")  # a name in backticks, not a command
_GIVEN_UP = re.compile(r"(?i)renam|replac|called")  # asked first: most sentences have none
_RENAMING = re.compile(r"(?i)\brenam(?:e|es|ed|ing)\b")
_ARROW = re.compile(rf"{_NAMED} ?(?:→|->) ?{_NAMED}")
_RENAMES = (
    re.compile(rf"(?i:\brenam(?:e|es|ed|ing)\b)[^.;→]{{0,60}}?{_NAMED} (?:to|into) {_NAMED}"),
    re.compile(rf"{_NAMED} (?:was|is|has been|got|is now) (?:renamed(?: to)?|called) {_NAMED}"),
    re.compile(rf"\b[Rr]eplaced? {_NAMED} (?:by|with) {_NAMED}"),
)
_VALUES = (
    re.compile(
        r"(?i)\b(port|timeout|limit|quota|retries|workers|threshold)"
        r"(?: is| of|:| =|=)? `?(\d[\d_,.]{0,12}\w{0,3})"
    ),
    re.compile(r"\b([A-Z][A-Za-z]{1,20}) (?:version )?v?(\d{1,3}(?:\.\d{1,4}){1,2})\b"),
    re.compile(r"`([A-Za-z_][\w.-]{2,40}) ?= ?([\w./:-]{1,40})`"),
    re.compile(
        r"(?i)\b((?:default|main|base|integration|release|target) branch)"
        r"(?: is|:| =) `?([\w./-]{2,40})"
    ),
)
# Two words for the two ends of one thing.
_STATEMENT_ENDS = (
    *(("enabled", "disabled"), ("required", "optional"), ("allowed", "forbidden")),
    *(("public", "private"), ("supported", "unsupported"), ("mutable", "immutable")),
    *(("tracked", "untracked"), ("safe", "unsafe"), ("on", "off"), ("true", "false")),
    *(("synchronous", "asynchronous"), ("deprecated", "current")),
)
_SIDES = {
    word: (ends[0], side)
    for ends in _STATEMENT_ENDS
    for word, side in zip(ends, (YES, NO), strict=True)
}
_IS = re.compile(
    r"(?i)\b(?:is|are|stays?|remains?|must be|should be)\b"
    r"(?: always| still| now)?( not\b|n['’]t\b)?"
)
_OTHER = {YES: NO, NO: YES}


@dataclass(frozen=True)
class Statement:
    """A form, what it is about (`key` exactly, `words` roughly), and what is said of it."""

    form: str
    key: str
    value: str
    words: frozenset[str]
    sentence: Sentence
    path: str = ""


@lru_cache(maxsize=1)
def _kept_words() -> Words:
    return Words()


def known_words() -> Words:
    """The words met so far: who looks at memory after memory meets the same ones again."""
    words = _kept_words()
    if len(words) > MOST_WORDS:
        _kept_words.cache_clear()
    return words


class Reader:
    """Reads sentences; words that were met before are looked up."""

    def __init__(self) -> None:
        self._words = known_words()

    def read(self, sentence: Sentence, path: str = "") -> list[Statement]:
        """What a sentence states; mostly nothing."""
        text = sentence.text
        if sentence.code or len(text) > LONGEST:
            return []
        found = [(NAME, old, new, self._terms(text)) for old, new in _renames(text)]
        if not _CONDITION.search(text):
            found += [
                (VALUE, key, value, self._beside(text, key, value)) for key, value in _values(text)
            ]
            found += self._better(text)
            found += self._doing(text)
            found += self._being(text)
        return [Statement(*one, sentence, path) for one in found]

    def _better(self, text: str) -> list[_Found]:
        """`Use uv over pip`: the two in the order of the alphabet are the key, uv the value."""
        found: list[_Found] = []
        for match in _BETTER.finditer(text):
            good, bad = match[1] or match[2], match[3] or match[4]
            if good.lower() == bad.lower():
                continue
            found.append((BETTER, " / ".join(sorted((good, bad))), good, self._terms(text)))
            found.append((DO, self._words["use"], NO, self._terms(bad)))
            if match[3] and _WRITTEN.fullmatch(bad):
                found.append((NAME, bad, good, self._terms(text)))
        return found

    def _doing(self, text: str) -> list[_Found]:
        """`Never push to main`: the verb is the key, the rest of the clause its objects."""
        found: list[_Found] = []
        for at, part in enumerate(_CLAUSE.split(text)):
            clause = part.strip(" *_.")
            denied = _DENIAL.match(clause)
            asked = None if denied or at else _REQUEST.match(clause)
            rest = denied or asked
            said = _DENYING.split(rest[1])[0] if rest else ""
            words = split(said)
            if len(words) < 2 or (asked and words[0].lower().endswith(("s", "ing", "ed", "ly"))):
                continue
            verb = "use" if words[0].lower() == "using" else words[0].lower()
            objects = self._terms(" ".join(words[1:])).union(_STATEMENT_FLAG.findall(said))
            if self._words[verb] and 0 < len(objects) <= MOST_OBJECTS:
                found.append((DO, self._words[verb], NO if denied else YES, objects))
        return found

    def _being(self, text: str) -> list[_Found]:
        """`The cache is (not) enabled`."""
        found: list[_Found] = []
        for clause in _CLAUSE.split(text):
            verb = _IS.search(clause)
            words = split(clause[verb.end() :]) if verb else []
            if verb is None or not words or words[0].lower() not in _SIDES:
                continue
            end, side = _SIDES[words[0].lower()]
            subject = self._terms(clause[: verb.start()])
            found.append((STATE, end, _OTHER[side] if verb[1] else side, subject))
        return found

    def _beside(self, text: str, key: str, value: str) -> frozenset[str]:
        return self._terms(text) - self._terms(f"{key} {value}")

    def _terms(self, text: str) -> frozenset[str]:
        return frozenset(self._words.count(text)[0])


_Found = tuple[str, str, str, frozenset[str]]  # form, key, value, words


def _renames(text: str) -> list[tuple[str, str]]:
    if not _GIVEN_UP.search(text):
        return []
    forms = (*_RENAMES, _ARROW) if _RENAMING.search(text) else _RENAMES
    pairs = [(match[1], match[2]) for form in forms for match in form.finditer(text)]
    return [(old, new) for old, new in pairs if old != new]


def _values(text: str) -> list[tuple[str, str]]:
    """Keys with the one value that the sentence gives them; a list of values states none."""
    found: dict[str, set[str]] = {}
    for form in _VALUES:
        for match in form.finditer(text):
            found.setdefault(match[1].lower(), set()).add(match[2].rstrip(".,:"))
    return [(key, values.pop()) for key, values in found.items() if len(values) == 1]


# Suspected contradictions: two memories speak of the same thing and do not agree.
#
# For others: `find_contradictions(texts)` looks at every memory of a store (path -> text of the
# whole file), `inner_contradictions(text)` at one memory alone. At most one suspicion for two
# memories. A suspicion is shown with both sentences and its reason, and never acted upon.
#
# Two kinds make up nearly all that real stores show: `SUPERSEDED` (one says so of the other) and
# `RENAMED` (one uses a name that the other says was given up). `OPPOSITE` is rare and needs plain
# sentences. What only understanding would find is not found: a clean list proves nothing.

FEWEST_SHARED = 3  # words that two sentences about one thing have in common
SHARE = 0.5  # of all words of the two
MOST_ALIKE = 2_000  # statements with one key; more of them are no key
MOST_NAMES = 500  # that were given up; each is looked for in every memory
_SUPERSEDES = re.compile(r"(?i)\b(?:supersedes|overrides|replaces|obsoletes|contradicts)\b")
_GONE = re.compile(
    r"(?i)supersed|replaced by|renam|obsolet|outdated|historical|deprecated|legacy|\bformer|"
    r"no longer (?:appl|true|current|valid|used)"
)
_LINK = re.compile(r"\[\[([^\]|#\n]{1,120})|`([\w./-]{1,120})\.md`|\(([\w./-]{1,120})\.md\)")


SUPERSEDED, RENAMED, OPPOSITE = "superseded", "renamed", "opposite"  # kinds


@dataclass(frozen=True)
class Contradiction:
    """Two sentences that may not both be right, and why we think so; lines count from 1."""

    first: str  # path
    first_line: int
    first_says: str
    second: str
    second_line: int
    second_says: str
    reason: str
    kind: str = OPPOSITE


def find_contradictions(texts: Mapping[str, str]) -> list[Contradiction]:
    """The suspected contradictions of a store, by path."""
    read = {path: _Read(path, text) for path, text in sorted(texts.items())}
    by_key = _grouped(read.values())
    found = [*_superseded(read), *_renamed(read, by_key)]
    for (form, _), group in by_key.items():
        if form in _RULES and len(group) <= MOST_ALIKE:
            found += [_suspect(a, b) for a, b in _pairs(group, read) if _RULES[form](a, b)]
    first = {frozenset((one.first, one.second)): one for one in found[::-1]}
    return sorted(first.values(), key=lambda one: (one.first, one.first_line, one.second))


def inner_contradictions(text: str) -> list[Contradiction]:
    """Where one memory says the opposite of itself; the paths are empty."""
    groups = _grouped([_Read("", text)])
    found = [
        _suspect(one, other)
        for (form, _), group in groups.items()
        if form in _RULES and len(group) <= MOST_ALIKE
        for at, one in enumerate(group)
        for other in group[at + 1 :]
        if one.value != other.value and one.sentence != other.sentence
        if _RULES[form](one, other)
    ]
    return sorted(found, key=lambda one: (one.first_line, one.second_line))


class _Read:
    """A memory taken apart once."""

    __slots__ = ("handles", "links", "path", "said", "text")

    def __init__(self, path: str, text: str) -> None:
        document = memory.read(text)
        self.path = path
        self.text = text
        first_line = text.count("\n", 0, len(text) - len(document.body)) + 1
        about = sentences(document.values.get("description", ""))
        # The header's own line comes before its fields.
        line = document.starts.get("description", 0) + 2
        self.said = [Sentence(line, one.text) for one in about]
        self.said += sentences(document.body, first_line)
        self.handles = {_flat(stem(path)), _flat(document.values.get("name", ""))} - {""}
        self.links = frozenset(_links(text))

    def knows(self, other: _Read) -> bool:
        """Does this memory name the other one? Then its author saw both."""
        return bool(self.links & other.handles)


def _grouped(read: Iterable[_Read]) -> dict[tuple[str, str], list[Statement]]:
    """What all of them state, by form and key."""
    groups: dict[tuple[str, str], list[Statement]] = {}
    reader = Reader()
    for one in read:
        for sentence in one.said:
            for made in reader.read(sentence, one.path):
                groups.setdefault((made.form, made.key), []).append(made)
    return groups


def _pairs(
    group: list[Statement], read: Mapping[str, _Read]
) -> Iterator[tuple[Statement, Statement]]:
    """Two that say different things in two memories, of which neither names the other."""
    for at, one in enumerate(group):
        for other in group[at + 1 :]:
            if one.value == other.value or one.path == other.path:
                continue
            mine, theirs = read[one.path], read[other.path]
            if not mine.knows(theirs) and not theirs.knows(mine):
                yield one, other


def _same_doing(one: Statement, other: Statement) -> bool:
    """All that is forbidden stands in what is asked for; one word alone must be most of it."""
    denied, asked = (one, other) if one.value == NO else (other, one)
    few = len(denied.words) > 1 or len(asked.words) <= FEWEST_SHARED
    return few and bool(denied.words) and denied.words <= asked.words


def _same_thing(one: Statement, other: Statement) -> bool:
    if " " in one.key:  # `default branch`: there is one
        return True
    shared = len(one.words & other.words)
    return shared >= FEWEST_SHARED and shared >= SHARE * len(one.words | other.words)


def _same_subject(one: Statement, other: Statement) -> bool:
    return bool(one.words) and one.words == other.words


def _always(_one: Statement, _other: Statement) -> bool:
    return True


_RULES = {DO: _same_doing, STATE: _same_subject, BETTER: _always, VALUE: _same_thing}
_REASONS = {
    DO: "one asks for what the other forbids",
    STATE: "they say the opposite of one thing",
    BETTER: "they prefer it the other way round",
    VALUE: "they give different values for one thing",
}


def _suspect(one: Statement, other: Statement) -> Contradiction:
    values = f": {one.value} / {other.value}" if one.form in (BETTER, VALUE) else ""
    reason = _REASONS[one.form] + values
    return _contradiction(OPPOSITE, one.path, one.sentence, other.path, other.sentence, reason)


def _superseded(read: Mapping[str, _Read]) -> Iterator[Contradiction]:
    """`supersedes [[old]]`, while the old one does not say so."""
    by_handle = {handle: one for one in read.values() for handle in one.handles}
    for one in read.values():
        for sentence in one.said:
            verb = None if sentence.code else _SUPERSEDES.search(sentence.text)
            for link in _links(sentence.text[verb.end() :]) if verb else ():
                old = by_handle.get(link, one)
                if old is one or old.knows(one) or not old.said or _GONE.search(old.text):
                    continue
                reason = "one says that it supersedes the other, which does not say so"
                yield _contradiction(SUPERSEDED, one.path, sentence, old.path, old.said[0], reason)


def _renamed(
    read: Mapping[str, _Read], by_key: Mapping[tuple[str, str], list[Statement]]
) -> Iterator[Contradiction]:
    """A name that was given up is still used in a memory that does not know the new one."""
    names = [(old, group) for (form, old), group in by_key.items() if form == NAME]
    for old, group in names[:MOST_NAMES]:
        known = group[0]
        alone = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w/-])")
        for one in read.values():
            if old not in one.text or any(said.value in one.text for said in group):
                continue
            uses = [
                sentence
                for sentence in one.said
                if alone.search(sentence.text) and not _GONE.search(sentence.text)
            ]
            if old[0] == "-" and len(old) == len("-d"):  # other commands have the same letter
                uses = [sentence for sentence in uses if _shares_words(known, sentence)]
            if uses and not any(said.path == one.path for said in group):
                reason = f"one says that {known.value} takes the place of {old}"
                yield _contradiction(RENAMED, known.path, known.sentence, one.path, uses[0], reason)


def _shares_words(known: Statement, sentence: Sentence) -> bool:
    return len(known.words & frozenset(words(sentence.text))) > 1


def _contradiction(
    kind: str, first: str, says: Sentence, second: str, other: Sentence, reason: str
) -> Contradiction:
    return Contradiction(first, says.line, says.text, second, other.line, other.text, reason, kind)


def _links(text: str) -> Iterator[str]:
    for match in _LINK.finditer(text):
        yield _flat(stem((match[1] or match[2] or match[3]).strip()))


def _flat(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


# Does a memory agree with its own description and index line, and with itself?
#
# For others: `disagreements(text, pointer_line)` takes the text of a whole file and the line of
# the index that points at it (empty where there is none). Only what words can show is found: a
# description that is missing, empty of words or about something else, a state or a value that one
# place gives and the other does not. What only understanding would find is not. A name that no
# word of the body repeats is no disagreement: on real memories all such names were right.

# Kinds of disagreement.
MISSING, VAGUE, UNRELATED = "description-missing", "description-vague", "description-unrelated"
DIFFERS, POINTER, ITSELF = "description-differs", "pointer-differs", "contradicts-itself"
FEWEST_WORDS = 2  # beside empty ones; one alone is a label
FEWEST_SAID = 3  # words of a line, to say that it is about something else
FEWEST_BODY = 8  # words of a body that must speak of what its description says
START = 5  # letters
EMPTY = frozenset(
    (
        *("note", "misc", "miscellan", "info", "inform", "stuff", "thing", "variou", "gener"),
        *("memori", "detail", "summari", "descript", "todo", "tbd", "document", "file", "data"),
        *("updat", "project", "feedback", "refer", "user", "remind", "topic"),
    )
)
# What became of a thing; who reads only the index acts on it.
_OVER = re.compile(
    r"(?i)\b(?:superseded|obsolete|deprecated|retired|reverted|abandoned|outdated)\b"
)
_OVER_SAID = re.compile(
    r"(?i)supersed|obsolet|deprecat|retire|revers|abandon|outdated|replaced by|no longer|historical"
)
_BUILT = re.compile(
    r"(?i)\b(?:since built|now built|since (?:shipped|landed|done|fixed)|now shipped)\b"
)
_UNBUILT = re.compile(
    r"(?i)\b(?:not (?:yet )?(?:built|implemented|started|shipped|done|merged)|deferred|unbuilt)\b"
)
_FLAG = re.compile(r"(?<![\w-])(-[A-Za-z])(?![\w-])")


@dataclass(frozen=True)
class Disagreement:
    """What does not fit, in one sentence; `line` of the file, from 1, 0 where none is meant."""

    kind: str
    message: str
    line: int = 0
    said: str = ""  # what the description or the pointer says
    against: str = ""  # what the body says


def disagreements(text: str, pointer_line: str = "") -> list[Disagreement]:
    """Where a memory and what is said about it part; empty where all is well."""
    document = memory.read(text)
    description = document.values.get("description", "").strip()
    line = document.starts.get("description", -2) + 2
    found = _about_description(description, document.body, line)
    found += _about_pointer(pointer_line, text)
    found += [
        Disagreement(ITSELF, one.reason, one.first_line, one.first_says, one.second_says)
        for one in inner_contradictions(text)
    ]
    return found


def _about_description(description: str, body: str, line: int) -> list[Disagreement]:
    if not description:
        return [Disagreement(MISSING, "has no description: recall knows it by its name only")]
    if _says_nothing(description):
        return [Disagreement(VAGUE, "the description says next to nothing", line, description)]
    if _elsewhere(description, body):
        message = "no word of the description occurs in the body"
        return [Disagreement(UNRELATED, message, line, description)]
    flags = _other_flags(description, body)
    if flags:
        message = f"the description has {flags[0]}, the body {flags[1]}"
        return [Disagreement(DIFFERS, message, line, description, flags[1])]
    return []


def _about_pointer(pointer_line: str, text: str) -> list[Disagreement]:
    hook = _hook(pointer_line)
    over = _OVER.search(hook)
    if over and not _OVER_SAID.search(text):
        message = f"the index says {over[0].lower()}, the memory does not"
        return [Disagreement(POINTER, message, 0, hook)]
    built, unbuilt = _BUILT.search(hook), _UNBUILT.search(text)
    if built and unbuilt:
        message = f"the index says {built[0].lower()}, the memory {unbuilt[0].lower()}"
        line = text.count("\n", 0, unbuilt.start()) + 1
        return [Disagreement(POINTER, message, line, hook, unbuilt[0])]
    if _elsewhere(hook, text):
        return [Disagreement(POINTER, "no word of its index line occurs in it", 0, hook)]
    return []


def _hook(pointer_line: str) -> str:
    """What the index says of the one memory that a line points at; it may link to others."""
    pointers = read_pointers(pointer_line, 1) if pointer_line else []
    if not pointers or any(one.form != WIKILINK for one in pointers[1:]):
        return ""
    return pointer_line[pointers[0].end :].strip(" —–-:|*.") or pointers[0].hook


def _other_flags(description: str, body: str) -> tuple[str, str] | None:
    """`-S` in the description where the body has only `-s`: two options of one command."""
    mine, theirs = (set(_FLAG.findall(text)) for text in (description, body))
    for flag in sorted(mine - theirs):
        other = flag.swapcase()
        if other in theirs and other not in mine:
            return flag, other
    return None


def _elsewhere(line: str, text: str) -> bool:
    """True where a line and a text of some words have none in common."""
    some, others = _telling(line), frozenset(known_words().count(text)[0])
    spoken = sum(word.isalpha() for word in others)  # a hash or a version speaks of nothing
    enough = len(some) >= FEWEST_SAID and spoken >= FEWEST_BODY
    return enough and not _touch(some, others) and _same_script(line, text)


def _says_nothing(description: str) -> bool:
    """A label alone, or empty words alone; `How to deploy` says as much as `Deploy steps`."""
    words, telling = known_words(), _telling(description)
    if len(telling) >= FEWEST_WORDS:
        return False
    return not telling or sum(words[one] not in EMPTY for one in split(description)) < FEWEST_WORDS


def _telling(line: str) -> frozenset[str]:
    return frozenset(known_words().count(line)[0]) - EMPTY


def _touch(some: frozenset[str], others: frozenset[str]) -> bool:
    """Do they share a word, or the start of one? Stems are sure in few languages."""
    starts = {word[:START] for word in others}
    return any(word in others or (len(word) >= START and word[:START] in starts) for word in some)


def _same_script(one: str, other: str) -> bool:
    """A description in English of a body in Chinese shares no word with it."""
    return _unspaced(one) == _unspaced(other)


def _unspaced(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(map(is_unspaced, letters)) * 2 > len(letters)


# Does a text say the opposite of what was said? Clause by clause, by the words for not.

MOST_CLAUSES = 1_500  # of what was said, the newest
MOST_OF_TEXT = 400  # clauses of the text itself
LEAST = 2  # words that two clauses share, and …
NEGATION_SHARE = 0.75  # … how many of the text's they are: fewer is about something else
_ENDS = re.compile(
    r"[,;:.!?()\n。、！？]|\s[-–—]\s|\s(?:and|but|or|und|aber|oder|et|mais|y|pero)\s"
    r"|\s(?=instead of\b|rather than\b)"
)
# `without` is none: what is done without a test is done.
_WORDS = """
no not never none nothing nobody neither nor cannot cant dont doesnt didnt wont isnt arent wasnt
werent shouldnt mustnt wouldnt couldnt havent hasnt aint avoid avoids stop stops refrain forbid
forbids forbidden ban bans banned prohibit prohibits prohibited disallow disallowed instead
rather wrong dislike dislikes hate hates reject rejects rejected quit
nicht nie niemals kein keine keinen keinem keiner keines nichts verboten vermeide vermeiden
ne pas jamais aucun aucune rien nunca jamás nada ningún ninguna tampoco não nem nenhum mai non
niet nooit geen niets не нет никогда нельзя ни
"""
_NOT = frozenset(_WORDS.split())
# What they stand for is said elsewhere: "not a mocked one" is about mocks alone.
_PRONOUNS = frozenset(
    ["one", "ones", "it", "its", "them", "this", "that", "these", "those", "thing", "things"]
)


@dataclass(frozen=True)
class Clause:
    """A part of a sentence: what it is about, and whether it says not."""

    text: str
    about: frozenset[str]
    negated: bool


def clauses(text: str, words: Words) -> Iterator[Clause]:
    """The clauses that are about something."""
    for part in _ENDS.split(text):
        said = split(part)
        rest = [word for word in said if word.lower() not in _NOT]
        named = [word for word in rest if word.lower() not in _PRONOUNS]
        about = frozenset(words.tally(named)[0])
        if len(about) >= LEAST:
            yield Clause(part, about, len(rest) < len(said))


def turned(text: str, said: Sequence[str], words: Words) -> list[Clause]:
    """Clauses of the text that only say the opposite of something that was said."""
    known: list[Clause] = []
    for one in said:
        known += clauses(one, words)
        if len(known) >= MOST_CLAUSES:
            break
    found: list[Clause] = []
    for clause in list(clauses(text, words))[:MOST_OF_TEXT]:
        least = max(LEAST, NEGATION_SHARE * len(clause.about))
        alike = [one.negated for one in known if len(one.about & clause.about) >= least]
        if alike and clause.negated not in alike:
            found.append(clause)
    return found

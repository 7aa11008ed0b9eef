"""Where something that a past session taught belongs: a memory, a page for people, or nowhere.

Values first: files move and interfaces change, but what somebody holds to be better stays. What
CLAUDE.md or a page for people should say is only proposed, and only in a person's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.core import drafting, exclusions, similarity
from memdir.core.capturing import REMEMBER, Catch
from memdir.core.draft import Draft, Wishes
from memdir.core.drafting import Rules
from memdir.core.errors import MemdirError
from memdir.core.naming import name_for
from memdir.core.origin import untrusted
from memdir.core.taking_back import terms
from memdir.core.transcript import PERSON

VALUE, MEMORY, CLAUDE_MD, KNOWLEDGE, SKIP = "value", "memory", "claude_md", "knowledge", "skip"
ORDER = (VALUE, MEMORY, CLAUDE_MD, KNOWLEDGE, SKIP)  # as they are shown and saved
STORED, PROPOSED = (VALUE, MEMORY), (CLAUDE_MD, KNOWLEDGE)
NOT_ASKED = "said in a past session, but nobody asked to remember it"
LONGEST_LINE = 300  # characters of what CLAUDE.md may be asked to say: every session reads it
LONG = 1_500  # characters; more is a page for people
MOST = 4_000  # characters of a draft that the forms are looked for in
FEWEST = 3  # words that can be found elsewhere by no accident
MOST_WORDS = 80  # of a line that may say the same as one sentence
HALF = 0.5  # share of a draft's words that make it the one learned from the same message

_TYPES_OF_VALUES = ("value", "preference")
_TYPES_OF_PAGES = ("decision", "session_summary")
_CHOICE = re.compile(
    r"\b(?:prefers?|favou?rs?|values?|chooses?|picks?|rather have)\b[^.;\n]{1,80}"
    r"\b(?:over|rather than|instead of|more than)\b"
    r"|\b(?:is|are|was) (?:always |usually |generally )?(?:better|worth more|nicer|safer) than\b"
    r"|\b(?:matters?|counts?) more than\b|\b(?:beats?|trumps?) \w"
    r"|\b(?:lieber|besser) [^.;\n]{1,60}\bals\b|\bprefier\w{1,3} [^.;\n]{1,60} (?:a|que)\b"
    r"|\bpréfér\w{1,4} [^.;\n]{1,60} (?:à|que)\b|\bplutôt que\b|比[^。\n]{1,30}(?:好|重要)",
    re.I,
)
# "Readable over clever": a few plain words on both sides; `over HTTP`, `over 200 lines` are none.
_OVER = re.compile(
    r"^\W{0,6}(?!(?:send|run|go|goes|hand|take|talk|connect|loop|iterate|access|serve|stream|start"
    r"|do|all|work|get|move|switch|read|write|call|pass|it|this|that|the)\b)"
    r"(?:[\w'-]{2,20} ){1,4}over (?!the\b|an?\b|time\b|night\b|there\b|here\b)[a-z][a-z'-]{2,30}\b",
    re.I,
)
_ALWAYS = (
    r"always|never|must|from now on|do not ever|don['’]t ever|immer|niemals|nie|ab jetzt"
    r"|siempre|nunca|toujours|jamais|désormais"
)
_EVERYWHERE = re.compile(
    r"\b(?:in|for|at|on|before|after|with) (?:every|each|all) (?:single )?(?:sessions?"
    r"|conversations?|answers?|repl(?:y|ies)|tasks?|commits?|push(?:es)?|pull requests?|prs?"
    r"|changes?)\b|\b(?:every|each) (?:time|session|conversation)\b|\bwhatever you do\b"
    r"|\bno matter what\b|\bunder no circumstances\b|\bwithout exception\b|\bat all times\b"
    r"|\bin jede[rm] (?:sitzung|antwort)\b|\bunter keinen umständen\b|\bbajo ninguna\b"
    r"|\bdans chaque\b|必ず|絶対|永远|从不|每次",
    re.I,
)
_GRAVE = re.compile(
    rf"\b(?:{_ALWAYS})\b[^.;\n]{{0,80}}\b(?:(?:force-?)?push\w{{0,3}}|deploy\w{{0,5}}|publish\w{{0,3}}"
    r"|releas\w{1,3}|prod(?:uction)?|delet\w{1,3}|drop|wipe|secrets?|credentials?|commit\w{0,4}"
    r"|merg\w{1,3}|rebas\w{1,3})\b",
    re.I,
)
_FOR_CLAUDE_MD = re.compile(
    r"\b(?:add|put|write|note|belongs?|document|record)\b[^.\n]{0,60}"
    r"\b(?:claude\.md|agents\.md|project instructions)",
    re.I,
)
_FOR_PAGE = re.compile(
    r"\b(?:add|put|write|note|document|record)\b[^.\n]{0,60}"
    r"(?:\bdecision log\b|\badrs?\b|\bdocs?/|\bin the (?:docs|documentation|wiki)\b)",
    re.I,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|instead of|rather than|over|weil|damit|porque|parce que)\b"
    r"|因为|ので|ため",
    re.I,
)
_PASSING = re.compile(
    r"\b(?:for now|right now|at the moment|for the moment|for the time being|for today|tonight"
    r"|just (?:this )?once|only this once|this (?:one )?time only|temporarily|in the meantime"
    r"|(?:for|in) this (?:session|pr|mr|commit|branch|task|run|test run|chat|conversation)"
    r"|vorerst|fürs erste|diesmal|por ahora|esta vez|pour l'instant|cette fois)\b"
    r"|暂时|这次|とりあえず|今回",
    re.I,
)
# Until when it holds is worth knowing.
_LASTS = re.compile(r"\d{4}-\d\d|\buntil\b|\bdeadline\b|\bdue\b|\bfreeze\b|\bfrozen\b", re.I)
_DENIES = frozenset(
    ("not", "never", "no", "don", "dont", "avoid", "without", "stop", "unless", "except", "instead")
)


@dataclass(frozen=True)
class Text:
    """Something that is said already: `where` it stands, and what it was learned from."""

    where: str
    text: str
    session: str = ""
    message: str = ""


class Known:
    """Everything that is said already, cut into words once."""

    def __init__(self, texts: Sequence[Text] = ()) -> None:
        self._texts: list[tuple[Text, frozenset[str]]] = []
        self._lines: list[tuple[str, frozenset[str]]] = []  # where a line stands, and its words
        self._having: dict[str, list[int]] = {}  # the lines that have a word
        self.add(*texts)

    def add(self, *texts: Text) -> None:
        """From now on these are said, too."""
        for one in texts:
            self._texts.append((one, similarity.words(one.text)))
            for line in one.text.splitlines():
                words = similarity.words(line)
                if similarity.FEWEST_WORDS <= len(words) <= MOST_WORDS:
                    for word in words:
                        self._having.setdefault(word, []).append(len(self._lines))
                    self._lines.append((one.where, words))

    def where(self, catch: Catch) -> str:
        """Where it stands already, else the empty string; its opposite is something new."""
        draft = catch.draft
        if draft is None:
            return ""
        mine = similarity.words(draft.body)
        for one, words in self._texts:
            if len(mine) >= FEWEST and mine <= words and exclusions.why_not(draft.body, one.text):
                return one.where
            if _same_source(one, catch) and len(mine & words) >= HALF * len(mine):
                return one.where
            if mine and mine == words:
                return one.where
        first = drafting.first_sentence(draft.body)
        return self._twin(first) or self._twin(draft.description)

    def _twin(self, text: str) -> str:
        """Where a line stands that says nearly the same.

        Two lines with so many words in common share one of any few: the rarest tell soonest.
        """
        mine = similarity.words(text)
        if len(mine) < similarity.FEWEST_WORDS:
            return ""
        few = len(mine) - int(len(mine) * similarity.SAME) + 1
        rarest = sorted(mine, key=lambda word: len(self._having.get(word, ())))[:few]
        for at in sorted({at for word in rarest for at in self._having.get(word, ())}):
            where, words = self._lines[at]
            same = len(mine & words) >= similarity.SAME * len(mine | words)
            if same and not _DENIES & (words ^ mine):
                return where
        return ""


@dataclass(frozen=True)
class Routed:
    """Where a catch goes and why; its `hold` is empty where it may be saved at once."""

    to: str
    catch: Catch
    reason: str


def route(catch: Catch, known: Known, rules: Rules, kind: str = "") -> Routed:
    """The destination; `kind` is what a person asked for there."""
    draft = catch.draft
    asked = kind == REMEMBER and not catch.hold
    if draft is None:
        what = f"a past session wanted {catch.forget[:80]!r} forgotten"
        return Routed(SKIP, catch, f"{what}; memdir forget puts it away where it still stands")
    reason = _refusal(draft, rules) or _elsewhere(known.where(catch))
    reason = reason or ("" if asked else _passing(draft))
    if reason:
        return Routed(SKIP, catch, reason)
    to, reason = _destination(draft, catch, "" if kind == REMEMBER and catch.hold else kind)
    if to == VALUE and draft.type not in _TYPES_OF_VALUES:
        catch = replace(catch, draft=replace(draft, type="value"))
    if to in STORED:
        # An answer to "who says so?" comes first: nobody asks a tool to remember.
        hold = untrusted(catch.origin) or catch.hold or ("" if asked else NOT_ASKED)
        catch = replace(catch, hold=hold)
    return Routed(to, catch, reason)


def rank(routed: Routed) -> tuple[int, bool]:
    """Values first, then memories, then what is proposed; what may be saved before what waits."""
    return ORDER.index(routed.to), bool(routed.catch.hold)


def nearly_same(one: Draft, other: Draft) -> bool:
    """May the two be one memory? All words that tell something but one are the same, or a name."""
    titles = [drafting.first_sentence(draft.description or draft.body) for draft in (one, other)]
    small, large = sorted(map(terms, titles), key=len)
    if FEWEST - 1 <= len(small) >= len(large) - 1 and small <= large:
        return True
    return name_for(titles[0], "") == name_for(titles[1], "") != ""


def standing_line(draft: Draft) -> str:
    """What CLAUDE.md is asked to say: one line, without the words that asked for it."""
    text = " ".join(draft.body.split())
    text = re.sub(
        r"(?i)^(?:please )?(?:add|put|write|note)(?: this| it)? (?:down )?(?:to|in|into) "
        r"(?:the |our )?(?:claude\.md|agents\.md|project instructions)(?: that\b|[:,])?\s*",
        "",
        text,
    )
    return text[:1].upper() + text[1:]


def _destination(draft: Draft, catch: Catch, kind: str) -> tuple[str, str]:
    asked = kind == REMEMBER
    text = f"{draft.body}\n{draft.why}"[:MOST]
    said = f"{catch.origin.quote}\n{text}"
    person = catch.origin.who == PERSON
    if person and _FOR_CLAUDE_MD.search(said) and _is_short(draft):
        return CLAUDE_MD, "a person wanted it in CLAUDE.md"
    if person and _FOR_PAGE.search(said):
        return KNOWLEDGE, "a person wanted it written down for others"
    if draft.type == "value" or _is_choice(draft):
        return VALUE, "what somebody holds to be better stays, whatever becomes of the code"
    if person and not asked and _is_short(draft) and _is_standing(draft.body):
        return CLAUDE_MD, "it is meant for every conversation, and much hangs on it"
    if draft.type in _TYPES_OF_VALUES:
        return VALUE, "a way of doing things that is to stay"
    if person and not asked and _is_page(draft, text):
        return KNOWLEDGE, "a decision with its reason, which people will want to read too"
    return MEMORY, "an agent should know it next time"


def _is_choice(draft: Draft) -> bool:
    """X over Y, in the first sentence; of a decision it is what was decided, no value."""
    first = drafting.first_sentence(draft.body)
    if draft.type in ("decision", "reference", "project"):
        return False
    return bool(_CHOICE.search(first) or _OVER.match(first))


def _is_standing(text: str) -> bool:
    return bool(_GRAVE.search(text[:MOST]) or _EVERYWHERE.search(text[:MOST]))


def _is_short(draft: Draft) -> bool:
    return len(standing_line(draft)) <= LONGEST_LINE


def _is_page(draft: Draft, text: str) -> bool:
    if draft.type in _TYPES_OF_PAGES:
        return bool(draft.why or _REASON.search(text))
    return len(draft.body) > LONG and draft.type not in ("feedback", "user")


def _refusal(draft: Draft, rules: Rules) -> str:
    try:
        drafting.check(draft, rules)
    except MemdirError as error:
        return error.message
    return drafting.refusal(draft, rules, Wishes())


def _elsewhere(where: str) -> str:
    return f"{where} says it already" if where else ""


def _passing(draft: Draft) -> str:
    text = f"{draft.description}\n{draft.body}"[:MOST]
    if _PASSING.search(text) and not _LASTS.search(text):
        return "it was said for that moment only"
    return ""


def _same_source(text: Text, catch: Catch) -> bool:
    source = (catch.origin.session, catch.origin.message)
    return all(source) and source == (text.session, text.message)

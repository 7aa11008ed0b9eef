"""Where something that a past session taught belongs: a memory, a page for people, or nowhere.

Values first: files move and interfaces change, but what somebody holds to be better stays. What
CLAUDE.md or a page for people should say is only proposed, and only in a person's own words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memdir.capture.forget import terms
from memdir.capture.inbox import open_inbox
from memdir.capture.origin import untrusted
from memdir.capture.pages import Page, read_page, read_pages
from memdir.capture.signals import REMEMBER, Catch
from memdir.clients.conversation import PERSON
from memdir.config.config import DIR, Config, read_config
from memdir.errors import MemdirError
from memdir.format import draft as draft_module
from memdir.format import exclusions
from memdir.format.draft import Draft, Rules, Wishes
from memdir.format.names import name_for
from memdir.hot import memory, safe
from memdir.hot.place import below
from memdir.store.ports import ADDED, ARCHIVE, TRASH
from memdir.store.writer import CLAUDE_MD as WRITER_CLAUDE_MD
from memdir.store.writer import App, open_app
from memdir.text import similar

VALUE, MEMORY, CLAUDE_MD, KNOWLEDGE, SKIP = "value", "memory", "claude_md", "knowledge", "skip"
ORDER = (VALUE, MEMORY, CLAUDE_MD, KNOWLEDGE, SKIP)  # as they are shown and saved
STORED, PROPOSED = (VALUE, MEMORY), (CLAUDE_MD, KNOWLEDGE)
KNOWLEDGE_FOLDER = "docs/knowledge"
NOT_ASKED = "said in a past session, but nobody asked to remember it"
MAX_LINE_CHARACTERS = 300  # of what CLAUDE.md may be asked to say: every session reads it
PAGE_CHARACTERS = 1_500  # more is a page for people
SEARCHED_CHARACTERS = 4_000  # of a draft that the forms are looked for in
MIN_WORDS = 3  # that can be found elsewhere by no accident
MAX_LINE_WORDS = 80  # of a line that may say the same as one sentence
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
        for text in texts:
            self._texts.append((text, similar.words(text.text)))
            for line in text.text.splitlines():
                words = similar.words(line)
                if similar.MIN_LOOSE_WORDS <= len(words) <= MAX_LINE_WORDS:
                    for word in words:
                        self._having.setdefault(word, []).append(len(self._lines))
                    self._lines.append((text.where, words))

    def where(self, catch: Catch) -> str:
        """Where it stands already, else the empty string; its opposite is something new."""
        draft = catch.draft
        if draft is None:
            return ""
        mine = similar.words(draft.body)
        source = (catch.origin.session, catch.origin.message)
        for text, words in self._texts:
            whole = len(mine) >= MIN_WORDS and mine <= words
            if (mine and mine == words) or (whole and exclusions.why_not(draft.body, text.text)):
                return text.where
            same_source = all(source) and source == (text.session, text.message)
            if same_source and len(mine & words) >= HALF * len(mine):
                return text.where
        first = draft_module.first_sentence(draft.body)
        return self._twin(first) or self._twin(draft.description)

    def _twin(self, text: str) -> str:
        """Where a line stands that says nearly the same.

        Two lines with so many words in common share one of any few: the rarest tell soonest.
        """
        mine = similar.words(text)
        if len(mine) < similar.MIN_LOOSE_WORDS:
            return ""
        few = len(mine) - int(len(mine) * similar.SAME) + 1
        rarest = sorted(mine, key=lambda word: len(self._having.get(word, ())))[:few]
        for number in sorted({line for word in rarest for line in self._having.get(word, ())}):
            where, words = self._lines[number]
            same = len(mine & words) >= similar.SAME * len(mine | words)
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
    where = known.where(catch)
    reason = _refusal(draft, rules) or (f"{where} says it already" if where else "")
    text = f"{draft.description}\n{draft.body}"[:SEARCHED_CHARACTERS]
    if not reason and not asked and _PASSING.search(text) and not _LASTS.search(text):
        reason = "it was said for that moment only"
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


def nearly_same(first: Draft, second: Draft) -> bool:
    """May the two be one memory? All words that tell something but one are the same, or a name."""
    texts = [draft.description or draft.body for draft in (first, second)]
    titles = [draft_module.first_sentence(text) for text in texts]
    small, large = sorted(map(terms, titles), key=len)
    if MIN_WORDS - 1 <= len(small) >= len(large) - 1 and small <= large:
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
    text = f"{draft.body}\n{draft.why}"[:SEARCHED_CHARACTERS]
    said = f"{catch.origin.quote}\n{text}"
    first = draft_module.first_sentence(draft.body)
    body = draft.body[:SEARCHED_CHARACTERS]
    person = catch.origin.who == PERSON
    unasked = person and kind != REMEMBER
    short = len(standing_line(draft)) <= MAX_LINE_CHARACTERS
    # X over Y; of a decision it is what was decided, no value.
    choice = draft.type not in ("decision", "reference", "project") and (
        _CHOICE.search(first) or _OVER.match(first)
    )
    if draft.type in _TYPES_OF_PAGES:
        page = bool(draft.why or _REASON.search(text))
    else:
        page = len(draft.body) > PAGE_CHARACTERS and draft.type not in ("feedback", "user")
    if person and short and _FOR_CLAUDE_MD.search(said):
        return CLAUDE_MD, "a person wanted it in CLAUDE.md"
    if person and _FOR_PAGE.search(said):
        return KNOWLEDGE, "a person wanted it written down for others"
    if draft.type == "value" or choice:
        return VALUE, "what somebody holds to be better stays, whatever becomes of the code"
    if unasked and short and (_GRAVE.search(body) or _EVERYWHERE.search(body)):
        return CLAUDE_MD, "it is meant for every conversation, and much hangs on it"
    if draft.type in _TYPES_OF_VALUES:
        return VALUE, "a way of doing things that is to stay"
    if unasked and page:
        return KNOWLEDGE, "a decision with its reason, which people will want to read too"
    return MEMORY, "an agent should know it next time"


def _refusal(draft: Draft, rules: Rules) -> str:
    try:
        draft_module.check(draft, rules)
    except MemdirError as error:
        return error.message
    return draft_module.refusal(draft, rules, Wishes())


@dataclass(frozen=True)
class Undone:
    """A captured memory that was undone, and when: what is said again later is new."""

    text: Text
    time: float


def find_undone(app: App) -> list[Undone]:
    """Memories with an origin that an undo removed; an undo that was undone removed none."""
    found: list[Undone] = []
    times: dict[str, float] = {}  # of the undo that took a change back
    try:
        for logged in app.history.log():
            if logged.id not in times:
                times.update(dict.fromkeys(logged.cause.undoes, logged.time))
            elif not logged.cause.undoes:
                for kind, path in logged.paths:
                    data = app.history.content(logged.id, path) if kind == ADDED else None
                    text = learned_text(path, data) if data else None
                    if text and text.message:
                        found.append(Undone(text, times[logged.id]))
    except MemdirError:
        return found  # the history is broken, as `memdir doctor` says: so far it is known
    return found


def undone_on(app: App, catch: Catch) -> str:
    """The day on which this very thing, from the same message, was undone; empty for any other."""
    for undone in find_undone(app) if catch.origin.message else ():
        text = undone.text
        if text.message == catch.origin.message and Known([text]).where(catch):
            return safe.iso_day(undone.time)
    return ""


def learned_text(path: str, data: bytes, where: str = "") -> Text:
    """What a memory says, and the message that it was learned from."""
    document = memory.read(memory.decode(data))
    values = document.values
    said = f"{values.get('description', '')}\n{document.body}"
    source = (values.get("metadata.session", ""), values.get("metadata.message", ""))
    return Text(path + where, said, *source)


@dataclass(frozen=True)
class Place:
    """An originating project; `root` is where its CLAUDE.md lies."""

    app: App
    root: str
    rules: Rules
    known: Known
    claude_md: Page
    undone: tuple[tuple[float, Known], ...] = ()  # what was taken back, and when


@dataclass
class Places:
    """Opens each project once; `app` is the one that stands where the person stands."""

    app: App
    opened: dict[str, Place] = field(default_factory=dict)

    def find(self, project: str, cwd: str) -> Place | str:
        """Where a session belongs that was started in this project; else why it cannot be told."""
        if not cwd:
            return "its transcript does not say in which directory it was"
        if not os.path.isdir(project):
            return f"the directory it was started in is gone: {project}"
        try:
            config = read_config(self.app.config.environ, _standing(project, cwd))
        except MemdirError as error:
            return f"its project cannot be opened: {error.message}"
        here = config.project_root == self.app.config.project_root
        config = self.app.config if here else config
        if not here and (by := _named_by(self.app.config)):
            return f"it is about {config.project_root}, but {by} names another store"
        if not config.enabled:
            return f"memory is switched off for {config.checkout} ({config.enabled_by})"
        if config.store not in self.opened:
            self.opened[config.store] = self._open(config, here)
        return self.opened[config.store]

    def _open(self, config: Config, here: bool) -> Place:
        mine = self.app
        app = mine if here else open_app(
            config, now=mine.now, tell=mine.tell, actor=mine.actor, dry_run=mine.dry_run
        )  # fmt: skip
        root = config.project_root
        root = root if os.path.lexists(os.path.join(root, ".git")) else config.checkout
        page = read_page(root, WRITER_CLAUDE_MD)
        rules = replace(app.rules(), claude_md=memory.decode(page.data or b""))
        texts = [*_memories(app), *_waiting(app), *_pages(root)]
        known = Known([*texts, Text(WRITER_CLAUDE_MD, rules.claude_md)])
        undone = tuple((item.time, Known([item.text])) for item in find_undone(app))
        return Place(app, root, rules, known, page, undone)


def _named_by(config: Config) -> str:
    """The option that says into which store to save; empty where each session's own counts."""
    if config.step == DIR:
        return DIR
    return "" if config.scope.kind == "project" else f"--scope {config.scope}"


def _standing(project: str, cwd: str) -> str:
    """Where the session was, as far as that is still there; never above its project.

    Whoever changes the directory on the way goes on in the same project.
    """
    tops = (project.rstrip("/"), os.path.realpath(project))
    for place in (cwd, os.path.realpath(cwd)):
        while any(below(place, top) for top in tops):
            if os.path.isdir(place):
                return place
            place = os.path.dirname(place)
    return project


def _memories(app: App) -> Iterator[Text]:
    """What the store says, and what was put away: nobody wants that back unasked."""
    if app.store.exists():
        for path in app.store.files():
            try:
                yield learned_text(path, app.store.read(path))
            except MemdirError:
                continue  # it cannot be read, so it cannot be compared
        yield Text(app.store.index_path, memory.decode(app.store.index() or b""))
    for room in (TRASH, ARCHIVE):
        for shelved in app.shelf.list(room):
            try:
                yield learned_text(shelved.path, app.shelf.read(shelved), f" (in the {room})")
            except MemdirError:
                continue


def _waiting(app: App) -> Iterator[Text]:
    for held in open_inbox(app).list():
        draft, origin = held.catch.draft, held.catch.origin
        if draft is not None:
            said = f"{draft.description}\n{draft.body}"
            yield Text(f"the review inbox ({held.id})", said, origin.session, origin.message)


def _pages(root: str) -> Iterator[Text]:
    for page in read_pages(root, KNOWLEDGE_FOLDER):
        yield Text(page.path, memory.decode(page.data or b""))

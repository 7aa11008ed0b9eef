"""Past sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace

from memdir.audit.projects import find_projects
from memdir.capture.agent import without_secrets
from memdir.capture.capture import Reader, open_reader
from memdir.capture.choice import choose
from memdir.capture.drafts import STANDING
from memdir.capture.forget import meant, order, taken_back
from memdir.capture.inbox import id_of, open_inbox
from memdir.capture.origin import untrusted
from memdir.capture.pages import Page, patch, read_page, with_lines, with_section
from memdir.capture.progress import Progress, restore
from memdir.capture.route import (
    CLAUDE_MD,
    KNOWLEDGE_FOLDER,
    MEMORY,
    NOT_ASKED,
    PROPOSED,
    SKIP,
    STORED,
    Place,
    Places,
    Routed,
    Text,
    nearly_same,
    rank,
    route,
    standing_line,
)
from memdir.capture.signals import Catch, Signal, masked, notice
from memdir.clients.conversation import PERSON, Cursor, Session, Stretch
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format import draft as draft_module
from memdir.format.draft import SKIPPED, Change, Draft, Rules, Wishes
from memdir.hot import safe
from memdir.hot.disk import Disk, failure
from memdir.hot.place import below, store_key
from memdir.hot.safe import inert, inert_line
from memdir.hot.verdicts import line_of
from memdir.store import registry
from memdir.store.keep_index import index
from memdir.store.save import save
from memdir.store.writer import App, Desk, Done, state_folder
from memdir.text import similar

# What a model made of past sessions, kept: asked again, they cost nothing and say the same.

FOLDER = "extracts"
LARGEST_BYTES = 4 * 1024 * 1024
LEFT_OUT = "a secret was left out of it"
DAMAGE = (ValueError, TypeError, KeyError, RecursionError)


class Extracts:
    """The folder of one store, a small file per session."""

    def __init__(self, state_folder: str) -> None:
        self.folder = os.path.join(state_folder, FOLDER)
        self._disk = Disk(self.folder)

    def load(self, session: str, cursor: Cursor) -> tuple[Catch, ...] | None:
        """What was made of the session as far as it went then; None where nobody knows."""
        try:
            said = json.loads(self._disk.read(store_key(session), LARGEST_BYTES + 1)[0])
            if (said["session"], said["cursor"]) == (session, cursor.id):
                return tuple(restore(Catch, value) for value in said["catches"])
        except (OSError, *DAMAGE):
            return None  # then the model is asked again
        return None

    def keep(self, session: str, cursor: Cursor, catches: Sequence[Catch]) -> None:
        """Durable when it returns."""
        told = {
            "session": session,
            "cursor": cursor.id,
            "catches": [asdict(_safe(one)) for one in catches],
        }
        data = json.dumps(told, default=str).encode("ascii")
        try:
            self._disk.make_root()
            self._disk.put(store_key(session), data)
        except OSError as error:
            raise failure(error, self.folder, "what the model made cannot be kept") from None


def _safe(catch: Catch) -> Catch:
    """Without secrets; a person sees first what was left out of what would be saved at once."""
    if catch.draft is None:
        return replace(catch, forget=masked(catch.forget))
    draft = without_secrets(catch.draft)
    hold = catch.hold or ("" if draft.body == catch.draft.body else LEFT_OUT)
    return replace(catch, draft=draft, hold=hold)


# The linked worktrees of a repository, from git's own small files.

MOST = 200


def worktrees(root: str) -> list[str]:
    """Their directories, as git has them written down, whether they still are there or not."""
    top = os.path.join(root, ".git", "worktrees")
    top = top if os.path.isdir(top) else os.path.join(root, "worktrees")  # a bare repository
    try:
        names = sorted(os.listdir(top))[:MOST]
    except OSError:
        return []
    found = [_path(os.path.join(top, name, "gitdir")) for name in names]
    return [os.path.dirname(path) for path in found if path.endswith("/.git") and path[0] == "/"]


def _path(file: str) -> str:
    text = line_of(file)
    return "" if "\0" in text or "\n" in text else text


# Which past sessions are looked at, and where each of them was started.

FAMILY = "transcripts"
FINDING_MOST = 500  # sessions of one run; the newest count


@dataclass(frozen=True)
class Chosen:
    """What a person wants looked at; `model`: a model may be asked, `every`: all projects.

    `yes`: what a person said is saved, asked for or not.
    """

    sessions: tuple[str, ...] = ()
    since: float | None = None
    last: int = 0
    client: str = ""
    every: bool = False
    model: bool = False
    yes: bool = False


@dataclass(frozen=True)
class Past:
    """A past session, the directory it was started in or below, and who can read it."""

    session: Session
    project: str
    reader: Reader


def find_past(app: App, chosen: Chosen) -> list[Past]:
    """The sessions, newest first; each once, however many worktrees and folders list it."""
    here = _here(app)
    found = _listed(app, chosen, _everywhere(app, here) if chosen.every else here)
    if chosen.sessions:
        return _named(app, chosen, found)
    if chosen.since is not None:
        found = [one for one in found if one.session.modified >= chosen.since]
    if len(found) > FINDING_MOST and not chosen.last:
        count = f"{len(found):,} sessions"
        app.tell(f"{count}: the newest {FINDING_MOST} are looked at; --since takes others")
    return found[: chosen.last or FINDING_MOST]


def _here(app: App) -> list[str]:
    """The project with all its worktrees: they share one store."""
    config = app.config
    return [config.checkout, config.project_root, *worktrees(config.project_root)]


def _everywhere(app: App, here: Sequence[str]) -> list[str]:
    folder = os.path.join(app.config.claude_dir, "projects")
    known = [one.root or one.was for one in find_projects(folder, every=True)]
    return [*here, *filter(None, known)]


def _listed(app: App, chosen: Chosen, projects: Iterable[str]) -> list[Past]:
    found: dict[str, Past] = {}
    for client in _clients(chosen.client, app.config.own):
        reader = open_reader(app, client)
        for project in dict.fromkeys(projects):
            try:
                sessions = reader.sessions(project)
            except MemdirError as error:  # of one client, or one project: the others count
                app.tell(f"{client}: {error.message}. Next: {error.next}")
                continue
            for session in sessions:
                if _is_of(session, project):
                    found.setdefault(session.path, Past(session, project, reader))
    return sorted(found.values(), key=lambda one: one.session.modified, reverse=True)


def _is_of(session: Session, project: str) -> bool:
    """A repository is a project with all that is in it, any other directory only by itself."""
    whole = os.path.lexists(os.path.join(project, ".git"))
    real = os.path.realpath(project)
    return whole or not session.cwd or os.path.realpath(session.cwd) == real


def _clients(wanted: str, own: str) -> Sequence[str]:
    known = registry.members(FAMILY, own)
    if not wanted:
        return known
    name = wanted.strip().lower().replace("-", "_")
    if name not in known:
        listed = ", ".join(one.replace("_", "-") for one in known)
        raise BadInput(f"no sessions of {wanted[:40]!r} can be read", next=f"use one of {listed}")
    return (name,)


def _named(app: App, chosen: Chosen, found: Sequence[Past]) -> list[Past]:
    """The sessions of these ids or paths, wherever they were; the start of an id will do."""
    wanted: dict[str, Past] = {}
    more: list[Past] = []
    for name in chosen.sessions:
        fits = _fitting(name, found)
        if not fits and not chosen.every:
            more = more or _listed(app, chosen, _everywhere(app, ()))
            fits = _fitting(name, more)
        if not fits:
            what = f"there is no session {name[:80]!r}"
            raise Missing(what, next="memdir extract --dry-run lists the sessions with their ids")
        if len(fits) > 1:
            raise BadInput(f"{name!r} is the start of several sessions", next="give more of it")
        wanted.setdefault(fits[0].session.path, fits[0])
    return sorted(wanted.values(), key=lambda one: one.session.modified, reverse=True)


def _fitting(name: str, among: Sequence[Past]) -> list[Past]:
    if not name.strip():
        return []
    path = os.path.realpath(name) if "/" in name and "\0" not in name else ""
    exact = [one for one in among if one.session.id == name or one.session.path == name]
    same = exact or [one for one in among if path and os.path.realpath(one.session.path) == path]
    return same or [one for one in among if one.session.id.startswith(name)]


# What CLAUDE.md and the pages for people should say, as patches; none of them is ever written.

DECISIONS, NOTES = f"{KNOWLEDGE_FOLDER}/decisions.md", f"{KNOWLEDGE_FOLDER}/notes.md"
TITLES = {DECISIONS: "# Decisions", NOTES: "# Notes"}
LONG = 1_500  # characters; more is no entry of a log


@dataclass(frozen=True)
class Patch:
    """A proposed change of one page of one project."""

    root: str
    path: str
    text: str

    @property
    def file(self) -> str:
        """What it is called where it is written down."""
        return f"{os.path.basename(self.root)}-{self.path.replace('/', '-')}.patch"


def page_for(place: Place, one: Routed) -> Page:
    """The page that it is meant for."""
    if one.to == CLAUDE_MD:
        return place.claude_md
    long = one.catch.draft is not None and len(one.catch.draft.body) > LONG
    return read_page(place.root, NOTES if long else DECISIONS)


def standing_on(place: Place, one: Routed) -> str:
    """The page that has this very line or heading already; empty where none has."""
    draft, page = one.catch.draft, page_for(place, one)
    if draft is None or not page.data:
        return ""
    line = f"- {_line(draft, place.rules)}"
    wanted = line if one.to == CLAUDE_MD else _entry(draft, place.rules)[0]
    lines = page.data.decode("utf-8", "surrogateescape").splitlines()
    return page.path if wanted in map(str.rstrip, lines) else ""


def propose(place: Place, routed: Sequence[Routed]) -> list[Patch]:
    """One patch for each page, so that they can be applied in any order."""
    standing = [one.catch.draft for one in routed if one.to == CLAUDE_MD and one.catch.draft]
    pages: dict[Page, bytes] = {}
    if standing:
        lines = [_line(draft, place.rules) for draft in standing]
        pages[place.claude_md] = with_lines(place.claude_md.data, list(dict.fromkeys(lines)))
    for one in routed:
        if one.to != CLAUDE_MD and one.catch.draft:
            page = page_for(place, one)
            old = pages.get(page, page.data)
            heading, body = _entry(one.catch.draft, place.rules)
            pages[page] = with_section(old, heading, body, TITLES.get(page.path, ""))
    return [
        Patch(place.root, page.path, patch(page.path, page.data, new))
        for page, new in pages.items()
    ]


def _line(draft: Draft, rules: Rules) -> str:
    whole, _ = draft_module.complete(replace(draft, why="", how=""), rules)
    return inert_line(standing_line(whole))


def _entry(draft: Draft, rules: Rules) -> tuple[str, str]:
    """The heading with its day, and the text with its reasons."""
    whole, _ = draft_module.complete(draft, rules)
    day = safe.iso_day(rules.now) if draft.day is None else draft.day.isoformat()
    title = inert_line(draft_module.first_sentence(draft.description or draft.body)).rstrip(".")
    body = inert(whole.body)
    rest = body.removeprefix(title)
    # The heading has said it: below it stands what it does not say.
    body = rest.lstrip(".").lstrip() if rest != body and rest[:1] in ("", ".", "\n") else body
    return f"## {day}: {title}", body


# What an extraction found is saved, held, proposed or left out, each thing with its reason.

VERB = "extract"
# What became of a thing; what is left was not done, and is found again by the next run.
SAVE, HOLD, PROPOSE, LEAVE_OUT, LEFT = "saved", "held", "proposed", "skipped", "left"


@dataclass(frozen=True)
class Item:
    """One thing that was found; `name` is its path, or its id in the review."""

    routed: Routed
    session: Session
    store: str = ""
    root: str = ""
    outcome: str = ""
    name: str = ""
    reason: str = ""


@dataclass
class Extraction:
    """What came of it. `waiting` are sessions that a model has still to see, each with why."""

    batch: str
    sessions: Sequence[Session] = ()  # that were looked at, the newest first
    items: list[Item] = field(default_factory=list)
    changes: list[tuple[str, Change]] = field(default_factory=list)  # with their stores
    done: list[Done] = field(default_factory=list)
    patches: list[Patch] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)
    tokens: int = 0
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def settle(place: Place, items: Sequence[Item], made: Extraction) -> list[Item]:
    """The things of one project, values first, and what became of each."""
    own = sorted(items, key=lambda one: rank(one.routed))
    to_save = [one for one in own if one.routed.to in STORED and not one.routed.catch.hold]
    saved = _save(place, to_save, made) if to_save else []
    settled = []
    for one in own:
        if one in to_save:
            settled.append(saved[to_save.index(one)])
        elif one.routed.to in STORED:
            settled.append(_hold(place.app, one, one.routed.catch.hold))
        elif one.routed.to in PROPOSED:
            page = page_for(place, one.routed).path
            settled.append(replace(one, outcome=PROPOSE, name=page, reason=one.routed.reason))
        else:
            settled.append(replace(one, outcome=LEAVE_OUT, reason=one.routed.reason))
    made.patches += propose(place, [one.routed for one in settled if one.outcome == PROPOSE])
    return settled


def _save(place: Place, items: Sequence[Item], made: Extraction) -> list[Item]:
    """All of them in one change; what says nearly the same as another memory waits for a person."""
    app, changes = place.app, list[Change]()

    def act(desk: Desk) -> list[Change]:
        kept: list[tuple[Draft, str]] = []
        for one in items:
            changes.append(_save_one(one, desk, place, kept))
        names = [change.name for change in changes if change.changed]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        desk.cause = replace(desk.cause, batch=made.batch, name=names[0] + more if names else "")
        if names:
            indexed = index(desk.store, app.rules())
            desk.remarks += indexed.remarks([change.path for change in changes])
        return changes

    done = app.change(VERB, act, lambda done: None)
    made.done.append(done)
    made.remarks += [*done.remarks, *_remarks(changes)]
    settled = []
    for one, change in zip(items, changes, strict=True):
        if change.changed:
            made.changes.append((app.store.root, change))
            told = replace(one, outcome=SAVE, name=change.path, reason=one.routed.reason)
        elif change.hash:
            told = replace(one, outcome=LEAVE_OUT, name=change.path, reason=change.reason)
        else:
            told = _hold(app, one, change.reason)
        settled.append(told)
    return settled


def _remarks(changes: Sequence[Change]) -> list[str]:
    """What the person should know of the memories, each remark once."""
    told = dict.fromkeys(remark for change in changes for remark in change.remarks)
    return [
        f"{', '.join(change.name for change in changes if remark in change.remarks)}: {remark}"
        for remark in told
    ]


def _save_one(one: Item, desk: Desk, place: Place, kept: list[tuple[Draft, str]]) -> Change:
    """One of them, unless it says nearly what another of this run does: that one was said later."""
    draft = one.routed.catch.draft
    assert draft is not None  # what has none is never routed to a store
    for other, name in kept:
        if not draft.name and nearly_same(draft, other):
            return Change(SKIPPED, "", "", reason=f"{name}, said later, says nearly the same")
    try:
        change = save(draft, desk.store, place.app.rules(), Wishes())
    except BadInput as error:  # this one cannot be taken; the others can
        return Change(SKIPPED, draft.name, "", reason=error.message)
    kept += [(draft, change.name)] if change.changed else []
    return change


def _hold(app: App, one: Item, reason: str) -> Item:
    catch, inbox = replace(one.routed.catch, hold=reason), open_inbox(app)
    one = replace(one, routed=replace(one.routed, catch=catch), outcome=HOLD, reason=reason)
    if inbox.was_settled(id_of(catch)):
        return replace(one, outcome=LEAVE_OUT, reason="a review has settled it already")
    if app.dry_run:
        return one
    try:
        return replace(one, name=inbox.hold(catch, reason, app.now()).id)
    except BadInput as error:  # the inbox is full
        return replace(one, outcome=LEFT, reason=error.message)


def stored_paths(app: App) -> set[str]:
    """The memories that a store has."""
    return set(app.store.files()) if app.store.exists() else set()


def figures(places: Sequence[Place]) -> dict[str, int]:
    """What the stores hold, and what waits."""
    return {
        "memories": sum(len(stored_paths(place.app)) for place in places),
        "held": sum(open_inbox(place.app).count() for place in places),
    }


def find_lost(places: Sequence[Place], stood: dict[str, set[str]], made: Extraction) -> list[str]:
    """Memories that are no longer there, and things that went nowhere: always none."""
    gone = []
    for place in places:
        root = place.app.store.root
        new = {change.path for store, change in made.changes if store == root}
        gone += [f"{root}/{path}" for path in (stood[root] | new) - stored_paths(place.app)]
    nowhere = [one.routed.catch.origin.quote for one in made.items if not one.outcome]
    return sorted(gone) + nowhere


LATER = "a later session"
Say = Callable[[int, int], None]  # how many sessions were read, of how many


def _unsaid(read: int, of: int) -> None:
    """For callers that only want the answer."""


def extract(app: App, chosen: Chosen, say: Say = _unsaid) -> Extraction:
    """find → read → notice → route → save · hold · propose"""
    options = app.config.options
    if chosen.model and not (options.capture_model or options.model):
        raise BadInput("no model is set", next="set model.name in config.toml or MEMDIR_MODEL")
    made = Extraction(f"{VERB}-{int(app.now())}")
    places, sorting = Places(app), _Sorting(chosen)
    past = find_past(app, chosen)
    for number, one in enumerate(past, 1):
        say(number, len(past))
        made.items += _take(one, places, sorting, made)
    made.sessions = [one.session for one in past]
    opened = list(places.opened.values())
    stood = {place.app.store.root: stored_paths(place.app) for place in opened}
    made.before = figures(opened)
    _settle_all(opened, made)
    made.after = figures(opened)
    made.lost = [] if app.dry_run else find_lost(opened, stood, made)
    return made


def _settle_all(places: Sequence[Place], made: Extraction) -> None:
    """Store by store; where one cannot be written, the others still are."""
    settled = [one for one in made.items if not one.store]
    for place in places:
        own = [one for one in made.items if one.store == place.app.store.root]
        try:
            settled += settle(place, own, made)
        except MemdirError as error:
            if len(places) == 1:
                raise
            settled += [replace(one, outcome=LEFT, reason=error.message) for one in own]
    made.items = sorted(settled, key=lambda one: rank(one.routed))


def _take(past: Past, places: Places, sorting: _Sorting, made: Extraction) -> list[Item]:
    """One session; one that cannot be read is told and hides no other."""
    try:
        stretch = past.reader.read(past.session.path, Cursor())
    except MemdirError as error:
        made.remarks.append(f"session {past.session.id}: {error.message}")
        return []
    if stretch.cut:
        made.remarks.append(f"session {past.session.id} is long: its oldest part was left out")
    place = places.find(past.project, past.session.cwd or stretch.cwd)
    if isinstance(place, str):
        catches = _catches(places.app, past.session, stretch, False, made)
        routed = [Routed(SKIP, catch, place) for catch in catches]
        return [Item(one, past.session, outcome=LEAVE_OUT, reason=place) for one in routed]
    catches = _catches(place.app, past.session, stretch, sorting.chosen.model, made)
    return sorting.items(past, stretch, catches, place)


def _catches(
    app: App, session: Session, stretch: Stretch, model: bool, made: Extraction
) -> Sequence[Catch]:
    """A model's, as long as there is budget, and each session once; else mechanical ones."""
    # A model that failed once, or may cost no more, is not asked about the next session either.
    waits = next(iter(made.waiting.values()), "")
    progress = Progress(session.id)
    if not model:
        return choose(app, stretch, progress, session.client, "").catches
    kept = Extracts(state_folder(app.config))
    known = kept.load(session.id, stretch.cursor)
    if known is not None:
        return known
    choice = choose(app, stretch, progress, session.client, None, waits=waits)
    made.tokens += choice.tokens
    if choice.left:
        made.waiting[session.id] = choice.reason
    elif choice.tokens or (choice.catches and not choice.reason):
        kept.keep(session.id, stretch.cursor, choice.catches)
    return choice.catches


@dataclass
class _Sorting:
    """Goes from the newest session to the oldest: what was said last counts."""

    chosen: Chosen
    later: dict[str, list[str]] = field(default_factory=dict)  # store -> what was to go later on

    def items(
        self, past: Past, stretch: Stretch, catches: Sequence[Catch], place: Place
    ) -> list[Item]:
        """Where each of them goes; the last that was said comes first."""
        signals = _signals(stretch, catches)
        when = order(catches, stretch.said)
        later = self.later.setdefault(place.app.store.root, [])
        found = []
        for at in sorted(range(len(catches)), key=lambda one: when[one], reverse=True):
            catch = catches[at]
            if catch.forget:
                catch = replace(catch, forget=meant(catch.forget))
                later += [] if catch.hold else [catch.forget]
            routed = self._route(catch, _kind(catch, signals), stretch, place)
            if routed.to != SKIP and routed.catch.draft:
                draft, origin = routed.catch.draft, routed.catch.origin
                said = f"{draft.description}\n{draft.body}"
                place.known.add(Text(LATER, said, origin.session, origin.message))
            found.append(Item(routed, past.session, place.app.store.root, place.root))
        return found

    def _route(self, catch: Catch, kind: str, stretch: Stretch, place: Place) -> Routed:
        later = self.later[place.app.store.root]
        if catch.refuse:
            return Routed(SKIP, catch, catch.refuse)
        if catch.draft and any(taken_back(catch.draft, wish) for wish in later):
            return Routed(SKIP, catch, "it was to be forgotten later on")
        if reason := _was_undone(catch, stretch, place):
            return Routed(SKIP, catch, reason)
        wrote = _written_down(catch, stretch, place.app)
        if wrote:
            return Routed(SKIP, catch, f"the agent wrote it down then ({os.path.basename(wrote)})")
        routed = route(catch, place.known, place.rules, kind)
        meant_for = replace(routed, to=CLAUDE_MD) if routed.to == SKIP else routed
        if routed.to in (*PROPOSED, SKIP) and (page := standing_on(place, meant_for)):
            return Routed(SKIP, catch, f"{page} says it already")
        if routed.to in PROPOSED and (problem := page_for(place, routed).problem):
            hold = f"a page should say it, but {problem}"
            return Routed(MEMORY, replace(catch, hold=hold), hold)
        # Also where a model should have seen to it, and could not.
        noticed = routed.catch.hold.endswith((NOT_ASKED, STANDING))
        if self.chosen.yes and noticed and not untrusted(catch.origin):
            return replace(routed, catch=replace(routed.catch, hold=""))
        return routed


def _signals(stretch: Stretch, catches: Sequence[Catch]) -> list[Signal]:
    """The requests in the messages that something was made of."""
    used = {catch.origin.message for catch in catches}
    return notice([said for said in stretch.said if said.id in used])


def _kind(catch: Catch, signals: Sequence[Signal]) -> str:
    """The kind of request that this comes from: of several, the one most like it."""
    body = similar.words(catch.draft.body if catch.draft else catch.forget)
    near = [one for one in signals if one.said.id == catch.origin.message]
    best = max(near, key=lambda one: len(body & similar.words(one.quote)), default=None)
    return best.kind if best else ""


def _was_undone(catch: Catch, stretch: Stretch, place: Place) -> str:
    """Why it stays away: it was saved once and undone, after these words were said."""
    said = max((one.time for one in stretch.said if one.id == catch.origin.message), default=0.0)
    for when, known in place.undone:
        if said <= when and known.where(catch):
            return f"it was saved before and undone ({safe.iso_day(when)})"
    return ""


def _written_down(catch: Catch, stretch: Stretch, app: App) -> str:
    """The memory that the agent of the session wrote right after these words."""
    roots = [app.config.store, os.path.realpath(app.config.store)]
    heard = False
    for said in stretch.said:
        if said.who == PERSON and said.text:
            heard = said.id == catch.origin.message
        for path in said.wrote if heard else ():
            if any(below(os.path.normpath(path), root) for root in roots):
                return path
    return ""

"""Extraction from past sessions: find → read → notice → route → save, hold or propose.

Each session counts for the project it was started in, whoever asks from where. What a person asked
to remember is saved, one batch in each store; the rest waits for a review; pages are never written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memdir.adapters.extracts import Extracts
from memdir.app import App, state_folder
from memdir.core import dates, similarity
from memdir.core.capturing import Catch, Signal
from memdir.core.errors import BadInput, MemdirError
from memdir.core.origin import untrusted
from memdir.core.progress import Progress
from memdir.core.routing import (
    CLAUDE_MD,
    MEMORY,
    NOT_ASKED,
    PROPOSED,
    SKIP,
    Routed,
    Text,
    rank,
    route,
)
from memdir.core.scope import below
from memdir.core.taking_back import meant, order, taken_back
from memdir.core.transcript import PERSON, Cursor, Session, Stretch
from memdir.core.triage.drafts import STANDING
from memdir.core.triage.signals import notice
from memdir.flows.capturing.choosing import Told, choose
from memdir.flows.extracting.finding import Chosen, Past, find_past
from memdir.flows.extracting.places import Place, Places
from memdir.flows.extracting.proposing import page_for, standing_on
from memdir.flows.extracting.settling import (
    LEAVE_OUT,
    LEFT,
    VERB,
    Extraction,
    Item,
    figures,
    find_lost,
    settle,
    stored_paths,
)

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
    told = Told(session.id, session.client, stretch, Progress(session.id), waits)
    if not model:
        return choose(app, told, "").catches
    kept = Extracts(state_folder(app.config))
    known = kept.load(session.id, stretch.cursor)
    if known is not None:
        return known
    choice = choose(app, told, None)
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
    body = similarity.words(catch.draft.body if catch.draft else catch.forget)
    near = [one for one in signals if one.said.id == catch.origin.message]
    best = max(near, key=lambda one: len(body & similarity.words(one.quote)), default=None)
    return best.kind if best else ""


def _was_undone(catch: Catch, stretch: Stretch, place: Place) -> str:
    """Why it stays away: it was saved once and undone, after these words were said."""
    said = max((one.time for one in stretch.said if one.id == catch.origin.message), default=0.0)
    for when, known in place.undone:
        if said <= when and known.where(catch):
            return f"it was saved before and undone ({dates.iso_day(when)})"
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

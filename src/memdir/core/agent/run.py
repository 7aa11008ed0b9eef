"""A run of the agent that captures: what it has come to so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memdir.core.agent.grounds import UNNAMED, takes_away, unwanted_by
from memdir.core.agent.telling import (
    MEMORY_CHARACTERS,
    RESULTS_CHARACTERS,
    WHOLE,
    WHOLE_CHARACTERS,
    bare,
    masked,
    without_secrets,
)
from memdir.core.agent.turn import Captured, Wanted, new_lines
from memdir.core.capturing import Catch, Origin, Signal, day_of
from memdir.core.model import Usage
from memdir.core.origin import SOURCE, quote, rests_on, untrusted
from memdir.core.permissions.deciding import Look
from memdir.core.revision import hash_of
from memdir.core.transcript import AGENT, PERSON, TOOL, Said

ROOM_BESIDE = 100  # characters


@dataclass
class Run:
    """What a conversation has come to so far."""

    shown: dict[int, Said]
    said: list[Said]  # all of it, and what was looked at since
    origin: Origin
    look: Look
    signals: Sequence[Signal] = ()
    mark: str = ""
    turns: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    cached: int = 0
    reason: str = ""
    room: int = RESULTS_CHARACTERS  # for what is told of this turn
    read: dict[str, bytes] = field(default_factory=dict)  # memories by name, as they were shown
    drafts: dict[str, Wanted] = field(default_factory=dict)
    unread: dict[str, Wanted] = field(default_factory=dict)  # they would replace what was not read
    unwanted: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)  # of them, those that it was shown since
    denied: list[str] = field(default_factory=list)

    def captured(self) -> Captured:
        """All of it, each with the message it rests on."""
        catches = [self._catch(one, "") for one in self.drafts.values()]
        for name, one in self.unread.items():
            catches.append(
                self._catch(one, f"it would replace {name}, which the model did not read")
            )
        catches += [self._unwanted(name, because) for name, because in self.unwanted.items()]
        denied = tuple(map(bare, self.denied))
        return Captured(tuple(catches), self.turns, self.usage, denied, self.reason)

    def _unwanted(self, name: str, because: int) -> Catch:
        """What is to be forgotten; at once only where a person named it."""
        standing = self._standing(name)
        text = (self.look.memory(standing) or b"").decode("utf-8", "replace")
        asked = unwanted_by(standing, text, self.look.names(), self.signals)
        if asked is not None and masked(name) == name:
            return Catch(replace(self._from(asked.said), quote=quote(asked.quote)), forget=name)
        origin = self._origin(because)
        hold = untrusted(origin) or UNNAMED.format(masked(name))
        return Catch(origin, forget=masked(name), hold=hold)

    def _catch(self, wanted: Wanted, hold: str) -> Catch:
        origin, cited = self._rests_on(wanted), self.shown.get(wanted.because)
        old = self.read.get(wanted.draft.name, b"").decode("utf-8", "replace")
        hold = hold or untrusted(origin) or takes_away(wanted.draft, old, cited, self.signals)
        draft = replace(wanted.draft, source=SOURCE, day=day_of(cited))
        # What is held is written down before the writer sees it, who refuses a body with a secret.
        return Catch(origin, without_secrets(draft, body=bool(hold)), hold=hold)

    def _rests_on(self, wanted: Wanted) -> Origin:
        """Whose words a draft has. What the model says of it counts only against it."""
        given = self._origin(wanted.because)
        if given.who in (AGENT, TOOL):
            return given
        name = wanted.draft.name
        old = self.read.get(name, b"").decode("utf-8", "replace")
        text = new_lines(wanted.draft, old)
        new = "" if name in self.read or name in self.unread else name
        found = rests_on(text, self.said, self.origin, name=new) if text else given
        return given if found.who == given.who == PERSON else found

    def _origin(self, because: int) -> Origin:
        said = self.shown.get(because)
        return self.origin if said is None else self._from(said)

    def _from(self, said: Said) -> Origin:
        words = quote(said.text)
        return replace(self.origin, message=said.id, who=said.who, tool=said.tool, quote=words)

    def take(self, wanted: Wanted) -> str:
        """Keep a draft; what the model must know first, where it would replace something unread."""
        name = self._standing(wanted.draft.name)
        data = self.look.memory(name) if name else None
        wanted = replace(wanted, draft=replace(wanted.draft, name=name))
        if data is None:
            self.drafts[name or f"\0{len(self.drafts)}"] = wanted
            return ""
        if self.read.get(name) != data:
            self.unread[name] = wanted
            return "" if name in self.told else name
        self.unread.pop(name, None)
        self.drafts[name] = replace(wanted, draft=replace(wanted.draft, expected=hash_of(data)))
        return ""

    def _standing(self, name: str) -> str:
        """The name as the store writes it: `-` is `_`."""
        alike = {one.lower().replace("-", "_"): one for one in self.look.names()}
        return alike.get(name.lower().replace("-", "_"), name)

    def show(self, name: str) -> str:
        """A memory as a whole, so that it may be changed; one that is too long stays unread."""
        self.told.add(name)
        data = self.look.memory(name) or b""
        text = data.decode("utf-8", "replace")
        if len(text) <= min(MEMORY_CHARACTERS, self.room - ROOM_BESIDE) and masked(text) == text:
            self.read[name] = data
        self.room -= min(len(text), MEMORY_CHARACTERS)
        return text

    def give(self, names: Iterable[str]) -> dict[str, str]:
        """The first of these memories as they stand, where they are short: a turn less to pay."""
        texts: dict[str, str] = {}
        for name in names:
            data = self.look.memory(name) or b""
            text = data.decode("utf-8", "replace")
            if 0 < len(text) <= WHOLE_CHARACTERS and masked(text) == text and len(texts) < WHOLE:
                self.read[name], texts[name] = data, text
        return texts

    def saw(self, text: str, tool: str) -> None:
        """What was looked at is nobody's wish: a draft of it is held."""
        self.room -= len(text)
        self.said.append(Said("", TOOL, text, tool=tool))

    def drop_unread(self, before: dict[str, Wanted]) -> None:
        """Whoever has seen what stands there and drafts it no more has thought better of it."""
        for name, wanted in before.items():
            if name in self.told and self.unread.get(name) is wanted:
                del self.unread[name]

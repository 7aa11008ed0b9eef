"""What the logs say since somebody last looked: log → notice → draft."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memdir.adapters.daily_log import DailyLog
from memdir.app import App
from memdir.config import Config
from memdir.core import log_text
from memdir.core.capturing import Catch, Origin, Signal
from memdir.core.frontmatter import encode
from memdir.core.origin import signed
from memdir.core.revision import hash_of
from memdir.core.transcript import PERSON, Said
from memdir.core.triage.drafts import catches, refuse_secrets
from memdir.core.triage.signals import notice
from memdir.core.types import names as known_types
from memdir.flows.logging_day import open_log
from memdir.flows.undone import find_undone

LOG = "log"  # the client of what a log says
ID_CHARACTERS = 8  # of the hash of an entry
ASKS = "a log asks to forget it; which memory is meant is for you to say"


@dataclass(frozen=True)
class Gathered:
    """What the logs say to remember, what is only noticed in them, and how far they were read.

    `silent` entries hold nothing to keep.
    """

    saved: tuple[Catch, ...] = ()
    held: tuple[Catch, ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    silent: int = 0
    remarks: tuple[str, ...] = ()


def gather_logs(app: App, seen: Mapping[str, int]) -> Gathered:
    """log → notice → draft; `seen` has the bytes of each log that were read before, by path

    What was saved before and undone is not learned again, should a log be read anew.
    """
    said, types, ends, remarks = _read(app.config, seen)
    drafted = _drafted(said)
    found = [_typed(one, types) for one in drafted if not one.refuse]
    refused = [f"log of {one.origin.message[:10]}: {one.refuse}" for one in drafted if one.refuse]
    undone = {one.text.message for one in find_undone(app)} if found else set()
    saved = [one for one in found if one.draft is not None and not one.hold]
    held = [replace(one, hold=one.hold or ASKS) for one in found if one not in saved]
    silent = sum(one.id not in {catch.origin.message for catch in found} for one in said)
    fresh = [one for one in saved if one.origin.message not in undone]
    return Gathered(tuple(fresh), tuple(held), ends, len(said), silent, (*remarks, *refused))


def _read(
    config: Config, seen: Mapping[str, int]
) -> tuple[list[Said], dict[str, str], dict[str, int], list[str]]:
    """The new entries as things that were said, their types, how far it goes, and remarks."""
    said: list[Said] = []
    types: dict[str, str] = {}
    ends: dict[str, int] = {}
    remarks: list[str] = []
    for log in {one.root: one for one in (open_log(config), DailyLog(config.store))}.values():
        start = os.path.join(log.root, log_text.LOGS, "")
        mine = {path.removeprefix(start): end for path, end in seen.items()}
        stretches, findings = log.since(mine)
        remarks += [f"{one.message}; {one.fix}" for one in findings]
        for stretch in stretches:
            ends[start + stretch.path] = stretch.end
            noon = datetime.datetime.combine(stretch.day, datetime.time(12), datetime.UTC)
            for entry in stretch.entries:
                id = f"{stretch.day.isoformat()}-{hash_of(encode(entry.text))[:ID_CHARACTERS]}"
                types[id] = entry.type
                said.append(Said(id, PERSON, entry.text, noon.timestamp()))
    return said, types, ends, remarks


def _drafted(said: Sequence[Said]) -> list[Catch]:
    """Each thing once; an entry is kept whole: what nobody notices belongs to what stands before.

    Whoever logs several lines means all of them.
    """
    signals: dict[str, list[Signal]] = {}
    for signal in notice(said):
        signals.setdefault(signal.said.id, []).append(signal)
    found: dict[str, Catch] = {}
    for own in signals.values():
        spans = [_span(signal) for signal in own]
        for signal, rest in zip(own, _rests(own[0].said.text, spans), strict=True):
            for catch in catches([signal], said, Origin(client=LOG)):
                body = catch.draft.body if catch.draft else ""
                key = (catch.forget or body).lower()
                known = found.get(key)
                if known is None or (known.hold and not catch.hold):
                    found[key] = _with_rest(catch, rest)
    return refuse_secrets(found.values(), said)


def _span(signal: Signal) -> tuple[int, int]:
    at = max(0, signal.said.text.find(signal.quote))
    return at, at + len(signal.quote)


def _rests(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What stands between each span and the next one; before the first, it is the first one's."""
    first = min(start for start, _ in spans)
    for start, end in spans:
        next = min((other for other, _ in spans if other >= end), default=len(text))
        before = text[:first].strip() if start == first else ""
        yield "\n".join(filter(None, (text[end:next].strip(), before)))


def _with_rest(catch: Catch, rest: str) -> Catch:
    """The draft with the other lines of its entry."""
    draft = catch.draft
    if draft is None or not any(map(str.isalnum, rest)):
        return catch
    return replace(catch, draft=replace(draft, body=f"{draft.body}\n\n{rest}"))


def _typed(catch: Catch, types: Mapping[str, str]) -> Catch:
    """The draft, signed, and of the type that its entry says."""
    if catch.draft is None:
        return catch
    type = types.get(catch.origin.message, "")
    draft = replace(catch.draft, type=type) if type in known_types() else catch.draft
    return replace(catch, draft=signed(draft, catch.origin))

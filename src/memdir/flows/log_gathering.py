"""What the logs say since somebody last looked: log → notice → draft."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memdir.adapters.daily_log import DailyLog
from memdir.config import Config
from memdir.core import log_text
from memdir.core.capturing import Catch, Origin
from memdir.core.frontmatter import encode
from memdir.core.origin import signed
from memdir.core.revision import hash_of
from memdir.core.transcript import PERSON, Said
from memdir.core.triage import triage
from memdir.core.triage.drafts import catches
from memdir.core.types import names as known_types
from memdir.flows.logging_day import open_log

LOG = "log"  # the client of what a log says
ID_CHARACTERS = 8  # of the hash of an entry
ASKS = "a log asks to forget it; which memory is meant is for you to say"


@dataclass(frozen=True)
class Gathered:
    """What the logs say to remember, what is only noticed in them, and how far they were read."""

    saved: tuple[Catch, ...] = ()
    held: tuple[Catch, ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    remarks: tuple[str, ...] = ()


def gather_logs(config: Config, seen: Mapping[str, int]) -> Gathered:
    """log → notice → draft; `seen` has the bytes of each log that were read before, by path"""
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
    found = [_typed(one, types) for one in catches(triage(said), said, Origin(client=LOG))]
    saved = [one for one in found if one.draft is not None and not one.hold]
    held = [replace(one, hold=one.hold or ASKS) for one in found if one not in saved]
    return Gathered(tuple(saved), tuple(held), ends, len(said), tuple(remarks))


def _typed(catch: Catch, types: Mapping[str, str]) -> Catch:
    """The draft, signed, and of the type that its entry says."""
    if catch.draft is None:
        return catch
    type = types.get(catch.origin.message, "")
    draft = replace(catch.draft, type=type) if type in known_types() else catch.draft
    return replace(catch, draft=signed(draft, catch.origin))

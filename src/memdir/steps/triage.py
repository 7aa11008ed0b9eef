"""Triage a conversation: which types it holds enough of, each with its context for an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.records.excerpts import excerpt
from memdir.core.records.scoring import Scored, score
from memdir.core.records.settings import RecordSettings
from memdir.core.records.triage_text import triage_text
from memdir.core.transcript import Said


class Place(Protocol):
    """The private directory of a session."""

    def write(self, type: str, text: str) -> str: ...
    def draft_place(self, type: str) -> str: ...


class Triaged(NamedTuple):
    """What triggers; the files that hold its contexts, and those that drafts are to get."""

    scored: Scored
    contexts: dict[str, str]
    drafts: dict[str, str]
    findings: list[Finding]
    text: str  # for agents; empty where nothing triggers


class Open(Protocol):
    """Opens the directory: only where something triggers it is made."""

    def __call__(self) -> Place: ...


def triage(said: Sequence[Said], settings: RecordSettings, open_place: Open | None) -> Triaged:
    """Score, put the contexts down, say it; without a place nothing is written."""
    scored = score(said, settings)
    contexts: dict[str, str] = {}
    drafts: dict[str, str] = {}
    findings: list[Finding] = []
    if scored.triggered and open_place is not None:
        place = open_place()
        for one in scored.triggered:
            try:
                contexts[one.type] = place.write(one.type, excerpt(scored, one, settings))
                drafts[one.type] = place.draft_place(one.type)
            except MemdirError as error:  # that type is drafted without, or not at all
                findings.append(Finding("no-context", error.path, error.message, error.next))
    text = triage_text(scored.triggered, settings, contexts)
    return Triaged(scored, contexts, drafts, findings, text)

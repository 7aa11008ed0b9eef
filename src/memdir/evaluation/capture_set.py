"""Labelled conversations: one file of JSON lines per split, each line a conversation."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date
from typing import Any

from memdir.core import dates
from memdir.core.transcript import AGENT, PERSON, TOOL, Said
from memdir.evaluation.sets import bad_data, read_data, read_row

SUFFIX = ".jsonl"
USE = "use.json"  # beside the splits: what each of them was used for, in a sentence
GET_IT = "name the directory with conversations with --data; the repository has evals/capture"
TEXTS = ("id", "class", "day")
NOON = dates.DAY // 2


@dataclass(frozen=True)
class Expected:
    """What should be noticed: `words` stand in it; `hold` is None where either will do."""

    words: tuple[str, ...]
    kinds: tuple[str, ...]
    types: tuple[str, ...] = ()
    hold: bool | None = None
    who: str = PERSON


@dataclass(frozen=True)
class Conversation:
    """`fine` may be noticed or not; `never` may be kept nowhere; `excluded`: it must be refused."""

    id: str
    group: str
    day: date
    said: tuple[Said, ...]
    expected: tuple[Expected, ...]
    fine: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    excluded: bool = False


@dataclass(frozen=True)
class CaptureSet:
    """The conversations of each split, by its name, and what it was used for, if that is told."""

    data: str
    splits: dict[str, tuple[Conversation, ...]]
    use: dict[str, str]


def read(data: str) -> CaptureSet:
    """Every line must be right: one that is dropped quietly would change the figures."""
    names = [data]
    if os.path.isdir(data):
        found = sorted(name for name in os.listdir(data) if name.endswith(SUFFIX))
        names = [os.path.join(data, name) for name in found] or [os.path.join(data, "*" + SUFFIX)]
    splits: dict[str, tuple[Conversation, ...]] = {}
    ids: set[str] = set()
    for path in names:
        rows = [
            _conversation(path, number, line)
            for number, line in enumerate(read_data(path, GET_IT).split("\n"), 1)
            if line.strip()
        ]
        for row in rows:
            if row.id in ids:
                raise bad_data(path, 0, f"the id {row.id!r} was there before")
            ids.add(row.id)
        if not rows:
            raise bad_data(path, 0, "no conversation in it")
        splits[os.path.basename(path).removesuffix(SUFFIX).replace("_", " ")] = tuple(rows)
    return CaptureSet(data, splits, _use(os.path.join(os.path.dirname(names[0]), USE)))


def _use(path: str) -> dict[str, str]:
    """Only who made a split knows it, so it is told with the data; empty where it is not."""
    if not os.path.exists(path):
        return {}
    given = read_row(path, 0, read_data(path, GET_IT))
    return {name: said for name, said in given.items() if isinstance(said, str)}


def _conversation(path: str, number: int, line: str) -> Conversation:
    given = read_row(path, number, line, TEXTS)
    try:
        day = date.fromisoformat(given["day"])
    except ValueError:
        raise bad_data(path, number, "the field 'day' is not a date") from None
    time = (dates.parse_time(given["day"]) or 0.0) + NOON
    said = given.get("said")
    expected = given.get("expected")
    if not isinstance(said, list) or not said or not isinstance(expected, list):
        raise bad_data(path, number, "the fields 'said' and 'expected' are not lists")
    try:
        return Conversation(
            id=given["id"],
            group=given["class"],
            day=day,
            said=tuple(_said(given["id"], at, one, time) for at, one in enumerate(said)),
            expected=tuple(map(_expected, expected)),
            fine=tuple(map(str, given.get("ok", ()))),
            never=tuple(map(str, given.get("never", ()))),
            excluded=given.get("excluded") is True,
        )
    except (TypeError, KeyError, ValueError) as error:
        raise bad_data(
            path, number, f"'said' or 'expected' is not as it should be: {error}"
        ) from None


def _said(id: str, at: int, given: dict[str, Any], time: float) -> Said:
    """A text may come in parts, so that no scanner takes what looks like a secret for one."""
    if given["who"] not in (PERSON, AGENT, TOOL):
        raise ValueError(f"nobody is called {given['who']!r}")
    text = given["text"] if isinstance(given["text"], str) else "".join(given["text"])
    return Said(f"{id}-{at}", given["who"], text, time, str(given.get("tool", "")))


def _expected(given: dict[str, Any]) -> Expected:
    return Expected(
        words=tuple(map(str, given["words"])),
        kinds=tuple(map(str, given["kind"])),
        types=tuple(map(str, given.get("type", ()))),
        hold=given.get("hold"),
        who=str(given.get("who", PERSON)),
    )

"""What the first screen shows of a store, and the log of what agents were told."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from memdir.errors import Unwritable
from memdir.format.index import cut_index
from memdir.hot import safe
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, Memory, decode, utf16_units
from memdir.hot.run import MAX_LOG_BYTES, TOLD
from memdir.models.ledger import read_model_spending
from memdir.models.model import CHARACTERS_PER_TOKEN
from memdir.recall.answer import recall_standing_rules
from memdir.store import state
from memdir.store.look import readable_store_log
from memdir.store.ports import Logged
from memdir.store.writer import App, store_state_folder
from memdir.text.secrets import text_before_secrets
from memdir.ui.workspace import Census, state_of_page_files

CHANGES = 200  # of the history that are looked at
WEEK = 7 * safe.DAY
DAYS = 14  # of a plot
POINTS = 24  # of the index over time
AGES = (30, 180)  # days: young, grown, old
TYPES = 6  # rows of a plot


MAX_MEMORIES = 50  # of one answer that are shown


class Plot(NamedTuple):
    """`kind` is the macro in `plots.html` that draws it."""

    kind: str
    title: str
    labels: Sequence[str]
    values: Sequence[Any]
    unit: str = ""
    limit: int = 0


def page_changes(app: App, census: Census) -> list[Logged]:
    return census.once("log", lambda: [*islice(readable_store_log(app), CHANGES)])


def undone_on_page(changes: Sequence[Logged]) -> set[str]:
    """Ids that a later change has undone, unless that one was undone in its turn."""
    gone: set[str] = set()
    for logged in changes:
        if logged.id not in gone:
            gone.update(logged.undoes)
    return gone


def read_strip(app: App, census: Census, told: Sequence[Told]) -> dict[str, Any]:
    """What every session carries, and how much of the limits that is."""
    loaded = census.once("index", lambda: cut_index(decode(app.store.index() or b"")))
    rules = census.once("rules", lambda: recall_standing_rules([("project", app)])[0])
    prompts = [answer.characters for answer in told if answer.prompt]
    saved = (it.time for it in page_changes(app, census) if it.verb != "begin" and it.paths)
    return {
        "memories": len(census.scan.memories),
        "last_saved": next(saved, 0) or max((it.clock for it in census.scan.memories), default=0),
        "last_told": told[0].time if told else 0,
        "answers": sum(it.time > app.now() - WEEK and it.prompt != "" for it in told),
        "index": tokens(min(loaded.characters, MAX_CHARACTERS)),
        "rules": tokens(utf16_units(rules)),
        "prompt": tokens(sum(prompts) // max(len(prompts), 1)),
        "lines": loaded.lines,
        "share": round(100 * max(loaded.lines / MAX_LINES, loaded.characters / MAX_CHARACTERS)),
        "spending": read_model_spending(app),
    }


def read_page_plots(app: App, census: Census, told: Sequence[Told]) -> list[Plot]:
    today = datetime.datetime.fromtimestamp(app.now()).date()
    days = [today - datetime.timedelta(days=DAYS - 1 - i) for i in range(DAYS)]
    memories, characters = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    for answer in told:
        day = datetime.datetime.fromtimestamp(answer.time).date()
        if day in memories:
            memories[day] += len(answer.memories)
            characters[day] += answer.characters
    labels = [short_day_on_page(day) for day in days]
    bars = [
        Plot("bars", "Memories told per day", labels, [*memories.values()], "memories"),
        Plot("bars", "Characters told per day", labels, [*characters.values()], "characters"),
    ]
    return bars * bool(told) + census.once("plots", lambda: _plots_of_store(app, census))


def _plots_of_store(app: App, census: Census) -> list[Plot]:
    plots = []
    if census.scan.memories:
        title = "Age by type: under a month, under half a year, older"
        plots.append(Plot("shares", title, *_ages(census.scan.memories, app.now())))
    path = app.store.index_path
    changes = [it for it in page_changes(app, census) if any(path == name for _, name in it.paths)]
    points = changes[:: -(-len(changes) // POINTS) or 1][::-1]
    if len(points) > 1:
        labels = [short_day_on_page(datetime.datetime.fromtimestamp(it.time)) for it in points]
        texts = [decode(app.history.content(it.id, path) or b"") for it in points]
        values, limit = [tokens(utf16_units(text)) for text in texts], tokens(MAX_CHARACTERS)
        plots.append(Plot("line", "Tokens of the index over time", labels, values, "", limit))
    return plots


def short_day_on_page(day: datetime.date) -> str:
    return f"{day.day} {day:%b}"


def _ages(memories: Sequence[Memory], now: float) -> tuple[list[str], list[list[int]]]:
    rows: dict[str, list[int]] = {}
    for memory in memories:
        days = safe.age_days(memory.clock, now)
        row = rows.setdefault(memory.type, [0] * (len(AGES) + 1))
        row[sum(days >= limit for limit in AGES)] += 1
    ranked = sorted(rows.items(), key=lambda pair: -sum(pair[1]))[:TYPES]
    return [label for label, _ in ranked], [row for _, row in ranked]


def tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


class ToldMemory(NamedTuple):
    path: str
    scope: str
    whole: bool
    words: tuple[str, ...]


class Told(NamedTuple):
    """One answer to a prompt; without a prompt, what a session began with."""

    time: float
    session: str
    prompt: str
    characters: int
    memories: tuple[ToldMemory, ...]


def read_told(app: App, census: Census) -> list[Told]:
    """The newest first; read again only when the log has changed."""
    folder = store_state_folder(app.config)
    return census.once("told", lambda: _read_lines(folder), state_of_page_files(folder))


def _read_lines(folder: str) -> list[Told]:
    """A damaged line hides no other one."""
    try:
        lines, _ = state.read_state_lines(folder, TOLD, 2 * MAX_LOG_BYTES)
    except OSError as error:
        message = f"the log of what was told cannot be read: {error.strerror}"
        raise Unwritable(message, path=f"{folder}/{TOLD}", next="move that file away") from None
    return state.parse_state_lines(lines, _parse)[0][::-1]


def _parse(value: Any) -> Told:
    prompt = text_before_secrets(str(value["prompt"]))
    typed = [word.strip("\"'`.,:;?!()") for word in prompt.split()]
    memories = []
    for item in value["memories"][:MAX_MEMORIES]:
        path, stems = str(item["path"]), map(str, item["words"])
        path.encode("utf-8", "surrogateescape")  # or it is damaged: no file has half a character
        words = (next((it for it in typed if it.lower().startswith(stem)), stem) for stem in stems)
        memories.append(ToldMemory(path, str(item["scope"]), item["whole"] is True, tuple(words)))
    time = float(value["time"])
    datetime.datetime.fromtimestamp(time)  # likewise
    return Told(time, str(value["session"]), prompt, int(value["characters"]), tuple(memories))


def group_answers_on_page(answers: Sequence[Told]) -> list[list[Told]]:
    groups: dict[str, list[Told]] = {}
    for answer in answers:
        groups.setdefault(answer.session, []).append(answer)
    return [*groups.values()]

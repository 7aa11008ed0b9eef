"""What the first screen shows of a store, each part on its own: a broken one hides no other."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from memdir.format.index import cut_index
from memdir.hot import safe
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, Memory, decode, utf16_units
from memdir.models.ledger import read_model_spending
from memdir.models.model import CHARACTERS_PER_TOKEN
from memdir.recall.answer import recall_standing_rules
from memdir.store.look import readable_store_log
from memdir.store.ports import Logged
from memdir.store.writer import App
from memdir.ui.plots import draw_bars, draw_line, draw_shares
from memdir.ui.told import Told
from memdir.ui.workspace import Census

CHANGES = 200  # of the history that are looked at
WEEK = 7 * safe.DAY
DAYS = 14  # of a plot
POINTS = 24  # of the index over time
AGES = (30, 180)  # days: young, grown, old
TYPES = 6  # rows of a plot


@dataclass(frozen=True)
class Strip:
    """What every session carries, in tokens, and how much of the limits that is."""

    memories: int
    last_saved: float
    last_told: float
    answers: int  # of the last week
    index_tokens: int
    rules_tokens: int
    prompt_tokens: int
    index_lines: int
    index_share: int  # percent of the limit that is nearer
    spent: int
    day_tokens: int
    waiting: int


def read_changes(app: App, census: Census) -> list[Logged]:
    return census.once("log", lambda: [*islice(readable_store_log(app), CHANGES)])


def is_taken_back(changes: Sequence[Logged]) -> set[str]:
    """Ids that a later change has undone, unless that one was undone in its turn."""
    gone: set[str] = set()
    for logged in changes:
        if logged.id not in gone:
            gone.update(logged.cause.undoes)
    return gone


def read_strip(app: App, census: Census, told: Sequence[Told], waiting: int) -> Strip:
    memories = census.scan.memories
    changes = read_changes(app, census)
    loaded = census.once("index", lambda: cut_index(decode(app.store.index() or b"")))
    rules = census.once("rules", lambda: recall_standing_rules([("project", app)])[0])
    prompts = [answer.characters for answer in told if answer.prompt]
    spending = read_model_spending(app)
    lines, characters = loaded.lines / MAX_LINES, loaded.characters / MAX_CHARACTERS
    saved = (it.time for it in changes if it.cause.verb != "begin" and it.paths)
    return Strip(
        memories=len(memories),
        last_saved=next(saved, 0.0),
        last_told=told[0].time if told else 0.0,
        answers=sum(it.time > app.now() - WEEK and it.prompt != "" for it in told),
        index_tokens=_tokens(min(loaded.characters, MAX_CHARACTERS)),
        rules_tokens=_tokens(utf16_units(rules)),
        prompt_tokens=_tokens(sum(prompts) // len(prompts)) if prompts else 0,
        index_lines=loaded.lines,
        index_share=round(100 * max(lines, characters)),
        spent=spending.spent.day,
        day_tokens=spending.limits.day,
        waiting=waiting,
    )


def draw_plots(app: App, census: Census, told: Sequence[Told]) -> dict[str, Markup]:
    today = datetime.datetime.fromtimestamp(app.now()).date()
    days = [today - datetime.timedelta(days=DAYS - 1 - i) for i in range(DAYS)]
    counts, sizes = dict.fromkeys(days, 0), dict.fromkeys(days, 0)
    for answer in told:
        day = datetime.datetime.fromtimestamp(answer.time).date()
        if day in counts:
            counts[day] += len(answer.memories)
            sizes[day] += answer.characters
    labels = [_short_day(day) for day in days]
    plots = {}
    if told:
        plots["Memories told per day"] = draw_bars(
            [*counts.values()], labels, "Memories told per day", "memories"
        )
        plots["Characters told per day"] = draw_bars(
            [*sizes.values()], labels, "Characters told per day", "characters"
        )
    plots |= census.once("plots", lambda: _slow_plots(app, census))
    return plots


def _slow_plots(app: App, census: Census) -> dict[str, Markup]:
    plots = {}
    memories = census.scan.memories
    if memories:
        title = "Age by type: under a month, under half a year, older"
        plots[title] = draw_shares(_ages(memories, app.now()), title)
    points = [
        (it.time, len(app.history.content(it.id, app.store.index_path) or b""))
        for it in _thin([it for it in read_changes(app, census) if _has_index(it, app)])
    ][::-1]
    if len(points) > 1:
        labels = [_short_day(datetime.datetime.fromtimestamp(time)) for time, _ in points]
        values = [_tokens(size) for _, size in points]
        title = "Tokens of the index over time"
        limit = _tokens(MAX_CHARACTERS)
        plots[title] = draw_line(values, labels, title, limit)
    return plots


def _short_day(day: datetime.date) -> str:
    return f"{day.day} {day:%b}"


def _has_index(logged: Logged, app: App) -> bool:
    return any(path == app.store.index_path for _, path in logged.paths)


def _thin(items: Sequence[Logged]) -> Sequence[Logged]:
    return items[:: -(-len(items) // POINTS)] if items else items


def _ages(memories: Sequence[Memory], now: float) -> list[tuple[str, list[int]]]:
    rows: dict[str, list[int]] = {}
    for memory in memories:
        days = safe.age_days(memory.clock, now)
        row = rows.setdefault(memory.type, [0] * (len(AGES) + 1))
        row[sum(days >= limit for limit in AGES)] += 1
    ranked = sorted(rows.items(), key=lambda pair: -sum(pair[1]))
    return ranked[:TYPES]


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)

"""What the first screen shows of a store, each part on its own: a broken one hides no other."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
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
SIZES: dict[str, Callable[[Told], int]] = {  # of an answer
    "memories": lambda answer: len(answer.memories),
    "characters": lambda answer: answer.characters,
}


def read_changes(app: App, census: Census) -> list[Logged]:
    return census.once("log", lambda: [*islice(readable_store_log(app), CHANGES)])


def is_taken_back(changes: Sequence[Logged]) -> set[str]:
    """Ids that a later change has undone, unless that one was undone in its turn."""
    gone: set[str] = set()
    for logged in changes:
        if logged.id not in gone:
            gone.update(logged.cause.undoes)
    return gone


def read_strip(app: App, census: Census, told: Sequence[Told], waiting: int) -> dict[str, float]:
    """What every session carries, in tokens, and how much of the limits that is."""
    loaded = census.once("index", lambda: cut_index(decode(app.store.index() or b"")))
    rules = census.once("rules", lambda: recall_standing_rules([("project", app)])[0])
    prompts = [answer.characters for answer in told if answer.prompt]
    spending = read_model_spending(app)
    share = max(loaded.lines / MAX_LINES, loaded.characters / MAX_CHARACTERS)
    changes = read_changes(app, census)
    return {
        "memories": len(census.scan.memories),
        "last_saved": next((it.time for it in changes if it.cause.verb != "begin" and it.paths), 0),
        "last_told": told[0].time if told else 0,
        "answers": sum(it.time > app.now() - WEEK and it.prompt != "" for it in told),
        "index_tokens": _tokens(min(loaded.characters, MAX_CHARACTERS)),
        "rules_tokens": _tokens(utf16_units(rules)),
        "prompt_tokens": _tokens(sum(prompts) // max(len(prompts), 1)),
        "index_lines": loaded.lines,
        "index_share": round(100 * share),
        "spent": spending.spent.day,
        "day_tokens": spending.limits.day,
        "waiting": waiting,
    }


def draw_plots(app: App, census: Census, told: Sequence[Told]) -> dict[str, Markup]:
    today = datetime.datetime.fromtimestamp(app.now()).date()
    days = [today - datetime.timedelta(days=DAYS - 1 - i) for i in range(DAYS)]
    labels, plots = [_short_day(day) for day in days], {}
    dated = [(datetime.datetime.fromtimestamp(it.time).date(), it) for it in told]
    for unit, size in SIZES.items() if told else ():
        sums = dict.fromkeys(days, 0)
        for day, answer in dated:
            sums[day] = sums.get(day, 0) + size(answer)
        title = f"{unit.capitalize()} told per day"
        plots[title] = draw_bars([sums[day] for day in days], labels, title, unit)
    return plots | census.once("plots", lambda: _slow_plots(app, census))


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

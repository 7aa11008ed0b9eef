"""budget: what models may cost, and what they did."""

from __future__ import annotations

import time

import click

from memdir.core import dates
from memdir.core.budget import Call
from memdir.flows.budgeting import Spending, spending
from memdir.surfaces.cli.answers import Fields
from memdir.surfaces.cli.screen import Cell, Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count

ROWS = 10
BAR = 30  # columns
BESIDE = 36  # columns of what stands beside it
FULL, EMPTY = "█", "░"
NEARLY, OVER = 0.75, 1.0
HEADINGS = ("when", "purpose", "model", "in", "out", "cached", "cost", "produced")
WIDEST = (5, 8, 16)  # columns of the first three
OF_A_SESSION = "MEMDIR_SESSION"


@command("budget", "memdir budget")
@click.option(
    "--limit", type=click.IntRange(0), default=ROWS, help=f"Calls at most ({ROWS}); 0 shows all."
)
def budget(session: Session, limit: int) -> None:
    """Show what models may cost and what they did: limits, bars, calls.

    Tokens that count are output, and input that no cache gave. A session is named by
    MEMDIR_SESSION.
    """
    asked = session.config.environ.get(OF_A_SESSION, "").strip()
    found = spending(session.app, asked)
    lines = [] if session.screen.json else _lines(session, found, limit)
    session.screen.answer(_fields(found), lines)


def _fields(found: Spending) -> Fields:
    limits, spent = found.limits, found.spent
    session = {"session": spent.session} if found.session else {}
    cached = sum(call.usage.cached_tokens for call in found.today)
    return {
        "limits": {"run": limits.run, "session": limits.session, "day": limits.day},
        "spent": {**session, "day": spent.day, "cached": cached, "cost": _cost(found.today)},
        "day": found.day,
        "session": found.session,
        "entries": [_entry(call) for call in found.calls],
    }


def _entry(call: Call) -> Fields:
    return {
        "id": call.id,
        "time": dates.iso_time(call.time),
        "purpose": call.purpose,
        "model": call.model,
        "session": call.session,
        "input_tokens": call.usage.input_tokens,
        "output_tokens": call.usage.output_tokens,
        "cached_tokens": call.usage.cached_tokens,
        "cost": call.usage.cost,
        "outcome": call.outcome,
        "produced": call.produced,
    }


def _lines(session: Session, found: Spending, limit: int) -> list[str]:
    screen, limits, spent = session.screen, found.limits, found.spent
    lines = _bar(screen, "today", spent.day, limits.day)
    if found.session:
        lines += _bar(screen, "session", spent.session, limits.session)
    else:
        lines += [f"  {'session':8}at most {limits.session:,} tokens"]
    lines += [f"  {'run':8}at most {limits.run or 0:,} tokens"]
    cached, cost = sum(call.usage.cached_tokens for call in found.today), _cost(found.today)
    said = [f"{count(len(found.today), 'call')} today"]
    said += [f"{cached:,} tokens from caches"] if cached else []
    said += [f"about {_dollars(cost)}"] if cost is not None else []
    lines += ["", "  " + ", ".join(said)]
    if not session.config.options.model:
        text = "No model is set, so none is asked: set model.name in config.toml."
        lines += ["", *screen.block("", text)]
    shown = found.calls[:limit] if limit else found.calls
    if shown:
        head: list[Cell] = [(text, "dim") for text in HEADINGS]
        lines += ["", *screen.table([head, *[_row(one, found.day) for one in shown]], WIDEST)]
    if len(shown) < len(found.calls):
        rest = f"  shown: {len(shown):,} of {len(found.calls):,}; all of them: --limit 0"
        lines += ["", rest]
    return lines


def _bar(screen: Screen, name: str, used: int, limit: int) -> list[str]:
    share = used / limit if limit else OVER
    wide = min(BAR, screen.columns - BESIDE)
    full = min(round(share * wide), wide) if limit else 0
    full = max(full, 1) if used and limit else full
    style = "red" if share >= OVER else "yellow" if share >= NEARLY else "green"
    bar = screen.paint(FULL * full, style) + EMPTY * (wide - full)
    return [f"  {name:8}{bar}  {used:,} of {limit:,}"]


def _row(call: Call, today: str) -> list[Cell]:
    usage, form = call.usage, "%H:%M" if call.day == today else "%m-%d"
    failed = "" if call.outcome == "answered" else call.outcome
    return [
        time.strftime(form, time.localtime(call.time)),
        call.purpose,
        call.model.rpartition(":")[2],
        _short(usage.input_tokens),
        _short(usage.output_tokens),
        _short(usage.cached_tokens),
        "" if usage.cost is None else _dollars(usage.cost),
        call.produced or failed,
    ]


def _short(tokens: int) -> str:
    """In at most six columns."""
    for size, unit in ((10**9, "G"), (10**6, "M")):
        if tokens >= size:
            return f"{tokens / size:.1f}{unit}"
    return f"{tokens:,}" if tokens < 100_000 else f"{tokens // 1000}k"


def _cost(calls: list[Call]) -> float | None:
    """What is known of it; None where nothing is."""
    known = [call.usage.cost for call in calls if call.usage.cost is not None]
    return sum(known) if known else None


def _dollars(cost: float) -> str:
    return f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"

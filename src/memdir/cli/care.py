"""Doctor, status, budget."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click

from memdir.care.doctor import doctor as check_up
from memdir.care.status import Status, Waiting
from memdir.care.status import status as look
from memdir.cli.command import ACTOR, Session, command, private_folder
from memdir.cli.output import Cell, Fields, Screen, moment
from memdir.config.config import Config, is_silent
from memdir.hot import safe
from memdir.hot.place import Scope
from memdir.models.budget import Call
from memdir.models.ledger import Spending, spending
from memdir.store.writer import App, open_app
from memdir.text.terminal import count
from memdir.upkeep.worksheet import Check

# budget: what models may cost, and what they did.

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
        "time": safe.iso_time(call.time),
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


# doctor: whether memory really works here.


@command("doctor", "memdir doctor --fix")
@click.option("--fix", is_flag=True, help="Mend the index; set a damaged history aside.")
def doctor(session: Session, fix: bool) -> int:
    """Check what saving rests on, and prove that it works.

    The proof saves and undoes in a throw-away store; yours is only looked at. Exit code 1 means
    that something needs you; each such line says what to do.
    """
    found: list[tuple[str, Check]] = []
    with _throw_away() as folder:
        for scope, app in session.apps():
            trial = _trial(app, os.path.join(os.path.realpath(folder), scope.replace("/", "-")))
            found += [(scope, check) for check in check_up(app, trial, fix)]
    checks: list[Fields] = [
        {
            "name": check.name,
            "ok": check.ok,
            "message": check.message,
            "fix": session.screen.advise(check.fix, scope),
            "scope": scope,
        }
        for scope, check in found
    ]
    well = all(check.ok for _, check in found)
    screen, lines = session.screen, list[str]()
    for scope, check in found:
        mark, style = ("ok", "green") if check.ok else ("!!", "red")
        start = f"{check.name:10}"
        lines += screen.block(f"{mark} {start}", session.short(check.message), "", style)
        if check.fix and not check.ok:
            lines += screen.block("fix:", screen.advise(check.fix, scope), " " * 14)
    lines += ["", "all is well" if well else "not all is well: see the lines with !!"]
    screen.answer({"ok": well, "checks": checks}, lines)
    return int(not well)


@contextmanager
def _throw_away() -> Iterator[str]:
    """A folder for the proof, gone afterwards."""
    folder = private_folder("memdir-doctor-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _trial(app: App, folder: str) -> App:
    """A store that nobody will miss, wired like the real one."""
    config = replace(
        app.config,
        scope=Scope("project"),  # the proof saves a Markdown memory
        store=os.path.join(folder, "memory"),
        state_dir=os.path.join(folder, "state"),
        checkout=folder,
        shared=False,
        options=replace(app.config.options, history=True, index=True),
    )
    return open_app(config, now=time.time, tell=app.tell, actor=ACTOR)


# status: what memory has done lately, and what it is waiting for.

LABEL = 9  # columns
WAITING_SHOWN = 3  # things that wait, one by one


@command("status", "memdir status")
def status(session: Session) -> int:
    """Show what was captured, saved and told, what waits, and what went wrong last.

    Everything that capture came to was saved, refused, held for a review, or waits: where the sum
    does not come out, the exit code is 1.
    """
    session.expect_directory()
    app = session.app
    found = look(app)
    options, hooks = session.config.options, _hooks(session.config, found)
    fields = _status_fields(found)
    fields["hooks"] = hooks
    fields["capture"] = {"enabled": options.capture, "every": options.capture_every}
    fields["model"] = options.capture_model or options.model
    fields["store"] = app.store.root
    session.screen.answer(fields, _status_lines(session, found, hooks))
    return 0 if found.account.balances else 1


def _status_fields(found: Status) -> Fields:
    account = found.account
    return {
        "received": account.received,
        "saved": account.saved,
        "refused": account.refused,
        "held": account.held,
        "waiting": len(account.waiting),
        "waits": [
            {"reason": one.reason, "until": _time(one.after), "transcript": one.transcript}
            for one in found.waiting
        ],
        "review": found.review,
        "balances": account.balances,
        "problems": list(account.problems),
        "damaged_lines": list(found.damaged),
        "queued": found.queued,
        "last_save": _time(found.last_save),
        "last_saved": found.last_saved,
        "last_recall": _time(found.last_recall),
        "last_capture": _time(found.last_capture),
        "worker": "running" if found.worker else "idle",
        "last_trouble": found.last_trouble,
        "budget": {"day_tokens": found.day_tokens, "left": found.tokens_left},
    }


def _time(seconds: float) -> str | None:
    return safe.iso_time(seconds) if seconds else None


def _hooks(config: Config, found: Status) -> str:
    """Whether they run, and if not, why."""
    if not config.options.hooks:
        return "off by hooks.enabled"
    if is_silent(config):
        return "off here"  # in a bare mode of the client, or by the repository's settings
    return f"set up ({found.set_up})" if found.set_up else "not set up"


def _status_lines(session: Session, found: Status, hooks: str) -> list[str]:
    screen, account, options = session.screen, found.account, session.config.options
    sum_of = f"{account.saved} saved, {account.refused} refused, {account.held} held, "
    sum_of += f"{len(account.waiting)} waiting"
    verdict = "" if account.balances else "; THE SUM IS WRONG"
    how = "off" if not options.capture else "on" if options.capture_every == 1 else "seldom"
    model = options.capture_model or options.model or "none"
    rows = [
        ("captured", f"{count(account.received, 'thing')} = {sum_of}{verdict}"),
        *(row for one in found.waiting[:WAITING_SHOWN] for row in _waiting_rows(session, one)),
        ("review", _review(found)),
        ("last", f"save {_ago(found.last_save)}" + _named(found.last_saved)),
        ("", f"recall {_ago(found.last_recall)} · capture {_ago(found.last_capture)}"),
        ("hooks", f"{hooks} · capture {how} · model {model}"),
        ("worker", f"{'running' if found.worker else 'idle'} · {count(found.queued, 'request')}"),
        ("budget", _budget(found)),
        ("trouble", found.last_trouble or "none"),
    ]
    lines: list[str] = []
    for label, text in rows:
        lines += screen.block(f"{label:{LABEL}}", text, "", style="bold" if label else "")
    lines += [f"  {problem}" for problem in account.problems[:WAITING_SHOWN]]
    return lines + (_damage(session, found) if found.damaged else [])


def _damage(session: Session, found: Status) -> list[str]:
    """One broken line hides no other, but somebody should know of it."""
    some = ", ".join(map(str, found.damaged[:WAITING_SHOWN]))
    some += ", …" if len(found.damaged) > WAITING_SHOWN else ""
    noun = "line" if len(found.damaged) == 1 else "lines"
    told = f"{noun} {some} of {session.short(found.journal)} cannot be read; the others count"
    return session.screen.block("note:", told)


def _waiting_rows(session: Session, one: Waiting) -> list[tuple[str, str]]:
    """Until when and why, and how not to wait."""
    until = f"until {moment(one.after)}" if one.after > time.time() else "for the next session"
    rows = [("", f"waits {until}: {one.reason or one.id}")]
    if one.transcript:
        path = shlex.quote(one.transcript)
        step = f"memdir capture --transcript {path} --no-model"
        rows.append(("", f"do it without a model: {session.screen.advise(step)}"))
    return rows


def _review(found: Status) -> str:
    if found.review is None:
        return "nobody can read what waits: memdir review"
    waits = "waits" if found.review == 1 else "wait"
    return f"{found.review} {waits} for memdir review" if found.review else "nothing waits for it"


def _named(name: str) -> str:
    return f": {name}" if name else ""


def _ago(seconds: float) -> str:
    if not seconds:
        return "never"
    return f"{moment(seconds)} ({safe.age_words(safe.age_days(seconds, time.time()))})"


def _budget(found: Status) -> str:
    if found.tokens_left is None:
        return "nobody knows what was spent: memdir budget"
    return f"{found.tokens_left:,} of {found.day_tokens:,} tokens left today"

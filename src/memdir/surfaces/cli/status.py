"""status: what memory has done lately, and what it is waiting for."""

from __future__ import annotations

import time

from memdir.core import dates
from memdir.flows.accounting import Status
from memdir.flows.accounting import status as look
from memdir.surfaces.cli.answers import Fields, moment
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count
from memdir.surfaces.hooks.placing import is_silent

LABEL = 9  # columns
WAITING_SHOWN = 3  # things that wait, one by one


@command("status", "memdir status")
def status(session: Session) -> int:
    """Show what was captured, saved and told, what waits, and what went wrong last.

    Everything that capture came to was saved, refused, held for a review, or waits: where the sum
    does not come out, the exit code is 1.
    """
    app = session.app
    found = look(app)
    options, hooks = session.config.options, not is_silent(session.config)
    fields = _fields(found)
    fields["hooks"] = "on" if hooks else "off"
    fields["capture"] = {"enabled": options.capture, "every": options.capture_every}
    fields["model"] = options.capture_model or options.model
    fields["store"] = app.store.root
    session.screen.answer(fields, _lines(session, found, hooks))
    return 0 if found.account.balances else 1


def _fields(found: Status) -> Fields:
    account = found.account
    return {
        "received": account.received,
        "saved": account.saved,
        "refused": account.refused,
        "held": account.held,
        "waiting": len(account.waiting),
        "balances": account.balances,
        "problems": list(account.problems),
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
    return dates.iso_time(seconds) if seconds else None


def _lines(session: Session, found: Status, hooks: bool) -> list[str]:
    screen, account, options = session.screen, found.account, session.config.options
    sum_of = f"{account.saved} saved, {account.refused} refused, {account.held} held, "
    sum_of += f"{len(account.waiting)} waiting"
    verdict = "" if account.balances else "; THE SUM IS WRONG"
    how = "off" if not options.capture else "on" if options.capture_every == 1 else "seldom"
    model = options.capture_model or options.model or "none"
    rows = [
        ("captured", f"{count(account.received, 'thing')} = {sum_of}{verdict}"),
        *(("", f"waits: {one.reason or one.id}") for one in account.waiting[:WAITING_SHOWN]),
        ("last", f"save {_ago(found.last_save)}" + _named(found.last_saved)),
        ("", f"recall {_ago(found.last_recall)} · capture {_ago(found.last_capture)}"),
        ("hooks", f"{'on' if hooks else 'off'} · capture {how} · model {model}"),
        ("worker", f"{'running' if found.worker else 'idle'} · {count(found.queued, 'request')}"),
        ("budget", _budget(found)),
        ("trouble", found.last_trouble or "none"),
    ]
    lines: list[str] = []
    for label, text in rows:
        lines += screen.block(f"{label:{LABEL}}", text, "", style="bold" if label else "")
    lines += [f"  {problem}" for problem in account.problems[:WAITING_SHOWN]]
    return lines


def _named(name: str) -> str:
    return f": {name}" if name else ""


def _ago(seconds: float) -> str:
    if not seconds:
        return "never"
    return f"{moment(seconds)} ({dates.age_words(dates.age_days(seconds, time.time()))})"


def _budget(found: Status) -> str:
    if found.tokens_left is None:
        return "nobody knows what was spent: memdir budget"
    return f"{found.tokens_left:,} of {found.day_tokens:,} tokens left today"

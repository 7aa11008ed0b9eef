"""status: what memory has done lately, and what it is waiting for."""

from __future__ import annotations

import shlex
import time

from memdir.config import Config
from memdir.core import dates
from memdir.flows.accounting import Status, Waiting
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
    session.expect_directory()
    app = session.app
    found = look(app)
    options, hooks = session.config.options, _hooks(session.config, found)
    fields = _fields(found)
    fields["hooks"] = hooks
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
    return dates.iso_time(seconds) if seconds else None


def _hooks(config: Config, found: Status) -> str:
    """Whether they run, and if not, why."""
    if not config.options.hooks:
        return "off by hooks.enabled"
    if is_silent(config):
        return "off here"  # in a bare mode of the client, or by the repository's settings
    return f"set up ({found.set_up})" if found.set_up else "not set up"


def _lines(session: Session, found: Status, hooks: str) -> list[str]:
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
    return f"{moment(seconds)} ({dates.age_words(dates.age_days(seconds, time.time()))})"


def _budget(found: Status) -> str:
    if found.tokens_left is None:
        return "nobody knows what was spent: memdir budget"
    return f"{found.tokens_left:,} of {found.day_tokens:,} tokens left today"

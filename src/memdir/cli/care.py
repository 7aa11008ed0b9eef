"""Doctor, status, budget, eval."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator

import click

from memdir.care.doctor import open_doctor_trial_store, run_doctor
from memdir.care.status import Status, collect_status
from memdir.cli.command import ACTOR, Session, command, make_folder_for_command
from memdir.cli.output import Answer, Cell, Fields, pick, pick_all, show_local_time
from memdir.config.config import is_config_silent
from memdir.hot import safe
from memdir.models.ledger import Call, read_model_spending
from memdir.sync.flow import describe_last_sync, list_last_syncs
from memdir.text.terminal import draw_bar, plural
from memdir.upkeep.worksheet import Check

ROWS = 10  # calls shown
HEADINGS = ("when", "purpose", "model", "in", "out", "cached", "cost", "produced")
COLUMNS = (5, 8, 16)  # maximum widths of the first three columns
SESSION_VARIABLE = "MEMDIR_SESSION"
CALL = (
    "id time purpose model session input_tokens=usage.input_tokens "
    "output_tokens=usage.output_tokens cached_tokens=usage.cached_tokens cost=usage.cost "
    "outcome produced"
)


@command("budget", "memdir budget")
def budget_command(session: Session) -> Answer:
    """Output tokens count, and input tokens that came from no cache. MEMDIR_SESSION names the
    session.
    """
    name = session.config.environ.get(SESSION_VARIABLE, "").strip()
    result, screen = read_model_spending(session.app, name), session.screen
    limits, spent = result.limits, result.spent
    cached = sum(call.usage.cached_tokens for call in result.today)
    known = [call.usage.cost for call in result.today if call.usage.cost is not None]
    cost = sum(known) if known else None
    of_session = {"session": spent.session} if result.session else {}
    fields = pick(
        result,
        "limits spent day session entries",
        limits=pick(limits, "run session day"),
        spent={**of_session, "day": spent.day, "cached": cached, "cost": cost},
        entries=[pick(call, CALL, time=safe.iso_time(call.time)) for call in result.calls],
    )
    used = f"{spent.session:,} of " if result.session else "at most "
    bar = draw_bar(spent.day / limits.day if limits.day else 1.0)
    lines = [f"  today    {bar} {spent.day:,} of {limits.day:,} tokens"]
    lines.append(f"  session  {used}{limits.session:,} tokens")
    lines.append(f"  run      at most {limits.run or 0:,} tokens")
    parts = [f"{plural(len(result.today), 'call')} today"]
    parts += [f"{cached:,} tokens from caches"] if cached else []
    parts += [f"about {_dollars(cost)}"] if cost is not None else []
    lines += ["", "  " + ", ".join(parts)]
    if not session.config.options.model:
        text = "No model is set, so none is used: set model.name in config.toml."
        lines += ["", *screen.block("", text)]
    rows = [_call_row(call, result.day) for call in result.calls[:ROWS]]
    lines += ["", *screen.table(rows, COLUMNS, HEADINGS)] if rows else []
    return Answer(fields, lines + screen.more_lines(len(result.calls), ROWS))


def _call_row(call: Call, today: str) -> list[Cell]:
    usage, form = call.usage, "%H:%M" if call.day == today else "%m-%d"
    failed = "" if call.outcome == "answered" else call.outcome
    return [
        time.strftime(form, time.localtime(call.time)),
        call.purpose,
        call.model.rpartition(":")[2],
        *(f"{n:,}" for n in (usage.input_tokens, usage.output_tokens, usage.cached_tokens)),
        "" if usage.cost is None else _dollars(usage.cost),
        call.produced or failed,
    ]


def _dollars(cost: float) -> str:
    return f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"


@command("doctor", "memdir doctor --fix")
@click.option("--fix", is_flag=True, help="Repair the index; set a damaged history aside.")
def doctor_command(session: Session, fix: bool) -> Answer:
    """The proof saves and undoes in a throw-away store; yours is only read. Exit code 1 means that
    something is wrong; each such line says what to do.
    """
    from shutil import rmtree

    checks: list[tuple[str, Check]] = []
    folder = make_folder_for_command("memdir-doctor-")
    try:
        for scope, app in session.apps():
            place = os.path.join(os.path.realpath(folder), scope.replace("/", "-"))
            trial = open_doctor_trial_store(app, place, ACTOR)
            checks += [(scope, check) for check in run_doctor(app, trial, fix)]
    finally:
        rmtree(folder, ignore_errors=True)
    screen, well = session.screen, all(check.ok for _, check in checks)
    fields: list[Fields] = []
    lines: list[str] = []
    for scope, check in checks:
        step = screen.advise(check.fix, scope)
        fields.append(pick(check, "name ok message fix", fix=step, scope=scope))
        mark, style = ("ok", "green") if check.ok else ("!!", "red")
        lines += screen.block(f"{mark} {check.name:10}", session.short(check.message), "", style)
        lines += screen.block("fix:", step, " " * 14) if step and not check.ok else []
    lines += ["", "all checks passed" if well else "some checks failed: see the lines with !!"]
    return Answer({"ok": well, "checks": fields}, lines, int(not well))


FEW = 3  # waiting items listed one by one
STATUS = (
    "received=account.received saved=account.saved refused=account.refused held=account.held "
    "waiting waits review balances=account.balances problems=account.problems "
    "damaged_lines=damaged queued last_save last_saved last_recall last_capture "
    "last_trouble budget hooks capture model store"
)


@command("status", "memdir status")
def status_command(session: Session) -> Answer:
    """Every captured item was saved, refused, held for a review, or waits; if the numbers do not
    add up, the exit code is 1.
    """
    app, options = session.app, session.config.options
    result = collect_status(app)
    hooks = f"set up ({result.set_up})" if result.set_up else "not set up"
    if not options.hooks:
        hooks = "off by hooks.enabled"
    elif is_config_silent(session.config):
        hooks = "off here"  # by the client's bare mode or the repository's settings
    waits = [
        {"reason": reason, "until": _time(after), "transcript": transcript}
        for reason, after, transcript in result.waiting
    ]
    fields = pick(
        result,
        STATUS,
        waiting=len(result.account.waiting),
        waits=waits,
        last_save=_time(result.last_save),
        last_recall=_time(result.last_recall),
        last_capture=_time(result.last_capture),
        budget={"day_tokens": result.day_tokens, "left": result.tokens_left},
        hooks=hooks,
        capture={"enabled": options.capture, "every": options.capture_every},
        model=options.capture_model or options.model,
        store=app.store.root,
    )
    synced = list_last_syncs(session.config)
    if synced:
        fields["sync"] = pick_all(synced, "remote time failed failure")
    lines = []
    for label, text in _status_rows(session, result, hooks):
        lines += session.screen.block(f"{label:9}", text, "", "bold" if label else "")
    return Answer(fields, lines, int(not result.account.balances))


def _time(seconds: float) -> str | None:
    return safe.iso_time(seconds) if seconds else None


def _status_rows(session: Session, result: Status, hooks: str) -> Iterator[tuple[str, str]]:
    account, options = result.account, session.config.options
    parts = f"{account.saved} saved, {account.refused} refused, {account.held} held, "
    parts += f"{len(account.waiting)} waiting"
    verdict = "" if account.balances else "; THIS DOES NOT ADD UP"
    yield "captured", f"{plural(account.received, 'item')}: {parts}{verdict}"
    for reason, after, transcript in result.waiting[:FEW]:
        until = f"until {show_local_time(after)}" if after > time.time() else "for the next session"
        yield "", f"waits {until}: {reason}"
        if transcript:
            step = f"memdir capture --transcript {shlex.quote(transcript)} --no-model"
            yield "", f"without a model: {session.screen.advise(step)}"
    yield from (("", problem) for problem in account.problems[:FEW])
    if result.damaged:  # the other lines still count
        yield "", f"{plural(len(result.damaged), 'line')} of the account cannot be read"
    unknown = "unreadable" if result.review is None else "nothing waits"
    yield "review", f"{result.review:,} for memdir review" if result.review else unknown
    name = f": {result.last_saved}" if result.last_saved else ""
    yield "last", f"{_ago('save', result.last_save)}{name}"
    told = _ago("recall in a session", result.last_recall)
    yield "", f"{told} · {_ago('capture', result.last_capture)}"
    how = "on" if options.capture_every == 1 else f"every {options.capture_every} turns"
    how = how if options.capture else "off"
    model = options.capture_model or options.model or "none"
    yield "hooks", f"{hooks} · capture {how} · model {model}"
    yield "queue", plural(result.queued, "request")
    left = f"{result.tokens_left or 0:,} of {result.day_tokens:,} tokens left today"
    yield "budget", "the ledger cannot be read" if result.tokens_left is None else left
    for last in list_last_syncs(session.config):
        yield "sync", session.short(describe_last_sync(last, time.time()))
    yield "error", result.last_trouble or "none"


def _ago(what: str, seconds: float) -> str:
    if not seconds:
        return f"no {what} yet"
    age = safe.age_words(safe.age_days(seconds, time.time()))
    return f"{what} {show_local_time(seconds)} ({age})"


OWN, RECALL = "own", "recall"
SETS = ("corpus", "locomo", "longmemeval")
DEPTH, DEEPEST = 20, 1_000  # memories per prompt


@command("eval", "memdir eval recall --set corpus --data ../corpus")
@click.argument("what", type=click.Choice((OWN, RECALL)), default=OWN)
@click.option("--set", "name", type=click.Choice(SETS), help="The test set (corpus).")
@click.option("--data", metavar="PATH", help="Path of the test set.")
@click.option("--k", type=click.IntRange(1, DEEPEST), help=f"Memories per prompt ({DEPTH}).")
def evaluate_command(
    session: Session, what: str, name: str | None, data: str | None, k: int | None
) -> Answer:
    """`own` asks your store for its own descriptions and links. `recall` runs the prompts of a test
    set. Offline; nothing is written.
    """
    from memdir.evals.own import evaluate_own_store
    from memdir.evals.recall_sets import READERS, evaluate_recall

    if what == RECALL:
        if data is None:
            raise click.UsageError("recall needs --data PATH, the test set")
        prompts = READERS[name or SETS[0]](os.path.expanduser(data))
        report = evaluate_recall(prompts, k or DEPTH)
    else:
        if name is not None or data is not None or k is not None:
            raise click.UsageError("--set, --data and --k belong to memdir eval recall")
        report = evaluate_own_store(session.app)
    figures = {item.name: pick(item, "value unit n low high") for item in report.figures}
    fields = pick(report, "set=kind data summary figures remarks", figures=figures)
    screen, rows = session.screen, list[list[Cell]]()
    for item in report.figures:
        value = "–" if item.value is None else f"{item.value:.3f}"
        interval = "" if item.low is None else f"{item.low:.3f}–{item.high:.3f}"
        rows.append([item.name, value, interval, f"{item.n:,}"])
    lines = screen.block(f"memdir eval {report.kind}:", report.summary, "", "bold")
    lines += [*screen.block("", report.data, ""), "", screen.paint(report.title, "bold")]
    lines += [*screen.table(rows, headings=("", "value", "95 %", "n")), ""]
    return Answer(fields, lines + screen.blocks("", report.remarks))

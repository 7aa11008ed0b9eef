"""The worker's second half: capture what was said in a conversation that a hook has named."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from memdir.adapters.log_file import log
from memdir.adapters.reports import leave_report
from memdir.app import App, Done, open_app
from memdir.config import Config, read_config
from memdir.core.capturing import Origin
from memdir.core.scope import RECORDS
from memdir.flows.capturing import (
    Outcome,
    Request,
    begin,
    capture,
    finish,
    missed,
    open_reader,
    report,
)
from memdir.flows.capturing.placing import place_of
from memdir.surfaces.hooks.jobs import START, STOP, Job
from memdir.surfaces.hooks.placing import is_silent

NAME = "capture"
MADE_UP = 20  # conversations that one start makes up for


def hear(environ: Mapping[str, str], jobs: Sequence[Job], first: Config) -> float:
    """Capture one conversation, the last line of it; the moment to come back, 0 when done."""
    latest = jobs[-1]
    turns = sum(job.event == STOP for job in jobs)
    asked = Request(
        latest.text("transcript"),
        latest.session,
        latest.client,
        latest.text("last"),
        turns,
        any(job.ends or job.after for job in jobs),
    )
    app = _open(environ, asked, latest.cwd, first)
    if app is None:
        return 0.0
    config = app.config
    outcomes = []
    if any(job.event == START for job in jobs):
        begin(app, asked)
        outcomes += _make_up(app, latest.session)
    if turns or asked.ends:
        outcomes.append(capture(app, asked))
    elif not outcomes:
        outcomes.append(finish(app))
    _tell(app, outcomes)
    if (turns or asked.ends) and RECORDS in config.scopes and not config.options.records_agent:
        _hold_records(environ, latest, asked, app)
    if app.config.options.dream:
        _consolidate(app, latest)
    return max((one.after for one in outcomes), default=0.0)


def _hold_records(environ: Mapping[str, str], latest: Job, asked: Request, project: App) -> None:
    """Draft records in the words of the conversation; nothing is saved without a person's yes."""
    from memdir.flows.records.holding import hold_records

    config = read_config(environ, latest.cwd, scope=RECORDS)
    app = open_app(config, now=time.time, tell=project.tell, actor=NAME)
    origin = Origin(client=asked.client, session=asked.session)
    reader = open_reader(app, asked.client)
    held = hold_records(app, asked.transcript, reader, origin, asked.last, ends=asked.ends)
    if held:
        many = "1 record waits" if len(held) == 1 else f"{len(held)} records wait"
        line = f"memdir: {many} for your yes; memdir review list --scope records"
        leave_report(config.state_dir, config.checkout, line)


def _open(environ: Mapping[str, str], asked: Request, cwd: str, first: Config) -> App | None:
    """The project in which the conversation was started, wherever the agent stands by now."""
    for _ in range(2):
        config = read_config(environ, cwd)
        if is_silent(config) or not config.options.capture or config.state_dir != first.state_dir:
            return None
        app = open_app(
            config, now=time.time, tell=lambda what: log(first.state_dir, NAME, what), actor=NAME
        )
        started = place_of(app, asked, cwd)
        if started == cwd:
            break
        cwd = started
    return app


def _make_up(app: App, session: str) -> list[Outcome]:
    """For conversations that were killed: nobody said that they ended."""
    return [capture(app, request) for request in missed(app, [session], MADE_UP)]


def _tell(app: App, outcomes: Sequence[Outcome]) -> None:
    decided = [entry for outcome in outcomes for entry in outcome.decided]
    line = report(decided)
    if line:
        leave_report(app.config.state_dir, app.config.checkout, line)


def _consolidate(app: App, latest: Job) -> None:
    """Where the settings want it and it is time: bring the memories in order, and say so."""
    from memdir.flows.dreaming import Run, run_if_due

    def told(run: Run, done: Done) -> None:
        if done.changes:
            line = f"memdir: put {len(done.changes)} memories in order; memdir undo takes it back"
            leave_report(app.config.state_dir, app.config.checkout, line)

    reader = open_reader(app, latest.client)
    run_if_due(app, lambda: reader.sessions(app.config.checkout), latest.session, told)

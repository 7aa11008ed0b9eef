"""doctor: whether memory really works here."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click

from memdir.app import App, open_app
from memdir.core.check import Check
from memdir.core.scope import Scope
from memdir.doctor import doctor as check_up
from memdir.surfaces.cli.answers import Fields
from memdir.surfaces.cli.inputs import private_folder
from memdir.surfaces.cli.session import ACTOR, Session, command


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

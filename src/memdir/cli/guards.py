"""Guards: commands that memories forbid."""

from __future__ import annotations

import os
import time

import click

from memdir.cli.command import Session, command
from memdir.cli.output import Answer, Fields, pick
from memdir.errors import Missing
from memdir.hot.guard import (
    BEFORE,
    FORBID,
    MAX_GUARDS,
    NEEDS,
    OFF,
    Guard,
    read_programs,
    read_switched_off_guards,
)
from memdir.store.guards import MAIN, guards_of_store
from memdir.store.state import Lock, replace_state
from memdir.store.writer import open_app
from memdir.text.terminal import plural

LIST, TURN_OFF, TURN_ON, TEST = "list", "off", "on", "test"
LOCK = "guards.lock"


@command("guards", "memdir guards test 'git push --force'", changes=True)
@click.argument(
    "action", type=click.Choice((LIST, TURN_OFF, TURN_ON, TEST)), default=LIST, metavar="[ACTION]"
)
@click.argument("what", required=False, metavar="[NAME|COMMAND]")
def guards_command(session: Session, action: str, what: str | None) -> Answer:
    """ACTION is list, off, on or test. A memory of type feedback that says "never run `X`", "never
    run `X` without `--flag`", "always pass `--flag` to `X`" or "run `Y` before `X`" guards that
    command: an agent that tries it is stopped once per session, with the memory as the reason; its
    second try passes. With a condition in the sentence it is reminded instead. `off NAME` switches
    one off, `off all` every one; guards.enabled = false in config.toml switches off all of it.
    """
    if action != LIST and not what:
        raise click.UsageError(
            f"What? memdir guards {action} {'COMMAND' if action == TEST else 'NAME'}"
        )
    every = _compile(session)
    off = read_switched_off_guards(session.config.state_dir)
    if action == TEST:
        return _test(session, [guard for guard in every if guard.key not in off], what or "")
    if action != LIST:
        off = _switch(session, every, action, what or "")
    return _list(session, every, off)


def _compile(session: Session) -> list[Guard]:
    """Of all stores that apply here; what the hook reads is brought up to date, too."""
    guards = list[Guard]()
    for scope in MAIN:
        if os.path.isdir(session.config.scopes.get(scope, "")):
            config = session.asked.config(scope)
            guards += guards_of_store(open_app(config, now=time.time, tell=session.screen.tell))
    return guards[:MAX_GUARDS]


def _list(session: Session, every: list[Guard], off: frozenset[str]) -> Answer:
    fields = {"guards": [_fields(guard, guard.key not in off) for guard in every]}
    enabled = session.config.options.guards
    if not every:
        example = 'memdir remember "Never run `git push --force`."'
        text = f"no memory guards a command; for example: {example}"
        return Answer({**fields, "enabled": enabled}, session.screen.block("", text))
    lines = [plural(len(every), "guard") + ("" if enabled else "; all off by guards.enabled"), ""]
    for guard in every:
        state = "off" if guard.key in off else "stops" if guard.stops else "reminds"
        other = str(guard.other).strip() if guard.other else ""
        form = {FORBID: "", NEEDS: f" without {other}", BEFORE: f" unless {other} ran first"}
        text = f"{state}, {guard.command}{form[guard.form]}"
        lines += session.screen.block(f"  {guard.name}:", text)
        lines += session.screen.block("", f"“{guard.sentence}”", "    ")
    return Answer({**fields, "enabled": enabled}, lines)


def _fields(guard: Guard, on: bool) -> Fields:
    other = str(guard.other).strip() if guard.other else ""
    declared = "name form program=command.program command other stops sentence path on"
    return pick(guard, declared, command=str(guard.command), other=other, on=on)


def _test(session: Session, guards: list[Guard], line: str) -> Answer:
    programs = list(read_programs(line, os.environ))
    hits = [guard for guard in guards if guard.concerns(programs, frozenset())]
    stops = [guard for guard in hits if guard.stops]
    lines = []
    for guard in hits:
        verb = "stopped once" if guard.stops else "reminded"
        lines += session.screen.block(f"{verb} by {guard.name}:", f"“{guard.sentence}”")
    fields = {
        "stops": [_fields(guard, True) for guard in stops],
        "reminds": [_fields(guard, True) for guard in hits if not guard.stops],
    }
    return Answer({"test": fields}, lines or ["no guard: it runs"])


def _switch(session: Session, every: list[Guard], action: str, name: str) -> frozenset[str]:
    chosen = [guard for guard in every if name in ("all", guard.name)]
    if not chosen:
        raise Missing(f"no guard is named {name!r}", next="memdir guards lists them")
    state = session.config.state_dir
    with Lock(os.path.join(state, LOCK), 2, 30).held("guards", session.screen.tell):
        off = dict.fromkeys(read_switched_off_guards(state))
        for guard in chosen:
            if action == TURN_OFF:
                off[guard.key] = None
            else:
                off.pop(guard.key, None)
        if not session.asked.dry_run:
            replace_state(state, OFF, "".join(f"{key}\n" for key in off).encode())
    return frozenset(off)

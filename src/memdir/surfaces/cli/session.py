"""What every command shares: where, for whom, and how it is declared."""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from memdir.app import App, open_app
from memdir.config import Config, read_config
from memdir.core.errors import BadInput
from memdir.core.scope import MAIN_SCOPES, SCOPE_FORMS
from memdir.surfaces.cli.screen import Screen

ACTOR = "cli"
Run = Callable[..., int | None]


@dataclass(frozen=True)
class Asked:
    """The answers to `where?` that a person gave on the command line."""

    dir: str | None = None
    project: str | None = None
    scope: str = "project"
    dry_run: bool = False

    def config(self, scope: str = "") -> Config:
        """What the files and the environment make of it."""
        try:
            cwd = os.getcwd()
        except OSError:
            cwd = ""  # it is gone; then --project or --dir must say where
        wanted = scope or self.scope
        return read_config(os.environ, cwd, project=self.project, dir=self.dir, scope=wanted)


@dataclass(frozen=True)
class Session:
    """One command under way."""

    screen: Screen
    asked: Asked
    config: Config
    opened: list[App] = field(default_factory=list)

    @property
    def app(self) -> App:
        """The store that was asked for; `all` names no single one."""
        if self.config.scope.kind == "all":
            raise BadInput(
                "--scope all means several stores; this command works on one",
                next=f"choose one of {', '.join(SCOPE_FORMS[:-1])}",
            )
        return self._open(self.config)

    def apps(self) -> Iterator[tuple[str, App]]:
        """Each store that was asked for with its scope; `all` gives those that exist."""
        if self.config.scope.kind != "all":
            yield str(self.config.scope), self._open(self.config)
            return
        names = MAIN_SCOPES if self.asked.dir is None else ("project", "team")
        agents = [name for name in self.config.scopes if name not in MAIN_SCOPES]
        for name in (*names, *(agents if self.asked.dir is None else ())):
            if os.path.isdir(self.config.scopes.get(name, "")):
                yield name, self._open(self.asked.config(name))

    def keep_what_others_did(self) -> None:
        """After the answer: whoever looks at a store also protects it."""
        for app in self.opened:
            app.snapshot()

    def _open(self, config: Config) -> App:
        tell, dry_run = self.screen.tell, self.asked.dry_run
        app = open_app(config, now=time.time, tell=tell, actor=ACTOR, dry_run=dry_run)
        self.opened.append(app)
        return app

    def short(self, path: str) -> str:
        """A path as people write it: below their home it starts with `~`."""
        home = self.config.home.rstrip("/")
        return "~" + path[len(home) :] if path.startswith(home + "/") else path


def command(
    name: str, example: str, *, changes: bool = False, dashes: bool = False
) -> Callable[[Run], click.Command]:
    """Declare a command: a function of a Session and its own options, giving an exit code.

    With `dashes` a text may start like an option: a list, a PEM block, a diff.
    """

    def declare(run: Run) -> click.Command:
        @functools.wraps(run)
        def call(
            dir: str | None, project: str | None, scope: str, json: bool, **options: Any
        ) -> int:
            screen: Screen = click.get_current_context().obj
            screen.json = json
            asked = Asked(dir, project, scope, options.pop("dry_run", False))
            session = Session(screen, asked, asked.config())
            if session.config.findings and name not in ("where", "list", "doctor"):
                count = len(session.config.findings)
                screen.tell(f"{count} finding{'s'[: count > 1]} on the settings: memdir where")
            code = run(session, **options) or 0
            if not changes:
                session.keep_what_others_did()
            return code

        text = f"{inspect.cleandoc(run.__doc__ or '')}\n\n\b\nExample:\n  {example}"
        own = getattr(call, "__click_params__", [])[::-1]
        kind = _TakesText if dashes else click.Command
        return kind(name, callback=call, params=[*own, *_shared(changes)], help=text)

    return declare


class _TakesText(click.Command):
    """Its argument may be a text like `- first, ...`, which click would take for options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move such a text behind `--`; nothing else with a blank in it starts with a dash."""
        known = [opt for param in self.params for opt in param.opts]
        flags = [opt for p in self.params if getattr(p, "is_flag", False) for opt in p.opts]
        for at, word in enumerate(args[: args.index("--")] if "--" in args else args):
            value = at > 0 and args[at - 1] in known and args[at - 1] not in flags
            option = word.partition("=")[0] in known
            if word[:1] == "-" and len(word.split()) > 1 and not value and not option:
                return super().parse_args(ctx, [*args[:at], *args[at + 1 :], "--", word])
        return super().parse_args(ctx, args)


def _shared(changes: bool) -> list[click.Parameter]:
    """The options of every command; those of its own come from its decorators."""
    options: list[click.Parameter] = [
        click.Option(["--dir"], metavar="DIR", help="A memory directory, wherever it lies."),
        click.Option(["--project"], metavar="PATH", help="The project; default: here."),
        click.Option(
            ["--scope"],
            metavar="SCOPE",
            default="project",
            help="project, user, local, team, agent:NAME@PLACE or all.",
        ),
        click.Option(["--json"], is_flag=True, help="Print one JSON object."),
    ]
    if changes:
        help = "Show what would change as a diff; write nothing."
        options.append(click.Option(["--dry-run"], is_flag=True, help=help))
    return options

"""What every command shares: where, for whom, and how it is declared."""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import click

from memdir.app import App, open_app
from memdir.config import Config, read_config
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.core.scope import MAIN_SCOPES, RECORDS, SCOPE_FORMS
from memdir.surfaces.cli.advice import Advice
from memdir.surfaces.cli.elsewhere import find_elsewhere
from memdir.surfaces.cli.progress import progress
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.visible import count

ACTOR = "cli"
# They only make sense on what is there: for them a mistyped --dir must not look like a clean store.
ON_EXISTING = ("audit", "verify", "prune", "restructure", "dream")
# What a command for Markdown memories is called for records.
INSTEAD = {
    **dict.fromkeys(("remember", "save", "capture", "extract", "log-day"), "save"),
    **dict.fromkeys(("edit", "touch"), "write --action update"),
    **dict.fromkeys(("forget", "retire"), "retire NAME"),
    **dict.fromkeys(("purge", "prune", "restructure", "dream"), "gc"),
    "archive": "archive NAME",
    "restore": "restore NAME",
    "index": "index",
    "import": "import DIR",
    **dict.fromkeys(("export", "share"), "export DIR"),
}
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
        wanted = scope or self.scope
        return read_config(
            os.environ, self._cwd(), project=self.project, dir=self.dir, scope=wanted
        )

    def _cwd(self) -> str:
        """Where we stand; where that is gone, whole paths can still say where."""
        try:
            return os.getcwd()
        except OSError:
            given = [path for path in (self.project, self.dir) if path]
            if given and all(map(os.path.isabs, given)):
                return given[0]
        raise BadInput(
            "the current directory is gone",
            next="cd to one that exists, or give --project or --dir as a whole path",
        )


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

    def expect_directory(self) -> None:
        """Refuse a directory that was named and is not there; a project need not have one yet."""
        store = self.config.store
        if self.asked.dir is None or os.path.isdir(store):
            return
        raise Missing(
            f"there is no directory {store}",
            path=store,
            next="check its spelling, or leave --dir out to look at the project's own memories",
        )

    def keep_what_others_did(self) -> None:
        """After the answer: whoever looks at a store also protects it."""
        for app in self.opened:
            app.snapshot()

    @contextmanager
    def looking_further(self, verb: str, options: Mapping[str, object]) -> Iterator[None]:
        """Where something was not found, say where else it is."""
        try:
            yield
        except Missing as error:
            given = options.get("names") or (options.get("name"), options.get("change"))
            wanted = [name for name in cast(Iterable[object], given) if isinstance(name, str)]
            with suppress(MemdirError):  # a second trouble would hide the first
                step = find_elsewhere(verb, wanted, self.app, self._others(), self.screen.advise)
                error.next = step or error.next
            raise

    def _others(self) -> Iterator[tuple[str, App]]:
        """The stores of the other scopes that exist, where no directory was named."""
        for name, path in self.config.scopes.items() if self.asked.dir is None else ():
            if os.path.isdir(path) and path != self.config.store:
                with suppress(MemdirError):
                    yield name, open_app(self.asked.config(name), now=time.time, tell=_unheard)

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
    name: str,
    example: str,
    *,
    changes: bool = False,
    bulk: bool = False,
    dashes: bool = False,
    records: bool = False,
) -> Callable[[Run], click.Command]:
    """Declare a command: a function of a Session and its own options, giving an exit code.

    With `bulk` it may take long without anybody typing: then it says that it is under way.
    With `dashes` a text may start like an option: a list, a PEM block, a diff.
    With `records` it is one of `memdir records`: its scope is known, `--root` names a directory.
    """

    def declare(run: Run) -> click.Command:
        @functools.wraps(run)
        def call(
            dir: str | None, project: str | None, json: bool, scope: str = RECORDS, **options: Any
        ) -> int:
            asked = Asked(dir, project, scope, options.pop("dry_run", False))
            session = _begin(name, asked, json, records)
            with progress(session.screen, bulk), session.looking_further(name, options):
                code = run(session, **options) or 0
            if not changes:
                session.keep_what_others_did()
            return code

        text = f"{inspect.cleandoc(run.__doc__ or '')}\n\n\b\nExample:\n  {example}"
        own = getattr(call, "__click_params__", [])[::-1]
        kind = _TakesText if dashes else click.Command
        shared = _shared(changes, records)
        return kind(name, callback=call, params=[*own, *shared], help=text)

    return declare


def _begin(name: str, asked: Asked, json: bool, records: bool) -> Session:
    """The session of a command, refused where it cannot work on what was asked for."""
    screen: Screen = click.get_current_context().obj
    screen.json, screen.begun = json, True
    screen.advise = Advice(_commands(), asked.dir, asked.project, asked.scope)
    session = Session(screen, asked, asked.config())
    screen.advise = replace(screen.advise, home="" if json else session.config.home)
    if not records:
        _refuse_records(name, session.config)
    if name in ON_EXISTING:
        session.expect_directory()
    if session.config.findings and name not in ("where", "list", "doctor", "audit"):
        found = count(len(session.config.findings), "finding")
        screen.tell(f"{found} on the settings: memdir where")
    return session


def _refuse_records(name: str, config: Config) -> None:
    """What writes Markdown must not write among records."""
    if config.layout == RECORDS and name in INSTEAD:
        raise BadInput(
            f"memdir {name} works on Markdown memories; the scope {RECORDS} holds records",
            path=config.store,
            next=f"memdir records {INSTEAD[name]}",
        )


def _commands() -> list[str]:
    context = click.get_current_context()
    return cast(click.Group, context.find_root().command).list_commands(context)


def _unheard(text: str) -> None:
    """For a look that nobody asked for."""


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


def _shared(changes: bool, records: bool) -> list[click.Parameter]:
    """The options of every command; those of its own come from its decorators."""
    place, where = ["--dir"], "A memory directory, wherever it lies."
    if records:
        place, where = ["--root", "dir"], "The directory of the records."
    options: list[click.Parameter] = [
        click.Option(place, metavar="DIR", help=where),
        click.Option(["--project"], metavar="PATH", help="The project; default: here."),
        click.Option(
            ["--scope"],
            metavar="SCOPE",
            default="project",
            help="project, user, local, team, agent:NAME@PLACE, records or all.",
        ),
        click.Option(["--json"], is_flag=True, help="Print one JSON object."),
    ]
    if records:
        del options[2]
    if changes:
        help = "Show what would change as a diff; write nothing."
        options.append(click.Option(["--dry-run"], is_flag=True, help=help))
    return options

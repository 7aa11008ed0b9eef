"""Declaration of commands, choice of the store, and reading of arguments."""

from __future__ import annotations

import functools
import inspect
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from memdir.cli.main import COMMANDS
from memdir.cli.output import Advice, Answer, Screen, done_fields, show_progress
from memdir.config.config import Config, read_config
from memdir.config.scope import SCOPE_FORMS
from memdir.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.hot import memory
from memdir.hot.place import MAIN_SCOPES, RECORDS
from memdir.store.writer import App, Done, open_app
from memdir.text import pattern
from memdir.text.terminal import plural

if TYPE_CHECKING:
    import datetime

STDIN = "-"
INTERACTIVE = ("edit", "mcp", "prune", "review", "ui")  # they ask, or go on until they are ended
_AGO = pattern(r"(?i)(\d{1,6})\s*(s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def read_text_option(given: str, limit: int, what: str) -> str:
    """Text of stdin (`-`) or of a file; stops reading and refuses beyond `limit` bytes."""
    data = _read_stdin(limit + 1) if given == STDIN else _read_file(given, limit + 1)
    if len(data) > limit:
        message = f"{what} has more than {limit:,} bytes, which is the limit"
        hint = "shorten it, split it, or point to a file of the repository"
        raise BadInput(message, path="" if given == STDIN else given, next=hint)
    return memory.decode(data)


def _read_stdin(limit: int) -> bytes:
    if sys.stdin is None:
        raise BadInput("there is no standard input", next="give the text as an argument")
    if sys.stdin.isatty():
        sys.stderr.write("Type the text; end it with Ctrl-D on a line of its own.\n")
    return sys.stdin.buffer.read(limit)


def _read_file(path: str, limit: int) -> bytes:
    cause = "not a regular file"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                return file.read(limit)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "not a file name"
    raise BadInput(f"{path}: {cause}", path=path, next="name a readable file, or - for stdin")


def make_folder_for_command(prefix: str) -> str:
    import tempfile

    try:
        return tempfile.mkdtemp(prefix=prefix)
    except OSError as error:
        hint = "set TMPDIR to a directory that you may write to"
        raise Unwritable(f"no temporary folder can be made: {error.strerror}", next=hint) from None


def read_day_option(text: str) -> datetime.date:
    import datetime

    try:
        return datetime.date.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{text[:40]!r} is not a day", next="write it as 2026-03-02") from None


def read_time_option(text: str, now: float) -> float:
    """`10m`, `2h` or `3d` ago, or an ISO date and time (local unless it has a zone)."""
    import datetime

    if ago := _AGO.fullmatch(text.strip()):
        return now - int(ago[1]) * _SECONDS[ago[2].lower()]
    try:
        return datetime.datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        hint = "write 10m, 2h, 3d or 2026-03-02T14:00"
        raise BadInput(f"{text[:40]!r} is not a time", next=hint) from None


ACTOR = "cli"
# Commands that need an existing store: a mistyped --dir must not look like a clean one.
ON_EXISTING = {
    *("audit", "verify", "prune", "restructure", "dream", "status", "list", "show", "search"),
    *("recall", "log", "diff", "manifest"),
}
SHOW_FINDINGS = ("where", "list", "doctor", "audit")  # on the settings, in the answer
# Commands for Markdown only; `memdir records` has its own.
ON_MARKDOWN = {
    *("remember", "save", "edit", "touch", "capture", "extract", "log-day", "forget", "retire"),
    *("archive", "restore", "purge", "prune", "restructure", "dream", "index", "import"),
    *("export", "share"),
}
Run = Callable[..., Answer | int]  # an exit code if the command printed its own output


@dataclass(frozen=True)
class Asked:
    dir: str | None = None
    project: str | None = None
    scope: str = "project"
    dry_run: bool = False

    def config(self, scope: str = "") -> Config:
        scope = scope or self.scope
        return read_config(os.environ, self._cwd(), project=self.project, dir=self.dir, scope=scope)

    def _cwd(self) -> str:
        """Current directory; if it was deleted, an absolute --project or --dir still works."""
        try:
            return os.getcwd()
        except OSError:
            given = [path for path in (self.project, self.dir) if path]
            if given and all(map(os.path.isabs, given)):
                return given[0]
        hint = "cd to one that exists, or give --project or --dir as an absolute path"
        raise BadInput("the current directory is gone", next=hint)


class Session:
    def __init__(self, screen: Screen, asked: Asked, config: Config) -> None:
        self.screen = screen
        self.asked = asked
        self.config = config
        self.opened: list[App] = []

    def at(self, **asked: Any) -> Session:
        """Session for another choice of store; shares the list of opened stores."""
        changed = replace(self.asked, **asked)
        other = Session(self.screen, changed, changed.config())
        other.opened = self.opened
        return other

    @property
    def names_scope(self) -> bool:
        source = click.get_current_context().get_parameter_source("scope")
        return source is not ParameterSource.DEFAULT

    @functools.cached_property
    def app(self) -> App:
        """The store asked for; refuses `all`, which means several."""
        if self.config.scope.kind == "all":
            hint = f"choose one of {', '.join(SCOPE_FORMS[:-1])}"
            raise BadInput("--scope all means several stores; this command works on one", next=hint)
        return self._open(self.config)

    def apps(self) -> Iterator[tuple[str, App]]:
        if self.config.scope.kind != "all":
            yield str(self.config.scope), self._open(self.config)
            return
        names = ["project", "team"]
        if self.asked.dir is None:
            agents = [name for name in self.config.scopes if name not in MAIN_SCOPES]
            names = [*MAIN_SCOPES, *agents]
        for name in names:
            if os.path.isdir(self.config.scopes.get(name, "")):
                yield name, self._open(self.asked.config(name))

    def only(self, name: str, find: Callable[[App], Any], missing: Missing) -> tuple[App, Any]:
        matches = []
        for scope, app in self.apps():
            try:
                matches.append((scope, app, find(app)))
            except Missing as error:
                missing = error
        if not matches:
            raise missing
        if len(matches) > 1:
            scopes = ", ".join(scope for scope, *_ in matches)
            hint = "choose one with --scope"
            raise BadInput(f"{name!r} is in several scopes: {scopes}", next=hint)
        return matches[0][1:]

    def find_elsewhere(self, verb: str, options: Mapping[str, Any]) -> str:
        """Next step for a name that is missing here: it is in the trash, or in another scope."""
        from memdir.format.names import find_named_memory, memory_name_means

        on_shelves, here = verb in ("restore", "purge"), str(self.config.scope)
        others = [name for name, path in self.config.scopes.items() if os.path.isdir(path)]
        scopes = dict.fromkeys([here, *(others if self.asked.dir is None else ())])
        for name in filter(None, options.get("names") or [options.get("name")]):
            for scope in scopes:
                app = open_app(self.asked.config(scope), now=time.time, tell=lambda text: None)
                of_scope = "" if scope == here else f" of the scope {scope}"
                with suppress(MemdirError):
                    find_named_memory(name, [] if on_shelves else app.store.scan().memories)
                    if scope == here:
                        break  # this one exists; another is missing
                    text = f"it is in the store{of_scope}: memdir {verb} {quote(name)}"
                    return self.screen.advise(text, scope)
                for item in app.shelf.list_all():
                    if memory_name_means(name, item.path):
                        step = f"memdir {verb if on_shelves else 'restore'} {quote(name)}"
                        text = f"it is in the {item.room}{of_scope}: {step}"
                        return self.screen.advise(text, scope)
        return ""

    def _open(self, config: Config) -> App:
        tell, dry_run = self.screen.tell, self.asked.dry_run
        app = open_app(config, now=time.time, tell=tell, actor=ACTOR, dry_run=dry_run)
        self.opened.append(app)
        return app

    def done_answer(
        self, app: App, done: Done, *says: str, code: int = 0, **more: object
    ) -> Answer:
        done = self.screen.advised(done)
        fields = {**done_fields(app, done), **more}
        return Answer(fields, self.screen.done_lines(done, says), code)

    def short(self, path: str) -> str:
        home = self.config.home.rstrip("/")
        return "~" + path[len(home) :] if path.startswith(home + "/") else path


def command(
    name: str, example: str, *, changes: bool = False, dashes: bool = False, records: bool = False
) -> Callable[[Run], click.Command]:
    """Declares a command: a function of a Session and its own options that returns an answer.

    Its help is the line in the table of commands, then the docstring.
    `dashes`: its text may start like an option (a list, a PEM block, a diff).
    `records`: it belongs to `memdir records`, so its scope is fixed; `--root` is its `--dir`.
    """

    def declare(run: Run) -> click.Command:
        @functools.wraps(run)
        def call(
            dir: str | None, project: str | None, json: bool, scope: str = RECORDS, **options: Any
        ) -> int:
            asked = Asked(dir, project, scope, options.pop("dry_run", False))
            session = _begin(name, asked, json, records)
            try:
                with nullcontext() if name in INTERACTIVE else show_progress(session.screen):
                    answer = run(session, **options)
                if isinstance(answer, Answer):
                    session.screen.answer(answer.fields, answer.lines)
                    answer.printed()
            except Missing as error:
                with suppress(MemdirError):  # a second error would hide the first
                    error.next = session.find_elsewhere(name, options) or error.next
                raise
            if isinstance(answer, Answer) and answer.remark:
                session.screen.tell(answer.remark)
            for app in () if changes else session.opened:
                app.snapshot()  # reading commands record outside edits, too
            return answer.code if isinstance(answer, Answer) else answer

        parts = [] if records else [COMMANDS[name][1]]
        parts += [inspect.cleandoc(run.__doc__ or ""), f"\b\nExample:\n  {example}"]
        own = getattr(call, "__click_params__", [])[::-1]
        kind = _TakesText if dashes else click.Command
        params = [*own, *_shared(changes, records)]
        return kind(name, callback=call, params=params, help="\n\n".join(filter(None, parts)))

    return declare


def _begin(name: str, asked: Asked, json: bool, records: bool) -> Session:
    context = click.get_current_context()
    screen: Screen = context.obj
    screen.json, screen.begun = json, True
    screen.advise = Advice([*COMMANDS], asked.dir, asked.project, asked.scope)
    config = asked.config()
    session = Session(screen, asked, config)
    screen.advise = screen.advise._replace(home="" if json else config.home)
    if config.layout == RECORDS and name in ON_MARKDOWN and not records:
        message = f"memdir {name} works on Markdown memories; the scope {RECORDS} holds records"
        hint = "memdir records --help lists what works on them"
        raise BadInput(message, path=config.store, next=hint)
    # A saving command makes its directory, but not the ones above it: that is a typing error.
    needed = config.store if name in ON_EXISTING else os.path.dirname(config.store)
    if asked.dir is not None and not os.path.isdir(needed):
        near = _nearest_directory(needed)
        hint = "check its spelling, or leave --dir out to look at the project's own memories"
        hint = f"did you mean {near}?" if near else hint
        raise Missing(f"there is no directory {needed}", path=needed, next=hint)
    new = asked.dir is not None and not os.path.isdir(config.store)
    if new and (near := _nearest_directory(config.store)):
        screen.tell(f"{config.store} is a new directory; did you mean {near}?")
    if config.findings and name not in SHOW_FINDINGS:
        screen.tell(f"{plural(len(config.findings), 'finding')} on the settings: memdir where")
    return session


def _nearest_directory(path: str) -> str:
    """An existing directory whose name is nearly the first missing part of this path, or ""."""
    while not os.path.isdir(parent := os.path.dirname(path)):
        path = parent
    from difflib import get_close_matches  # only needed after a typing error

    with suppress(OSError):
        names = [entry.name for entry in os.scandir(parent) if entry.is_dir()]
        if near := get_close_matches(os.path.basename(path), names, 1, 0.75):
            return os.path.join(parent, near[0])
    return ""


class _TakesText(click.Command):
    """Accepts a text like `- first, ...`, which click would take for options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Moves such a text behind `--`; nothing else that contains a blank starts with a dash."""
        known = [opt for param in self.params for opt in param.opts]
        flags = [opt for p in self.params if getattr(p, "is_flag", False) for opt in p.opts]
        for index, word in enumerate(args[: args.index("--")] if "--" in args else args):
            before = args[index - 1] if index else ""
            value = before in known and before not in flags
            option = word.partition("=")[0] in known
            if word[:1] == "-" and len(word.split()) > 1 and not value and not option:
                return super().parse_args(ctx, [*args[:index], *args[index + 1 :], "--", word])
        return super().parse_args(ctx, args)


def _shared(changes: bool, records: bool) -> list[click.Parameter]:
    scopes = "project, user, local, team, agent:NAME@PLACE, records or all."
    scope = click.Option(["--scope"], metavar="SCOPE", default="project", help=scopes)
    place = ["--root", "--dir", "dir"] if records else ["--dir"]
    where = "The directory of the records." if records else "A memory directory."
    options: list[click.Parameter] = [
        click.Option(place, metavar="DIR", help=where),
        click.Option(
            ["--project"], metavar="PATH", help="The project; default: the current directory."
        ),
        *([] if records else [scope]),
        click.Option(["--json"], is_flag=True, help="Print one JSON object."),
    ]
    if changes:
        help = "Show what would change as a diff; write nothing."
        options.append(click.Option(["--dry-run"], is_flag=True, help=help))
    return options

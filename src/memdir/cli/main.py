"""Commands by section; help texts in one table, so --help imports nothing; the net."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence

import click

from memdir import __version__
from memdir.cli.command import Asked
from memdir.cli.output import Fields, ReaderGone, Screen, diff, diff_lines, wrap_steps
from memdir.errors import Conflict, MemdirError
from memdir.hot import memory
from memdir.hot.disk import Disk
from memdir.records.refusal import RecordError, form
from memdir.text.terminal import line, wrap


def main() -> None:
    """The console script."""
    _open_streams()
    try:
        served = _served()
        code = _run() if served is None else served
    except KeyboardInterrupt:
        code = 130  # before or after the net
    sys.exit(code)


def _served() -> int | None:
    """An agent waits for its MCP server; of odd words the whole command line is to say so."""
    if sys.argv[1:2] != ["mcp"]:
        return None
    from memdir.mcp.stdio import run

    return run(sys.argv[2:])


def _run() -> int:
    # MOVED

    return run(sys.argv[1:])


def _open_streams() -> None:
    """Give a closed stream back its number, or the next file we open would get it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


# The command line as a whole: its commands, and the net below them.

USAGE, INTERNAL, INTERRUPTED, CLOSED = 2, 3, 130, 141  # the last two as a shell counts signals
# What each section of the help lists, and the module that has it: only that one is imported.
SECTIONS = {
    "Remember": {
        "remember": "save",
        "save": "save",
        "edit": "save",
        "touch": "shelf",
        "capture": "capture",
        "review": "review",
        "extract": "extract",
        "log-day": "dream",
    },
    "Recall": {"recall": "recall", "prompt": "recall"},
    "Look": {
        "list": "look",
        "show": "look",
        "load": "look",
        "index": "look",
        "where": "look",
        "types": "look",
        "manifest": "look",
    },
    "Put away": dict.fromkeys(("forget", "retire", "archive", "restore", "purge"), "shelf"),
    "Take back": dict.fromkeys(("log", "diff", "undo"), "history"),
    "Share": dict.fromkeys(("share", "merge-index"), "share"),
    "Look after": {
        "audit": "audit",
        "dashboard": "audit",
        "prune": "prune",
        "restructure": "restructure",
        "dream": "dream",
        "verify": "recall",
        "budget": "care",
        "doctor": "care",
        "status": "care",
        "eval": "evaluate",
        "import": "exchange",
        "export": "exchange",
    },
    "Records": {"records": "records"},
    "Connect": {"setup": "setup", "mcp": "setup"},
}
MODULES = {name: module for section in SECTIONS.values() for name, module in section.items()}


class Commands(click.Group):
    """Imports a command when it is called; lists all by what they are for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the help."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, if there is one."""
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(f"memdir.cli.{MODULES[cmd_name]}")
        declared = [one for one in vars(module).values() if isinstance(one, click.Command)]
        return next(one for one in declared if one.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One short line per command, below the section it belongs to."""
        for section, names in SECTIONS.items():
            with formatter.section(section):
                found = [self.get_command(ctx, name) for name in names]
                rows = [(str(one.name), one.get_short_help_str(66)) for one in found if one]
                formatter.write_dl(rows, col_max=11)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="memdir %(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """A memory for coding agents: plain Markdown you can read, check and undo.

    \b
    Example:
      memdir remember "Use uv, never pip." --why "The lock file is uv's."
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command line; gives the exit code. The one broad net of this surface is here."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # Half characters and small encodings must not break an answer.
            reconfigure(errors="backslashreplace")
    screen = Screen(os.environ)
    try:
        return _answer(screen, arguments)
    except ReaderGone:
        return CLOSED
    except MemdirError as error:  # the answer itself, or the sentence about an error
        screen.answered = True
        return _say_error(screen, error)


def _answer(screen: Screen, arguments: Sequence[str]) -> int:
    try:
        code = commands.main(list(arguments), "memdir", standalone_mode=False, obj=screen)
        return int(code or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except SystemExit as done:  # click, where its own help finds no reader
        return int(done.code or 0)
    except (click.Abort, KeyboardInterrupt):
        screen.tell("interrupted; what was done until then: memdir log")
        return INTERRUPTED
    except click.ClickException as wrong:
        screen.json = screen.json or "--json" in arguments
        return _say_usage(screen, wrong)
    except MemdirError as error:
        return _say_error(screen, error)
    except ReaderGone:
        raise
    except Exception as error:
        if isinstance(error, OSError) and not screen.begun:
            screen.unheard(error)
        return _say_internal(screen, error)


def _say_usage(screen: Screen, wrong: click.ClickException) -> int:
    context = getattr(wrong, "ctx", None)
    path = context.command_path if context else "memdir"
    next = f"{path} --help"
    _say(screen, {"code": "usage", "message": wrong.format_message(), "next": next}, [])
    return USAGE


def _say_error(screen: Screen, error: MemdirError) -> int:
    fields: Fields = {"code": error.code, "message": error.message, "next": error.next}
    if error.path:
        fields["path"] = error.path
    if isinstance(error, RecordError):
        return _say_refusal(screen, error, fields)
    lines = []
    if isinstance(error, Conflict):
        fields["ours"] = memory.decode(error.ours)
        fields["theirs"] = memory.decode(error.theirs)
        lines = ["", "What stands there (-) and what would take its place (+):"]
        lines += diff_lines(screen, diff(error.path, error.theirs, error.ours))
    _say(screen, fields, lines)
    return error.exit_code


def _say_refusal(screen: Screen, error: RecordError, fields: Fields) -> int:
    """A refusal about a record: in the form that scripts of records read, or as our object."""
    fields |= {"record_code": error.record_code, "facts": dict(error.facts)}
    if error.theirs:
        fields["ours"], fields["theirs"] = (
            memory.decode(data) for data in (error.ours, error.theirs)
        )
    if screen.json:
        _say(screen, fields, [])
    else:
        error.fix = screen.advise(error.fix)
        screen.complain(form(error).split("\n"))
    return error.exit_code


def _say_internal(screen: Screen, error: Exception) -> int:
    report = _write_report(error)
    message = f"this should not have happened: {type(error).__name__}, a mistake in memdir"
    next = f"please report it with {report}" if report else "please report it"
    _say(screen, {"code": "internal", "message": message, "next": next, "report": report}, [])
    return INTERNAL


def _write_report(error: Exception) -> str:
    """The traceback goes to a private file, never to the screen; gives its path."""
    text = "".join(traceback.format_exception(error))
    try:
        folder = os.path.join(Asked().config().state_dir, "reports")
        Disk(folder).make_root()
    except (MemdirError, OSError):
        folder = tempfile.gettempdir()
    try:
        handle, path = tempfile.mkstemp(".txt", "memdir-", folder)
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"memdir {__version__}, Python {sys.version}\n\n{text}")
    except OSError:
        return ""
    return path


def _say(screen: Screen, error: Fields, more: Sequence[str]) -> None:
    error["next"] = screen.advise(str(error["next"]))
    if screen.json and not screen.answered:
        screen.answer({"error": error}, [])
        return
    message, next = line(str(error["message"])), line(str(error["next"]))
    lines = wrap(message, screen.columns, screen.paint("memdir: ", ""), "  ")
    lines += wrap_steps(next, screen.columns, "Next: ", "  ") if next else []
    screen.complain([*lines, *more])

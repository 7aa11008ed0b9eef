"""Table of commands, so that --help imports none of them; exit codes and error output."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from memdir import __version__
from memdir.cli import output
from memdir.errors import Conflict, MemdirError, Missing
from memdir.text.terminal import cut_text, one_line, wrap_text

USAGE, INTERNAL, INTERRUPTED, CLOSED = 2, 3, 130, 141  # the last two are 128 + signal
LONG_LINE = 200  # characters of a command's summary
MAX_FACT = 300  # columns of a value in an error
WHOLE = "memdir.whole_help"
COMPLETE = "_MEMDIR_COMPLETE"  # variable by which a shell asks click
SECRET_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=-"
# Module and first line of help of each command.
SECTIONS = {
    "Remember": {
        "remember": ("save", "Save TEXT as a memory; `-` reads it from standard input."),
        "save": ("save", "Save a draft: a Markdown file with a header and a body."),
        "edit": ("save", "Change a memory, by options or in your editor."),
        "touch": ("history", "Confirm that memories still hold: their age starts again at 0."),
        "capture": ("capture", "Learn from what is new in a conversation."),
        "review": ("review", "Decide on drafts, and on memories that others wrote."),
        "extract": ("capture", "Learn from past sessions; each item goes where it belongs."),
        "log-day": ("restructure", "Append TEXT to the log of today; `-` reads standard input."),
    },
    "Recall": {
        "search": ("recall", "Find memories and records by words, the best match first."),
        "recall": ("recall", "Print exactly what an agent would be told for PROMPT."),
        "prompt": ("recall", "Print the instructions on memory that an agent gets."),
        "guards": ("guards", "Show and test the commands that memories forbid."),
    },
    "Look": {
        "list": ("look", "List memories, the most recently confirmed first."),
        "show": ("look", "Show a memory, as it is or as a change left it."),
        "load": ("look", "Print the index as an agent gets it, cut to its limits."),
        "index": ("look", "Show the size of the index and what is wrong with it."),
        "ui": ("serve", "Open a page that shows, corrects and undoes what memory does."),
        "where": ("look", "Show where memories are stored, and which rule decided."),
        "types": ("look", "Show the types of memory, or everything about one."),
        "manifest": ("look", "Print the list that a model chooses from: the newest 200."),
    },
    "Put away": {
        "forget": ("history", "Move memories to the trash; memdir restore brings them back."),
        "retire": ("history", "Same as forget."),
        "archive": ("history", "Move memories to the archive, which is kept forever."),
        "restore": ("history", "Bring retired or archived memories back."),
        "purge": ("history", "Delete memories from trash and archive for good."),
    },
    "Undo": {
        "log": ("history", "List changes, the newest first."),
        "diff": ("history", "Show what a change did."),
        "undo": ("history", "Undo a change."),
    },
    "Share": {
        "sync": ("sync", "Keep memories in step with your other machines and your team."),
        "team": ("sync", "Join a team's memories, through git or a memory server."),
        "share": ("exchange", "Copy memories to a shared store, and show the diff."),
        "merge-index": ("exchange", "Merge three versions of an index; called by git."),
        "serve": ("serve", "Serve the memories of a team from PostgreSQL, over HTTP and MCP."),
    },
    "Maintain": {
        "audit": ("audit", "Report stale memories, and what is wrong with a store."),
        "dashboard": ("audit", "Show all projects: memories, alerts and token load."),
        "prune": ("prune", "Go through stale memories one by one."),
        "restructure": ("restructure", "Shorten the index: its content becomes memories."),
        "dream": ("restructure", "Turn logs into memories, merge duplicates, tidy the index."),
        "verify": ("audit", "Check what memories claim about the code."),
        "budget": ("care", "Show token limits, what was spent, and the calls of models."),
        "doctor": ("care", "Check the store, and prove that saving works."),
        "status": ("care", "Show what was captured, saved and recalled, and the last error."),
        "eval": ("care", "Measure recall on your own store or on a test set."),
        "import": ("exchange", "Import memories from files, an archive or another tool."),
        "export": ("exchange", "Write all memories to a zip file."),
    },
    "Records": {
        "records": ("records", "Keep decisions, runbooks, constraints and more as records.")
    },
    "Connect": {
        "setup": ("exchange", "Install memdir in an agent, or remove it."),
        "mcp": ("exchange", "Serve memories to an agent over MCP (stdio)."),
    },
}
# The commands of the first help; `memdir help --all` lists the others as well.
FIRST = {
    *("remember", "edit", "review", "search", "recall", "list", "show", "where", "forget"),
    *("log", "diff", "undo", "ui", "share", "sync", "audit", "doctor", "status"),
    *("import", "setup"),
}
# What people type for them.
OTHER_WORDS = {
    "remember": "add create new",
    "forget": "delete remove rm",
    "search": "find query grep",
    "show": "cat get view",
    "list": "ls",
    "log": "history",
    "setup": "install uninstall init",
}
COMMANDS = {name: row for names in SECTIONS.values() for name, row in names.items()}
MODULES = {name: module for name, (module, _) in COMMANDS.items()}


def main() -> None:
    _open_streams()
    try:
        if os.environ.get(COMPLETE):
            commands.main([], "memdir")
        if sys.argv[1:2] == ["mcp"]:  # an agent waits for it
            from memdir.mcp import stdio

            if (code := stdio.run(sys.argv[2:])) is not None:
                sys.exit(code)
        sys.exit(run_command_line(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)  # interrupted outside of `run`


def _open_streams() -> None:
    """Reopens closed standard streams, or the next file opened would get their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


class Commands(click.Group):
    """Imports a command only when it is called."""

    modules = MODULES

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        module = importlib.import_module(f"memdir.cli.{self.modules[cmd_name]}")
        declared = [value for value in vars(module).values() if isinstance(value, click.Command)]
        return next(command for command in declared if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # only needed after a typo

            meant = [name for name, words in OTHER_WORDS.items() if args[0] in words.split()]
            near = [name for name in meant if name in self.modules]
            near = near or get_close_matches(args[0], self.modules, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(error.message + hint, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.modules]
        with formatter.section("Commands"):
            formatter.write_dl([(n, c.get_short_help_str(LONG_LINE)) for n, c in commands if c])


class Sections(Commands):
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return help_ if cmd_name == "help" else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = COMMANDS.keys() if ctx.meta.get(WHOLE) else FIRST
        for section, names in SECTIONS.items():
            rows = [(name, help) for name, (_, help) in names.items() if name in shown]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows, col_max=11)
        if more := len(COMMANDS) - len(shown):
            formatter.write_paragraph()
            formatter.write_text(f"memdir help --all lists {more} more commands.")


@click.command("help", add_help_option=False)
@click.argument("name", required=False)
@click.option("--all", "whole", is_flag=True)
@click.pass_context
def help_(context: click.Context, name: str | None, whole: bool) -> None:
    top = context.find_root()
    top.meta[WHOLE] = whole
    if name:
        _, command, _ = commands.resolve_command(top, [name])
        top = click.Context(command or commands, info_name=name, parent=top)
    click.echo(top.get_help())


@click.group(
    cls=Sections,
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


def run_command_line(arguments: Sequence[str]) -> int:
    """Returns the exit code; the only broad `except` of the command line is here."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # Surrogates and narrow encodings must not break an answer.
            reconfigure(errors="backslashreplace")
    screen = output.Screen(os.environ)
    screen.arguments = arguments
    try:
        return _answer(screen, arguments)
    except output.ReaderGone:
        return CLOSED
    except MemdirError as error:  # printing the answer or an error failed
        screen.answered = True
        return _say_error(screen, error)


def _answer(screen: output.Screen, arguments: Sequence[str]) -> int:
    try:
        width = min(screen.columns, output.USUAL) - 2  # click's own width has a floor of 50
        code = commands.main(
            list(arguments), "memdir", standalone_mode=False, obj=screen, terminal_width=width
        )
        return int(code or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except SystemExit:  # raised by click if its own output has no reader
        output.drop_pending_command_output()
        return CLOSED
    except (click.Abort, KeyboardInterrupt):
        screen.tell("interrupted; what was done until then: memdir log")
        return INTERRUPTED
    except click.ClickException as wrong:
        screen.json = screen.json or "--json" in arguments
        context = getattr(wrong, "ctx", None)
        next = f"{context.command_path if context else 'memdir'} --help"
        message = " ".join(wrong.format_message().split())  # click lists one choice per line
        _say(screen, {"code": "usage", "message": message, "next": next})
        return USAGE
    except MemdirError as error:
        return _say_error(screen, error)
    except output.ReaderGone:
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "memdir"):
            return _say_bug(screen, error)
        hint = "install memdir with its packages: uv tool install, or pipx install"
        return _say_error(screen, Missing(f"the package {package} is not installed", next=hint))
    except Exception as error:
        if isinstance(error, OSError) and not screen.begun:  # click's own help output
            with output.command_output_delivered("nothing was changed"):
                raise
        return _say_bug(screen, error)


def _say_bug(screen: output.Screen, error: Exception) -> int:
    report = _write_report(error)
    message = f"this is a bug in memdir: {type(error).__name__}"
    next = f"please report it with {report}" if report else "please report it"
    _say(screen, {"code": "internal", "message": message, "next": next, "report": report})
    return INTERNAL


def _say_error(screen: output.Screen, error: MemdirError) -> int:
    from memdir.cli.output import print_diff
    from memdir.hot.memory import decode
    from memdir.records.record import RecordError

    fields: output.Fields = {"code": error.code, "message": error.message, "next": error.next}
    if error.path:
        fields["path"] = error.path
    facts: tuple[tuple[str, str], ...] = ()
    if isinstance(error, RecordError):
        fields |= {"record_code": error.record_code, "facts": dict(error.facts)}
        if not screen.json:
            fields["message"] = f"{error.record_code}: {error.message}"
            facts = (("target", error.path), *error.facts) if error.path else error.facts
    lines = []
    if isinstance(error, Conflict) or (isinstance(error, RecordError) and error.theirs):
        fields |= {"ours": decode(error.ours), "theirs": decode(error.theirs)}
    if isinstance(error, Conflict):
        lines = ["", "The current text (-) and the one that would replace it (+):"]
        lines += screen.diff_lines(print_diff(error.path, error.theirs, error.ours))
    _say(screen, fields, lines, facts)
    return error.exit_code


def _write_report(error: Exception) -> str:
    """Writes the traceback to a private file, never to the screen; returns its path."""
    import tempfile
    import traceback

    from memdir.cli.command import Asked
    from memdir.hot.disk import Disk

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


def _hide_secrets(arguments: Sequence[str], error: output.Fields) -> output.Fields:
    """A secret in an argument is not repeated: the screen may be shared, and output is kept."""
    from memdir.text.secrets import find_secrets, text_before_secrets

    texts = {key: str(error[key]) for key in error.keys() & {"message", "next", "path"}}
    if all(text_before_secrets(text) == text for text in texts.values()):
        return {}  # before the arguments are searched: they may be long
    rules = [secret.rule for word in arguments for secret in find_secrets(word)]
    hidden: output.Fields = {}
    for key, text in texts.items() if rules else ():
        shown = ""
        while (before := text_before_secrets(text)) != text:
            rest = text[len(before) :]
            value = len(rest) - len(rest.lstrip(SECRET_CHARACTERS)) or len(rest)
            shown, text = f"{shown}{before}({rules[0]}, not shown)", rest[value:]
        hidden[key] = shown + text
    return hidden


def _say(
    screen: output.Screen,
    error: output.Fields,
    more: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
) -> None:
    error["next"] = screen.advise(str(error["next"]))
    error |= _hide_secrets(screen.arguments, error)
    if screen.json and not screen.answered:
        screen.answer({"error": error}, [])
        return
    message, next = one_line(str(error["message"])), one_line(str(error["next"]))
    lines = wrap_text(message, screen.columns, screen.paint("memdir: ", ""), "  ")
    for key, value in facts:
        lines += screen.block(f"{key}:", cut_text(value, MAX_FACT))
    lines += output.wrap_next_steps(next, screen.columns, "Next: ", "  ") if next else []
    screen.complain([*lines, *more])

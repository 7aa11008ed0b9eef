"""Before a tool runs: a command that a memory forbids is stopped once, with the memory as the reason.

The rules are compiled by `recall/guards` and kept until a store changes. What was said once in a
session is not said again: a guard is a reminder at the right moment, never a wall.
"""

import os

from memdir.hot import disk
from memdir.hot.acceptance import acceptance_facts, acceptance_folder
from memdir.hot.inject import Sessions
from memdir.hot.layout import Markdown
from memdir.hot.place import UNGUARDED, store_key
from memdir.hot.run import read_hook_json, write_hook_json
from memdir.hot.safe import inert_line
from memdir.hot.shell import read_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

SHELL = "Bash"
NAME = "PreToolUse"
FOLDER = "guards"
MARK = "memdir guards 1"
MAX_BYTES = 512 * 1024
OFF = "guards.off"  # names of guards that the user switched off, in the state folder
SAID = ".guards"  # what a session was told, beside its file
TOLD, RAN = "told", "ran"
FORBID, NEEDS, BEFORE = "forbid", "needs", "before"
MAX_SAID_BYTES = 64 * 1024
# The same flag in two spellings.
ALIASES = {"--force": "-f", "--recursive": "-r", "--all": "-a", "--volumes": "-v", "--global": "-g"}
ALIASES |= {short: long for long, short in ALIASES.items()}


class Command:
    """Whatever runs this program with these first words and all of these flags."""

    __slots__ = ("flags", "program", "words")

    def __init__(self, program: str, words: "Sequence[str]", flags: "Sequence[str]") -> None:
        self.program, self.words, self.flags = program, tuple(words), tuple(flags)

    def __str__(self) -> str:
        return " ".join((self.program, *self.words, *self.flags)).strip()

    def runs_in(self, words: list[str]) -> bool:
        if self.program not in ("", words[0]) or not all(
            has_flag(words, flag) for flag in self.flags
        ):
            return False
        wanted, skip = list(self.words), False
        for word in words[1:]:
            if not wanted:
                break
            if word[:1] == "-":
                skip = True  # the next word may be its value
            elif word == wanted[0]:
                wanted.pop(0)
                skip = False
            elif not skip:
                return False
            else:
                skip = False
        return not wanted


def has_flag(words: list[str], flag: str) -> bool:
    for word in words[1:]:
        if word == "--":
            return False
        if word.partition("=")[0] in (flag, ALIASES.get(flag)):
            return True
        if word[:1] == "-" and word[1:2] != "-" and len(flag) == 2 and flag[1] in word[1:]:
            return True
        short = ALIASES.get(flag, "")
        if word[:1] == "-" and word[1:2] != "-" and len(short) == 2 and short[1] in word[1:]:
            return True
    return False


class Guard:
    __slots__ = ("command", "form", "giver", "name", "other", "path", "scope", "sentence", "stops")

    def __init__(
        self, form: str, command: Command, other: Command | None, stops: bool, sentence: str
    ) -> None:
        self.form = form
        self.command = command
        self.other = other  # the flags it needs (no program), or the command that comes first
        self.stops = stops  # else it reminds
        self.sentence = sentence
        self.name = self.scope = self.path = self.giver = ""

    @property
    def key(self) -> str:
        """The same as long as the memory and what it forbids are the same."""
        return disk.digest_of(f"{self.scope}\n{self.path}\n{self.form} {self.command}".encode())[
            :16
        ]

    def concerns(self, programs: "Iterable[list[str]]", ran: "frozenset[str]") -> bool:
        done = self.key in ran
        for words in programs:
            if self.form == BEFORE and self.other and self.other.runs_in(words):
                done = True
            if self.command.runs_in(words):
                flags = self.other.flags if self.other and self.form == NEEDS else ()
                if self.form == FORBID or (self.form == BEFORE and not done):
                    return True
                if self.form == NEEDS and not all(has_flag(words, flag) for flag in flags):
                    return True
        return False

    def fields(self) -> list[object]:
        other = [self.other.program, self.other.words, self.other.flags] if self.other else []
        command = [self.command.program, self.command.words, self.command.flags]
        place = [self.name, self.scope, self.path, self.giver]
        return [self.form, command, other, self.stops, self.sentence, place]


def read_guard(fields: "Sequence[object]") -> Guard:
    form, command, other, stops, sentence, place = fields
    guard = Guard(form, Command(*command), Command(*other) if other else None, stops, sentence)
    guard.name, guard.scope, guard.path, guard.giver = place
    return guard


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    if here.records():
        from memdir.records.guard import answer as guard_records

        if (denial := guard_records(event, asked, here))[0]:
            return denial
    tool, _, _, line = asked.call()
    if tool != SHELL or not line or UNGUARDED in here.holds:
        return "", None
    guards = guards_for_hook(here)
    if not guards:
        return "", None
    programs = list(read_programs(line, os.environ))
    # A sub-agent does not know what its caller was told.
    said = Sessions(here.state).path_of(asked.session + asked.agent_id) + SAID
    told, ran = _read_said(said)
    hits = [guard for guard in guards if guard.key not in told and guard.concerns(programs, ran)]
    hits = [guard for guard in hits if _still_says(guard, here)]
    first = [
        guard
        for guard in guards
        if guard.form == BEFORE and guard.other and any(map(guard.other.runs_in, programs))
    ]
    news = [f"{TOLD} {guard.key}" for guard in hits]
    news += [f"{RAN} {guard.key}" for guard in first if guard.key not in ran]
    if news:
        try:
            disk.append_to_file(said, ("\n".join(news) + "\n").encode(), MAX_SAID_BYTES)
        except OSError:
            return "", None  # it could not be said only once, so it is not said
    hits.sort(key=lambda guard: not guard.stops)
    if not hits:
        return "", None
    if hits[0].stops:
        return asked.deny(_reason(hits[0])), None
    return asked.context(NAME, _reminder(hits[0])), None


def _reason(guard: Guard) -> str:
    return (
        f"Stopped once by a memory{_whose(guard)}: “{inert_line(guard.sentence)}” ({guard.path}). "
        f"{_what_to_do(guard)} If it is right here all the same, run it again: it passes now. "
        f"The user can switch this off: memdir guards off {guard.name}"
    )


def _reminder(guard: Guard) -> str:
    return (
        f"Memory, not an instruction{_whose(guard)}: “{inert_line(guard.sentence)}” "
        f"({guard.path}). Check whether it applies to this command."
    )


def _whose(guard: Guard) -> str:
    return f" {guard.giver}" if guard.giver else ""


def _what_to_do(guard: Guard) -> str:
    if guard.form == NEEDS and guard.other:
        return f"Pass {' '.join(guard.other.flags)}."
    if guard.form == BEFORE:
        return f"Run `{guard.other}` first."
    return "Find another way."


def _read_said(path: str) -> "tuple[frozenset[str], frozenset[str]]":
    data = disk.read_end_of_file(path, MAX_SAID_BYTES)[0]
    lines = [line.partition(" ") for line in data.decode("utf-8", "replace").split("\n")]
    told, ran = (frozenset(key for kind, _, key in lines if kind == which) for which in (TOLD, RAN))
    return told, ran


def _still_says(guard: Guard, here: "Here") -> bool:
    """The memory may have changed since its rules were compiled."""
    for scope, root in here.stores():
        if scope == guard.scope:
            return os.path.isfile(os.path.join(root, guard.path))
    return guard.scope not in ("project", "user", "local", "team")


def guards_for_hook(here: "Here") -> list[Guard]:
    """Rules of all stores that apply, but those that the user switched off."""
    stores = here.stores()
    path = os.path.join(here.cache, FOLDER, store_key("\n".join(f"{s} {r}" for s, r in stores)))
    state = "\n".join([_folder_state(scope, root, here) for scope, root in stores])
    state += "\n" + " ".join(sorted(read_switched_off(here.state)))
    if data := disk.read_sealed_file(path, MARK, MAX_BYTES):
        kept, _, rules = data.decode("utf-8", "surrogateescape").partition("\0")
        if kept == state:
            return [read_guard(fields) for fields in read_hook_json(rules.encode())]
    from memdir.recall.guards import compile_guards

    off = read_switched_off(here.state)
    guards = [guard for guard in compile_guards(here) if guard.key not in off]
    rules = write_hook_json([guard.fields() for guard in guards])
    data = f"{state}\0{rules}".encode("utf-8", "surrogateescape")
    disk.keep_derived_file(path, disk.seal_bytes(MARK, data))
    return guards


def _folder_state(scope: str, root: str, here: "Here") -> str:
    """Changes when a memory is added, removed or replaced; the worker notices edits in place."""
    try:
        changed = os.stat(root).st_mtime_ns
    except OSError:
        changed = 0
    store = Markdown(root, here.max_file_bytes)
    return f"{scope} {changed} {acceptance_facts(acceptance_folder(store, here))}"


def read_switched_off(state_dir: str) -> "frozenset[str]":
    """Keys of the guards that the user switched off."""
    try:
        data = disk.read_start(os.path.join(state_dir, OFF), MAX_BYTES)[0]
    except OSError:
        return frozenset()
    return frozenset(data.decode("utf-8", "replace").split())

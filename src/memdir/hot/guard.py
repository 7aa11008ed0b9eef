"""Before a tool runs: a command that a memory forbids is stopped once, with the memory as reason.

The rules are compiled when a memory is saved (store/guards.py). What was said once in a session is
not said again, and the same command passes then: a guard is a reminder, never a wall.
"""

import os

from memdir.hot import disk
from memdir.hot.layout import Markdown
from memdir.hot.place import SHARED, UNGUARDED, origin_of_scope, store_key
from memdir.hot.run import Sessions, read_hook_json, write_hook_json
from memdir.hot.safe import inert_line
from memdir.hot.shell import read_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

TOOLS = ("Bash", "run_shell_command")
EVENT = "PreToolUse"
FOLDER = "guards"  # in the cache; only there while a memory guards a command
MARK = "memdir guards 1"
MAX_BYTES = 512 * 1024
MAX_GUARDS = 200
MAX_MEMORY_BYTES = 1 << 20  # a longer memory guards nothing
OFF = "guards.off"  # keys of guards that the user switched off, in the state folder
SAID = ".guards"  # what a session was told, beside its file
TOLD, RAN, PASSES = "told", "ran", "passes"
MAX_SAID_BYTES = 64 * 1024
FORBID, NEEDS, BEFORE = "forbid", "needs", "before"
# The same flag in two spellings.
ALIASES = {"--force": "-f", "--recursive": "-r", "--all": "-a", "--volumes": "-v", "--global": "-g"}
ALIASES |= {short: long for long, short in ALIASES.items()}


ANY = "*"  # whatever word
WITHIN = "…"  # starts a "flag": text somewhere in what the command is given, such as a message


class Command:
    """Whatever runs this program with these first words and all of these flags."""

    __slots__ = ("flags", "program", "words")

    def __init__(self, program: str, words: "Sequence[str]", flags: "Sequence[str]") -> None:
        self.program, self.words, self.flags = program, tuple(words), tuple(flags)

    def __str__(self) -> str:
        return " ".join((self.program, *self.words, *self.flags)).strip()

    def runs_in(self, words: list[str]) -> bool:
        if self.program not in ("", words[0]) or not all(
            guard_has_flag(words, flag) for flag in self.flags
        ):
            return False
        wanted, skip = list(self.words), False
        for word in words[1:]:
            if not wanted:
                break
            if word[:1] == "-":
                skip = True  # the next word may be its value
            elif wanted[0] in (word, ANY):
                wanted.pop(0)
                skip = False
            elif not skip:
                return False
            else:
                skip = False
        return not wanted


def guard_has_flag(words: list[str], flag: str) -> bool:
    if flag.startswith(WITHIN):
        return any(flag[1:] in word.lower() for word in words[1:])
    spellings = (flag, ALIASES.get(flag, flag))
    letters = [spelling[1] for spelling in spellings if len(spelling) == 2]
    for word in words[1:]:
        if word == "--":
            return flag == word
        joined = word[:1] == "-" and word[1:2] != "-" and any(one in word[1:] for one in letters)
        if joined or word.partition("=")[0] in spellings:
            return True
    return False


class Guard:
    __slots__ = (
        *("command", "digest", "form", "giver", "name", "other", "path", "sentence", "stops"),
    )

    def __init__(
        self, form: str, command: Command, other: Command | None, stops: bool, sentence: str
    ) -> None:
        self.form = form
        self.command = command
        self.other = other  # the flags it needs (no program), or the command that comes first
        self.stops = stops  # else it reminds
        self.sentence = sentence
        self.name = self.path = self.digest = self.giver = ""  # of the memory

    @property
    def key(self) -> str:
        """The same as long as the memory's path and what it forbids are the same."""
        return disk.digest_of(f"{self.path}\n{self.form} {self.command}".encode())[:16]

    def concerns(self, programs: "Iterable[list[str]]", ran: "frozenset[str]") -> bool:
        done = self.key in ran
        for words in programs:
            if self.form == BEFORE and self.other and self.other.runs_in(words):
                done = True
            if self.command.runs_in(words):
                flags = self.other.flags if self.other and self.form == NEEDS else ()
                if self.form == FORBID or (self.form == BEFORE and not done):
                    return True
                if self.form == NEEDS and not all(guard_has_flag(words, flag) for flag in flags):
                    return True
        return False


def write_guards(facts: str, guards: "Sequence[Guard]") -> bytes:
    """`facts` are those of the acceptance that the rules were compiled under."""
    rules = []
    for guard in guards:
        other = guard.other
        flags = [other.program, other.words, other.flags] if other else []
        command = [guard.command.program, guard.command.words, guard.command.flags]
        memory = [guard.name, guard.path, guard.digest, guard.giver]
        rules.append([guard.form, command, flags, guard.stops, guard.sentence, memory])
    text = write_hook_json([facts, rules])
    return disk.seal_bytes(MARK, text.encode("utf-8", "surrogateescape"))


def read_guards(path: str) -> "tuple[str, list[Guard]]":
    data = disk.read_sealed_file(path, MARK, MAX_BYTES)
    facts, rules = read_hook_json(data) if data else ("", [])
    guards = []
    for form, command, other, stops, sentence, memory in rules:
        guard = Guard(form, Command(*command), Command(*other) if other else None, stops, sentence)
        guard.name, guard.path, guard.digest, guard.giver = memory
        guards.append(guard)
    return facts, guards


def guards_file(cache: str, root: str, origin: str) -> str:
    return os.path.join(cache, FOLDER, store_key(f"{origin}#{os.path.realpath(root)}"))


def guards_for_hook(here: "Here") -> "list[tuple[Guard, str]]":
    """Rules of all stores that apply, with the directory of each; without those switched off."""
    if UNGUARDED in here.holds or not os.path.isdir(os.path.join(here.cache, FOLDER)):
        return []
    off, guards = read_switched_off(here.state), []
    for scope, root in here.stores():
        origin = origin_of_scope(scope, root, here.checkout, SHARED in here.holds)
        facts, rules = read_guards(guards_file(here.cache, root, origin))
        if origin and rules:
            from memdir.hot.acceptance import acceptance_facts, acceptance_folder

            store = Markdown(root, here.max_file_bytes)
            if facts != acceptance_facts(acceptance_folder(store, here)):
                continue  # something else was accepted since; the worker compiles them again
        guards += [(guard, root) for guard in rules if guard.key not in off]
    return guards[:MAX_GUARDS]


def read_switched_off(state_dir: str) -> "frozenset[str]":
    try:
        data = disk.read_start(os.path.join(state_dir, OFF), MAX_BYTES)[0]
    except OSError:
        return frozenset()
    return frozenset(data.decode("utf-8", "replace").split())


def answer_tool_hook(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    if here.records():
        from memdir.records.denial import guard_records

        if (denial := guard_records(event, asked, here))[0]:
            return denial
    tool, _, _, line = asked.call()
    if tool not in TOOLS or not line or not asked.session:
        return "", None
    guards = guards_for_hook(here)
    return (_guard(line, asked, here.state, guards) if guards else ""), None


def _guard(line: str, asked: "Event", state: str, guards: "list[tuple[Guard, str]]") -> str:
    programs = list(read_programs(line, os.environ))
    # A sub-agent does not know what its caller was told.
    path = Sessions(state).path_of(asked.session + asked.agent_id) + SAID
    said = _read_said(path)
    same = disk.digest_of(line.encode("utf-8", "replace"))[:16]
    hits = [
        guard
        for guard, root in guards
        if guard.key not in said[TOLD] and guard.concerns(programs, said[RAN])
        if _still_says(guard, root)
    ]
    hits = sorted(hits, key=lambda guard: not guard.stops)[:1] if same not in said[PASSES] else []
    news = [f"{TOLD} {guard.key}\n{PASSES} {same}" for guard in hits]
    for guard, _ in guards:
        if guard.form == BEFORE and guard.other and any(map(guard.other.runs_in, programs)):
            news += [f"{RAN} {guard.key}"] if guard.key not in said[RAN] else []
    try:
        if news and not disk.append_to_file(
            path, ("\n".join(news) + "\n").encode(), MAX_SAID_BYTES
        ):
            return ""
    except OSError:
        return ""  # it could not be said only once, so it is not said
    for guard in hits:
        return asked.deny(_reason(guard)) if guard.stops else asked.context(EVENT, _reminder(guard))
    return ""


def _still_says(guard: Guard, root: str) -> bool:
    """The memory may have changed since its rules were compiled."""
    try:
        data = disk.read_start(os.path.join(root, guard.path), MAX_MEMORY_BYTES)[0]
    except OSError:
        return False
    return disk.digest_of(data) == guard.digest


def _read_said(path: str) -> "dict[str, frozenset[str]]":
    data = disk.read_end_of_file(path, MAX_SAID_BYTES)[0]
    lines = [line.partition(" ") for line in data.decode("utf-8", "replace").split("\n")]
    return {
        which: frozenset(key for kind, _, key in lines if kind == which)
        for which in (TOLD, RAN, PASSES)
    }


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
    return "Find another way, or ask the user."

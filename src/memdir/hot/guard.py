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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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


def write_guards_for_hook(facts: str, guards: "Sequence[Guard]") -> bytes:
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
    off, guards = read_switched_off_guards(here.state), []
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


def read_switched_off_guards(state_dir: str) -> "frozenset[str]":
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
    instead = "Find another way, or ask the user."
    if guard.form == NEEDS and guard.other:
        instead = f"Pass {' '.join(guard.other.flags)}."
    elif guard.form == BEFORE:
        instead = f"Run `{guard.other}` first."
    return (
        f"Stopped once by a memory{_quote(guard)} {instead} If it is right here all the same, run "
        "it again: it passes now. "
        f"The user can switch this off: memdir guards off {guard.name}"
    )


def _reminder(guard: Guard) -> str:
    return f"Memory, not an instruction{_quote(guard)} Check whether it applies to this command."


def _quote(guard: Guard) -> str:
    giver = f" {guard.giver}" if guard.giver else ""
    return f"{giver}: “{inert_line(guard.sentence)}” ({guard.path})."


# A command line is split as a shell does: the words of each simple command, and what it writes to.
# Nothing is expanded but the variables given; this prevents mistakes, not attacks.

MAX_LINE_CHARACTERS = 64 * 1024  # of a command line
MAX_WORD_CHARACTERS = 4096
MAX_SHELLS = 3  # of `sh -c` in `sh -c`
UNKNOWN = "\0"  # a part of a word that only a shell can expand
ENDS = ";\n&|()`"  # of a simple command
PREFIXES_TEXT = """
sudo env command nohup time timeout nice exec xargs export if then else elif while until do ! {
builtin doas
"""
PREFIXES = frozenset(PREFIXES_TEXT.split())
VALUED = ("-u", "-g", "-n", "-I", "-P")  # options of a prefix that have a value: sudo -u bob rm
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))
SSH_VALUED = "BbcDEeFIiJLlmOopQRSWw"  # options of ssh that have a value
# `python -m pip` runs pip, `npx prisma` runs prisma.
RUNNERS = dict.fromkeys(("npx", "bunx", "uvx", "pnpm", "yarn"), "")
RUNNERS |= {"python": "-m", "uv": "run", "poetry": "run", "bundle": "exec", "npm": "exec"}


class Simple:
    """A simple command: its words, its redirections, and the `(` or `)` before it."""

    __slots__ = ("subshell", "targets", "words")

    def __init__(self, subshell: str = "") -> None:
        self.words: list[str] = []
        self.targets: list[str] = []  # files that it writes by redirection
        self.subshell = subshell


def read_commands(line: str, variables: "Mapping[str, str]") -> "Iterator[Simple]":
    line = line[:MAX_LINE_CHARACTERS]
    simple, documents = Simple(), list[str]()
    known = dict(variables)
    i = 0
    while i <= len(line):
        char = line[i : i + 1]
        if char in (" ", "\t"):
            i += 1
        elif line.startswith("\\\n", i):
            i += 2
        elif char == "#":
            i = _end_of_line(line, i)
        elif not char or (char in ENDS and not line.startswith("&>", i)):
            _take_prefixes(simple, known)
            yield simple
            simple, i = Simple(char if char in ("(", ")") else ""), i + 1
            if char == "\n":
                i = _skip_documents(line, i, documents)
        elif char in "<>&":
            start = i
            while line[i : i + 1] in ("<", ">", "&", "|"):
                i += 1
            mark = line[start:i]
            if simple.words and simple.words[-1].isdigit() and line[start - 1].isdigit():
                simple.words.pop()  # 2>
            while line[i : i + 1] in (" ", "\t"):
                i += 1
            word, i = _word(line, i, known)
            if mark == "<<":
                documents.append(word)
            elif ">" in mark and not (mark.endswith("&") and (word.isdigit() or word == "-")):
                simple.targets.append(word)
        else:
            word, i = _word(line, i, known)
            simple.words.append(word)


def read_programs(
    line: str, variables: "Mapping[str, str]", depth: int = 0
) -> "Iterator[list[str]]":
    """The words of each program a line runs, also by `sh -c` and `python -m`; no folder names."""
    for simple in read_commands(line, variables):
        words = simple.words
        if not words:
            continue
        program = words[0].rpartition("/")[2]
        yield [program, *words[1:]]
        if program in SHELLS and depth < MAX_SHELLS:
            for i, option in enumerate(words[1:-1], 2):
                if option[:1] == "-" and option[-1] == "c":
                    yield from read_programs(words[i], variables, depth + 1)
                    break
            script = next((word for word in words[1:] if word[:1] != "-"), "")
            if "." in script or "/" in script:
                yield [script.rpartition("/")[2]]  # sh deploy.sh
        elif program == "ssh" and depth < MAX_SHELLS:
            rest = words[1:]
            while rest and rest[0][:1] == "-":
                rest = rest[2 if rest[0][-1:] in SSH_VALUED else 1 :]
            yield from read_programs(" ".join(rest[1:]), variables, depth + 1)
        elif (by := RUNNERS.get(program.rstrip(".0123456789"))) is not None:
            rest = words[1:]
            while rest and rest[0] != by and (rest[0][:1] == "-" or rest[0] in ("exec", "dlx")):
                rest = rest[1:]
            rest = rest[1:] if by and rest[:1] == [by] else [] if by else rest
            if rest:
                yield rest


def _take_prefixes(simple: Simple, variables: dict[str, str]) -> None:
    words, prefixed = simple.words, False
    while words:
        name, equals, value = words[0].partition("=")
        if prefixed and name in VALUED:
            words = words[1:]
        if equals and name.isidentifier():
            variables[name] = value
        elif name in PREFIXES:
            prefixed = True
        elif not prefixed or (name[:1] != "-" and not name[:1].isdigit()):
            break  # the words before it were options: timeout -s 9 5m rm
        words = words[1:]
    simple.words = words


def _word(line: str, i: int, variables: dict[str, str]) -> tuple[str, int]:
    parts, quoted = list[str](), False
    while i < len(line) and (quoted or line[i] not in ENDS + " \t<>"):
        char = line[i]
        i += 1
        if char == '"':
            quoted = not quoted
        elif char == "'" and not quoted:
            end = line.find("'", i)
            end = len(line) if end < 0 else end
            parts.append(line[i:end])
            i = end + 1
        elif char == "\\":
            parts.append(line[i : i + 1].replace("\n", ""))
            i += 1
        elif char == "$":
            braced = line[i : i + 1] == "{"
            start = i = i + braced
            while line[i : i + 1].isalnum() or line[i : i + 1] == "_":
                i += 1
            parts.append(variables.get(line[start:i], UNKNOWN))
            i += braced and line[i : i + 1] == "}"
        else:
            parts.append(char)
    word = "".join(parts)
    return word if len(word) <= MAX_WORD_CHARACTERS else UNKNOWN, i


def _end_of_line(line: str, i: int) -> int:
    end = line.find("\n", i)
    return len(line) if end < 0 else end


def _skip_documents(line: str, i: int, documents: list[str]) -> int:
    for name in documents:
        while i < len(line):
            end = _end_of_line(line, i)
            text = line[i:end]
            i = end + 1
            # For <<-NAME the word is -NAME, and tabs may precede the end.
            if text == name or (name[:1] == "-" and text.lstrip("\t") == name[1:]):
                break
    documents.clear()
    return i

"""Three typed reads (read, grep, list); no command lines."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Protocol

from memdir.capture.signals import SECRET, masked
from memdir.errors import BadInput
from memdir.format.names import check_name

# The commands that only look, with the options that do no more than that.
#
# What is not listed is denied: also short forms of long options, and options that follow links,
# wait, run, write, or read a list of names from a file.

NUMBER, TEXT, COMMANDS_PATH = "number", "text", "path"
_NUMBER = re.compile(r"[+-]?\d{1,9}[bkKMG]?", re.ASCII)
_NEWER = re.compile(r"-newer[aBcm][aBcmt]", re.ASCII)


@dataclass(frozen=True)
class Command:
    """`flags` are letters; `valued` and `long` say what stands behind an option, "" for nothing."""

    flags: str
    valued: dict[str, str] = field(default_factory=dict)
    long: dict[str, str] = field(default_factory=dict)
    counts: bool = False  # takes a bare -20
    needs: int = 0  # operands, at least
    pattern: bool = False  # its first operand is no path


@dataclass(frozen=True)
class Parsed:
    """Options as they are to be given, and the paths that are still to be looked into."""

    options: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()  # of find: they stand behind the paths
    inside: tuple[str, ...] = ()  # further paths, which stand in the tests
    reason: str = ""


def _all(names: str, kind: str = "") -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


def _long(plain: str, **valued: str) -> dict[str, str]:
    return _all(plain) | {name.replace("_", "-"): kind for name, kind in valued.items()}


# Whole lines alone: of a piece of a line nobody can tell that it is a secret's.
_LINES = Command("qv", {"n": NUMBER}, _long("", lines=NUMBER), True, 1)
COMMANDS = {
    "ls": Command(
        "1aAdFghiklnoprRsStuX",
        {},
        _long("all almost-all directory human-readable recursive reverse size", sort=TEXT),
    ),
    "cat": Command("AbeEnstTuv", {}, _long("number number-nonblank show-all"), needs=1),
    "stat": Command("t", {"c": TEXT}, _long("terse", format=TEXT, printf=TEXT), needs=1),
    "wc": Command("clmwL", {}, _long("lines words bytes chars max-line-length"), needs=1),
    "head": _LINES,
    "tail": _LINES,
    "grep": Command(
        "EFGHILchilnqrsvwx",
        {"A": NUMBER, "B": NUMBER, "C": NUMBER, "m": NUMBER, "e": TEXT},
        _long(
            "ignore-case invert-match word-regexp line-regexp count files-with-matches "
            "files-without-match quiet no-messages line-number with-filename "
            "no-filename recursive extended-regexp fixed-strings basic-regexp",
            regexp=TEXT, max_count=NUMBER, context=NUMBER, after_context=NUMBER,
            before_context=NUMBER, include=TEXT, exclude=TEXT, exclude_dir=TEXT,
        ),
        counts=True,
        pattern=True,
    ),
}  # fmt: skip
# What find may ask of a file, and what stands behind the question.
TESTS = _all(
    "-print -empty -o -or -a -and -not ! ( ) -prune -readable -true -false -depth -daystart",
) | {
    **_all("-name -iname -path -ipath -type -size -perm -user -group", TEXT),
    **_all("-maxdepth -mindepth -mtime -mmin -atime -ctime", NUMBER),
    **_all("-newer -samefile", COMMANDS_PATH),
}
NAMES = (*COMMANDS, "find")


def parse(words: tuple[str, ...]) -> Parsed:
    """The parts of a command that only looks; a reason for any other."""
    name, *rest = words
    if name == "find":
        return _find(rest)
    if name not in COMMANDS:
        return Parsed(reason=f"only {' '.join(NAMES)} may be run")
    return _plain(name, COMMANDS[name], rest)


def _plain(name: str, command: Command, rest: list[str]) -> Parsed:
    options: list[str] = []
    operands: list[str] = []
    pattern = command.pattern
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word[:1] != "-":
            operands.append(word)
            continue
        taken = _option(command, word, rest)
        if taken is None:
            return Parsed(reason=f"{name} {word[:40]} is not allowed")
        options += taken
        # Two texts in one option are the letter and the pattern itself.
        pattern = pattern and not (taken[0] == "-e" or taken[0].startswith("--regexp="))
    if pattern:
        if not operands:
            return Parsed(reason=f"{name} needs a pattern")
        options += ["-e", operands.pop(0)]
    if len(operands) < command.needs:
        return Parsed(reason=f"{name} needs a file")
    return Parsed(tuple(options), tuple(operands))


def _option(command: Command, word: str, rest: list[str]) -> list[str] | None:
    """The option as it is to be given, taking its value from the rest; None if it may not be."""
    if word.startswith("--"):
        return _long_option(command, word[2:], rest)
    if command.counts and word[1:].isdecimal() and _NUMBER.fullmatch(word[1:]):
        return ["-n" if command is _LINES else "-C", word[1:]]
    letters = word[1:]
    taken: list[str] = []
    for at, letter in enumerate(letters):
        if letter in command.flags:
            taken.append(f"-{letter}")
        elif letter in command.valued:
            value = letters[at + 1 :] or (rest.pop(0) if rest else "")
            # The value comes first, where the caller looks for a pattern.
            return [f"-{letter}", value, *taken] if _fits(value, command.valued[letter]) else None
        else:
            return None
    return taken or None


def _long_option(command: Command, text: str, rest: list[str]) -> list[str] | None:
    name, equals, value = text.partition("=")
    kind = command.long.get(name)
    if kind is None or (equals and not kind):
        return None
    if not kind:
        return [f"--{name}"]
    if not equals:
        value = rest.pop(0) if rest else ""
    return [f"--{name}={value}"] if _fits(value, kind) else None


def _fits(value: str, kind: str) -> bool:
    return bool(_NUMBER.fullmatch(value)) if kind == NUMBER else bool(value)


def _find(rest: list[str]) -> Parsed:
    paths: list[str] = []
    while rest and rest[0][:1] not in ("-", "(", "!"):
        paths.append(rest.pop(0))
    tests: list[str] = []
    inside: list[str] = []
    while rest:
        word = rest.pop(0)
        kind = TESTS.get(word)
        if kind is None and _NEWER.fullmatch(word):
            kind = TEXT if word.endswith("t") else COMMANDS_PATH
        if kind is None:
            return Parsed(reason=f"find {word[:40]} is not allowed")
        tests.append(word)
        if not kind:
            continue
        value = rest.pop(0) if rest else ""
        if not _fits(value, kind):
            return Parsed(reason=f"find {word} needs a {kind}")
        inside += [value] if kind == COMMANDS_PATH else []
        tests.append(value)
    return Parsed((), tuple(paths), tuple(tests), tuple(inside))


# Which files may be looked at: those of the project and the store that hold no secrets.

Resolve = Callable[[str], str]  # the real path: absolute, without links and dots

LONGEST = 1024  # characters
# Folders and files that hold keys or logins by their nature; compared in small letters.
SECRET_FOLDERS = (
    *(".git", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".gcloud"),
    *(".password-store", ".terraform", ".secrets", "secrets", "credentials"),
)
SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".boto"),
    *(".git-credentials", "*credentials*", "secret.*", "secrets.*", ".secrets*", "*.tfstate*"),
    *("*.tfvars", "*.token", "service-account*.json", "auth.json"),
)
# Of them, those that show a form and no values; code and memories tell of secrets, and seldom hold
# them (what looks like one is left out of everything that is shown).
SHOWN_FILES = (
    *("*.example", "*.sample", "*.template", "*.dist", "*.pub", "*.md", "*.py", "*.js", "*.ts"),
    *("*.go", "*.rs", "*.rb", "*.java", "*.kt", "*.cs", "*.c", "*.h", "*.cpp", "*.swift", "*.php"),
)


@dataclass(frozen=True)
class Places:
    """Where an agent may look: real paths. Where there is no project, the store alone."""

    project: str
    store: str

    def holding(self, path: str) -> str:
        """The one of them that a real path lies in; empty for none. `/` is no project."""
        roots = [root.rstrip("/") for root in (self.store, self.project)]
        return next((root for root in roots if root and is_inside(path, root)), "")

    @property
    def base(self) -> str:
        """What a relative path starts from."""
        return self.project if self.project.rstrip("/") else self.store


@dataclass(frozen=True)
class Place:
    """A path that was looked into: the real one, or why it may not be touched."""

    path: str = ""
    reason: str = ""


def is_inside(path: str, root: str) -> bool:
    """Is it the root, or below it?"""
    return path == root or path.startswith(root + "/")


def place(given: object, places: Places, resolve: Resolve) -> Place:
    """The real path of what was given, if it may be looked at."""
    if not isinstance(given, str) or not given:
        return Place(reason="it names no file")
    if len(given) > LONGEST:
        return Place(reason="the path is too long")
    if not given.isprintable():
        return Place(reason="the path holds hidden characters")
    if given.startswith("~"):
        return Place(reason="~ is not looked up: write a path of the project")
    real = resolve(given if given.startswith("/") else f"{places.base.rstrip('/')}/{given}")
    root = places.holding(real)
    if not root:
        return Place(reason="it lies outside of the project and the store")
    # What a link is called counts as much as what it leads to.
    if is_secret(real[len(root) :]) or is_secret(given.rpartition("/")[2]):
        return Place(reason="such files may hold secrets")
    return Place(real)


def is_secret(path: str) -> bool:
    """Does a path below a place say that secrets lie there?"""
    *folders, name = path.lower().strip("/").split("/")
    if any(folder in SECRET_FOLDERS for folder in (*folders, name)):
        return True
    if any(fnmatchcase(name, pattern) for pattern in SHOWN_FILES):
        return False
    return any(fnmatchcase(name, pattern) for pattern in SECRET_FILES)


def shown(path: str, places: Places) -> str:
    """How a real path is given to a command that runs in the project: never like an option."""
    base = places.base.rstrip("/")
    return f".{path[len(base) :]}" if is_inside(path, base) else path


# A command line as its words. What a shell would make more of than words is refused.

WORDS_LONGEST = 1000  # characters
# They chain, redirect, expand, group, escape or comment, wherever they stand without quotes …
SPECIAL = frozenset(";&|<>()$`\\*?[]{}!#\n\r")
# … and these do so between double quotes, too.
SPECIAL_QUOTED = frozenset("$`\\!\n\r")


@dataclass(frozen=True)
class Words:
    """The words of a command, or why it has none."""

    words: tuple[str, ...] = ()
    reason: str = ""


def split(command: object) -> Words:
    """Words between blanks; quotes keep blanks and special characters."""
    if not isinstance(command, str) or not command.strip():
        return Words(reason="there is no command")
    if len(command) > WORDS_LONGEST:
        return Words(reason="the command is too long")
    if not command.replace("\t", " ").isprintable():
        return Words(reason="only one plain line is taken: no line ends, no hidden characters")
    found: list[str] = []
    word: str | None = None
    quote = ""
    for char in command:
        if quote == "" and char in "'\"":
            quote, word = char, word or ""
        elif quote == char:
            quote = ""
        elif (quote == "" and char in SPECIAL) or (quote == '"' and char in SPECIAL_QUOTED):
            return Words(reason=f"{char} is not taken: one plain command, with patterns in '…'")
        elif quote == "" and char in " \t":
            found += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + char
    if quote:
        return Words(reason="a quote is not closed")
    found += [] if word is None else [word]
    return Words(tuple(found))


# What the agent that captures may do: look at the project and the store, and draft.
#
# Reads go anywhere in both but to files that hold secrets; a command is one of a few that only
# look, without a shell; Write and Edit name a memory of the store and become drafts; the rest is
# denied.

READ, GREP, GLOB, BASH, WRITE, EDIT = "Read", "Grep", "Glob", "Bash", "Write", "Edit"
TOOLS = (READ, GREP, GLOB, BASH, WRITE, EDIT)
MD = ".md"
LONGEST_PATTERN = 500  # characters


def _any_case(pattern: str) -> str:
    """A pattern that also fits names in capitals: `.env` as `.[eE][nN][vV]`."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in pattern)


# A recursive grep must not open what Read may not; the last option that fits a file wins.
UNSEEN = (
    "-D", "skip",  # a pipe would wait for somebody who writes
    *(f"--exclude={_any_case(pattern)}" for pattern in SECRET_FILES),
    *(f"--exclude-dir={_any_case(folder)}" for folder in SECRET_FOLDERS),
)  # fmt: skip
_SEARCH = ("-r", "-n", "-I", "-E")


@dataclass(frozen=True)
class Allowed:
    """A call as it is to be carried out; `path` is a real one, `words` are a command's.

    `name` is the memory that a Write or an Edit is about, `text` what it is to say.
    """

    tool: str
    path: str = ""
    words: tuple[str, ...] = ()
    pattern: str = ""
    start: int = 0
    lines: int = 0
    name: str = ""
    text: str = ""
    old: str = ""


@dataclass(frozen=True)
class Denied:
    """A call that is not carried out, and why."""

    reason: str


class Look(Protocol):
    """Carries out what is allowed, and never writes. `memory` is the file of that name, or None."""

    @property
    def places(self) -> Places: ...
    def resolve(self, path: str) -> str: ...
    def run(self, call: Allowed) -> str: ...
    def memory(self, name: str) -> bytes | None: ...
    def names(self) -> list[str]: ...


Decision = Allowed | Denied


def decide(tool: object, given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    """Whether a call may be made, and as what."""
    if tool == READ:
        return _read(given, places, resolve)
    if tool == GREP:
        return _grep(given, places, resolve)
    if tool == GLOB:
        return _glob(given, places, resolve)
    if tool == BASH:
        return _bash(given, places, resolve)
    if tool in (WRITE, EDIT):
        return _draft(str(tool), given, places, resolve)
    return Denied(f"there is no such tool for you; you have {', '.join(TOOLS)}")


def _read(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    found = place(given.get("file_path", given.get("path")), places, resolve)
    if found.reason:
        return Denied(found.reason)
    start, lines = (_count(given.get(key)) for key in ("offset", "limit"))
    return Allowed(READ, found.path, start=start, lines=lines)


def _grep(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    pattern, found = given.get("pattern"), _start(given, places, resolve)
    if reason := _misfit(pattern) or found.reason:
        return Denied(reason)
    words = ["grep", *_SEARCH, *(["-i"] if given.get("-i") is True else [])]
    if glob := given.get("glob"):
        if reason := _misfit(glob):
            return Denied(reason)
        words.append(f"--include={str(glob).rpartition('/')[2]}")
    # Models write patterns for other programs, which know \d.
    words += ["-e", str(pattern).replace(r"\d", "[0-9]"), *UNSEEN]
    return Allowed(BASH, words=(*words, "--", shown(found.path, places)))


def _glob(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    pattern, found = given.get("pattern"), _start(given, places, resolve)
    if reason := _misfit(pattern) or found.reason:
        return Denied(reason)
    text = str(pattern)
    root = found.path.rstrip("/") + "/"
    text = text.removeprefix(root)
    if text.startswith(("/", "~")) or ".." in text.split("/"):
        return Denied("the pattern leads out of the project")
    return Allowed(GLOB, found.path, pattern=text.removeprefix("./"))


def _bash(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    if given.get("run_in_background"):
        return Denied("nothing is run in the background")
    line = split(given.get("command"))
    if line.reason:
        return Denied(line.reason)
    parsed = parse(line.words)
    if parsed.reason:
        return Denied(parsed.reason)
    found = [place(path, places, resolve) for path in (*parsed.paths, *parsed.inside)]
    if reason := next((one.reason for one in found if one.reason), ""):
        return Denied(reason)
    name, paths = line.words[0], [shown(one.path, places) for one in found]
    paths = paths[: len(parsed.paths)]
    if name == "find":
        return Allowed(BASH, words=("find", *(paths or ["."]), *parsed.tests))
    more = UNSEEN if name == "grep" else ()
    return Allowed(BASH, words=(name, *parsed.options, *more, "--", *paths))


def _draft(tool: str, given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    found = place(given.get("file_path", given.get("path")), places, resolve)
    if found.reason:
        return Denied(found.reason)
    store = places.store.rstrip("/")
    if not store or not is_inside(found.path, store):
        return Denied("only memories are written: it lies outside of the store")
    name = found.path[len(store) + 1 :]
    try:
        check_name(name.removesuffix(MD))
    except BadInput as error:
        return Denied(f"{error.message}; a memory is a file NAME.md in the store itself")
    if not name.endswith(MD):
        return Denied("a memory is a file NAME.md in the store itself")
    keys = ("content",) if tool == WRITE else ("new_string", "old_string")
    texts = [given.get(key) for key in keys]
    if not all(isinstance(text, str) for text in texts):
        return Denied(f"{tool} needs {' and '.join(keys)}")
    text, *old = map(str, texts)
    return Allowed(tool, found.path, name=name.removesuffix(MD), text=text, old="".join(old))


def _start(given: Mapping[str, object], places: Places, resolve: Resolve) -> Place:
    """Where a search starts: the project, unless a path is given."""
    return place(given.get("path") or places.base, places, resolve)


def _misfit(pattern: object) -> str:
    if not isinstance(pattern, str) or not pattern:
        return "there is no pattern"
    if len(pattern) > LONGEST_PATTERN or not pattern.isprintable():
        return "the pattern is too long or holds hidden characters"
    return ""


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


# The eyes of the agent that captures: reads that were allowed, bounded in size and time.

LARGEST_BYTES = 64 * 1024  # of a file, and of what a command prints
LINES = 200  # of a file, where nobody says how many
SECONDS = 5.0  # for a command
ENTRIES = 20_000  # that a pattern is compared with
MATCHES = 100
PATH = "/usr/bin:/bin"
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
PRINTING = ("cat", "head", "tail", "grep")  # commands that print what stands in files
# A key of several lines is known by its first one only, which a command need not print.
KEYS = ("PRIVATE KEY", "PuTTY-User-Key")
MOST_KEYS = 100  # files with keys that are looked through
LEAST_LINE = 8  # characters of a key's line: shorter ones stand anywhere
UNSEEN_FOLDERS = ("node_modules", "__pycache__", ".venv")


class Looking:
    """Looks at one project and one store; what it cannot see is said in words."""

    def __init__(self, project: str, store: str) -> None:
        self.places = Places(os.path.realpath(project) if project else "", os.path.realpath(store))

    def resolve(self, path: str) -> str:
        """The real path; of what is not there, as far as it exists."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return ""

    def run(self, call: Allowed) -> str:
        """What is seen; a failure is a sentence for the one who asked."""
        try:
            if call.tool == READ:
                return self._read(call)
            if call.tool == GLOB:
                return self._glob(call)
            if call.tool == BASH:
                return self._command(call)
        except OSError as error:
            return f"(cannot be read: {error.strerror or type(error).__name__})"
        return "(nothing is written here)"

    def memory(self, name: str) -> bytes | None:
        """The bytes of a memory of the store."""
        try:
            return self._bytes(os.path.join(self.places.store, f"{name}.md"))
        except (OSError, ValueError):
            return None

    def names(self) -> list[str]:
        """The names of the memories in the store itself."""
        try:
            files = os.listdir(self.places.store)
        except OSError:
            return []
        return sorted(file[:-3] for file in files if file.endswith(".md"))

    def _bytes(self, path: str) -> bytes:
        with open(os.open(path, FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is no file")
            return file.read(LARGEST_BYTES + 1)

    def _read(self, call: Allowed) -> str:
        # A folder on the way may have become a link since the call was allowed.
        if self.resolve(call.path) != call.path:
            return "(it was moved just now)"
        data = self._bytes(call.path)
        lines = masked(data[:LARGEST_BYTES].decode("utf-8", "replace")).split("\n")
        first = max(call.start - 1, 0)
        shown = lines[first : first + (call.lines or LINES)]
        left = len(lines) - first - len(shown)
        more = [f"({left} more lines)"] if left > 0 or len(data) > LARGEST_BYTES else []
        return "\n".join([*shown, *more])

    def _glob(self, call: Allowed) -> str:
        found = [path for path in self._below(call.path) if _matches(path, call.pattern)]
        shown = sorted(found)[:MATCHES]
        more = [f"({len(found) - MATCHES} more)"] if len(found) > MATCHES else []
        return "\n".join([*shown, *more]) or "(no file fits)"

    def _below(self, root: str) -> Iterator[str]:
        """Paths of files below a folder; links are named and not followed."""
        seen = 0
        for folder, folders, files in os.walk(root):
            folders[:] = [
                one for one in folders if not is_secret(one) and one not in UNSEEN_FOLDERS
            ]
            for file in files:
                seen += 1
                if seen > ENTRIES:
                    return
                yield os.path.relpath(os.path.join(folder, file), root)

    def _command(self, call: Allowed) -> str:
        """What a command prints, without the lines of secrets."""
        words, files = self._plain(call.words)
        if not words:
            return "(it is no file)"
        out = self._printed(words)
        text = masked(out[:LARGEST_BYTES].decode("utf-8", "replace").rstrip("\n"))
        if words[0] in PRINTING:
            text = _without(text, self._key_lines(files))
        more = "\n(more was printed)" if len(out) > LARGEST_BYTES else ""
        return text + more or "(nothing was printed)"

    def _plain(self, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The command and its paths without pipes and devices, which have one wait for ever."""
        if "--" not in words:
            return tuple(words), ()
        at = words.index("--") + 1
        paths = tuple(words[at:])
        plain = tuple(one for one in paths if not self._waits(one))
        return ((*words[:at], *plain), plain) if plain or not paths else ((), ())

    def _waits(self, path: str) -> bool:
        with suppress(OSError, ValueError):
            mode = os.stat(os.path.join(self.places.base, path)).st_mode
            return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        return False

    def _key_lines(self, paths: Sequence[str]) -> list[str]:
        """The lines of keys in these files, whichever of them a command prints."""
        wanted = [word for key in KEYS for word in ("-e", key)]
        words = ("grep", "-rlZsF", *wanted, *UNSEEN, "--", *(paths or (".",)))
        found: set[str] = set()
        for name in self._printed(words).split(b"\0")[:MOST_KEYS]:
            with suppress(OSError, ValueError):
                path = os.path.join(self.places.base, os.fsdecode(name))
                text = self._bytes(path).decode("utf-8", "replace")
                pairs = zip(text.split("\n"), masked(text).split("\n"), strict=False)
                found.update(line.strip() for line, shown in pairs if shown == SECRET)
        return [line for line in found if len(line) >= LEAST_LINE]

    def _printed(self, words: Sequence[str]) -> bytes:
        """What a command prints, without a shell, without our environment, for a short time."""
        env = {"PATH": PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=self.places.base, env=env, start_new_session=True,
        ) as process:  # fmt: skip
            return _first_bytes(process)


def _without(text: str, hidden: Sequence[str]) -> str:
    """The text without the lines that hold one of these."""
    lines = text.split("\n") if hidden else []
    shown = [SECRET if any(one in line for one in hidden) else line for line in lines]
    return "\n".join(shown) if hidden else text


def _first_bytes(process: subprocess.Popen[bytes]) -> bytes:
    """What it prints at first; then it is ended."""
    import selectors
    import time

    assert process.stdout is not None
    out, end = bytearray(), time.monotonic() + SECONDS
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while len(out) <= LARGEST_BYTES and ready.select(max(end - time.monotonic(), 0)):
            chunk = os.read(process.stdout.fileno(), LARGEST_BYTES)
            if not chunk:
                break
            out += chunk
    with suppress(ProcessLookupError):
        process.kill()
    return bytes(out)


def _matches(path: str, pattern: str) -> bool:
    """As a shell has it, nearly: `**/` is any folders or none, `*` also crosses folders."""
    forms = {pattern, pattern.replace("**/", "")}
    return any(fnmatchcase(path, form) for form in forms) or (
        "/" not in pattern and fnmatchcase(os.path.basename(path), pattern)
    )

"""Which files a simple command writes, by its name and its words. Hot path: no regex.

Only what is plain: a word that might be the value of an option writes nothing.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work


# Which files a simple command writes, by its name and its words. Hot path: no regex.
#
# Only what is plain: a word that might be the value of an option writes nothing.

# What stands before the command that is meant: its options with a value, and how many words of
# its own follow them.
BEFORE = {
    **dict.fromkeys(("then", "do", "else", "elif", "if", "while", "until", "!", "{"), ("", 0)),
    **dict.fromkeys(("command", "builtin", "nohup"), ("", 0)),
    "sudo": ("ughpCrtTDR", 0),
    "doas": ("uC", 0),
    "env": ("uC", 0),
    "exec": ("a", 0),
    "time": ("fo", 0),
    "nice": ("n", 0),
    "ionice": ("cnp", 0),
    "stdbuf": ("ioe", 0),
    "xargs": ("adEILnPs", 0),
    "timeout": ("ks", 1),
}
SETTING = ("export", "declare", "typeset", "local", "readonly")
ALL = {  # with their options that have a value
    "touch": "drt",
    "truncate": "sr",
    "tee": "",
    "sponge": "",
    "rmdir": "",
    "unlink": "",
    "shred": "ns",
}
LONG_VALUES = ("--reference", "--date", "--size", "--iterations", "--time")
INTO = ("cp", "mv", "ln", "install")  # those that know -t
LAST = (*INTO, "rsync", "scp")
IN_PLACE = {"sed": "efl", "gsed": "efl", "perl": "eEMmIFCDxV", "ruby": "erIEKCFxTW"}
ANYWHERE = ("sed", "gsed")  # these take options behind their files too
OUTPUT = {
    "curl": ("o", "--output", "AbCcDdEeFHhKmoPQrTtUuwXxYyz"),
    "wget": ("O", "--output-document", "aABDeiIloOPQRtTUXw"),
    "sort": ("o", "--output", "kSotT"),
}
MOST_WORDS = 100  # of a command that `find` runs
EXECUTED = ("-exec", "-execdir", "-ok", "-okdir")


def bare(words: list[str]) -> list[str]:
    """Without what stands before the command itself."""
    at = 0
    while at < len(words) and words[at] in BEFORE:
        values, own = BEFORE[words[at]]
        at += 1
        while at < len(words) and words[at][:1] == "-":
            at += 2 if _needs_next(words[at], values) else 1
        at += own
        while at < len(words) and is_setting(words[at]):
            at += 1  # env A=b
    return words[at:]


def is_setting(word: str) -> bool:
    """`NAME=value`?"""
    name, mark, _ = word.partition("=")
    return bool(mark) and name.replace("_", "a").isalnum()


def paths(name: str, rest: list[str]) -> tuple[list[str], list[str]]:
    """Those that are written, and those that are taken away with all that is below."""
    files = [one for one in rest if one[:1] != "-"]
    if name == "rm":
        whole = any(one == "--recursive" or _has(one, "rR", "") for one in rest)
        return ([], files) if whole else (files, [])
    if name in ALL:
        return _plain(rest, ALL[name]), []
    if name in LAST:
        return _copied(name, rest)
    if name in IN_PLACE:
        return (files if _is_in_place(name, rest) else []), []
    if name == "dd":
        return [one[3:] for one in rest if one.startswith("of=")], []
    if name == "find":
        start = next((at for at, one in enumerate(rest) if one[:1] in "-(!"), len(rest))
        return (rest[:start] if _found_ones_go(rest) else []), []
    if name in OUTPUT:
        letter, long, values = OUTPUT[name]
        return _after(rest, letter, long, values), []
    return [], []


def script(rest: list[str]) -> str:
    """What a shell is given with `-c`; empty where it runs a file."""
    at = 0
    while at < len(rest) and rest[at][:1] in ("-", "+"):
        word = rest[at]
        if word[:2] != "--" and word[0] == "-" and "c" in word:
            return rest[at + 1] if at + 1 < len(rest) else ""
        named = word in ("--rcfile", "--init-file") or (word[1:2] != "-" and word[-1] in "oO")
        at += 2 if named else 1
    return ""


def _plain(rest: list[str], values: str) -> list[str]:
    """The words that are no option and no value of one."""
    found, at = [], 0
    while at < len(rest):
        if rest[at][:1] != "-":
            found.append(rest[at])
        elif rest[at] in LONG_VALUES or _needs_next(rest[at], values):
            at += 1
        at += 1
    return found


def _copied(name: str, rest: list[str]) -> tuple[list[str], list[str]]:
    """To the last path or, where that is a directory, to a file of the same name in it."""
    files = [one for one in rest if one[:1] != "-"]
    into = _after(rest, "t", "--target-directory", "St") if name in INTO else []
    sources, target = (files, into[-1]) if into else (files[:-1], "".join(files[-1:]))
    sources = [one for one in sources if one not in into]
    last = [one.rstrip("/").rpartition("/")[2] for one in sources]
    found = [target, *(f"{target}/{one}" for one in last if target)]
    return found, sources if name == "mv" else []


def _is_in_place(name: str, rest: list[str]) -> bool:
    """`-i`, `-i.bak`, `-pi`, `--in-place`; of a script's own options nobody can tell."""
    values, at = IN_PLACE[name], 0
    while at < len(rest):
        word = rest[at]
        if word.startswith("--in-place") or _has(word, "i", values):
            return True
        if word[:1] != "-" and name not in ANYWHERE:
            return False
        at += 2 if word[:1] == "-" and _needs_next(word, values) else 1
    return False


def _found_ones_go(rest: list[str]) -> bool:
    """Does `find` delete, or run a command that writes what it was given?"""
    if "-delete" in rest:
        return True
    for at, word in enumerate(rest):
        if word in EXECUTED:
            command = bare(rest[at + 1 : at + MOST_WORDS])
            end = next((at for at, one in enumerate(command) if one in (";", "+")), len(command))
            name = command[0].rpartition("/")[2] if command else ""
            written, gone = paths(name, command[1:end]) if name != "find" else ([], [])
            if "{}" in (*written, *gone):
                return True
    return False


def _after(words: list[str], letter: str, long: str, values: str) -> list[str]:
    """The values of an option: `-o X`, `-oX`, `-so X`, `--output X`, `--output=X`."""
    found = []
    for at, word in enumerate(words):
        following = words[at + 1 : at + 2]
        if word == long or (_has(word, letter, values.replace(letter, "")) and word[-1] == letter):
            found += following
        elif word.startswith(f"{long}="):
            found.append(word[len(long) + 1 :])
        elif _has(word, letter, values.replace(letter, "")):
            found.append(word[word.index(letter) + 1 :])
    return found


def _has(word: str, letters: str, values: str) -> bool:
    """Is one of the letters among these short options? Behind one with a value is that value."""
    if word[:1] != "-" or word[:2] == "--":
        return False
    for letter in word[1:]:
        if letter in letters:
            return True
        if letter in values:
            return False
    return False


def _needs_next(word: str, values: str) -> bool:
    """Is the next word the value of this option? Not where the value is in the same word."""
    if word[:2] == "--":
        return False
    for at, letter in enumerate(word[1:], 2):
        if letter in values:
            return at == len(word)
    return False


# Before a tool runs: records are written by memdir alone. Hot path.
#
# A write that a tool or a recognisable command line would make into them is denied, with what to do
# instead. Their settings, Markdown memories beside them and everything else are the agent's.

WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
SHELL = "Bash"
KNOWN = ("HOME", "PWD", "CLAUDE_PROJECT_DIR")  # variables that mean the same to us
SHOWN = 200  # characters of a path
WHY = (
    "{path} belongs to the project's structured records, which only memdir writes: it checks, "
    "indexes and keeps what was there before. Use `memdir records save` (new, or new text under "
    "the same title), `memdir records write --action update`, `memdir records retire NAME`, "
    "`archive` or `restore`. Only memory-config.json may be edited by hand."
)


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """A denial, or nothing at all: what is not ours is for the client to decide."""
    root = here.records()
    if not root or not asked.cwd.startswith("/"):
        return "", None
    tool, path, notebook, line = asked.call()
    gone: list[str] = []
    if tool in WRITERS:
        paths = [path or notebook]
    elif tool == SHELL and line:
        # MOVED

        variables = {name: os.environ[name] for name in KNOWN if name in os.environ}
        paths, gone = written(line, asked.cwd, variables | {"PWD": asked.cwd})
    else:
        return "", None
    real = os.path.realpath(root)
    for one in filter(None, (*paths, *gone)):
        if any(_is_guarded(place, real, one in gone) for place in _places(one, asked.cwd)):
            return asked.deny(WHY.format(path=one[:SHOWN])), None
    return "", None


def _places(path: str, cwd: str) -> list[str]:
    """Where it lies by its own name, and what it is a link to; nothing where nobody can tell."""
    if "\0" in path:
        return []
    home = os.environ.get("HOME", "")
    whole = os.path.join(cwd, home + path[1:] if home and path.startswith("~/") else path)
    above, _, last = whole.rstrip("/").rpartition("/")
    own = os.path.join(os.path.realpath(above or "/"), last)
    return [os.path.normpath(own), os.path.realpath(whole)]


def _is_guarded(path: str, root: str, gone: bool) -> bool:
    """Is it a record, their index, a folder of theirs or, to take it away, all of them?"""
    from memdir.hot.memory import RECORD_FOLDERS, RECORD_INDEX

    parts, above = path.split("/"), root.split("/")
    if not all(map(_is_named, parts, above)):
        return False
    if len(parts) <= len(above):
        return gone
    return any(_is_named(parts[len(above)], name) for name in (*RECORD_FOLDERS, RECORD_INDEX))


def _is_named(pattern: str, name: str) -> bool:
    """Does a part of a path mean this name? A shell's `*` never means a hidden one."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    if name[:1] == "." and pattern[:1] != ".":
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


# Which files a command line writes, as far as it says so itself. Hot path: no regex, no shlex.
#
# Enough of a shell to tell words from quotes, redirections, here-documents and a change of the
# directory. What depends on a variable that is set elsewhere, or on a program of its own, is not
# told: this keeps honest mistakes from happening, it is no wall.

MOST = 64 * 1024  # characters of a command line that are looked at
LONGEST = 4096  # characters of a path, and of what a variable says
GROWN = 256 * 1024  # characters that variables may add
DEEPEST = 4  # a shell in a shell
UNKNOWN = "\0"  # a part of a word that nobody can tell
BLANK, ENDS = " \t", ";\n&|()"
SHELLS = frozenset(("sh", "bash", "zsh", "dash"))
TEST, TEST_END = "[[", "]]"  # < and > compare between them


def written(
    line: str, cwd: str, variables: dict[str, str], depth: int = 0
) -> tuple[list[str], list[str]]:
    """The paths that are written, and those that are taken away with all that is below.

    Absolute but not tidied; what lies below a directory that nobody can tell is left out.
    """
    reader = _Reader(line[:MOST], cwd, dict(variables), depth)
    reader.script("")
    return reader.found, reader.gone


class _Reader:
    """Reads a command line once, from left to right."""

    def __init__(self, text: str, cwd: str, variables: dict[str, str], depth: int) -> None:
        self.text, self.at = text, 0
        self.cwd, self.variables, self.depth = cwd, variables, depth
        self.found: list[str] = []
        self.gone: list[str] = []
        self.previous, self.pushed = UNKNOWN, list[str]()  # directories
        self.room = GROWN
        self.testing, self.last_sum = False, text.rfind("))")
        self.waiting: list[tuple[str, bool]] = []  # here-documents that begin on the next line

    def script(self, end: str) -> None:
        """Commands, up to the bracket that ends them; a subshell has a directory of its own."""
        cwd = self.cwd
        words: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in BLANK or (self.testing and char in ENDS + "<>"):
                self.at += 1
            elif char == "#":
                self._skip_line()
            elif char in "<>" or (char == "&" and self.text[self.at + 1 : self.at + 2] == ">"):
                self._redirect(words)
            elif char in ENDS:
                self.at += 1
                self._command(words)
                words = []
                if char == "\n":
                    self._documents()
                elif char == "(":
                    self._bracket()
                elif char == ")" and end:
                    break
            else:
                words.append(self._word())
                self.testing = words[-1] != TEST_END and (self.testing or words[-1] == TEST)
        self._command(words)
        if end:
            self.cwd = cwd

    def _bracket(self) -> None:
        """A subshell; between two brackets it is arithmetic, where < and > compare."""
        if self.text[self.at : self.at + 1] == "(" and self.at < self.last_sum:
            self.at = self.text.index("))", self.at) + 2
        elif self.depth < DEEPEST:
            self.depth += 1
            self.script(")")
            self.depth -= 1

    def _redirect(self, words: list[str]) -> None:
        """`>`, `>>`, `>|`, `&>`, `2>`, `<>` and a file; `>&1` and `<` write none."""
        if words and words[-1].isdigit() and self.text[self.at - 1] not in BLANK:
            words.pop()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "<>&|":
            self.at += 1
            if self.text[start : self.at] in ("<", ">", "&") or self._goes_on(start):
                continue
            break
        mark = self.text[start : self.at]
        if mark.startswith("<<") and not mark.startswith("<<<"):
            return self._document()
        if self.text[self.at : self.at + 1] == "(" or not self._has_word():
            return None  # a process in the place of a file
        target = self._word()
        if ">" in mark and not (mark.endswith("&") and (target.isdigit() or target == "-")):
            self._add(target)
        return None

    def _goes_on(self, start: int) -> bool:
        """True while one more character may belong to the same mark."""
        mark = self.text[start : self.at + 1]
        return mark in ("<<", "<<<", ">>", ">|", ">&", "&>", "&>>", "<>", "<&")

    def _has_word(self) -> bool:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        return self.at < len(self.text) and self.text[self.at] not in ENDS + "<>"

    def _document(self) -> None:
        """`<<EOF`: its lines are data, from the next one on."""
        tabs = self.text[self.at : self.at + 1] == "-"
        self.at += tabs
        if self._has_word():
            self.waiting.append((self._word(), tabs))

    def _documents(self) -> None:
        for end, tabs in self.waiting:
            while self.at < len(self.text):
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop
                line = self.text[self.at : stop]
                self.at = stop + 1
                if (line.lstrip("\t") if tabs else line) == end:
                    break
        self.waiting = []

    def _skip_line(self) -> None:
        stop = self.text.find("\n", self.at)
        self.at = len(self.text) if stop < 0 else stop

    def _word(self) -> str:
        """The next word without its quotes; what cannot be told stands there as a zero."""
        parts: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in BLANK + ENDS + "<>":
                break
            self.at += 1
            if char == "'":
                parts.append(self._until("'"))
            elif char == '"':
                self._quoted(parts)
            elif char == "\\":
                parts.append(self.text[self.at : self.at + 1].replace("\n", ""))
                self.at += 1
            elif char in "$`":
                parts.append(self._expanded(char))
            elif char == "~" and not parts:
                parts.append(self.variables.get("HOME", UNKNOWN))
            else:
                parts.append(char)
        return "".join(parts)

    def _until(self, mark: str) -> str:
        stop = self.text.find(mark, self.at)
        stop = len(self.text) if stop < 0 else stop
        inner = self.text[self.at : stop]
        self.at = stop + 1
        return inner

    def _quoted(self, parts: list[str]) -> None:
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            self.at += 1
            if char == "\\" and self.text[self.at : self.at + 1] in ('"', "\\", "$", "`"):
                parts.append(self.text[self.at])
                self.at += 1
            else:
                parts.append(self._expanded(char) if char in "$`" else char)
        self.at += 1

    def _escaped(self) -> str:
        """Up to the quote that no backslash stands before; what an escape means is not told."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        inner = self.text[start : self.at]
        self.at += 1
        return UNKNOWN if "\\" in inner else inner

    def _expanded(self, char: str) -> str:
        """What a variable says, where that is known; the output of a command is not."""
        if char == "`":
            self._nested(self._until("`"))
            return UNKNOWN
        following = self.text[self.at : self.at + 1]
        if following == "'":  # $'...'
            self.at += 1
            return self._escaped()
        if following == "(":
            self.at += 1
            self._bracket()
            return UNKNOWN
        if following == "{":
            self.at += 1
            return self._value(self._until("}"))
        start = self.at
        while self.text[self.at : self.at + 1].isalnum() or self.text[self.at : self.at + 1] == "_":
            self.at += 1
        return self._value(self.text[start : self.at])

    def _value(self, name: str) -> str:
        """A variable can double itself with every word: there is an end to that."""
        value = self.variables.get(name, UNKNOWN)
        self.room -= len(value)
        return value if self.room > 0 else UNKNOWN

    def _command(self, words: list[str]) -> None:
        """What one simple command writes beside its redirections."""
        words = self._bare(words)
        if not words:
            return
        name, rest = words[0].rpartition("/")[2], words[1:]
        if name in ("cd", "pushd", "popd"):
            self._move(name, [one for one in rest if one == "-" or one[:1] != "-"])
        elif name in SHELLS or name == "eval":
            self._nested(" ".join(rest) if name == "eval" else script(rest))
        elif name in SETTING:
            self._bare([one for one in rest if one[:1] != "-"])
        else:
            found, gone = paths(name, rest)
            self._add(*found)
            self.gone += self._all(gone)

    def _bare(self, words: list[str]) -> list[str]:
        """Without what stands before the command; assignments are remembered."""
        words = bare(words)
        while words and is_setting(words[0]):
            name, _, value = words[0].partition("=")
            self.variables[name] = value if len(value) <= LONGEST else UNKNOWN
            words = bare(words[1:])
        return words

    def _move(self, name: str, folders: list[str]) -> None:
        before = self.cwd
        if name == "popd":
            self.cwd = self.pushed.pop() if self.pushed else self.cwd
        elif folders[:1] == ["-"]:
            self.cwd = self.previous
        else:
            target = folders[0] if folders else self.variables.get("HOME", UNKNOWN)
            self.cwd = UNKNOWN if UNKNOWN in target else self._whole(target)
        if name == "pushd":
            self.pushed.append(before)
        self.previous = before

    def _nested(self, line: str) -> None:
        if line and self.depth < DEEPEST:
            found, gone = written(line, self.cwd, self.variables, self.depth + 1)
            self.found += found
            self.gone += gone

    def _whole(self, path: str) -> str:
        whole = path if path.startswith("/") else f"{self.cwd}/{path}"
        return whole if UNKNOWN not in whole and len(whole) <= LONGEST else UNKNOWN

    def _add(self, *paths: str) -> None:
        self.found += self._all(paths)

    def _all(self, paths: "Iterable[str]") -> list[str]:
        whole = (self._whole(path) for path in paths if path and UNKNOWN not in path)
        return [path for path in whole if UNKNOWN not in path]

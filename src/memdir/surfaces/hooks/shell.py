"""Which files a command line writes, as far as it says so itself. Hot path: no regex, no shlex.

Enough of a shell to tell words from quotes, redirections, here-documents and a change of the
directory. What depends on a variable that is set elsewhere, or on a program of its own, is not
told: this keeps honest mistakes from happening, it is no wall.
"""

from memdir.surfaces.hooks import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
            self._nested(" ".join(rest) if name == "eval" else commands.script(rest))
        elif name in commands.SETTING:
            self._bare([one for one in rest if one[:1] != "-"])
        else:
            found, gone = commands.paths(name, rest)
            self._add(*found)
            self.gone += self._all(gone)

    def _bare(self, words: list[str]) -> list[str]:
        """Without what stands before the command; assignments are remembered."""
        words = commands.bare(words)
        while words and commands.is_setting(words[0]):
            name, _, value = words[0].partition("=")
            self.variables[name] = value if len(value) <= LONGEST else UNKNOWN
            words = commands.bare(words[1:])
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

"""Which files a command line writes, as far as it says so itself. Hot path: no regex, no shlex.

Enough of a shell to tell words from quotes, redirections, here-documents and a change of the
directory. What depends on a variable that is set elsewhere, or on a program of its own, is not
told: this keeps honest mistakes from happening, it is no wall.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 64 * 1024  # characters of a command line that are looked at
DEEPEST = 4  # a shell in a shell
UNKNOWN = "\0"  # a part of a word that nobody can tell
BLANK, ENDS = " \t", ";\n&|()"
# What stands before the command that is meant.
BEFORE = frozenset(
    (
        *("sudo", "env", "command", "builtin", "exec", "nohup", "time", "nice", "doas", "then"),
        *("do", "else", "elif", "if", "while", "until", "!", "{", "xargs"),
    )
)
GONE = frozenset(("rm", "rmdir", "unlink", "shred"))
ALL = frozenset(("truncate", "touch", "tee", "sponge"))
LAST = frozenset(("cp", "install", "ln", "rsync", "scp", "mv"))
IN_PLACE = frozenset(("sed", "perl", "gsed", "ruby"))
SHELLS = frozenset(("sh", "bash", "zsh", "dash"))
INTO = ("-t", "--target-directory")
OUTPUT = {"curl": ("-o", "--output"), "wget": ("-O", "--output-document"), "sort": ("-o",)}


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
        self.waiting: list[tuple[str, bool]] = []  # here-documents that begin on the next line

    def script(self, end: str) -> None:
        """Commands, up to the bracket that ends them; a subshell has a directory of its own."""
        cwd = self.cwd
        words: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in BLANK:
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
                elif char == "(" and self.depth < DEEPEST:
                    self._inner()
                elif char == ")" and end:
                    break
            else:
                words.append(self._word())
        self._command(words)
        if end:
            self.cwd = cwd

    def _inner(self) -> None:
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

    def _expanded(self, char: str) -> str:
        """What a variable says, where that is known; the output of a command is not."""
        if char == "`":
            self._until("`")
            return UNKNOWN
        following = self.text[self.at : self.at + 1]
        if following == "'":  # $'...'
            self.at += 1
            return self._until("'")
        if following == "(":
            self.at += 1
            if self.depth < DEEPEST:
                self._inner()
            return UNKNOWN
        if following == "{":
            self.at += 1
            return self.variables.get(self._until("}"), UNKNOWN)
        start = self.at
        while self.text[self.at : self.at + 1].isalnum() or self.text[self.at : self.at + 1] == "_":
            self.at += 1
        return self.variables.get(self.text[start : self.at], UNKNOWN)

    def _command(self, words: list[str]) -> None:
        """What one simple command writes beside its redirections."""
        words = self._bare(words)
        if not words:
            return
        name, rest = words[0].rpartition("/")[2], words[1:]
        files = [one for one in rest if not one.startswith("-")]
        if name in ("cd", "pushd"):
            self._move(files)
        elif name in SHELLS or name == "eval":
            self._nested(name, rest)
        elif name in GONE:
            self.gone += self._all(files)
        elif name in ALL:
            self._add(*files)
        elif name in LAST:
            self._copy(name, files, _after(rest, INTO))
        elif name in IN_PLACE and any(_is_in_place(one) for one in rest):
            self._add(*files)
        elif name == "dd":
            self._add(*(one[3:] for one in rest if one.startswith("of=")))
        elif name == "find" and ("-delete" in rest or "rm" in rest):
            paths = next((at for at, one in enumerate(rest) if one[:1] in "-(!"), len(rest))
            self._add(*rest[:paths])
        elif name in OUTPUT:
            self._add(*_after(rest, OUTPUT[name]))

    def _bare(self, words: list[str]) -> list[str]:
        """Without what stands before the command; assignments are remembered."""
        at = 0
        while at < len(words):
            name, mark, value = words[at].partition("=")
            if mark and name.replace("_", "a").isalnum():
                self.variables[name] = value
            elif words[at] not in BEFORE and not (at and words[at].startswith("-")):
                break
            at += 1
        return words[at:]

    def _move(self, folders: list[str]) -> None:
        target = folders[0] if folders else self.variables.get("HOME", UNKNOWN)
        self.cwd = UNKNOWN if UNKNOWN in target else self._whole(target)

    def _nested(self, name: str, rest: list[str]) -> None:
        if name == "eval":
            line = " ".join(rest)
        else:
            at = next((at for at, one in enumerate(rest) if one[:1] == "-" and "c" in one), -1)
            line = rest[at + 1] if 0 <= at < len(rest) - 1 else ""
        if line and self.depth < DEEPEST:
            found, gone = written(line, self.cwd, self.variables, self.depth + 1)
            self.found += found
            self.gone += gone

    def _copy(self, name: str, files: list[str], into: list[str]) -> None:
        """To the last path or, where that is a directory, to a file of the same name in it."""
        sources, target = (files, into[-1]) if into else (files[:-1], "".join(files[-1:]))
        if name == "mv":
            self.gone += self._all(sources)
        last = [one.rstrip("/").rpartition("/")[2] for one in sources]
        self._add(target, *(f"{target}/{one}" for one in last if target))

    def _whole(self, path: str) -> str:
        if path.startswith("/"):
            return path
        return UNKNOWN if self.cwd == UNKNOWN else f"{self.cwd}/{path}"

    def _add(self, *paths: str) -> None:
        self.found += self._all(paths)

    def _all(self, paths: "Iterable[str]") -> list[str]:
        whole = (self._whole(path) for path in paths if path and UNKNOWN not in path)
        return [path for path in whole if UNKNOWN not in path]


def _after(words: list[str], options: tuple[str, ...]) -> list[str]:
    """The values of these options."""
    found = [words[at + 1] for at, one in enumerate(words[:-1]) if one in options]
    long = tuple(f"{one}=" for one in options if one.startswith("--"))
    return found + [one.partition("=")[2] for one in words if long and one.startswith(long)]


def _is_in_place(word: str) -> bool:
    """`-i`, `-i.bak`, `-pi`, `--in-place`."""
    if word.startswith("--"):
        return word.startswith("--in-place")
    return word[:1] == "-" and "i" in word.partition(".")[0][1:5]

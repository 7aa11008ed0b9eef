"""Splits a command line as a shell does: the words of each simple command, and what it writes to.

Hot path. Nothing is expanded but the variables given; this prevents mistakes, not attacks.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LINE_CHARACTERS = 64 * 1024  # of a command line
MAX_WORD_CHARACTERS = 4096
MAX_DEPTH = 3  # of `sh -c` in `sh -c`
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
        if program in SHELLS and depth < MAX_DEPTH:
            for i, option in enumerate(words[1:-1], 2):
                if option[:1] == "-" and option[-1] == "c":
                    yield from read_programs(words[i], variables, depth + 1)
                    break
            script = next((word for word in words[1:] if word[:1] != "-"), "")
            if "." in script or "/" in script:
                yield [script.rpartition("/")[2]]  # sh deploy.sh
        elif program == "ssh" and depth < MAX_DEPTH:
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

"""Before a tool runs: deny writes into the project's records, and name the right command.

Hot path. In Bash only plain commands are recognized: this prevents mistakes, not attacks.
"""

import os

from memdir.hot.memory import RECORD_FOLDERS, RECORD_INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

    Written = tuple[str, bool]  # a path, and True if everything below it goes, too

WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
SHELL = "Bash"
KNOWN_VARIABLES = ("HOME", "PWD", "CLAUDE_PROJECT_DIR")
MAX_SHOWN_CHARACTERS = 200  # of a path
MAX_LINE_CHARACTERS = 64 * 1024  # of a command line
MAX_WORD_CHARACTERS = 4096
WHY = (
    "{path} belongs to the project's structured records, which only memdir writes: it checks, "
    "indexes and keeps what was there before. Use `memdir records save` (new, or new text under "
    "the same title), `memdir records write --action update`, `memdir records retire NAME`, "
    "`archive` or `restore`. Only memory-config.json may be edited by hand."
)
UNKNOWN = "\0"  # a part of a word that only a shell can expand
ENDS = ";\n&|()`"  # of a simple command
PREFIXES = frozenset(
    (
        *("sudo", "env", "command", "nohup", "time", "timeout", "nice", "exec", "xargs", "export"),
        *("if", "then", "else", "elif", "while", "until", "do", "!", "{"),
    )
)
EVERY_WORD = ("rm", "rmdir", "unlink", "shred", "tee", "sponge", "touch", "truncate")
LAST_WORD = ("cp", "mv", "ln", "install", "rsync", "scp")
IN_PLACE = ("sed", "gsed", "perl", "ruby")
OUTPUT_OPTIONS = {"curl": ("-o", "--output"), "wget": ("-O", "--output-document")}


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """A denial, or nothing: the client decides about everything else."""
    root = here.records()
    if not root or not asked.cwd.startswith("/"):
        return "", None
    tool, path, notebook, line = asked.call()
    paths: Iterable[Written] = ()
    if tool in WRITERS:
        paths = [(path or notebook, False)]
    elif tool == SHELL:
        variables = {name: os.environ[name] for name in KNOWN_VARIABLES if name in os.environ}
        paths = find_writes_to_records(line, asked.cwd, variables | {"PWD": asked.cwd})
    real = os.path.realpath(root)
    for name, with_all_below in paths:
        if name and any(_is_guarded(it, real, with_all_below) for it in _places(name, asked.cwd)):
            return asked.deny(WHY.format(path=name[:MAX_SHOWN_CHARACTERS])), None
    return "", None


def _places(path: str, cwd: str) -> list[str]:
    if "\0" in path:
        return []
    home = os.environ.get("HOME", "")
    whole = os.path.join(cwd, home + path[1:] if home and path.startswith("~/") else path)
    above, _, last = whole.rstrip("/").rpartition("/")
    own = os.path.join(os.path.realpath(above or "/"), last)
    return [os.path.normpath(own), os.path.realpath(whole)]


def _is_guarded(path: str, root: str, with_all_below: bool) -> bool:
    """True for a record, the index, a record folder or, if it is removed, a parent of them."""
    parts, above = path.split("/"), root.split("/")
    if not all(map(_means, parts, above)):
        return False
    if len(parts) <= len(above):
        return with_all_below
    return any(_means(parts[len(above)], name) for name in (*RECORD_FOLDERS, RECORD_INDEX))


def _means(pattern: str, name: str) -> bool:
    """True if a part of a path matches the name; a shell's `*` matches no hidden file."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    if name[:1] == "." and pattern[:1] != ".":
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def find_writes_to_records(line: str, cwd: str, variables: dict[str, str]) -> "Iterator[Written]":
    line = line[:MAX_LINE_CHARACTERS]
    words, targets, documents, outer = list[str](), list[str](), list[str](), list[str]()
    i = 0
    while i <= len(line):
        char = line[i : i + 1]
        if char in (" ", "\t"):
            i += 1
        elif char == "#":
            i = _end_of_line(line, i)
        elif line.startswith("((", i) and (end := line.find("))", i)) > 0:
            i = end + 2  # arithmetic: < and > compare
        elif not char or (char in ENDS and not line.startswith("&>", i)):
            cwd, paths = _run(words, targets, cwd, variables)
            yield from paths
            words, targets, i = [], [], i + 1
            if char == "(":
                outer.append(cwd)
            elif char == ")" and outer:
                cwd = outer.pop()  # a subshell has its own directory
            elif char == "\n":
                i = _skip_documents(line, i, documents)
        elif char in "<>&":
            start = i
            while line[i : i + 1] in ("<", ">", "&", "|"):
                i += 1
            mark = line[start:i]
            if words and words[-1].isdigit() and line[start - 1].isdigit():
                words.pop()  # 2>
            while line[i : i + 1] in (" ", "\t"):
                i += 1
            word, i = _word(line, i, variables)
            if mark == "<<":
                documents.append(word)
            elif ">" in mark and not (mark.endswith("&") and (word.isdigit() or word == "-")):
                targets.append(word)
        else:
            word, i = _word(line, i, variables)
            words.append(word)


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


def _run(
    words: list[str], targets: list[str], cwd: str, variables: dict[str, str]
) -> "tuple[str, list[Written]]":
    prefixed = False
    while words:
        name, equals, value = words[0].partition("=")
        if equals and name.isidentifier():
            variables[name] = value
        elif name in PREFIXES:
            prefixed = True
        elif not prefixed or (name[:1] != "-" and not name.isdigit()):
            break  # the words before it were options: nice -n 5 rm
        words = words[1:]
    paths = [] if words[:1] == ["[["] else [(target, False) for target in targets]
    name = words[0].rpartition("/")[2] if words else ""
    options = [word for word in words[1:] if word[:1] == "-"]
    rest = [word for word in words[1:] if word[:1] != "-"]
    if name == "cd":
        cwd = os.path.join(cwd, *rest) if len(rest) == 1 and not options else UNKNOWN
        cwd = cwd if UNKNOWN not in cwd and len(cwd) <= MAX_WORD_CHARACTERS else UNKNOWN
    elif name in EVERY_WORD:
        recursive = name == "rm" and any("r" in option.lower() for option in options)
        paths += [(word, recursive) for word in rest]
    elif name in LAST_WORD and rest:
        into = words[words.index("-t") + 1] if "-t" in words[:-1] and name != "rsync" else rest[-1]
        sources = [word for word in rest if word != into]
        paths += [(source, True) for source in sources if name == "mv"]
        copies = [source.rstrip("/").rpartition("/")[2] for source in sources]
        paths += [(into, False), *((f"{into}/{copy}", False) for copy in copies)]
    elif name in IN_PLACE and any(map(_is_in_place, options)):
        paths += [(word, False) for word in rest]
    elif name == "dd":
        paths += [(word[3:], False) for word in rest if word.startswith("of=")]
    elif name in OUTPUT_OPTIONS:
        for index, word in enumerate(words[:-1]):
            paths += [(words[index + 1], False)] if word in OUTPUT_OPTIONS[name] else []
    whole = [(os.path.join(cwd, path), with_all_below) for path, with_all_below in paths if path]
    return cwd, [item for item in whole if UNKNOWN not in item[0]]


def _is_in_place(option: str) -> bool:
    """`-i`, `-i.bak`, `-pi`, `-ni`, `--in-place`."""
    if option.startswith("--"):
        return option.startswith("--in-place")
    return option.startswith("-i") or option.partition(".")[0].endswith("i")

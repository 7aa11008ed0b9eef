"""The form of the goldens: commands with what came of them, and the names for what varies.

    # a remark
    $ memdir remember "Use uv." --name use-uv
    < a line of its standard input
    [1]                             its exit code, where that is not 0
      a line that it printed
    ! a line of its standard error

`memdir` runs in this process, `hook EVENT`, `cursor EVENT` and `mcp` in one of their own, `files`
lists a folder, `histories` tells what git reads in them; everything else is for bash. Only `$`, `<`
and `#` lines are read, the others are compared. The first line may say `# from nothing`: else the
home is the one that `00-store.txt` makes.
"""

import datetime
import json
import os
import re
import shlex
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.contract.home import CODE, Answer, Home
from tests.helpers.tables import table

GOLDEN = Path(__file__).parent / "golden"
FIRST = "00-store"
FROM_NOTHING = "# from nothing"
HEX = re.compile(
    r"(?<![\w<-])[0-9a-f]{7,64}(?![\w-])|(?<=sha256:)[0-9a-f]{64}|(?<=@)[0-9a-f]{7,40}|(?<=<memdir-)[0-9a-f]{8}|(?<=</memdir-)[0-9a-f]{8}|(?<=[a-z]-)[0-9a-f]{12}(?![\w-])"
)
# The folder of a store is named after the end of its path, and a digest of the path.
STORE_KEY = re.compile(r"(?<=stores/)[\w-]*-(home[\w-]*)-[0-9a-f]{12}(?![\w-])")
YEAR = r"20(?:2[5-9]|[3-8]\d)"  # fixed dates of scripts are older
AGES_DAYS = (5, 10, 40, 100, 200)  # that scripts give to memories; all other dates stay
DAY = re.compile(
    rf"\b({YEAR}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?))?"
)
SECONDS = re.compile(r"\b1[789]\d{8}(?:\.\d+|\d{9})?\b")  # since 1970
PLACEHOLDER = re.compile(r"<today(?:([+-])(\d+))?>|<id\d+>|<secret>|\$HOME|\$STORE")
SECRET = "AKIA" + "IOSFODNN7EXAMPL2"  # in two parts, or scanners take it for a real one
VARYING = [(re.compile(pattern), name) for pattern, name in table("contract", "varying")]


@dataclass
class Names:
    """Stands between what varies and what is written down; ids are counted as they come."""

    home: Home
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())
    ids: list[str] = field(default_factory=list)

    def plain(self, text: str) -> str:
        """The same text in every run; the one place where something is normalised."""
        python = re.escape(os.path.dirname(os.path.realpath(sys.executable)))
        for path, name in ((self.home.store, "$STORE"), (self.home.home, "$HOME"), (CODE, "$CODE")):
            text = text.replace(str(path), name)
            text = text.replace(re.sub("[^A-Za-z0-9]", "-", str(path)), "-" + name[1:])
        text = text.replace(str(self.home.top), "$TOP").replace(SECRET, "<secret>")
        text = re.sub(rf"(?:{python}|/usr(?:/local)?/bin)/python3(?:\.\d+)?", "$PYTHON", text)
        text = STORE_KEY.sub(r"<\1>", text)
        text = re.sub(r"[\w-]+-[0-9a-f]{12}(?=\.json|\b-records)", "<key>", text)
        text = DAY.sub(lambda found: self._day(found[1]) + (" <clock>" if found[2] else ""), text)
        text = SECONDS.sub("<seconds>", text)
        text = HEX.sub(lambda found: self._id(found[0]), text)
        for pattern, name in VARYING:
            text = pattern.sub(name, text)
        return text

    def real(self, text: str) -> str:
        """What a line of a script stands for now."""

        def value(found: re.Match[str]) -> str:
            if found[0] in ("$HOME", "$STORE"):
                return self.home.environment[found[0][1:]]
            if found[0] == "<secret>":
                return SECRET
            if found[0].startswith("<id"):
                return self.ids[int(found[0][3:-1]) - 1]
            days = int(f"{found[1] or '+'}{found[2] or 0}")
            return str(self.today + datetime.timedelta(days))

        return PLACEHOLDER.sub(value, text)

    def _day(self, text: str) -> str:
        try:
            days = (datetime.date.fromisoformat(text) - self.today).days
        except ValueError:
            return text
        if abs(days) <= 2:
            return "<today>"
        return f"<today{days}>" if -days in AGES_DAYS else text

    def _id(self, text: str) -> str:
        for number, known in enumerate(self.ids, 1):
            if known.startswith(text) or text.startswith(known):
                return f"<id{number}>"
        self.ids.append(text)
        return f"<id{len(self.ids)}>"


def run(home: Home, text: str) -> str:
    """The same golden, with what its commands print now."""
    names, lines = Names(home), list[str]()
    home.begin(not text.startswith(FROM_NOTHING))
    steps: list[tuple[str, list[str]]] = []  # a command or a remark, and its standard input
    for line in text.splitlines():
        if line.startswith(("#", "$ ")):
            steps.append((line, []))
        elif line[:2].rstrip() == "<":
            steps[-1][1].append(line)
    for line, given in steps:
        lines += [line, *given]
        if line.startswith("$ "):
            typed = "".join(f"{part[2:]}\n" for part in given)
            answer = _answer(home, names.real(line[2:]), names.real(typed).encode())
            lines += [f"[{answer.code}]"] if answer.code else []
            lines += _shown(names, answer.out, "  ") + _shown(names, answer.err, "! ") + [""]
    home.wait()
    return "\n".join(lines)


def _answer(home: Home, command: str, given: bytes) -> Answer:
    words = shlex.split(command)
    more: dict[str, str] = {}
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, more[name] = words.pop(0).partition("=")
    if words[0] == "memdir":
        return home.memdir(*words[1:], given=given, **more)
    if words[0] == "installed":
        return home.installed(*words[1:])
    if words[0] in ("hook", "cursor"):
        file = "start.py" if words[0] == "hook" else "cursor.py"
        answer = home.hook(words[1], given, file, **more)
        return Answer(answer.code, _readable(answer.out), answer.err)
    if words[0] == "mcp":
        with home.server(**more) as server:
            answers = [server.say(line) for line in given.splitlines()]
        texts = [f"{_lines(answer)}\n" for answer in answers if answer is not None]
        return Answer(0, "\n".join(texts).encode(), b"")
    if words[0] == "files":
        return Answer(0, _files(Path(words[1])).encode(), b"")
    if words[0] == "histories":
        return Answer(0, _histories(home), b"")
    return home.run(["bash", "-c", command], given, **more)


def _shown(names: Names, data: bytes, mark: str) -> list[str]:
    text = names.plain(data.decode("utf-8", "backslashreplace"))
    text = "".join(one if one in "\n " or one.isprintable() else ascii(one)[1:-1] for one in text)
    end = [] if text.endswith("\n") or not text else [f"{mark}(no end of line)"]
    return [f"{mark}{line}".rstrip() for line in text.splitlines()] + end


def _readable(data: bytes) -> bytes:
    """One JSON object of a hook, a line for each value."""
    if not data.startswith(b"{"):
        return data
    assert data.endswith(b"\n")
    return f"{_lines(json.loads(data))}\n".encode()


def _lines(value: Any, indent: str = "") -> str:
    """JSON with texts of several lines laid out; not for reading back."""
    if isinstance(value, dict | list) and value:
        pairs = (
            value.items()
            if isinstance(value, dict)
            else ((f"- {n}", v) for n, v in enumerate(value))
        )
        return "\n".join(f"{indent}{key}:" + _nested(one, indent + "  ") for key, one in pairs)
    if isinstance(value, str) and "\n" in value:
        return "\n".join(f"{indent}| {line}".rstrip() for line in value.split("\n"))
    return indent + json.dumps(value, ensure_ascii=False)


def _nested(value: Any, indent: str) -> str:
    laid_out = (isinstance(value, dict | list) and value) or (
        isinstance(value, str) and "\n" in value
    )
    return f"\n{_lines(value, indent)}" if laid_out else " " + _lines(value)


def _files(top: Path) -> str:
    """Every file below a folder: mode, path, and the text of it where it is one."""
    found = []
    for folder, folders, names in os.walk(top):
        if folder.endswith("history.git/objects"):
            folders.clear()  # named after hashes; `histories` reads them
        for name in [*folders, *names]:
            path = Path(folder, name)
            mode = f"{stat.S_IMODE(path.lstat().st_mode):o}"
            shown = "/"
            if path.is_symlink():
                shown = f" -> {os.readlink(path)}"
            elif path.is_file():
                data = path.read_bytes()
                text = data.decode("utf-8", "replace")
                if path.name == "known.json":  # what was seen of files, numbers of this disk
                    text = "(derived)"
                shown = "".join(f"\n    {line}" for line in text.splitlines())
            found.append(f"{mode} {_same(path)}{shown}\n")
    return "".join(sorted(found, key=lambda line: line.split(" ", 1)[1]))


def _histories(home: Home) -> bytes:
    """Each history as git itself reads it: messages, changed files, and the newest tree."""
    stores = home.home / ".local/state/memdir/stores"
    found = {_same(path): path for path in stores.glob("*/history.git")}
    lines = []
    for name in sorted(found):
        git = ["git", f"--git-dir={found[name]}"]
        log = home.run([*git, "log", "--format=%an <%ae> %B", "--name-status"])
        tree = home.run([*git, "ls-tree", "-r", "HEAD"])
        sound = home.run([*git, "fsck", "--strict", "--no-progress"])
        lines += [name.encode(), log.out, tree.out, sound.out + sound.err]
    return re.sub(b"\n{3,}", b"\n\n", b"\n".join(lines))


def _same(path: Path) -> str:
    """With a name of the store that sorts alike in every run."""
    return STORE_KEY.sub(r"<\1>", str(path))

"""Where a hook was called, and which stores belong there. Hot path.

To decide that takes the whole configuration, 30 ms of modules. So the first hook in a directory
leaves the answer in a file of the cache, with everything it was decided from; the next ones only
see that nothing of it has changed.

A repository may name variables in its settings, and the client hands them to us: then the cache
itself could be the repository's. So its settings are looked at first. Where they name a variable
that decides, or may do so in an escape, nothing that was left behind counts.
"""

import os
from binascii import crc32
from stat import S_IFMT, S_ISDIR, S_ISREG

from memdir.core.deciding import OURS, PATH_VARIABLES, PLACE_VARIABLES, SWITCHES, own_folder
from memdir.core.scope import (
    GIT_FILE_BYTES,
    MAIN_SCOPES,
    RECORDS,
    agent_folder,
    checkout_root,
    git_root,
    tidy,
)
from memdir.core.store_key import store_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

FOLDER = "places"
MARK = "memdir place 2"
MOST_BYTES = 64 * 1024  # of what was left behind
SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
SETTINGS_BYTES = 1024 * 1024
PROJECT = "CLAUDE_PROJECT_DIR"  # where the client was started; its settings count, wherever we are
DECIDING = frozenset((*PATH_VARIABLES, *PLACE_VARIABLES, *SWITCHES, PROJECT))
# How a key of JSON says them; written in another way it needs an escape.
NAMED = [f'"{name}"'.encode() for name in sorted(DECIDING)] + [f'"{OURS}'.encode()]
ODD = (b"\\u", b"\0")  # an escape, or another encoding than UTF-8
OWN_ONLY = 0o022  # nobody else may write what we go by
ABSENT = "-"
SILENT, BUILT_IN, INDEX, SHARED = "silent", "built-in", "index", "shared"  # what holds there
SCAN = "scan"  # memories are searched without a catalog
UNHEARD = "unheard"  # nothing is learned from conversations
BY_AGENT = "records-by-agent"  # the agent saves records at the end of a turn
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Here:
    """The place of a hook: our folders, what holds there, the directory of each scope."""

    __slots__ = ("cache", "checkout", "holds", "most_bytes", "scopes", "state")

    def __init__(
        self,
        state: str,
        cache: str,
        checkout: str,
        holds: "frozenset[str]",
        scopes: dict[str, str],
        most_bytes: int,
    ) -> None:
        self.state = state
        self.cache = cache
        self.checkout = checkout  # the code that the session works on; empty without git
        self.holds = holds
        self.scopes = scopes
        self.most_bytes = most_bytes  # of a file that is read

    def stores(self) -> list[tuple[str, str]]:
        """The main scopes that there are, with their directories; each directory once.

        In a home that is a project, two scopes lie in one.
        """
        found: dict[str, str] = {}
        for scope in MAIN_SCOPES:
            root = self.scopes.get(scope, "")
            if root and root not in found and os.path.isdir(root):
                found[root] = scope
        return [(scope, root) for root, scope in found.items()]

    def records(self) -> str:
        """The directory of the project's structured records; empty where there are none."""
        root = self.scopes.get(RECORDS) or self.scopes.get("local", "")
        if not root:
            return ""
        try:  # looked at each time: they may have come since the place was decided on
            names = os.listdir(root)
        except OSError:
            return ""
        from memdir.core.memory import RECORD_FOLDERS, RECORD_SETTINGS

        return root if any(name in names for name in (*RECORD_FOLDERS, RECORD_SETTINGS)) else ""

    def agents(self, name: str) -> list[tuple[str, str]]:
        """Where an agent of that name has memories: user, project or local, and the directory."""
        start = f"agent:{agent_folder(name)}@"
        return [(one[len(start) :], at) for one, at in self.scopes.items() if one.startswith(start)]


class Around:
    """What can be seen from a directory without asking anybody."""

    __slots__ = ("checkout", "doubtful", "seen", "start")

    def __init__(self, cwd: str, environ: "Mapping[str, str]") -> None:
        self.start = os.path.realpath(cwd)
        self.checkout = checkout_root(self.start, look)
        root = git_root(self.start, look, os.path.realpath)
        folders = {**_up(self.start, self.checkout or self.start), root: None}
        project = environ.get(PROJECT, "")
        if project.startswith("/") and "\0" not in project:
            top = os.path.realpath(project)
            folders |= _up(top, checkout_root(top, look) or top)
        said = [f"{one}={value}" for one, value in environ.items() if _decides(one)]
        self.doubtful: list[str] = []  # settings that might name a variable that decides
        for folder in folders:
            for name in SETTINGS:
                path = f"{folder}/{name}"
                facts, doubt = _look_at_settings(path)
                self.doubtful += [path] if doubt else []
                said += [path, facts] if facts != ABSENT else []
        self.seen = "\0".join([self.start, self.checkout, root, *sorted(said)])


def _decides(name: str) -> bool:
    return name in DECIDING or name.startswith(OURS)


def _up(start: str, top: str) -> dict[str, None]:
    """The folders from one up to another."""
    folders = {start: None}
    while start != top:
        start = os.path.dirname(start)
        folders[start] = None
    return folders


def look(path: str) -> "bytes | Literal[True] | None":
    """What lies at a path, for `core.scope`: a file's bytes, True for a directory, or nothing."""
    if os.path.isdir(path):
        return True
    try:
        return _content(path, GIT_FILE_BYTES + 1)[0]
    except (OSError, ValueError):
        return None


def _look_at_settings(path: str) -> tuple[str, bool]:
    """The facts of a repository's settings, and whether they may name what decides."""
    try:
        data, facts = _content(path, SETTINGS_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT, False
    except OSError:
        return "", True
    odd = len(data) > SETTINGS_BYTES or any(mark in data for mark in ODD)
    return facts, odd or any(name in data for name in NAMED)


def _content(path: str, most: int) -> tuple[bytes, str]:
    """The first bytes of a file and its facts; a pipe or a device never blocks us."""
    handle = os.open(path, _READ)
    try:
        found = os.fstat(handle)
        if not S_ISREG(found.st_mode):
            raise OSError("not a regular file")
        data = os.read(handle, most)
        while len(data) < most and (more := os.read(handle, most - len(data))):
            data += more
        return data, _told(found)
    finally:
        os.close(handle)


def facts_of(path: str, whole: bool) -> str:
    """What changes when the file at a path does; of a directory only what it is, unless `whole`."""
    try:
        found = os.stat(path) if whole else os.lstat(path)
    except (OSError, ValueError):
        return ABSENT
    return _told(found) if whole or not S_ISDIR(found.st_mode) else f"{S_IFMT(found.st_mode)}"


def _told(found: os.stat_result) -> str:
    kind = S_IFMT(found.st_mode)
    return f"{kind} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def file_of(around: Around, environ: "Mapping[str, str]") -> str:
    """Where the answer for a directory would be; empty where the environment is odd."""
    home = environ.get("HOME", "")
    paths = [home, *(environ[name] for name in PATH_VARIABLES if environ.get(name))]
    if not all(path.startswith("/") and "\0" not in path for path in paths):
        return ""
    return os.path.join(own_folder(environ, tidy(home), "CACHE"), FOLDER, store_key(around.start))


# On disk: a line with a sum, then fields between zeros, which no path and no variable can hold.


def write(path: str, seen: str, basis: "Mapping[str, bool]", here: Here) -> None:
    """Leave it behind, whole or not at all. `basis` are the paths it was decided from."""
    facts = [(name, "1" if whole else "", facts_of(name, whole)) for name, whole in basis.items()]
    fields = [
        *(f"{crc32(_bytes(seen)):08x}", here.state, here.cache, here.checkout),
        *(" ".join(sorted(here.holds)), str(here.most_bytes), str(len(facts))),
        *(part for fact in facts for part in fact),
        *(part for pair in here.scopes.items() for part in pair),
    ]
    data = _bytes("\0".join([seen.replace("\0", "\n"), *fields]))
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        handle = os.open(part, _WRITE, 0o600)
        with open(handle, "wb") as file:
            file.write(f"{MARK} {crc32(data):08x}\n".encode() + data)
        os.replace(part, path)
    except OSError:
        return  # then it is decided anew each time


def read(path: str, seen: str) -> Here | None:
    """What was left behind, where it is ours, whole, and nothing has changed since."""
    try:
        handle = os.open(path, _READ | os.O_NOFOLLOW)
        try:
            found = os.fstat(handle)
            data = os.read(handle, MOST_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return None
    head, _, rest = data.partition(b"\n")
    if found.st_uid != os.geteuid() or found.st_mode & OWN_ONLY:
        return None
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return None
    first, *fields = rest.decode("utf-8", "surrogateescape").split("\0")
    if first != seen.replace("\0", "\n") or fields[0] != f"{crc32(_bytes(seen)):08x}":
        return None
    _, state, cache, checkout, holds, most, count, *more = fields
    end = 3 * int(count)
    for at in range(0, end, 3):
        name, whole, facts = more[at : at + 3]
        if facts_of(name, bool(whole)) != facts:
            return None
    scopes = dict(zip(more[end::2], more[end + 1 :: 2], strict=True))
    return Here(state, cache, checkout, frozenset(holds.split()), scopes, int(most))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

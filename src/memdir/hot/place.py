"""Locates the stores of a directory: scopes, git root, variables; cached per directory."""

import os
from stat import S_IFMT, S_ISDIR

from memdir.hot.disk import digest_of, keep_derived_file, read_sealed_file, read_start, seal_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    # A file's bytes, True for a directory, None for anything else.
    Look = Callable[[str], bytes | Literal[True] | None]

PATH_CHARACTERS = 4096
# `gitdir: ` and a path; git writes nothing longer.
GIT_FILE_BYTES = 8192
MAIN_SCOPES = ("project", "user", "local", "team")
CALLER = "MEMDIR_CLIENT"  # names the client if it is not Claude Code
RECORDS = "records"  # structured records have their own layout in the checkout


def tidy_path(path: str) -> str:
    """Resolves `.`, `..` and extra slashes by text alone, without the file system."""
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and absolute):
            parts.append(part)
    return ("/" if absolute else "") + "/".join(parts)


def is_below(path: str, top: str) -> bool:
    return path.startswith(top.rstrip("/") + "/") and path != top


def checkout_root(start: str, look: "Look") -> str:
    here = start
    while look(os.path.join(here, ".git")) is None:
        if here == os.path.dirname(here):
            return ""
        here = os.path.dirname(here)
    return here


def git_root(start: str, look: "Look", real: "Callable[[str], str]" = tidy_path) -> str:
    """Root shared by all worktrees of a repository; `start`, a real path, without git.

    Pass `real` (`os.path.realpath`) if the result is resolved later: by text alone, a planted
    symbolic link and a relative worktree look the same.
    """
    here = checkout_root(start, look)
    if not here:
        return start
    target = _git_line(look(os.path.join(here, ".git")), b"gitdir:")
    return _main_root(here, real(os.path.join(here, target)), look, real) if target else here


def _main_root(here: str, gitdir: str, look: "Look", real: "Callable[[str], str]") -> str:
    """Root of the main repository, if both sides agree that `here` is its linked worktree."""
    common = _git_line(look(os.path.join(gitdir, "commondir")))
    back = _git_line(look(os.path.join(gitdir, "gitdir")))
    if not common or not back:
        return here  # a submodule, a separate git directory, or a moved repository
    common, back = real(os.path.join(gitdir, common)), os.path.join(gitdir, back)
    # A forged `.git` in a download cannot make the real repository point back at it.
    if os.path.dirname(gitdir) != os.path.join(common, "worktrees"):
        return here
    if not back.endswith("/.git") or real(os.path.dirname(back)) != here:
        return here
    return os.path.dirname(common) if common.endswith("/.git") else common


def _git_line(content: "bytes | Literal[True] | None", prefix: bytes = b"") -> str:
    if not isinstance(content, bytes) or len(content) > GIT_FILE_BYTES:
        return ""
    if not content.startswith(prefix) or b"\0" in content:
        return ""
    return content[len(prefix) :].lstrip(b" \t").rstrip(b"\r\n").decode("utf-8", "surrogateescape")


# Must be absolute: a relative path would depend on the current directory.
PATH_VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "MEMDIR_STATE_DIR", "MEMDIR_CACHE_DIR", "MEMDIR_CONFIG_DIR"),
    "MEMDIR_MANAGED_SETTINGS",
)
# Ignored if set by a repository, whose `env` the client passes to hooks.
PLACE_VARIABLES = (
    *("HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"),
    *("CLAUDE_CODE_REMOTE_MEMORY_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
)
OURS = "MEMDIR_"  # prefix of all our own variables
SWITCHES = ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_REMOTE")
FOLDERS = {"STATE": ".local/state", "CACHE": ".cache", "CONFIG": ".config"}  # in the home directory


def xdg_folder(env: "Mapping[str, str]", home: str, kind: str) -> str:
    base = env.get(f"XDG_{kind}_HOME", "")
    # The XDG specification ignores relative paths.
    if not base.startswith("/") or "\0" in base:
        base = f"{home}/{FOLDERS[kind]}"
    return tidy_path(env.get(f"{OURS}{kind}_DIR", "") or f"{base}/memdir")


def store_key(real: str) -> str:
    """A readable file name, different for every real path."""
    digest = digest_of(real.encode("utf-8", "surrogateescape"))[:12]
    tail = [letter if letter.isascii() and letter.isalnum() else "-" for letter in real[-60:]]
    return f"{''.join(tail).strip('-')}-{digest}"


# Deciding on the place of a hook needs the whole configuration, 30 ms of imports. So the first hook
# in a directory caches the result with everything it was decided from; later hooks only check that
# nothing of it has changed.
#
# A repository's settings may set variables, which the client passes to us: even the cache could be
# the repository's. So its settings are checked first. If they set a deciding variable, or might do
# so by an escape, the cache is ignored.

FOLDER = "places"
MARK = "memdir place 3"
MAX_BYTES = 64 * 1024
SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
SETTINGS_BYTES = 1024 * 1024
PROJECT = "CLAUDE_PROJECT_DIR"  # where the client was started; its settings always apply
DECIDING = frozenset((*PATH_VARIABLES, *PLACE_VARIABLES, *SWITCHES, PROJECT))
# As they appear in a JSON key; any other spelling needs an escape.
NAMED = [f'"{name}"'.encode() for name in sorted(DECIDING)] + [f'"{OURS}'.encode()]
ODD = (b"\\u", b"\0")  # an escape, or an encoding other than UTF-8
ABSENT = "-"
SILENT, BUILT_IN, INDEX, SHARED = "silent", "built-in", "index", "shared"  # flags of a place
LOGS = "logs"  # sessions write to the log of the day
SCAN = "scan"  # memories are searched without a catalog
MODEL = "model"  # a model chooses the memories of a prompt
CAPTURE_OFF, UNGUARDED, UNTOLD = "unheard", "unguarded", "untold"
BY_AGENT = "records-by-agent"  # the agent saves records at the end of a turn
REPOSITORY, YOUR_TEAM = "this repository", "your team"


class Here:
    def __init__(
        self,
        state: str,
        cache: str,
        checkout: str,
        holds: "frozenset[str]",
        scopes: dict[str, str],
        max_file_bytes: int,
    ) -> None:
        self.state = state
        self.cache = cache
        self.checkout = checkout  # root of the git checkout; empty without git
        self.holds = holds
        self.scopes = scopes
        self.max_file_bytes = max_file_bytes

    def told_folder(self) -> str:
        """Where it is written down what agents were told; empty if it is not."""
        root = "" if UNTOLD in self.holds else self.scopes.get("project", "")
        return os.path.join(self.state, "stores", store_key(os.path.realpath(root))) if root else ""

    def stores(self) -> list[tuple[str, str]]:
        """Existing main scopes and their directories; a directory shared by two is listed once."""
        stores: dict[str, str] = {}
        for scope in MAIN_SCOPES:
            root = self.scopes.get(scope, "")
            if root and root not in stores and os.path.isdir(root):
                stores[root] = scope
        return [(scope, root) for root, scope in stores.items()]

    def records(self) -> str:
        root = self.scopes.get(RECORDS) or self.scopes.get("local", "")
        try:  # checked each time: records may be newer than the cached place
            names = os.listdir(root) if root else []
        except OSError:
            return ""
        if not names:
            return ""
        from memdir.hot.memory import RECORD_FOLDERS, RECORD_SETTINGS

        return root if any(name in names for name in (*RECORD_FOLDERS, RECORD_SETTINGS)) else ""

    def agents(self, name: str) -> list[tuple[str, str]]:
        from memdir.config.scope import agent_scope_folder

        start = f"agent:{agent_scope_folder(name)}@"
        scopes = self.scopes.items()
        return [(scope[len(start) :], root) for scope, root in scopes if scope.startswith(start)]


class Around:
    def __init__(self, cwd: str, environ: "Mapping[str, str]") -> None:
        self.start = os.path.realpath(cwd)
        self.checkout = checkout_root(self.start, look_at_path)
        root = git_root(self.start, look_at_path, os.path.realpath)
        folders = {**_folders_up(self.start, self.checkout or self.start), root: None}
        project = environ.get(PROJECT, "")
        if project.startswith("/") and "\0" not in project:
            top = os.path.realpath(project)
            folders |= _folders_up(top, checkout_root(top, look_at_path) or top)
        seen = [
            f"{name}={value}"
            for name, value in environ.items()
            if name in DECIDING or name.startswith(OURS)
        ]
        self.doubtful: list[str] = []  # settings files that may set a deciding variable
        for folder in folders:
            for name in SETTINGS:
                path = f"{folder}/{name}"
                facts, doubt = _look_at_settings(path)
                self.doubtful += [path] if doubt else []
                seen += [path, facts] if facts != ABSENT else []
        self.seen = "\0".join([self.start, self.checkout, root, *sorted(seen)])


def _folders_up(start: str, top: str) -> dict[str, None]:
    folders = {start: None}
    while start != top:
        start = os.path.dirname(start)
        folders[start] = None
    return folders


def look_at_path(path: str) -> "bytes | Literal[True] | None":
    if os.path.isdir(path):
        return True
    try:
        return read_start(path, GIT_FILE_BYTES + 1)[0]
    except (OSError, ValueError):
        return None


def _look_at_settings(path: str) -> tuple[str, bool]:
    """Facts of the settings file, and whether it may set a deciding variable."""
    try:
        data, facts = read_start(path, SETTINGS_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT, False
    except OSError:
        return "", True
    doubt = len(data) > SETTINGS_BYTES or any(mark in data for mark in (*ODD, *NAMED))
    return _all_facts(facts), doubt


def place_facts(path: str, whole: bool) -> str:
    """Changes whenever the file does; for a directory only its type, unless `whole`."""
    try:
        facts = os.stat(path) if whole else os.lstat(path)
    except (OSError, ValueError):
        return ABSENT
    return _all_facts(facts) if whole or not S_ISDIR(facts.st_mode) else f"{S_IFMT(facts.st_mode)}"


def _all_facts(facts: os.stat_result) -> str:
    kind = S_IFMT(facts.st_mode)
    return f"{kind} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_size} {facts.st_ino}"


def path_of_kept_place(around: Around, environ: "Mapping[str, str]") -> str:
    home = environ.get("HOME", "")
    paths = [home, *(environ[name] for name in PATH_VARIABLES if environ.get(name))]
    if not all(path.startswith("/") and "\0" not in path for path in paths):
        return ""
    return os.path.join(
        xdg_folder(environ, tidy_path(home), "CACHE"), FOLDER, store_key(around.start)
    )


def write_kept_place(path: str, seen: str, basis: "Mapping[str, bool]", here: Here) -> None:
    """`basis` are the paths that decided. Fields are separated by zero bytes."""
    facts = [
        (name, "1" if whole else "", place_facts(name, whole)) for name, whole in basis.items()
    ]
    fields = [
        *(digest_of(_bytes(seen)), here.state, here.cache, here.checkout),
        *(" ".join(sorted(here.holds)), str(here.max_file_bytes), str(len(facts))),
        *(part for fact in facts for part in fact),
        *(part for pair in here.scopes.items() for part in pair),
    ]
    keep_derived_file(path, seal_bytes(MARK, _bytes("\0".join(fields))))


def read_kept_place(path: str, seen: str) -> Here | None:
    """None if the file is not ours, damaged or outdated."""
    data = read_sealed_file(path, MARK, MAX_BYTES)
    if data is None:
        return None
    fields = data.decode("utf-8", "surrogateescape").split("\0")
    digest, state, cache, checkout, holds, max_bytes, count, *more = fields
    if digest != digest_of(_bytes(seen)):
        return None
    end = 3 * int(count)
    for i in range(0, end, 3):
        name, whole, facts = more[i : i + 3]
        if place_facts(name, bool(whole)) != facts:
            return None
    scopes = dict(zip(more[end::2], more[end + 1 :: 2], strict=True))
    return Here(state, cache, checkout, frozenset(holds.split()), scopes, int(max_bytes))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def origin_of_scope(scope: str, root: str, checkout: str, shared: bool) -> str:
    if scope == "team":
        return YOUR_TEAM
    inside = scope == "project" and shared and is_below(root, checkout)
    return REPOSITORY if inside or scope in ("local", RECORDS) else ""

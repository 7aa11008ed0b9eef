"""Runs git: no prompts, no network, nothing of the user's settings that could run code.

Also finds commit times, authors and ignored files of a checkout, and who a project is on every
machine: its origin, else its first commit, else a name once given.
"""

from __future__ import annotations

import hashlib
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Collection, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from memdir.config.settings import repository_root
from memdir.hot.place import tidy_path
from memdir.store import state

CHUNK = 1 << 20
SMALL = 64 << 20  # bytes of an answer kept in memory
KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # older versions ignore the line above and fetch
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_SSH_COMMAND": "false",
}
SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.untrackedCache": "false",
    "core.alternateRefsCommand": "true",
    "core.askPass": "true",
    "core.sshCommand": "false",
    "core.quotePath": "false",
    "core.precomposeUnicode": "false",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "diff.orderFile": os.devnull,
    "diff.relative": "false",
    "diff.suppressBlankEmpty": "false",
    "gpg.program": "false",
    "log.follow": "false",
    "log.mailmap": "false",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "status.submoduleSummary": "false",
    "status.relativePaths": "false",
    "submodule.recurse": "false",
}
OWN_SETTINGS = {"core.attributesFile": os.devnull}
EXCLUDES = "core.excludesfile"
SECONDS = 5.0  # per command
MAX_LOG_BYTES = 1 << 30
SHALLOW = "this clone is shallow: memories may be older than their ages say"
_MARK = b"\x01"  # precedes a commit's field; no path of a store starts with it
DRIVERS = ("clean", "smudge", "process", "required")
# Hosts that answer for another one, on a port that firewalls let through.
ALIASES = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_URL = re.compile(
    r"(?:(?:git\+)?(?:ssh|https?|git)(?:\+git)?)://([^/?#]*)([^?#]*)(?:[?#].*)?", re.I
)
_SCP = re.compile(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^@/:\s]+):(?!//|:)(.*)")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass
class Ended:
    """How a run ended: `late` on timeout, `cut` if the output was too long."""

    code: int = 0
    late: bool = False
    cut: bool = False
    said: str = ""  # on standard error

    @property
    def whole(self) -> bool:
        return self.code == 0 and not self.late and not self.cut


@dataclass
class Git:
    root: str
    program: str
    work_tree: bool = True
    settings: dict[str, str] = field(default_factory=lambda: {**SETTINGS, **OWN_SETTINGS})
    partial: bool = False  # a partial clone: git would fetch missing objects

    def ask(
        self, *words: str, given: bytes = b"", seconds: float = 30.0, limit: int = SMALL
    ) -> tuple[bytes, Ended]:
        ended = Ended()
        return b"".join(
            self.stream(*words, given=given, seconds=seconds, limit=limit, ended=ended)
        ), ended

    def stream(
        self, *words: str, given: bytes = b"", seconds: float, limit: int, ended: Ended
    ) -> Iterator[bytes]:
        """Yields the output in pieces; `ended` is filled in at the end."""
        from tempfile import TemporaryFile  # slow to import

        tree = [f"--work-tree={self.root}"] if self.work_tree else []
        command = [self.program, "--no-pager", *tree, *words]
        with TemporaryFile() as stdin, TemporaryFile() as stderr:
            stdin.write(given)
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
                    env=self._environment(), cwd=self.root, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                ended.code, ended.said = -1, error.strerror or str(error)
                return
            try:
                yield from _pieces(process, time.monotonic() + seconds, limit, ended)
            finally:
                _end(process)
                ended.code = process.returncode
                stderr.seek(0)
                ended.said = stderr.read(4096).decode("utf-8", "replace")

    def disarm(self) -> None:
        """Disable the filters of the repository's settings, since `status` would run them."""
        out, _ = self.ask("config", "--list", "-z", "--name-only")
        names = set(out.decode("utf-8", "surrogateescape").split("\0"))
        if EXCLUDES in names:
            # Only the user's own settings may name files outside the checkout.
            mine, _ = self.ask("config", "--global", "--includes", "--type=path", "-z", EXCLUDES)
            path = mine.decode("utf-8", "surrogateescape").split("\0")[0]
            self.settings["core.excludesFile"] = path or os.devnull
        for name in names:
            section, _, rest = name.partition(".")
            driver, _, key = rest.rpartition(".")
            promised = section == "remote" and key == "promisor"
            self.partial = self.partial or promised or name == "extensions.partialclone"
            if section == "filter" and key in DRIVERS:
                for each in DRIVERS:
                    self.settings[f"filter.{driver}.{each}"] = "false" if each == "required" else ""

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(self.root)}
        # In the environment, since a driver's name may contain a `=`.
        numbered = {"GIT_CONFIG_COUNT": str(len(self.settings))}
        for number, (name, value) in enumerate(self.settings.items()):
            numbered[f"GIT_CONFIG_KEY_{number}"] = name
            numbered[f"GIT_CONFIG_VALUE_{number}"] = value
        return {**kept, **ENVIRONMENT, **ceiling, **numbered}


def find_git_program(path: str) -> str:
    """Path of git, or ""; relative PATH entries are skipped, they could point into the checkout."""
    for folder in path.split(os.pathsep):
        program = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return ""


def _pieces(
    process: subprocess.Popen[bytes], until: float, limit: int, ended: Ended
) -> Iterator[bytes]:
    assert process.stdout is not None
    handle, got = process.stdout.fileno(), 0
    poller = select.poll()  # `select` fails for handles above 1023
    poller.register(handle, select.POLLIN | select.POLLHUP)
    while True:
        left = until - time.monotonic()
        if left <= 0 or not poller.poll(left * 1000):
            ended.late = True
            return
        piece = os.read(handle, CHUNK)
        if not piece:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, until - time.monotonic()))
            return
        got += len(piece)
        if got > limit:
            ended.cut = True
            return
        yield piece


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()


def commit_times_in_store(store: str, wanted: Collection[str]) -> tuple[dict[str, float], str]:
    """Times by path, and a remark if they are not all that there is."""
    try:
        times = _ask_log(store, wanted, "%ct")
    except FileNotFoundError:
        return {}, "there is no git here: ages come from the files alone"
    except OSError:
        return {}, "git gave no answer: ages come from the files alone"
    shallow = times and os.path.exists(os.path.join(repository_root(store), ".git", "shallow"))
    return {path: float(time) for path, time in times.items()}, SHALLOW if shallow else ""


def commit_authors_in_store(store: str, wanted: Collection[str]) -> dict[str, str]:
    try:
        return _ask_log(store, wanted, "%an")
    except OSError:
        return {}


def find_git_ignored_in_store(store: str, paths: Collection[str]) -> frozenset[str]:
    root = repository_root(store)
    below = os.path.relpath(store, root)
    asked = b"\0".join(os.fsencode(os.path.normpath(f"{below}/{path}")) for path in paths)
    try:
        output = _ask(root, "check-ignore", "-z", "--stdin", given=asked)
    except OSError:
        return frozenset()
    named = [os.fsdecode(path) for path in output.split(b"\0") if path]
    return frozenset(os.path.relpath(path, below) for path in named)


def _open(root: str) -> Git:
    program = find_git_program(os.environ.get("PATH", ""))
    if not program:
        raise FileNotFoundError("git")
    return Git(root, program)


def _ask(root: str, *words: str, given: bytes = b"") -> bytes:
    output, ended = _open(root).ask(*words, given=given, seconds=SECONDS)
    if ended.late or ended.cut:
        raise TimeoutError
    return output


def _ask_log(store: str, wanted: Collection[str], field: str) -> dict[str, str]:
    """One field of the newest commit of each unmodified file; stops reading once all are known."""
    root = repository_root(store)
    if not root or not wanted:
        return {}
    below = os.path.relpath(store, root)
    prefix = "" if below == "." else f"{below}/"
    output = _ask(root, "ls-tree", "-r", "-z", "HEAD", "--", prefix or ".")
    rows = [row.partition(b"\t") for row in output.split(b"\0") if row]
    tracked = {os.fsdecode(path): head.split()[2].decode() for head, _, path in rows}
    left = {path for path in wanted if _is_same(store, path, tracked.get(prefix + path, ""))}
    values: dict[str, str] = {}
    with closing(_read_commits(root, prefix, field)) as commits:
        while left and (commit := next(commits, None)):
            value, paths = commit
            for path in left.intersection(path.removeprefix(prefix) for path in paths):
                values[path] = value
                left.remove(path)
    return values


def _is_same(store: str, path: str, oid: str) -> bool:
    try:
        data = state.read_state_bytes(store, path) if oid else None
    except OSError:
        return False
    kind = hashlib.sha256 if len(oid) == 64 else hashlib.sha1
    return data is not None and kind(b"blob %d\0" % len(data) + data).hexdigest() == oid


def _read_commits(
    root: str, prefix: str, field: str
) -> Generator[tuple[str, list[str]], None, None]:
    words = ["log", f"--format=%x01{field}", "--name-only", "-z", "--no-renames", "HEAD", "--"]
    pieces = _open(root).stream(
        *words, prefix or ".", seconds=SECONDS, limit=MAX_LOG_BYTES, ended=Ended()
    )
    rest = b""
    for piece in pieces:
        *commits, rest = (rest + piece).split(_MARK)
        yield from map(_read_commit, filter(None, commits))
    if rest:
        yield _read_commit(rest)


def _read_commit(text: bytes) -> tuple[str, list[str]]:
    head, *paths = [part.strip(b"\n") for part in text.split(b"\0")]
    first, _, more = head.partition(b"\n")
    return first.decode("utf-8", "replace"), [os.fsdecode(path) for path in (more, *paths) if path]


def identity_of_address(url: str) -> str:
    """`host/owner/name` of every spelling; "" for a path, which means nothing elsewhere."""
    url = url.strip()
    if match := _URL.fullmatch(url):
        host, path = match[1].rpartition("@")[2], match[2]
        host = re.sub(r":\d*\Z", "", host)
    elif "://" not in url and (match := _SCP.fullmatch(url)):
        host, path = match[1], match[2]
    else:
        return ""
    if "%" in path:
        path = unquote(path)
    host = host.strip("[]").rstrip(".").lower()
    host = ALIASES.get(host, host)
    path = tidy_path("/" + path.strip())
    path = re.sub(r"(?i)\.git\Z", "", path).strip("/")
    if host == "dev.azure.com":
        path = path.removeprefix("v3/").replace("/_git/", "/")
    if len(host) < 2 or not path or any(char < " " for char in path) or path.split("/")[0] == "..":
        return ""
    return f"{host}/{path}"


def find_project_identity(checkout: str) -> str:
    """ "" for a directory without git, or without an origin and a commit."""
    program = find_git_program(os.environ.get("PATH", ""))
    if not program or not os.path.lexists(os.path.join(checkout, ".git")):
        return ""
    git = Git(checkout, program, work_tree=False)
    address = find_origin(checkout)
    if identity := identity_of_address(address):
        return identity
    shallow, _ = git.ask("rev-parse", "--is-shallow-repository", seconds=SECONDS)
    if shallow.strip() != b"false":
        return ""  # its first commit is not here
    out, ended = git.ask("rev-list", "--max-parents=0", "HEAD", seconds=SECONDS)
    roots = sorted(out.decode("ascii", "replace").split()) if ended.whole else []
    return f"commit/{roots[0]}" if roots and _OID.fullmatch(roots[0]) else ""


def find_origin(checkout: str) -> str:
    """The address of `origin`, rewritten as the user's git would; "" without one."""
    program = find_git_program(os.environ.get("PATH", ""))
    if not program:
        return ""
    git = Git(checkout, program, work_tree=False)
    out, ended = git.ask("ls-remote", "--get-url", "origin", seconds=SECONDS)
    address = os.fsdecode(out).strip() if ended.whole else ""
    return "" if address == "origin" else address  # git gives back the name it does not know


def identity_folder(identity: str) -> str:
    """One name of a folder, different for every identity: `github.com+owner+name`."""
    return quote(identity.replace("+", "++").replace("/", "+"), safe="+")

"""A branch of a git repository as the remote, worked from a bare repository of our own.

The user's checkout, index, settings and `.git` are never touched: fetch and push name the address,
and objects are read and written by `store/git_objects`. So a sync with nothing new runs git once.

Nothing is merged by git: its search for renames confuses small memories that look alike. A commit
of ours says what the engine decided; a trailer names the outboxes merged into it, so whoever left
one sees that it arrived. They are its further parents, too, which keeps their authors; the state of
a branch is told by its line of first parents only.
"""

from __future__ import annotations

import glob
import json
import os
import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from memdir.errors import BadInput, Finding, HistoryBroken, Missing
from memdir.hot.disk import make_private_folder, remove_file
from memdir.hot.memory import decode, encode
from memdir.store.git import SETTINGS, Ended, Git, find_git_program
from memdir.store.git_objects import FILE_MODE, Entry, Objects, read_tree, write_tree
from memdir.sync.transport import (
    AGAIN,
    MAX_FILE_BYTES,
    REFUSED,
    TAKEN,
    Author,
    Fetched,
    File,
    Outbox,
    Push,
    Pushed,
    Remote,
    Since,
    Unreachable,
)

PERSONAL_BRANCH, TEAM_BRANCH = "memories", "memdir"
OURS = "refs/memdir/"  # where what was fetched stands
SECONDS = 60.0  # per command
MAX_PACK_FILES, MAX_LOOSE_FILES = 150, 10  # the second in one of 256 folders
PROTOCOLS = "file:git:http:https:ssh"  # not `ext`, which runs commands
NETWORK = (
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "http_proxy", "https_proxy", "HTTPS_PROXY"),
    *("all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
)
NETWORK_SETTINGS = {
    **{key: value for key, value in SETTINGS.items() if key not in ("protocol.allow",)},
    "gc.auto": "0",
    "gc.packRefs": "false",  # we read each ref from its file
    "gc.writeCommitGraph": "false",
    "maintenance.auto": "false",
    "push.gpgSign": "false",
    "push.followTags": "false",
    "push.recurseSubmodules": "no",
    "fetch.recurseSubmodules": "no",
    "fetch.fsckObjects": "true",
    "submodule.recurse": "false",
    "core.fsync": "all",
}
MERGED = "memdir-merged"  # trailer: the outboxes whose changes a commit has
FORMAT = (
    f"%x01%H%x00%P%x00%an%x00%ae%x00%ct%x00%(trailers:key={MERGED},valueonly,separator=%x20)%x00"
)
_REGULAR = (b"100644", b"100755", b"100664")
_PASSWORD = re.compile(r"(?<=//)[^/@\s]*@")
# Somebody was faster, in the words of git and of its servers.
_RACE = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to (?:update|lock)"
    r"|reference already exists|incorrect old value|needs force",
)
HEARD_NOTHING = "fatal: Could not read from remote repository"
FSCK = "fsck error"  # as git says it
Files = dict[str, Entry]


@dataclass
class NetworkGit(Git):
    ssh: str = ""

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in NETWORK if name in os.environ}
        own = {"GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_SSH_COMMAND": self.ssh}
        return {**super()._environment(), **kept, **own}


class FetchedObjects(Objects):
    def broken(self, message: str) -> HistoryBroken:
        hint = f"mend the remote; or remove {self.folder}, and it is fetched anew"
        return HistoryBroken(f"{self.folder}: {message}", path=self.folder, next=hint)


@dataclass
class Cursor:
    """The branch and the outboxes of a state; True: the branch has that outbox in it."""

    main: str = ""
    out: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def written(self) -> str:
        return json.dumps({"main": self.main, "out": self.out}, sort_keys=True)


def read_cursor(text: str) -> Cursor:
    """Anything else, such as the cursor of another transport, counts as none."""
    try:
        value = json.loads(text)
        out = {str(name): (str(oid), bool(merged)) for name, (oid, merged) in value["out"].items()}
        return Cursor(str(value["main"]), out)
    except (ValueError, TypeError, KeyError, AttributeError):
        return Cursor()


@dataclass(frozen=True)
class Commit:
    id: str
    parents: tuple[str, ...]
    author: Author
    time: float
    merged: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def start(self) -> str:
        """What the branch was; where it was not there yet, the first parent is an outbox, too."""
        return next((id for id in self.parents[:1] if id not in self.merged), "")


def _chain(commits: list[Commit], head: str) -> tuple[set[str], str]:
    """Ids whose content is in this state, and what the state began with.

    That is the line of first parents, with the outboxes which its commits name. An ancestor
    besides may have been put back since.
    """
    known = {commit.id: commit for commit in commits}
    ids, here = {head}, head
    while here in known:
        ids |= {here, *known[here].merged}
        here = known[here].start
    return ids, here


def shown_address(url: str) -> str:
    return _PASSWORD.sub("", url)


class GitTransport:
    """`prefix` is the folder of a store in the branch: `projects/NAME/`, `user/` or nothing."""

    def __init__(self, remote: Remote, folder: str) -> None:
        self.remote, self.prefix = remote, ""
        self.folder = os.path.join(folder, "sync.git")
        self.objects = FetchedObjects(self.folder)
        self.program = find_git_program(os.environ.get("PATH", ""))
        self.fetched = False  # once for all folders
        personal = remote.branch == PERSONAL_BRANCH
        self.main = f"heads/{remote.branch}"
        self.outboxes = "heads/outbox" if personal else f"heads/{remote.branch}-outbox"

    def close(self) -> None:
        """Many small packs become one; what a killed push left goes with time."""
        self.fetched = False
        folder = os.path.join(self.folder, "objects")
        counts = [(f"{folder}/pack", MAX_PACK_FILES), (f"{folder}/17", MAX_LOOSE_FILES)]
        if any(os.path.isdir(path) and len(os.listdir(path)) > most for path, most in counts):
            self._git("gc", "--quiet")

    def fetch(self, since: Since) -> Fetched:
        if not self.fetched:
            self._fetch_refs()
        old, head, boxes = read_cursor(since.cursor), self._ref(self.main), self._boxes()
        commits = self._commits(old.main, head)
        ids, start = _chain(commits, head)
        follows = start == old.main
        if follows:
            ids.add(old.main)
        elif old.main and head:  # rewritten: everything there is counts
            commits = self._commits("", head)
            ids, _ = _chain(commits, head)
        whole = not old.main or not follows
        same = head == old.main and not whole
        before = {} if whole or same else self._read_files(old.main)
        after = {} if same else self._read_files(head)
        received = next((id for id in reversed(since.sent) if id and id in ids), "")
        begun = read_cursor(since.begun).main
        # Since that state, which we have met, somebody may have put back what was there before it.
        met = [self._read_files(id) for id in (received, begun) if id and id in ids and not same]
        moved = {p for files in met for p in {*files, *after} if files.get(p) != after.get(p)}
        skipped: list[Finding] = []
        files = dict(self._changes(before, after, commits, skipped, moved))
        out, others = dict[str, tuple[str, bool]](), list[Outbox]()
        for machine, oid in boxes.items():
            seen, merged = old.out.get(machine, ("", False))
            out[machine] = (oid, oid in ids or (follows and seen == oid and merged))
            if seen != oid and not out[machine][1] and machine != self.remote.machine:
                others.append(self._open_outbox(machine, seen, oid, skipped))
        if self.remote.machine in out and out[self.remote.machine][1]:
            # What was left there has arrived; that it cannot be removed is no harm.
            spec = f":refs/{self.outboxes}/{self.remote.machine}"
            self._git("push", "--quiet", "--no-verify", "--", self.remote.url, spec)
            del out[self.remote.machine]
        # An empty remote has no state that it could be put back from.
        cursor = Cursor(head, out).written() if head or out else ""
        return Fetched(cursor, files, whole, received, begun in ids, tuple(others), tuple(skipped))

    def prepare(self, push: Push) -> str:
        """A commit on what was fetched, durable here before anything is sent."""
        cursor = read_cursor(push.cursor)
        files = self._read_files(cursor.main, whole=True)
        for path, data in push.changes.items():
            files.pop(self.prefix + path, None)
            if data is not None:
                files[self.prefix + path] = FILE_MODE, self.objects.write("blob", data)[0]
        # Our own outbox, too: what is here came after it.
        boxes = [oid for oid, merged in cursor.out.values() if not merged]
        parents = [oid for oid in (cursor.main, *boxes) if oid]
        message = f"{push.message or 'sync'}\n"
        message += f"\n{MERGED}: {' '.join(boxes)}\n" if boxes else ""
        return self._commit(write_tree(self.objects, files), parents, message)

    def push(self, id: str, push: Push) -> Pushed:
        result = self._push(f"{id}:refs/{self.main}")
        if result.result == TAKEN:
            cursor = read_cursor(push.cursor)
            self._put_ref(self.main, id)
            out = {name: (oid, True) for name, (oid, _) in cursor.out.items()}
            return replace(result, cursor=Cursor(id, out).written())
        self.fetched = False
        return result

    def leave(self, id: str, push: Push) -> Pushed:
        name = f"{self.outboxes}/{self.remote.machine}"
        result = self._push(f"+{id}:refs/{name}")
        if result.result == TAKEN:
            self._put_ref(name, id)
        return replace(result, cursor=push.cursor)

    def propose(self, name: str, push: Push) -> Pushed:
        id = self.prepare(push)
        return self._push(f"+{id}:refs/heads/{self.remote.branch}-propose/{name}")

    def _fetch_refs(self) -> None:
        if not self.objects.exists():
            self.objects.create()
        for name in ("refs", "objects"):
            make_private_folder(os.path.join(self.folder, name))
        for name in glob.glob("**/*.lock", root_dir=self.folder, recursive=True):
            remove_file(os.path.join(self.folder, name))  # of a git that was killed: it would stay
        wanted = dict.fromkeys((f"{self.main}*", f"{self.outboxes}/*"))  # may match nothing
        if self.outboxes.startswith(self.main):
            wanted.popitem()
        specs = [f"+refs/{name}:{OURS}{name}" for name in wanted]
        words = "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"
        _, ended = self._git(*words, "--", self.remote.url, *specs)
        if FSCK in ended.said:
            url = shown_address(self.remote.url)
            message = f"{url}: git refuses an object of the remote: {_first_line(ended.said)}"
            hint = "mend the remote (git fsck finds the object), or name another one"
            raise BadInput(message, path=url, next=hint)
        if not ended.whole:
            raise self._unreachable(ended)
        self.fetched = True

    def _push(self, spec: str) -> Pushed:
        words = "push", "--porcelain", "--no-verify", "--no-signed", "--", self.remote.url, spec
        out, ended = self._git(*words)
        rows = [row for row in decode(out).split("\n") if "\t" in row]
        if ended.whole:
            return Pushed(TAKEN)
        rejected = [row.split("\t")[2] for row in rows if row[:1] == "!" and row.count("\t") > 1]
        if any(map(_RACE.search, rejected)):
            return Pushed(AGAIN, reason=rejected[0])
        if rejected or _is_denied(ended.said):
            reason = rejected[0] if rejected else _first_line(ended.said)
            advice = "ask who owns the remote for the right to push, or for room on it"
            return Pushed(REFUSED, reason=shown_address(reason), next=advice)
        raise self._unreachable(ended)

    def _git(self, *words: str) -> tuple[bytes, Ended]:
        if not self.program:
            raise Missing("there is no git on this machine", next="install git")
        settings = {**NETWORK_SETTINGS, "core.sshCommand": self.remote.ssh}
        git = NetworkGit(self.folder, self.program, False, settings, ssh=self.remote.ssh)
        return git.ask(f"--git-dir={self.folder}", *words, seconds=SECONDS)

    def _unreachable(self, ended: Ended) -> Unreachable:
        late = f"no answer within {SECONDS:.0f} seconds"
        reason = late if ended.late else shown_address(_first_line(ended.said))
        return Unreachable(
            f"{shown_address(self.remote.url)}: {reason or 'git gave no reason'}",
            path=shown_address(self.remote.url),
            next="what is new waits here until the remote answers; check the address and your "
            f"access with: git ls-remote {shown_address(self.remote.url)}",
        )

    def _ref(self, name: str) -> str:
        try:
            return self.objects.disk.read(OURS + name)[0].decode("ascii", "replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return ""

    def _put_ref(self, name: str, id: str) -> None:
        self.objects.disk.put(OURS + name, id.encode() + b"\n")

    def _boxes(self) -> dict[str, str]:
        folder = os.path.join(self.folder, OURS + self.outboxes)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        boxes = {name: self._ref(f"{self.outboxes}/{name}") for name in names}
        return {name: oid for name, oid in boxes.items() if oid}

    def _commits(self, old: str, head: str) -> list[Commit]:
        """The newest first; none if nothing is new, or `old` is not known any more."""
        if not head or head == old:
            return []
        words = "log", f"--format={FORMAT}", "-c", "--name-only", "-z", "--no-renames"
        out, ended = self._git(*words, head, *([f"^{old}"] if old else []), "--")
        if ended.late or ended.cut:
            raise self._unreachable(ended)
        return [_read_commit(row) for row in out.split(b"\x01") if row]

    def _changes(
        self,
        before: Files,
        after: Files,
        commits: list[Commit],
        skipped: list[Finding],
        moved: Collection[str] = (),
    ) -> Iterator[tuple[str, File]]:
        makers: dict[str, Commit] = {}
        for commit in commits:
            for path in commit.paths:
                makers.setdefault(path, commit)
        nobody = Commit("", (), Author("", ""), 0.0, (), ())
        for path in sorted({*before, *after, *moved}):
            if before.get(path) == after.get(path) and path not in moved:
                continue
            maker, name = makers.get(path, nobody), path.removeprefix(self.prefix)
            if path not in after:
                yield name, File(None, maker.author, maker.time)
            elif (data := self._blob(after[path], name, skipped)) is not None:
                yield name, File(data, maker.author, maker.time)

    def _blob(self, entry: Entry, name: str, skipped: list[Finding]) -> bytes | None:
        mode, oid = entry
        problem = "" if mode in _REGULAR else "it is a link or a submodule"
        data = b"" if problem else self.objects.read(oid, "blob")
        if len(data) > MAX_FILE_BYTES:
            problem = f"it has {len(data):,} bytes (limit: {MAX_FILE_BYTES:,})"
        if problem:
            skipped.append(Finding("not-taken", name, f"{name}: {problem}; it stays remote"))
        return None if problem else data

    def _open_outbox(self, machine: str, seen: str, oid: str, skipped: list[Finding]) -> Outbox:
        """`seen` is its state when it was merged here; at first it is what it started from."""
        commits = self._commits(seen, oid)
        start = next((commit.start for commit in commits if commit.id == oid), "")
        before = self._read_files(seen or start)
        after = self._read_files(oid)
        files: dict[str, tuple[bytes | None, File]] = {}
        for path, file in self._changes(before, after, commits, skipped):
            entry = before.get(self.prefix + path)
            files[path] = self.objects.read(entry[1], "blob") if entry else None, file
        return Outbox(machine, files)

    def _read_files(self, oid: str, whole: bool = False) -> Files:
        if not oid:
            return {}
        head = decode(self.objects.read(oid, "commit")).partition("\n")[0]
        files = read_tree(self.objects, head.removeprefix("tree "))
        if whole or not self.prefix:
            return files
        return {path: entry for path, entry in files.items() if path.startswith(self.prefix)}

    def _commit(self, tree: str, parents: list[str], message: str) -> str:
        name, email = (_plain(text) for text in (self.remote.name, self.remote.email))
        who = f"{name or 'memdir'} <{email}> {max(0, int(time.time()))} +0000"
        lines = [f"tree {tree}", *(f"parent {oid}" for oid in parents)]
        text = "\n".join([*lines, f"author {who}", f"committer {who}", "", message])
        oid = self.objects.write("commit", encode(text))[0]
        self.objects.keep(f"pack-{oid}")
        return oid


def _plain(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip()


def _read_commit(row: bytes) -> Commit:
    id, parents, name, email, moment, merged, *rest = row.split(b"\0")
    paths = tuple(filter(None, (decode(path.strip(b"\n")) for path in rest)))
    author = Author(_plain(decode(name)), _plain(decode(email)))
    before, boxes = (tuple(decode(ids).split()) for ids in (parents, merged))
    return Commit(decode(id), before, author, float(moment), boxes, paths)


def _is_denied(said: str) -> bool:
    denied = "permission|denied|forbidden|unauthori|authentication|not allowed|40[13]|read-only"
    full = "no space|quota|unpack|insufficient|disk"
    return bool(re.search(f"{denied}|{full}", said, re.I))


def _first_line(said: str) -> str:
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    if len(lines) > 1 and not lines[0].startswith(HEARD_NOTHING):  # ssh says why, before git does
        lines = [line for line in lines if not line.startswith(HEARD_NOTHING)]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    line = (telling or lines or [""])[0]
    return " ".join(re.sub(r"^(?:fatal|error|remote): ?", "", line).split())[:200]

"""Removed and renamed paths and removed words, read once from a repository's history."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from memdir.claims.claim import Past
from memdir.claims.code_index import PROSE, WORD_BYTES, CodeIndex, Say
from memdir.claims.tree import (
    COMMIT,
    MAX_PATHS,
    Bounds,
    decode_path,
    encode_path,
    is_safe_repo_path,
    match_path_endings,
)
from memdir.store.git import Ended, Git

# Options of every log: no merges (both sides are read), no user settings, no external program.
_LOG = (
    *("log", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", "--no-decorate"),
    *("--no-notes", "--no-show-signature", "--no-mailmap", "--ignore-submodules=all"),
    "--format=%x01%H %ct",
)
_RENAMES = "-l200"  # limit for rename detection within one commit
_STATUS = re.compile(rb"D|R[0-9]{1,3}")
MAX_RENAMES = 50  # in a row
MAX_SECOND_DIGITS = 15
ID_CHARACTERS = 7  # of a commit id
PATHS, WORDS = "paths", "words"  # names of the two logs
_TABLES = {PATHS: "ends", WORDS: "removed"}

Commits = list[tuple[str, int]]  # id and seconds since 1970, newest first


def _start(index: CodeIndex, log: str, git: Git, head: str) -> tuple[str, ...]:
    """Revisions to read; all of them unless the last commit read is an ancestor."""
    old = index.commit_of(f"{log} commit")
    if old == head:
        return ()
    if old and git.ask("merge-base", "--is-ancestor", old, head)[1].whole:
        return head, f"^{old}"
    index.db.execute(f"DELETE FROM {_TABLES[log]}")
    index.db.execute("DELETE FROM commits WHERE log = ?", (log,))
    index.put(f"{log} floor", "")
    return (head,)


def _finish(index: CodeIndex, log: str, head: str, commits: Commits, *, cut: bool) -> int:
    """Stores the commits and returns the number of the newest."""
    last = int(index.db.execute("SELECT coalesce(max(number), 0) FROM commits").fetchone()[0])
    newest = last + len(commits)
    rows = [(newest - i, log, *commit) for i, commit in enumerate(commits)]
    index.db.executemany("INSERT INTO commits VALUES (?, ?, ?, ?)", rows)
    if cut:  # nothing is known before the oldest commit that was read
        index.put(f"{log} floor", _day(commits[-1][1]) if commits else "-")
    index.put(f"{log} commit", head if commits or not cut else "")  # if nothing was read, try again
    return newest


def _day(seconds: int) -> str:
    """Date of a commit; empty if the calendar does not reach that far."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _read_header(header: bytes) -> tuple[str, int]:
    oid, _, seconds = header.strip(b"\x01\n").partition(b" ")
    is_number = seconds.isdigit() and len(seconds) <= MAX_SECOND_DIGITS
    return oid.decode("ascii", "replace"), int(seconds) if is_number else 0


def _find_commit(index: CodeIndex, number: int) -> tuple[str, str]:
    query = "SELECT oid, seconds FROM commits WHERE number = ?"
    oid, seconds = index.db.execute(query, (number,)).fetchone()
    return oid[:ID_CHARACTERS], _day(seconds)


def update_removed_paths(index: CodeIndex, git: Git, head: str, bounds: Bounds, say: Say) -> None:
    revisions = _start(index, PATHS, git, head)
    if not revisions:
        return
    commits: Commits = []
    ends: list[tuple[str, str, int]] = []  # path, new path, index in `commits`
    ended, rest = Ended(), b""
    alike = "-M100%" if git.partial else "-M"  # a partial clone may lack contents
    stream = git.stream(
        *(*_LOG, "-z", "--name-status", alike, _RENAMES, "--diff-filter=DR"),
        *(f"--max-count={bounds.commits}", *revisions, "--"),
        seconds=bounds.log_seconds,
        limit=bounds.tree_bytes,
        ended=ended,
    )
    tokens: list[bytes] = []
    for piece in stream:
        *more, rest = (rest + piece).split(b"\0")
        try:
            tokens = _take_tokens(commits, ends, [*tokens, *more])
        except ValueError:
            ended.cut = True
            break
        say(f"read {len(commits):,} commits with renames and removals")
    cut = not ended.whole or len(commits) >= bounds.commits
    newest = _finish(index, PATHS, head, commits, cut=cut)
    rows = [(encode_path(old), encode_path(new), newest - i) for old, new, i in ends]
    index.db.executemany("INSERT INTO ends VALUES (?, ?, ?)", rows)


def _take_tokens(
    commits: Commits, ends: list[tuple[str, str, int]], tokens: list[bytes]
) -> list[bytes]:
    """Stores complete entries, returns the rest; ValueError for output no git log prints."""
    i = 0
    while i < len(tokens):
        token = tokens[i].lstrip(b"\n")
        needed = 1 if token.startswith(b"\x01") else 3 if token.startswith(b"R") else 2
        if i + needed > len(tokens):
            break
        if needed == 1:
            commit = _read_header(token)
            if not COMMIT.fullmatch(commit[0]):
                raise ValueError("no commit")
            commits.append(commit)
        elif not _STATUS.fullmatch(token) or not commits:
            raise ValueError("no removal or rename")
        else:
            old, new = decode_path(tokens[i + 1]), decode_path(tokens[i + 2]) if needed == 3 else ""
            if is_safe_repo_path(old) and (not new or is_safe_repo_path(new)):
                ends.append((old, new, len(commits) - 1))
        i += needed
    return tokens[i:]


class PastPaths:
    def __init__(self, index: CodeIndex, files: Mapping[str, object], folders: set[str]) -> None:
        self.index, self.files, self.folders = index, files, folders
        self.newest: dict[str, tuple[str, int]] = {}
        query = "SELECT old, new, number FROM ends ORDER BY number DESC, rowid"
        for old, new, number in index.db.execute(query):
            self.newest.setdefault(decode_path(old), (decode_path(new), number))

    def find(self, names: Mapping[str, str]) -> dict[str, tuple[Past, ...]]:
        gone = [path for path in self.newest if path not in self.files]
        ends: dict[str, list[tuple[int, str, int, str]]] = {}  # order, path, commit, present path
        for name, paths in match_path_endings(names, gone, folders=False).items():
            ends[name] = [self._follow(path) for path in paths]
        below: dict[str, list[str]] = {}  # deleted folders, each with the paths it contained
        for path in gone:
            above = path.rpartition("/")[0]
            while above and above not in self.folders:
                below.setdefault(above, []).append(path)
                above = above.rpartition("/")[0]
        for name, paths in match_path_endings(names, below, folders=True).items():
            ends.setdefault(name, []).extend(self._follow_folder(p, below[p]) for p in paths)
        return {
            name: tuple(
                Past(path, *_find_commit(self.index, number), now)
                for _, path, number, now in sorted(some, key=lambda end: -end[0])[:MAX_PATHS]
            )
            for name, some in ends.items()
        }

    def _follow(self, path: str) -> tuple[int, str, int, str]:
        now, number = self.newest[path]
        first = number
        for _ in range(MAX_RENAMES):
            if not now or now in self.files:
                return first, path, first if now else number, now
            if now not in self.newest or self.newest[now][1] < number:
                break  # no later trace: a merge or a shallow history
            now, number = self.newest[now]
        return first, path, first, ""

    def _follow_folder(self, folder: str, paths: list[str]) -> tuple[int, str, int, str]:
        """Ended with its last file; moved to wherever more than half of its files went."""
        number = max(self.newest[path][1] for path in paths)
        votes: Counter[str] = Counter()
        for path in paths:
            now, rest = self._follow(path)[3], path[len(folder) :]
            if now.endswith(rest) and now != rest.lstrip("/"):
                votes[now[: -len(rest)]] += 1
        best, count = votes.most_common(1)[0] if votes else ("", 0)
        return number, folder, number, best if count * 2 > len(paths) else ""


# All removed words are kept, not only those asked for: a new memory must not cost another pass
# over the history.

# Words in prose, which memories are, and in data are no evidence.
_NOT_CODE = (
    *(f":(exclude,icase)*.{suffix}" for suffix in sorted(PROSE)),
    *(":(exclude)*.min.js", ":(exclude)*package-lock.json", ":(exclude)*pnpm-lock.yaml"),
)
_MARK = "//memdir//"  # prefix of paths, to tell a file header from a removed line
_HEADER = re.compile(rb"^\x01[0-9a-f]{40,64} [0-9]{1,15}$", re.MULTILINE)
_REMOVED = re.compile(rb'^-(?!-- "?//memdir//)(.{1,2000})', re.MULTILINE)
_KEPT = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,79}")


def update_removed_symbols(index: CodeIndex, git: Git, head: str, bounds: Bounds, say: Say) -> None:
    revisions = _start(index, WORDS, git, head)
    if not revisions:
        return
    commits: Commits = []
    words: dict[bytes, int] = {}  # index in `commits`
    ended, rest = Ended(), b""
    stream = git.stream(
        *(*_LOG, "-p", "-U0", "--no-renames", "--diff-filter=MD", f"--src-prefix={_MARK}"),
        *(f"--max-count={bounds.commits}", *revisions, "--", ".", *_NOT_CODE),
        seconds=bounds.patch_seconds,
        limit=bounds.patch_bytes,
        ended=ended,
    )
    for piece in chain(stream, (b"\n",)):  # ends the last line, too
        block, end, rest = (rest + piece).rpartition(b"\n")
        start = 0
        for header in (*_HEADER.finditer(block + end), None):
            patch = (block + end)[start : header.start() if header else None]
            removed = b"\n".join(_REMOVED.findall(patch)) if commits else b""
            for word in set(removed.translate(WORD_BYTES).split()):
                if word not in words and _KEPT.fullmatch(word):
                    words[word] = len(commits) - 1
            if header:
                commits.append(_read_header(header.group()))
                start = header.end()
        say(f"read {len(commits):,} commits for words that were removed")
        if len(words) > bounds.removed_words:
            ended.cut = True
            break
    cut = not ended.whole or len(commits) >= bounds.commits
    newest = _finish(index, WORDS, head, commits, cut=cut)
    rows = [(word, newest - i) for word, i in words.items()]
    index.db.executemany("INSERT OR REPLACE INTO removed VALUES (?, ?)", rows)


def find_removed_symbols(index: CodeIndex, names: Iterable[str]) -> dict[str, Past]:
    query = "SELECT number FROM removed WHERE word = ?"
    rows = {name: index.db.execute(query, (encode_path(name),)).fetchone() for name in names}
    return {name: Past(name, *_find_commit(index, row[0])) for name, row in rows.items() if row}

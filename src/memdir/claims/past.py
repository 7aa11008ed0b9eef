"""Removed and renamed paths, removed words and dropped packages, read once from the history."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from memdir.claims.claim import Past
from memdir.claims.code_index import PROSE, WORD_BYTES, CodeIndex
from memdir.claims.manifests import MANIFEST_PATHS, read_dropped_packages
from memdir.claims.tree import (
    COMMIT,
    MAX_PATHS,
    Bounds,
    from_git,
    is_safe_repo_path,
    match_repo_endings,
    to_git,
)
from memdir.store.git import Ended, Git

# Options of every log: no user settings, no external program.
_LOG = (
    *("log", "--no-color", "--no-ext-diff", "--no-textconv", "--no-decorate"),
    *("--no-notes", "--no-show-signature", "--no-mailmap", "--ignore-submodules=all"),
    "--format=%x01%H %ct",
)
# Rename detection within one commit: limited, and empty files resemble nothing.
_RENAMES = ("-l200", "--no-rename-empty", "--no-merges")
# What a merge itself removed; what its sides removed is known from their own commits.
_MERGES = ("--merges", "-m", "--no-renames")
_STATUS = re.compile(rb"D|R[0-9]{1,3}")
MAX_RENAMES = 50  # in a row
MAX_SECOND_DIGITS = 15
ID_CHARACTERS = 7  # of a commit id
PATHS, WORDS, PACKAGES = "paths", "words", "packages"  # names of the logs

# Words in prose, which memories are, and in data are no evidence.
_CODE_PATHS = (
    *(".", *(f":(exclude,icase)*.{suffix}" for suffix in sorted(PROSE))),
    *(":(exclude)*.min.js", ":(exclude)*package-lock.json", ":(exclude)*pnpm-lock.yaml"),
)
_MARK = "//memdir//"  # prefix of paths, to tell a file header from a removed line
_HEADER = re.compile(rb"^\x01[0-9a-f]{40,64} [0-9]{1,15}$", re.MULTILINE)
_REMOVED = re.compile(rb'^-(?!-- "?//memdir//)(.{1,2000})', re.MULTILINE)
_KEPT = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,79}")
_DEFINED = re.compile(
    rb"\b(?:def|class|function|func(?: \([^()\n]{0,80}\))?|fn|fun|struct|enum|trait|interface|type"
    rb"|const|let|var|val|module|protocol|sub|#define)[ \t]{1,8}([A-Za-z_]\w{2,79})"
    rb"|^[ \t]{0,40}(?=[a-z0-9]{0,79}[A-Z_])([A-Za-z_]\w{2,79})[ \t]{0,8}(?::[^=\n]{1,80})?=[^=]"
    rb"|^[ \t]{0,40}(?:[\w*&<>:]{1,40}[ \t]{1,4}){0,4}([A-Za-z_]\w{2,79})\([^;\n]{0,200}\{\s{0,8}$",
    re.MULTILINE,
)
_FLAG = re.compile(rb"[\"'`|(,/\s](--[a-z][a-z0-9-]{1,60})[\"'`|),=:/]")

Commits = list[tuple[str, int]]  # id and seconds since 1970, newest first
Ends = list[tuple[str, str, int]]  # path, new path, index of the commit


@dataclass(frozen=True)
class History:
    """Brings the tables of an index in step with the history of a commit."""

    index: CodeIndex
    git: Git
    head: str
    bounds: Bounds

    def update_removed_paths(self) -> None:
        revisions = self._start(PATHS)
        if not revisions:
            return
        alike = "-M100%" if self.git.partial else "-M"  # a partial clone may lack contents
        known = {row[0] for row in self.index.db.execute("SELECT old FROM ends")}
        for options in ((alike, *_RENAMES), _MERGES):
            commits, ends, cut = self._read_ends(options, revisions)
            newest = self._finish(PATHS, commits, cut=cut)
            rows = [(to_git(old), to_git(new), newest - i) for old, new, i in ends]
            rows = [row for row in rows if row[0] not in known or options != _MERGES]
            self.index.db.executemany("INSERT INTO ends VALUES (?, ?, ?)", rows)
            known.update(row[0] for row in rows)

    def update_removed_symbols(self) -> None:
        """All removed words are kept, so that a new memory costs no other pass."""

        def read(removed: bytes) -> tuple[set[bytes], set[bytes]]:
            words = set(filter(_KEPT.fullmatch, removed.translate(WORD_BYTES).split()))
            return words | set(_FLAG.findall(removed)), read_defined_names(removed)

        self._update_words(WORDS, _CODE_PATHS, read)

    def update_dropped_packages(self) -> None:
        def read(removed: bytes) -> tuple[set[bytes], set[bytes]]:
            return set(
                map(to_git, read_dropped_packages(removed.decode("utf-8", "replace")))
            ), set()

        self._update_words(PACKAGES, MANIFEST_PATHS, read)

    def _update_words(
        self,
        log: str,
        paths: tuple[str, ...],
        read: Callable[[bytes], tuple[set[bytes], set[bytes]]],
    ) -> None:
        """Keeps what `read` finds in the removed lines of each commit: words, and those defined."""
        revisions = self._start(log)
        if not revisions:
            return
        commits: Commits = []
        words: dict[bytes, int] = {}  # index of the newest commit
        defined: set[bytes] = set()
        ended, rest = Ended(), b""
        stream = self.git.stream(
            *(*_LOG, "--no-merges", "-p", "-U0", "--no-renames", "--diff-filter=MD"),
            *(f"--src-prefix={_MARK}", f"--max-count={self.bounds.commits}"),
            *(*revisions, "--", *paths),
            seconds=self.bounds.patch_seconds,
            limit=self.bounds.patch_bytes,
            ended=ended,
        )
        for piece in chain(stream, (b"\n",)):  # ends the last line, too
            block, end, rest = (rest + piece).rpartition(b"\n")
            start = 0
            for header in (*_HEADER.finditer(block + end), None):
                patch = (block + end)[start : header.start() if header else None]
                if commits:
                    some, definitions = read(b"\n".join(_REMOVED.findall(patch)))
                    for word in some - words.keys():
                        words[word] = len(commits) - 1
                    defined |= definitions
                if header:
                    commits.append(_read_header(header.group()))
                    start = header.end()
            if len(words) > self.bounds.removed_words:
                ended.cut = True
                break
        cut = not ended.whole or len(commits) >= self.bounds.commits
        newest = self._finish(log, commits, cut=cut)
        self.index.db.executemany(
            "INSERT INTO removed VALUES (?, ?, ?, ?) ON CONFLICT (log, word) DO UPDATE SET "
            "number = excluded.number, defined = max(defined, excluded.defined)",
            [(log, word, newest - i, word in defined) for word, i in words.items()],
        )

    def _start(self, log: str) -> tuple[str, ...]:
        """Revisions to read; all of them unless the last commit read is an ancestor."""
        index, head = self.index, self.head
        old = index.commit_of(f"{log} commit")
        if old == head:
            return ()
        if old and self.git.ask("merge-base", "--is-ancestor", old, head)[1].whole:
            return head, f"^{old}"
        if log == PATHS:
            index.db.execute("DELETE FROM ends")
        for table in ("removed", "commits"):
            index.db.execute(f"DELETE FROM {table} WHERE log = ?", (log,))
        index.put(f"{log} floor", "")
        return (head,)

    def _finish(self, log: str, commits: Commits, *, cut: bool) -> int:
        """Stores the commits and returns the number of the newest."""
        index = self.index
        last = int(index.db.execute("SELECT coalesce(max(number), 0) FROM commits").fetchone()[0])
        newest = last + len(commits)
        rows = [(newest - i, log, *commit) for i, commit in enumerate(commits)]
        index.db.executemany("INSERT INTO commits VALUES (?, ?, ?, ?)", rows)
        if cut:  # nothing is known before the oldest commit that was read
            index.put(f"{log} floor", _day(commits[-1][1]) if commits else "-")
        # If nothing was read, try again.
        index.put(f"{log} commit", self.head if commits or not cut else "")
        return newest

    def _read_ends(
        self, options: tuple[str, ...], revisions: tuple[str, ...]
    ) -> tuple[Commits, Ends, bool]:
        out, ended = self.git.ask(
            *(*_LOG, "-z", "--name-status", *options, "--diff-filter=DR"),
            *(f"--max-count={self.bounds.commits}", *revisions, "--"),
            seconds=self.bounds.log_seconds,
            limit=self.bounds.tree_bytes,
        )
        commits: Commits = []
        ends: Ends = []
        tokens = iter(out.split(b"\0")[:-1])
        for token in (token.lstrip(b"\n") for token in tokens):
            if token.startswith(b"\x01"):
                commit = _read_header(token)
                known = bool(COMMIT.fullmatch(commit[0]))
                commits += [commit] if known else []
            else:
                old = from_git(next(tokens, b""))
                new = from_git(next(tokens, b"")) if token.startswith(b"R") else ""
                known = bool(_STATUS.fullmatch(token) and commits)
                if known and is_safe_repo_path(old) and (not new or is_safe_repo_path(new)):
                    ends.append((old, new, len(commits) - 1))
            if not known:
                ended.cut = True  # no git log prints that
                break
        return commits, ends, not ended.whole or len(commits) >= self.bounds.commits


def read_defined_names(code: bytes) -> set[bytes]:
    return set(filter(None, chain.from_iterable(_DEFINED.findall(code))))


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
    row = index.db.execute(query, (number,)).fetchone()
    if row is None:
        raise ValueError("no commit of an index")
    return row[0][:ID_CHARACTERS], _day(row[1])


class PastPaths:
    def __init__(self, index: CodeIndex, files: Mapping[str, object], folders: set[str]) -> None:
        self.index, self.files, self.folders = index, files, folders
        self.newest: dict[str, tuple[str, int]] = {}
        query = "SELECT old, new, number FROM ends ORDER BY number DESC, rowid"
        for old, new, number in index.db.execute(query):
            self.newest.setdefault(from_git(old), (from_git(new), number))

    def find(self, names: Mapping[str, str]) -> dict[str, tuple[Past, ...]]:
        gone = [path for path in self.newest if path not in self.files]
        ends: dict[str, list[tuple[int, str, int, str]]] = {}  # order, path, commit, present path
        for name, paths in match_repo_endings(names, gone, folders=False).items():
            ends[name] = [self._follow(path) for path in paths]
        below: dict[str, list[str]] = {}  # deleted folders, each with the paths it contained
        for path in gone:
            above = path.rpartition("/")[0]
            while above and above not in self.folders:
                below.setdefault(above, []).append(path)
                above = above.rpartition("/")[0]
        for name, paths in match_repo_endings(names, below, folders=True).items():
            ends.setdefault(name, []).extend(self._follow_folder(p, below[p]) for p in paths)
        return {
            name: tuple(
                Past(path, *_find_commit(self.index, number), now)
                for _, path, number, now in sorted(
                    some, key=lambda end: (end[1] != names[name], -end[0])
                )[:MAX_PATHS]
            )
            for name, some in ends.items()
        }

    def _follow(self, path: str) -> tuple[int, str, int, str]:
        """Order, the path, the commit that gave it its last name or removed it, that name."""
        now, number = self.newest[path]
        first = number
        for _ in range(MAX_RENAMES):
            if not now or now in self.files:
                return first, path, number, now
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


def find_removed_words(index: CodeIndex, log: str, names: Mapping[str, str]) -> dict[str, Past]:
    """Of names, each with its form in the index."""
    query = "SELECT number, defined FROM removed WHERE log = ? AND word = ?"
    found = {}
    for name, form in names.items():
        row = index.db.execute(query, (log, to_git(form))).fetchone()
        if row:
            found[name] = Past(name, *_find_commit(index, row[0]), defined=bool(row[1]))
    return found


_CHECKED_OUT = re.compile(r"checkout: moving from (\S{1,200}) to (\S{1,200})$")
_MERGED = re.compile(
    r"Merge (?:remote-tracking )?branch '([^'\s]{1,200})'"
    r"|Merge pull request #\d{1,9} from [^\s/]{1,100}/(\S{1,200})"
)
_WHOLE_REMOTE = "refs/heads/*:"  # of a clone that knows every branch of its remote


def find_past_branches(git: Git, names: Iterable[str], bounds: Bounds) -> dict[str, str]:
    """Evidence that branches without a reference once existed: merged, or checked out here."""
    asked = set(names)
    fetched = git.ask("config", "--get-regexp", r"^remote\..*\.fetch$")[0].split(b"\n")
    if not asked or not all(_WHOLE_REMOTE.encode() in line for line in fetched if line):
        return {}
    evidence: dict[str, str] = {}
    limit = f"--max-count={bounds.commits}"
    subjects = git.ask(*_LOG[:-1], "--format=%H %ct %s", "--merges", limit, "HEAD", "--")[0]
    for line in from_git(subjects).split("\n"):
        oid, _, rest = line.partition(" ")
        seconds, _, subject = rest.partition(" ")
        match = _MERGED.match(subject)
        name = (match[1] or match[2]).removeprefix("origin/") if match else ""
        if name in asked and seconds.isdigit():
            when = f"{oid[:ID_CHARACTERS]}, {_day(int(seconds))}"
            evidence.setdefault(name, f"merged in {when}, and no branch or tag any more")
    moves = git.ask("log", "-g", "--format=%gs", limit, "HEAD", "--")[0]
    for line in from_git(moves).split("\n"):
        match = _CHECKED_OUT.match(line)
        for name in asked.intersection(match.groups() if match else ()):
            evidence.setdefault(name, "deleted: it was checked out here, and is no branch any more")
    return evidence

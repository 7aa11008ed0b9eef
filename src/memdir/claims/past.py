"""What became of paths and words that are no more: the history of a repository, read once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain

from memdir.claims.checkout import COMMIT, FEW, LOG, Bounds, day, move, numbered
from memdir.claims.claim import Past
from memdir.claims.code_index import CodeIndex, encode
from memdir.claims.scanner import PROSE, WORD_BYTES, gone_parts
from memdir.claims.tree import Matcher, decode, is_below
from memdir.store.git import Ended, Git

# Paths that once were: every removal and rename of the history.

SIMILAR = "-l200"  # removed times added files of one commit that are compared with each other
EQUAL = "-M100%"  # what is alike but not equal can only be told from contents
STATUS = re.compile(rb"D|R[0-9]{1,3}")
MAX_RENAMES = 50  # after each other
PATHS, WORDS = "paths", "words"  # the two logs

Say = Callable[[str], None]
Commits = list[tuple[str, int]]
Ends = list[tuple[str, str, int]]  # a path, where it went, the position of the commit


def update_renames(index: CodeIndex, git: Git, head: str, bounds: Bounds, say: Say) -> None:
    """Read the removals and renames up to that commit."""
    step = move(git, index.commit_of("paths commit"), head)
    if not step.revisions:
        return
    commits, ends, floor = _read_path_log(git, step.revisions, bounds, say)
    db = index.db
    if step.afresh:
        db.execute("DELETE FROM commits WHERE log = ?", (PATHS,))
        db.execute("DELETE FROM ends")
    for position in index.forget(PATHS, step.dropped):
        db.execute("DELETE FROM ends WHERE position = ?", (position,))
    first = index.add_commits(PATHS, commits)
    rows = [(encode(old), encode(new), first + number) for old, new, number in ends]
    db.executemany("INSERT INTO ends VALUES (?, ?, ?)", rows)
    index.finish_log(PATHS, head, floor, read=bool(commits), afresh=step.afresh)


def _read_path_log(
    git: Git, revisions: tuple[str, ...], bounds: Bounds, say: Say
) -> tuple[Commits, Ends, str]:
    commits: Commits = []
    ends: Ends = []
    ended, rest = Ended(), b""
    stream = git.stream(
        *(*LOG, "-z", "--name-status", EQUAL if git.partial else "-M", SIMILAR, "--diff-filter=DR"),
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
    return commits, ends, _floor(commits) if cut else ""


def _take_tokens(commits: Commits, ends: Ends, tokens: list[bytes]) -> list[bytes]:
    """Put in what is complete, the rest waits; ValueError for what no log says."""
    i = 0
    while i < len(tokens):
        token = tokens[i].lstrip(b"\n")
        needed = 1 if token.startswith(b"\x01") else 3 if token.startswith(b"R") else 2
        if i + needed > len(tokens):
            break
        if needed == 1:
            commit = numbered(token)
            if not COMMIT.fullmatch(commit[0]):
                raise ValueError("no commit")
            commits.append(commit)
        elif not STATUS.fullmatch(token) or not commits:
            raise ValueError("no removal or rename")
        else:
            old, new = decode(tokens[i + 1]), decode(tokens[i + 2]) if needed == 3 else ""
            if is_below(old) and (not new or is_below(new)):
                ends.append((old, new, len(commits) - 1))
        i += needed
    return tokens[i:]


def _floor(commits: Commits) -> str:
    return day(commits[-1][1]) if commits else "-"


class Pasts:
    """What became of paths that are no more, from all removals and the tree of today."""

    def __init__(self, index: CodeIndex, files: Mapping[str, str], folders: set[str]) -> None:
        self.index, self.files, self.folders = index, files, folders
        self.newest: dict[str, tuple[str, int]] = {}
        query = "SELECT old, new, position FROM ends ORDER BY position, rowid"
        for old, new, position in index.db.execute(query):
            self.newest.setdefault(decode(old), (decode(new), position))

    def find(self, matcher: Matcher) -> dict[str, tuple[Past, ...]]:
        """What each name was, newest first."""
        gone = [path for path in self.newest if path not in self.files]
        answers: dict[str, list[tuple[int, str, int, str]]] = {}  # order, path, commit, path of now
        for name, paths in matcher.match(gone, folders=False).items():
            answers[name] = [self._follow(path) for path in paths]
        below: dict[str, list[str]] = {}  # the folders that are no more
        for path in gone:
            above = path.rpartition("/")[0]
            while above and above not in self.folders:
                below.setdefault(above, []).append(path)
                above = above.rpartition("/")[0]
        for name, paths in matcher.match(below, folders=True).items():
            moved = [self._follow_all(path, below[path]) for path in paths]
            answers.setdefault(name, []).extend(moved)
        return {
            name: tuple(
                Past(path, *self.index.find_commit(PATHS, position), now)
                for _, path, position, now in sorted(ends, key=lambda end: end[0])[:FEW]
            )
            for name, ends in answers.items()
        }

    def _follow(self, path: str) -> tuple[int, str, int, str]:
        """Along the renames to the path of today, or to the commit that removed it."""
        now, position = self.newest[path]
        first = position
        for _ in range(MAX_RENAMES):
            if not now or now in self.files:
                return first, path, first if now else position, now
            if now not in self.newest or self.newest[now][1] > position:
                break  # it left no trace after that: a merge or a cut history
            now, position = self.newest[now]
        return first, path, first, ""

    def _follow_all(self, folder: str, paths: list[str]) -> tuple[int, str, int, str]:
        """The last of what lay there decides; where most of it went is where it is now."""
        position = min(self.newest[path][1] for path in paths)
        votes: Counter[str] = Counter()
        for path in paths:
            now, rest = self._follow(path)[3], path[len(folder) :]
            if now.endswith(rest) and now != rest.lstrip("/"):
                votes[now[: -len(rest)]] += 1
        best, count = votes.most_common(1)[0] if votes else ("", 0)
        return position, folder, position, best if count * 2 > len(paths) else ""


# Words that removed lines had: for each the two newest commits that removed a line with it. All
# words are kept, not only those asked for: a new memory must not cost a new pass over the history.

MIN_WORD_LETTERS, MAX_WORD_LETTERS = 3, 80
# Words of a memory, of prose and of data are no evidence.
MEMORY_FOLDERS = (
    *(".claude/memory", ".claude/agent-memory", ".agents/memory", ".memory", "memory-bank"),
)
NOT_CODE = (
    *(f":(exclude,icase)*.{suffix}" for suffix in sorted(PROSE)),
    *(f":(exclude,glob)**/{folder}/**" for folder in MEMORY_FOLDERS),
    *(":(exclude)*.min.js", ":(exclude)*package-lock.json", ":(exclude)*pnpm-lock.yaml"),
)
# Before the path of a file's header, so that it is not taken for a removed line.
MARK = "//memdir//"
HEADER = re.compile(rb"^\x01[0-9a-f]{40,64} [0-9]{1,15}$", re.MULTILINE)
REMOVED = re.compile(rb'^-(?!-- "?//memdir//)(.{1,2000})', re.MULTILINE)
WORTH = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{%d,%d}" % (MIN_WORD_LETTERS - 1, MAX_WORD_LETTERS - 1))
Words = dict[bytes, tuple[int, int | None]]


def update_removed(index: CodeIndex, git: Git, head: str, bounds: Bounds, say: Say) -> None:
    """Read the removed words up to that commit."""
    step = move(git, index.commit_of("words commit"), head)
    if not step.revisions:
        return
    db, revisions = index.db, step.revisions
    afresh = step.afresh or not _forget_words(index, step.dropped)
    if afresh:
        revisions = (head,)
        db.execute("DELETE FROM commits WHERE log = ?", (WORDS,))
        db.execute("DELETE FROM removed")
    commits, words, floor = _read_word_log(git, revisions, bounds, say)
    position = index.add_commits(WORDS, commits)
    rows = [
        (word, position + first, None if second is None else position + second)
        for word, (first, second) in words.items()
    ]
    db.executemany(
        "INSERT INTO removed VALUES (?, ?, ?) ON CONFLICT (word) DO UPDATE SET"
        " second = coalesce(excluded.second, removed.first), first = excluded.first",
        rows,
    )
    index.finish_log(WORDS, head, floor, read=bool(commits), afresh=afresh)


def _forget_words(index: CodeIndex, dropped: frozenset[str]) -> bool:
    """Forget commits that are no more; False if an older one would have to be found."""
    lost = [(position,) for position in index.forget(WORDS, dropped)]
    if not lost:
        return True
    db = index.db
    db.execute("CREATE TEMP TABLE lost (position INTEGER PRIMARY KEY)")
    db.executemany("INSERT INTO lost VALUES (?)", lost)
    both = "SELECT 1 FROM removed WHERE first IN lost AND second IN lost"
    whole = db.execute(both).fetchone() is None
    if whole:
        db.execute("DELETE FROM removed WHERE first IN lost AND second IS NULL")
        db.execute("UPDATE removed SET first = second, second = NULL WHERE first IN lost")
        db.execute("UPDATE removed SET second = NULL WHERE second IN lost")
    db.execute("DROP TABLE lost")
    return whole


def _read_word_log(
    git: Git, revisions: tuple[str, ...], bounds: Bounds, say: Say
) -> tuple[Commits, Words, str]:
    commits: Commits = []
    words: Words = {}
    ended, rest = Ended(), b""
    stream = git.stream(
        *(*LOG, "-p", "-U0", "--no-renames", "--diff-filter=MD", f"--src-prefix={MARK}"),
        *(f"--max-count={bounds.commits}", *revisions, "--", ".", *NOT_CODE),
        seconds=bounds.patch_seconds,
        limit=bounds.patch_bytes,
        ended=ended,
    )
    for piece in chain(stream, (b"\n",)):  # whole lines, the last one too
        block, end, rest = (rest + piece).rpartition(b"\n")
        _take_block(commits, words, block + end)
        say(f"read {len(commits):,} commits for words that were removed")
        if len(words) > bounds.removed_words:
            ended.cut = True
            break
    cut = ended.late or ended.cut or ended.code or len(commits) >= bounds.commits
    return commits, words, _floor(commits) if cut else ""


def _take_block(commits: Commits, words: Words, block: bytes) -> None:
    start = 0
    for header in HEADER.finditer(block):
        _take_patch(commits, words, block[start : header.start()])
        commits.append(numbered(header.group()))
        start = header.end()
    _take_patch(commits, words, block[start:])


def _take_patch(commits: Commits, words: Words, patch: bytes) -> None:
    lines = REMOVED.findall(patch)
    if not lines or not commits:
        return
    number = len(commits) - 1
    for word in set(b"\n".join(lines).translate(WORD_BYTES).split()):
        known = words.get(word)
        if known is None:
            if WORTH.fullmatch(word):
                words[word] = number, None
        elif known[1] is None and known[0] != number:
            words[word] = known[0], number


def find_removal(index: CodeIndex, name: str, is_used: Callable[[str], bool]) -> Past | None:
    """The newest removal of a name; of several words, of one that no code has any more."""
    query = "SELECT first FROM removed WHERE word = ?"
    rows = [index.db.execute(query, (encode(p),)).fetchone() for p in gone_parts(name, is_used)]
    positions = [row[0] for row in rows if row]
    return Past(name, *index.find_commit(WORDS, min(positions))) if positions else None

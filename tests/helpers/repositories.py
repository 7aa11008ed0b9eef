"""Real git repositories for tests, each commit on a day of its own."""

import os
import shutil
import subprocess
from pathlib import Path

from memdir.claims.claim import Seen, Wanted
from memdir.claims.repo import GitRepo
from memdir.claims.tree import Bounds

FIRST = 1_767_268_800  # 2026-01-01 12:00 UTC
DAY = 86_400
TEXT = "".join(f"a line of the file, number {number}\n" for number in range(20))


class Checkout:
    """A repository in a folder."""

    def __init__(self, folder: Path, *, init: bool = True) -> None:
        self.folder = folder
        self.days = 0
        if init:
            folder.mkdir(parents=True, exist_ok=True)
            self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, check: bool = True, given: bytes | None = None) -> str:
        """Run git as its user would; the dates are the test's."""
        when = f"{FIRST + self.days * DAY} +0000"
        env = {
            **os.environ,
            "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.invalid",
            "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.invalid",
            "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when,
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        options = ("-c", "protocol.file.allow=always", "-c", "core.hooksPath=/dev/null")
        run = subprocess.run(
            ["git", *options, *words], cwd=self.folder, env=env, capture_output=True, input=given
        )
        if check and run.returncode:
            raise AssertionError(f"git {' '.join(words)}: {run.stderr.decode()}")
        return run.stdout.decode("utf-8", "surrogateescape").strip()

    def files(self, files: dict[str, str | bytes]) -> None:
        """Put files into the working tree."""
        for path, content in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: dict[str, str | bytes] | None = None) -> str:
        """Commit everything there is, a day after the last commit; the short id."""
        self.files(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-gpg-sign", "-m", "change")
        self.days += 1
        return self.git("rev-parse", "HEAD")[:7]

    def move(self, old: str, new: str) -> None:
        """Rename in the working tree and the index."""
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)

    def remove(self, path: str) -> None:
        """Remove from the working tree."""
        target = self.folder / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()

    def repo(self, bounds: Bounds | None = None) -> GitRepo:
        """As memdir opens it; the cache lies beside it."""
        return GitRepo(str(self.folder), str(self.folder) + ".cache", bounds or Bounds())

    def look(self, **wanted: object) -> Seen:
        """One look, with the cache of the looks before it."""
        return look(self.repo(), **wanted)


def look(repo: GitRepo, **wanted: object) -> Seen:
    """One look for names given as lists."""
    return repo.look(Wanted(**{key: frozenset(names) for key, names in wanted.items()}))  # type: ignore[arg-type, call-overload]

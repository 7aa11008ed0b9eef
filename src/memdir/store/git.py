"""Runs git: no prompts, no network, nothing of the user's settings that could run code."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

CHUNK = 1 << 20
SMALL = 64 << 20  # bytes of an answer that is kept as a whole
KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # older versions fetch in spite of the line above; not so
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
# Of a look, which wants neither to change nor to show anything the way that the user likes it.
OWN_SETTINGS = {"core.attributesFile": os.devnull}
EXCLUDES = "core.excludesfile"
DRIVERS = ("clean", "smudge", "process", "required")


@dataclass
class Ended:
    """How a run ended: `late` when its time was up, `cut` when it said too much."""

    code: int = 0
    late: bool = False
    cut: bool = False
    said: str = ""  # on standard error

    @property
    def whole(self) -> bool:
        """True if everything there was to say was said."""
        return self.code == 0 and not self.late and not self.cut


@dataclass
class Git:
    """The git program, at one checkout."""

    root: str
    program: str
    work_tree: bool = True
    settings: dict[str, str] = field(default_factory=lambda: {**SETTINGS, **OWN_SETTINGS})
    partial: bool = False  # objects may be missing, and git would fetch them

    def ask(
        self, *words: str, given: bytes = b"", seconds: float = 30.0, limit: int = SMALL
    ) -> tuple[bytes, Ended]:
        """What it prints, as a whole."""
        ended = Ended()
        return b"".join(
            self.stream(*words, given=given, seconds=seconds, limit=limit, ended=ended)
        ), ended

    def stream(
        self, *words: str, given: bytes = b"", seconds: float, limit: int, ended: Ended
    ) -> Iterator[bytes]:
        """What it prints, piece by piece; `ended` tells afterwards how it went."""
        from tempfile import TemporaryFile  # slow to import

        with TemporaryFile() as stdin, TemporaryFile() as stderr:
            stdin.write(given)
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    self._command(words), stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
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
        """Switch off the filters that the settings name: `status` would run them."""
        out, _ = self.ask("config", "--list", "-z", "--name-only")
        names = set(out.decode("utf-8", "surrogateescape").split("\0"))
        if EXCLUDES in names:
            # A stranger's settings may not name files outside of the checkout; the user's may.
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

    def _command(self, words: tuple[str, ...]) -> list[str]:
        tree = [f"--work-tree={self.root}"] if self.work_tree else []
        return [self.program, "--no-pager", *tree, *words]

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(self.root)}
        # In the environment, not in the arguments: a driver's name may hold a `=`.
        numbered = {"GIT_CONFIG_COUNT": str(len(self.settings))}
        for number, (name, value) in enumerate(self.settings.items()):
            numbered[f"GIT_CONFIG_KEY_{number}"] = name
            numbered[f"GIT_CONFIG_VALUE_{number}"] = value
        return {**kept, **ENVIRONMENT, **ceiling, **numbered}


def find_git(path: str) -> str:
    """The program; empty if there is none. A relative entry could mean one in the checkout."""
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
    poller = select.poll()  # `select` knows no handle above 1023
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
    """End the group, also what it left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()

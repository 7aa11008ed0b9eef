"""What the engine asks of a remote, whichever it is: a git repository or a memory server.

A remote is a flat set of files, `path -> bytes`, that several machines change. The engine keeps
what it was last in step with (*base*, per path) and does all the merging, writing and guarding;
a transport moves bytes and judges nothing. One sync is:

    fetched = transport.fetch(since)          # what others did since the last time
    ... the engine merges path by path, writes back, moves its base to `fetched.cursor` ...
    id = transport.prepare(push)              # names the push, sends nothing; the engine keeps it
    result = transport.push(id, push)         # TAKEN: in step. AGAIN: fetch and merge once more
    result = transport.leave(id, push)        # if it stays refused: the outbox of this machine

Rules that every transport keeps:

- `fetch` returns at least what changed after `since.cursor`. An unknown cursor (the remote was
  replaced or rewritten) returns everything, with `whole=True`; a path that is absent then was
  removed by nobody.
- `push` is all or nothing, and never overwrites what this machine has not fetched. Repeating it is
  harmless.
- A writer may be killed before it learns that its push succeeded: the next `fetch` gets the ids of
  such pushes, and answers in `received` the newest that the remote has. "" is always safe.
- What cannot be reached raises `Unreachable`, and nothing has changed. What the remote refuses for
  good is a value: `Pushed(REFUSED, reason, next)`.
- Authors are what the remote knows: `verified` only if it checked who they are. `time` is in
  seconds since 1970, 0.0 if unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memdir.errors import Finding, MemdirError

MAX_FILE_BYTES = 250_000
MAX_PUSH_BYTES = 400_000  # per push: as JSON it stays below the 1 MB that a server takes
TAKEN, AGAIN, REFUSED = "taken", "again", "refused"


class Unreachable(MemdirError):
    """The remote gave no answer; everything waits here, and nothing is lost."""

    code = "unreachable"


@dataclass(frozen=True)
class Author:
    """Who wrote a file, as far as the remote knows; `id` is what a person accepts."""

    name: str
    id: str  # an e-mail address, or the name of a server's member
    verified: bool = False


@dataclass(frozen=True)
class File:
    """None for `data`: it was removed, and if `purged`, erased for good, also from the history.

    `version` is given back in `Push.versions`; git leaves it empty.
    """

    data: bytes | None
    author: Author
    time: float = 0.0
    version: str = ""
    purged: bool = False


@dataclass(frozen=True)
class Since:
    """`cursor` is what the last fetch or push gave; `sent` are pushes whose end is unknown.

    `begun` is the cursor of a fetch that was merged in part only, when its machine was killed.
    """

    cursor: str = ""
    sent: tuple[str, ...] = ()
    begun: str = ""


@dataclass(frozen=True)
class Outbox:
    """What one machine could not push: (what it started from, what it made) per path."""

    machine: str
    files: Mapping[str, tuple[bytes | None, File]]


@dataclass(frozen=True)
class Fetched:
    """`cursor` stands for exactly this state, with all of `outboxes` merged in.

    `begun` is False if the state of `since.begun` is no part of it: the remote was put back.
    """

    cursor: str
    files: Mapping[str, File]
    whole: bool = False
    received: str = ""
    begun: bool = True
    outboxes: tuple[Outbox, ...] = ()
    skipped: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Push:
    """New bytes per path, None to remove it; `versions` has one entry per path, "" if it is new."""

    cursor: str
    changes: Mapping[str, bytes | None]
    versions: Mapping[str, str] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True)
class Pushed:
    """`cursor` after a push that was taken; `versions` of the paths pushed, if there are any."""

    result: str
    cursor: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    next: str = ""


@dataclass(frozen=True)
class Remote:
    """One remote as the user configured it, in our state directory, never in a repository."""

    kind: str  # `git` or `server`
    url: str
    branch: str = ""  # git
    space: str = ""  # server
    token_file: str = ""  # server; 0600, read at each use
    name: str = ""  # of the person, for commits
    email: str = ""
    machine: str = ""  # names the outbox
    ssh: str = ""  # the command for it, as it was when the remote was named
    review: bool = False  # shares become proposals


class Transport(Protocol):
    prefix: str  # of the store in the remote

    def fetch(self, since: Since) -> Fetched: ...

    def prepare(self, push: Push) -> str: ...

    def push(self, id: str, push: Push) -> Pushed: ...

    def leave(self, id: str, push: Push) -> Pushed:
        """Put it in this machine's outbox; REFUSED if the remote has none. It then waits here."""

    def propose(self, name: str, push: Push) -> Pushed:
        """Offer it for review instead: a branch `memdir-propose/NAME`, or a server's proposal."""

    def close(self) -> None: ...


def open_transport(remote: Remote, folder: str) -> Transport:
    if remote.kind == "server":
        from memdir.sync.server_transport import ServerTransport

        return ServerTransport(remote)
    from memdir.sync.git_transport import GitTransport

    return GitTransport(remote, folder)

"""The contents of files as a commit has them, without the working tree and its filters."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from memdir.adapters.repos._bounds import Bounds
from memdir.adapters.repos._process import Ended, Git

MOST_DIGITS = 15  # of a size
CROWD = 2_000  # objects of one run of git; between two of them somebody may be told how far it is


@dataclass
class Progress:
    """How far a reading came, and whether it had to stop."""

    say: Callable[[str], None]
    cut: bool = False
    read: int = 0
    bytes: int = 0
    missing: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # too large


def read_blobs(
    git: Git, oids: Mapping[str, str], paths: Collection[str], bounds: Bounds, progress: Progress
) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file that is not too large."""
    wanted = list(paths)
    until = time.monotonic() + bounds.scan_seconds
    for start in range(0, len(wanted), CROWD):
        crowd = wanted[start : start + CROWD]
        left = until - time.monotonic()
        if left <= 0 or progress.bytes > bounds.scan_bytes:
            progress.cut = True
            return
        fitting = _fitting(git, oids, crowd, bounds, progress)
        given = "".join(f"{oids[path]}\n" for path in fitting).encode()
        ended = Ended()
        stream = git.stream(
            "cat-file", "--batch", "--buffer",
            given=given, seconds=left, limit=len(crowd) * (bounds.file_bytes + 200), ended=ended,
        )  # fmt: skip
        contents = _contents(stream)
        for path in fitting:
            data = next(contents, None)
            if data is None:
                progress.missing.append(path)
            else:
                yield path, data
        for _ in contents:
            pass  # to its end: only then is it known how the run went
        progress.cut = progress.cut or not ended.whole
        progress.read += len(crowd)
        progress.say(f"read {progress.read:,} of {len(wanted):,} files")


def _fitting(
    git: Git, oids: Mapping[str, str], crowd: list[str], bounds: Bounds, progress: Progress
) -> list[str]:
    """Those that are there and small enough; what is larger is data."""
    given = "".join(f"{oids[path]}\n" for path in crowd).encode()
    out, ended = git.ask(
        "cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer", given=given
    )
    progress.cut = progress.cut or not ended.whole
    fitting = []
    lines = [*out.split(b"\n"), *(b"" for _ in crowd)]  # an answer that is too short has none
    for path, line in zip(crowd, lines, strict=False):
        kind, _, size = line.partition(b" ")
        if kind != b"blob" or not _is_size(size):
            progress.missing.append(path)
        elif int(size) <= bounds.file_bytes:
            fitting.append(path)
            progress.bytes += int(size)
        else:
            progress.skipped.append(path)
    return fitting


def _is_size(text: bytes) -> bool:
    return text.isdigit() and len(text) <= MOST_DIGITS


def _contents(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The contents of `cat-file --batch`: a line that ends with the size, then that many bytes."""
    buffer, at = b"", 0
    for piece in stream:
        buffer, at = buffer[at:] + piece, 0
        while (end := buffer.find(b"\n", at)) >= 0:
            size = buffer[at:end].rpartition(b" ")[2]
            if not _is_size(size):  # gone since it was measured
                yield b""
                at = end + 1
                continue
            after = end + 1 + int(size)
            if after + 1 > len(buffer):
                break
            yield buffer[end + 1 : after]
            at = after + 1

"""The command line of the server, in few words: it starts before anything heavy is imported."""

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import BinaryIO

    from memdir.surfaces.mcp.stores import Stores

USAGE = "usage: memdir mcp [--project PATH] [--dir DIR] [--scope SCOPE]\n"
END_SECONDS = 2.0  # for a change under way when somebody asks us to end
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TEXTS = ("--project", "--dir", "--scope")


def run(words: "Sequence[str]") -> int | None:
    """Serve until the client goes; None where these words are not understood."""
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in TEXTS and (equals or rest):
            given[word] = value if equals else rest.pop(0)
        else:
            return None
    return serve(given.get("--project"), given.get("--dir"), given.get("--scope", "all"))


def serve(project: str | None, dir: str | None, scope: str) -> int:
    """Over standard input and output, until the client goes."""
    from memdir.surfaces.mcp.stores import Stores

    try:
        cwd = os.getcwd()
    except OSError:
        cwd = project or dir or ""
    if not os.path.isabs(cwd):
        sys.stderr.write("memdir: the current directory is gone. Next: start in one that exists\n")
        return 1
    stores = Stores(os.environ, cwd, time.time, project, dir, scope)
    if project or dir or scope != "all":
        wrong = _wrong_place(stores)
        if wrong:
            sys.stderr.write(f"memdir: {wrong}\n")
            return 1
    return _serve_pipe(stores)


def _wrong_place(stores: "Stores") -> str:
    """Why what was named cannot be served; a mistake is better told at the start."""
    from memdir.core.errors import MemdirError

    try:
        stores.config("project" if stores.scope == "all" else stores.scope)
    except MemdirError as error:
        return f"{error.message}. Next: {error.next}"
    return ""


def _serve_pipe(stores: "Stores") -> int:
    from memdir.surfaces.mcp.pipe import Ended, Pipe
    from memdir.surfaces.mcp.talk import Talk

    def end(number: int, frame: "FrameType | None") -> None:
        raise Ended

    pipe = Pipe(Talk(stores), *_streams())
    try:
        for number in ENDS:
            signal.signal(number, end)
        pipe.serve()
    except Ended:
        pass
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)
    pipe.finish(END_SECONDS)
    return 0


def _streams() -> "tuple[BinaryIO, BinaryIO]":
    """The client's pipes, for us alone: nothing else may read its messages or print among them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    source, sink, null = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    for handle in (source, sink):
        os.set_blocking(handle, True)
    return open(source, "rb"), open(sink, "wb", buffering=0)

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
    from memdir.surfaces.mcp.web import Tell

USAGE = "usage: memdir mcp [--project PATH] [--dir DIR] [--scope SCOPE] [--http] [--port N]\n"
END_SECONDS = 2.0  # for a change under way when somebody asks us to end
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TEXTS = ("--project", "--dir", "--scope", "--port")


def run(words: "Sequence[str]") -> int | None:
    """Serve until the client goes; None where these words are not understood."""
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word == "--http" and not equals:
            given[word] = "yes"
        elif word in TEXTS and (equals or rest):
            given[word] = value if equals else rest.pop(0)
        else:
            return None
    port = given.get("--port", "0")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        return None
    if "--port" in given and "--http" not in given:
        return None
    project, dir, scope = given.get("--project"), given.get("--dir"), given.get("--scope", "all")
    return serve(project, dir, scope, int(port) if "--http" in given else None, _tell)


def serve(project: str | None, dir: str | None, scope: str, port: int | None, tell: "Tell") -> int:
    """Over standard input and output, or over HTTP where there is a port (0: any free one)."""
    from memdir.surfaces.mcp.stores import Stores

    try:
        cwd = os.getcwd()
    except OSError:
        cwd = project or dir or ""
    if not os.path.isabs(cwd):
        sys.stderr.write("memdir: the current directory is gone. Next: start in one that exists\n")
        return 1
    stores = Stores(os.environ, cwd, time.time, project, dir, scope)
    if project or dir or scope != "all" or port is not None:
        wrong = _wrong_place(stores)
        if wrong:
            sys.stderr.write(f"memdir: {wrong}\n")
            return 1
    if port is None:
        return _serve_pipe(stores)
    from memdir.surfaces.mcp.web import serve_web

    return serve_web(stores, port, tell)


def said(address: str, token: str, path: str) -> list[str]:
    """Where to reach the server, in lines for a person."""
    new = f"token: {token} (said this once)" if token else "token: the one of before"
    return [f"memdir listens on {address}, for this machine only", new, f"token file: {path}"]


def _tell(address: str, token: str, path: str) -> None:
    for line in said(address, token, path):
        print(line, flush=True)


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

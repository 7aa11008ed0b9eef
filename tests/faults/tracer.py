"""Stops a forked child at its system calls: to list them, to kill it there, or to fail one.

The kernel's own ptrace, so that nothing need be installed. Counting starts and ends at a marker
(`getpgid`): what Python does to start up is not ours to test. `test_tracer.py` compares the list
with strace's where strace is installed. (Never `strace --seccomp-bpf`: it drops injections.)
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tests.faults import kernel
from tests.faults.kernel import MARKER

SYSCALL_STOP = signal.SIGTRAP | 0x80
HANG_SECONDS = 60.0
AT_FDCWD = -100


@dataclass
class Call:
    """One system call: the numbers given to it, the texts they point at, what came back."""

    name: str
    args: tuple[int, ...]
    paths: tuple[str, ...] = ()  # absolute, as the kernel resolves them
    data: bytes = b""
    result: int = 0


@dataclass
class Traced:
    """How a child ended: its exit code (negative: the signal), its calls, whether we struck."""

    code: int = 0
    calls: list[Call] = field(default_factory=list)
    fired: bool = False
    hung: bool = False


@dataclass(frozen=True)
class Strike:
    """At the n-th call of this name: kill (no `error`), or fail it, once or from then on."""

    name: str
    nth: int
    error: int = 0
    for_good: bool = False


def why_not() -> str:
    """The reason why this machine cannot trace; empty where it can."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return "the tracer knows the system calls of Linux on x86-64 alone"
    try:
        listed = [call.name for call in trace(_one_call).calls]
        failed = strike(_one_call, Strike("close", 1, errno.EIO))
    except OSError as error:
        return f"this machine does not let us trace ({error})"
    works = listed == ["close"] and failed.fired and failed.code == errno.EIO
    return "" if works else "the tracer saw nothing"


def _one_call() -> int:
    os.getpgid(0)
    try:
        os.close(-1)
        code = 0
    except OSError as error:
        code = error.errno or 0
    os.getpgid(0)
    return code


def point(calls: Sequence[Call], at: int, error: int = 0, for_good: bool = False) -> Strike:
    """The strike at the call that stands at this place of a list."""
    name = calls[at].name
    nth = sum(call.name == name for call in calls[: at + 1])
    return Strike(name, nth, error, for_good)


def strike(work: Callable[[], int], blow: Strike) -> Traced:
    """Run `work` in a forked child that stops at the calls of one name only; strike it there."""
    pid, traced = _fork(work, (blow.name, MARKER)), Traced()
    markers = count = 0

    def stopped(info: kernel.Info) -> None:
        nonlocal markers, count
        if kernel.names.get(info.nr) == MARKER:
            markers += 1
        elif markers == 1:
            count += 1
            if count == blow.nth or (count > blow.nth and blow.for_good):
                traced.fired = True
                kernel.skip(pid)
                if blow.error:
                    kernel.answer(pid, -blow.error)
                else:
                    os.kill(pid, signal.SIGKILL)

    _follow(pid, kernel.CONTINUE, traced, stopped)
    return traced


def trace(work: Callable[[], int], kill_at: int = -1) -> Traced:
    """Run `work` in a forked child and list its calls between the markers, or up to its death."""
    pid, traced = _fork(work), Traced()
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    markers, waits = 0, False  # for what the newest call gives back

    def stopped(info: kernel.Info) -> None:
        nonlocal markers, waits
        if info.op == kernel.EXIT and waits:
            traced.calls[-1].result = info.nr
        waits = False
        if info.op != kernel.ENTRY:
            return
        name = kernel.names.get(info.nr, "")  # not memory, signals, clocks: no disk changes there
        if name == MARKER:
            markers += 1
        elif markers == 1 and name and len(traced.calls) == kill_at:
            traced.fired = True
            kernel.skip(pid)
            os.kill(pid, signal.SIGKILL)
        elif markers == 1 and name:
            waits = True
            traced.calls.append(_read_call(pid, memory, name, tuple(info.args)))

    try:
        _follow(pid, kernel.SYSCALL, traced, stopped)
    finally:
        os.close(memory)
    return traced


def _fork(work: Callable[[], int], stops: Sequence[str] = ()) -> int:
    def traced() -> int:
        kernel.ptrace(kernel.TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        if stops:
            kernel.stop_at(stops)
        return work()

    pid = kernel.start(traced)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise OSError(errno.EPERM, "the child may not be traced")
    kernel.ptrace(kernel.SETOPTIONS, pid, 0, kernel.OPTIONS)
    return pid


def _follow(pid: int, request: int, traced: Traced, stopped: Callable[[kernel.Info], None]) -> None:
    """Move a stopped child on from stop to stop, until it ends or hangs."""
    info, number = kernel.Info(), 0
    try:
        with kernel.time_limit(HANG_SECONDS):
            while True:
                with suppress(ProcessLookupError):  # killed just now: waitpid tells the rest
                    kernel.ptrace(request, pid, 0, number)
                _, status = os.waitpid(pid, 0)
                if not os.WIFSTOPPED(status):
                    traced.code = os.waitstatus_to_exitcode(status)
                    return
                number = os.WSTOPSIG(status)
                if number in (SYSCALL_STOP, signal.SIGTRAP):
                    number = 0
                    kernel.ask(pid, info)
                    stopped(info)
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        while os.WIFSTOPPED(os.waitpid(pid, 0)[1]):
            continue
        traced.code, traced.hung = -signal.SIGKILL, True


# -- what a call is given ----------------------------------------------------------------------

# Which arguments are (directory handle, path); -1: the path stands alone.
_BELOW, _ALONE = ((0, 1),), ((-1, 0),)
PATHS: dict[str, tuple[tuple[int, int], ...]] = {
    **dict.fromkeys(("openat", "mkdirat", "unlinkat", "newfstatat"), _BELOW),
    **dict.fromkeys(("unlink", "mkdir", "rmdir", "truncate", "readlink"), _ALONE),
    **dict.fromkeys(("renameat", "renameat2"), ((0, 1), (2, 3))),
    "rename": ((-1, 0), (-1, 1)),
}
HANDLES = frozenset(
    (
        *("read", "write", "pread64", "pwrite64", "fsync", "fdatasync", "ftruncate", "fchmod"),
        *("close", "flock", "getdents64", "fstat", "lseek", "dup", "fcntl"),
    )
)


def _read_call(pid: int, memory: int, name: str, args: tuple[int, ...]) -> Call:
    call = Call(name, args, result=-errno.EINTR)
    if name in HANDLES:
        call.paths = (_path_of(pid, args[0]),)
    for folder, text in PATHS.get(name, ()):
        path = os.fsdecode(_text(memory, args[text]))
        if folder >= 0 and not path.startswith("/"):
            path = os.path.normpath(os.path.join(_path_of(pid, args[folder]), path))
        call.paths += (path,)
    if name in ("write", "pwrite64"):
        call.data = os.pread(memory, args[2], args[1])
    return call


def _path_of(pid: int, handle: int) -> str:
    number = ctypes.c_int(handle & 0xFFFFFFFF).value
    try:
        return os.readlink(f"/proc/{pid}/{'cwd' if number == AT_FDCWD else f'fd/{number}'}")
    except OSError:
        return ""


def _text(memory: int, address: int) -> bytes:
    text = b""
    while b"\0" not in text and len(text) < 4096:
        room = 256 - (address + len(text)) % 256  # never across a page that may be missing
        text += os.pread(memory, room, address + len(text))
    return text.partition(b"\0")[0]

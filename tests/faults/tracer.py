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
    if sys.platform != "linux":
        return f"ptrace is Linux's; this is {sys.platform}"
    if not kernel.names:
        return f"the tracer does not know the system calls of {platform.machine()}"
    try:
        listed = [call.name for call in trace(_two_calls).calls]
        failed = strike(_two_calls, Strike("close", 1, errno.EIO))
    except OSError as error:
        return f"this machine does not let us trace ({error})"
    works = listed == ["close"] and failed.fired and failed.code == errno.EIO
    return "" if works else "the tracer saw nothing"


def _two_calls() -> int:
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


def trace(
    work: Callable[[], int], kill_at: int = -1, at_entry: Callable[[int], None] | None = None
) -> Traced:
    """Run `work` in a forked child and list its calls between the markers, or up to its death."""
    return _guarded(_Listed(_fork(work), kill_at, at_entry))


def strike(work: Callable[[], int], blow: Strike) -> Traced:
    """Run `work` in a forked child that stops at the calls of one name only; strike it there."""
    return _guarded(_Struck(_fork(work, (blow.name, MARKER)), blow))


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


def _guarded(child: _Child) -> Traced:
    try:
        with kernel.time_limit(HANG_SECONDS):
            child.follow()
    except TimeoutError:
        child.give_up()
    finally:
        child.close()
    return child.traced


class _Child:
    """A stopped child, moved on from stop to stop."""

    request = kernel.SYSCALL

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.traced = Traced()
        self.info = kernel.Info()
        self.markers = 0

    def follow(self) -> None:
        signal_number = 0
        while True:
            self._go_on(signal_number)
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                self.traced.code = os.waitstatus_to_exitcode(status)
                return
            signal_number = os.WSTOPSIG(status)
            if signal_number in (SYSCALL_STOP, signal.SIGTRAP):
                signal_number = 0
                kernel.ask(self.pid, self.info)
                self.stopped()

    def _go_on(self, signal_number: int) -> None:
        try:
            kernel.ptrace(self.request, self.pid, 0, signal_number)
        except ProcessLookupError:
            return  # killed just now: waitpid tells the rest

    def kill(self) -> None:
        """Here and now: the call is not made any more."""
        self.traced.fired = True
        kernel.skip(self.pid)
        os.kill(self.pid, signal.SIGKILL)

    def give_up(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        while os.WIFSTOPPED(os.waitpid(self.pid, 0)[1]):
            continue
        self.traced.code, self.traced.hung = -signal.SIGKILL, True

    def close(self) -> None:
        """Nothing is held."""


class _Struck(_Child):
    """Stops at the calls of one name only, which is fast; strikes at the n-th of them."""

    request = kernel.CONTINUE

    def __init__(self, pid: int, blow: Strike) -> None:
        super().__init__(pid)
        self.blow = blow
        self.count = 0

    def stopped(self) -> None:
        if kernel.names.get(self.info.nr) == MARKER:
            self.markers += 1
        elif self.markers == 1:
            self.count += 1
            if self.count == self.blow.nth and not self.blow.error:
                self.kill()
            elif self.count == self.blow.nth or (self.count > self.blow.nth and self.blow.for_good):
                self.traced.fired = True
                kernel.skip(self.pid)
                kernel.answer(self.pid, -self.blow.error)


class _Listed(_Child):
    """Stops at every call, and writes down what it is given and what comes back."""

    def __init__(self, pid: int, kill_at: int, at_entry: Callable[[int], None] | None) -> None:
        super().__init__(pid)
        self.kill_at = kill_at
        self.at_entry = at_entry
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        self.open = False  # the newest call has not come back yet

    def close(self) -> None:
        os.close(self.memory)

    def stopped(self) -> None:
        if self.info.op == kernel.ENTRY:
            self._enter(kernel.names.get(self.info.nr, ""))
        elif self.info.op == kernel.EXIT and self.markers == 1 and self.traced.calls:
            if self.open:
                self.traced.calls[-1].result = self.info.nr
            self.open = False

    def _enter(self, name: str) -> None:
        self.open = False
        if name == MARKER:
            self.markers += 1
        elif self.markers == 1 and name:  # not memory, signals, clocks: no disk changes there
            at = len(self.traced.calls)
            if self.at_entry is not None:
                self.at_entry(at)
            if at == self.kill_at:
                self.kill()
                return
            self.open = True
            self.traced.calls.append(self._read(name))

    def _read(self, name: str) -> Call:
        args = tuple(self.info.args)
        call = Call(name, args, result=-errno.EINTR)
        if name in PATHS:
            call.paths = tuple(self._path(args, *where) for where in PATHS[name])
        elif name in HANDLES:
            call.paths = (self._of_handle(args[0]),)
        if name in ("write", "pwrite64"):
            call.data = os.pread(self.memory, args[2], args[1])
        return call

    def _path(self, args: tuple[int, ...], folder: int, text: int) -> str:
        name = os.fsdecode(self._text(args[text]))
        if name.startswith("/") or folder < 0:
            return name
        return os.path.normpath(os.path.join(self._of_handle(args[folder]), name))

    def _of_handle(self, handle: int) -> str:
        number = ctypes.c_int(handle & 0xFFFFFFFF).value
        link = "cwd" if number == AT_FDCWD else f"fd/{number}"
        try:
            return os.readlink(f"/proc/{self.pid}/{link}")
        except OSError:
            return ""

    def _text(self, address: int) -> bytes:
        text = b""
        while b"\0" not in text and len(text) < 4096:
            room = 256 - (address + len(text)) % 256  # never across a page that may be missing
            text += os.pread(self.memory, room, address + len(text))
        return text.partition(b"\0")[0]


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

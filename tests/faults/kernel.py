"""Child processes, and what the tracer asks of the kernel: ptrace, a seccomp filter, registers.

Tracing is for Linux on x86-64.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tests.helpers.tables import table

TRACEME, POKEUSER, CONTINUE, SYSCALL = 0, 6, 7, 24
SETOPTIONS, GET_SYSCALL_INFO = 0x4200, 0x420E
# System call stops are told apart, a filter may ask for a stop, no child outlives its tracer.
OPTIONS = 0x1 | 0x80 | 0x100000
ENTRY, EXIT = 1, 2  # what a stop is about
RAX, ORIG_RAX = 80, 120  # offsets in x86-64's `struct user`
DIE_WITH_PARENT, NO_NEW_PRIVILEGES, SET_FILTER, FILTER_MODE = 1, 38, 22, 2
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, STOP = 0x7FFF0000, 0x7FF00000

RAISED = 9  # the exit code of a child whose work raised
MARKER = "getpgid"
_table = table("faults", "calls").split()
numbers = {name: int(number) for number, name in zip(_table[::2], _table[1::2], strict=True)}
names = {number: name for name, number in numbers.items()}


class Info(ctypes.Structure):
    """What the kernel says of a stop; at an exit, `nr` holds the result."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("ip", ctypes.c_uint64),
        ("sp", ctypes.c_uint64),
        ("nr", ctypes.c_int64),
        ("args", ctypes.c_uint64 * 6),
    )


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


LINUX = sys.platform == "linux"
_libc = ctypes.PyDLL(None, use_errno=True)
if LINUX:
    _libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    _libc.ptrace.restype = ctypes.c_long
    _libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_void_p] * 4)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> int:
    return _check(int(_libc.ptrace(request, pid, address, data)), f"ptrace {request:#x}")


def ask(pid: int, info: Info) -> None:
    """What the child is stopped at."""
    ptrace(GET_SYSCALL_INFO, pid, ctypes.sizeof(Info), ctypes.addressof(info))


def start(work: Callable[[], int | None]) -> int:
    """Run `work` in a forked child, which does not outlive us; it exits with what that gives."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = RAISED
    try:
        if LINUX:
            _libc.prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            code = work() or 0
    finally:
        os._exit(code)


def wait(pid: int) -> int:
    """The exit code of a child; negative: the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `TimeoutError` inside the block after so long."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError("it hangs")

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def pin(processor: int | None) -> None:
    """Stay on one processor (counted from 0), or on any; a wish, where the system knows it."""
    if LINUX:
        every = range(os.cpu_count() or 1)
        os.sched_setaffinity(0, every if processor is None else {processors()[processor]})


def processors() -> list[int]:
    """The processors we may use."""
    return sorted(os.sched_getaffinity(0)) if LINUX else list(range(os.cpu_count() or 1))


def stop_at(calls: Iterable[str]) -> None:
    """From now on this process stops, for its tracer, at these calls and at no others."""
    wanted = [numbers[name] for name in calls]
    steps = [(LOAD_NUMBER, 0, 0, 0)]
    steps += [(IF_EQUAL, len(wanted) - at, 0, number) for at, number in enumerate(wanted)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, STOP)]
    code = (_Instruction * len(steps))(*steps)
    program = _Program(len(steps), ctypes.addressof(code))
    _check(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
    _check(_libc.prctl(SET_FILTER, FILTER_MODE, ctypes.addressof(program), 0, 0), "seccomp")


def skip(pid: int) -> None:
    """Let the call the child is about to make be no call at all."""
    ptrace(POKEUSER, pid, ORIG_RAX, -1)


def answer(pid: int, result: int) -> None:
    """Give the child this result of the call that is skipped."""
    ptrace(POKEUSER, pid, RAX, result)

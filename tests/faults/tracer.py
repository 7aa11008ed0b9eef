"""Stops a forked child at each of its system calls: to list them, to kill it there, or to fail one.

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
import time
from collections.abc import Callable
from dataclasses import dataclass, field

TRACEME, POKEUSER, KILL, DETACH, SYSCALL = 0, 6, 8, 17, 24
SETOPTIONS, GETREGSET, SETREGSET, GET_SYSCALL_INFO = 0x4200, 0x4204, 0x4205, 0x420E
OPTIONS = 1 | 1 << 20  # TRACESYSGOOD: system call stops are told apart; EXITKILL: no orphans
SYSCALL_STOP = signal.SIGTRAP | 0x80
ENTRY, EXIT = 1, 2
NT_PRSTATUS, NT_ARM_SYSTEM_CALL = 1, 0x404
RAX, ORIG_RAX = 80, 120  # offsets in x86-64's `struct user`
MARKER = "getpgid"
HANG_SECONDS = 10.0

NAMES = {
    "x86_64": {
        **{0: "read", 1: "write", 3: "close", 5: "fstat", 8: "lseek", 16: "ioctl"},
        **{17: "pread64", 18: "pwrite64", 21: "access", 32: "dup", 72: "fcntl", 73: "flock"},
        **{74: "fsync", 75: "fdatasync", 76: "truncate", 77: "ftruncate", 82: "rename"},
        **{83: "mkdir", 84: "rmdir", 87: "unlink", 89: "readlink", 91: "fchmod"},
        **{121: MARKER, 217: "getdents64", 257: "openat", 258: "mkdirat", 262: "newfstatat"},
        **{263: "unlinkat", 264: "renameat", 267: "readlinkat", 269: "faccessat"},
        **{316: "renameat2", 332: "statx", 439: "faccessat2"},
    },
    "aarch64": {
        **{23: "dup", 25: "fcntl", 29: "ioctl", 32: "flock", 34: "mkdirat", 35: "unlinkat"},
        **{38: "renameat", 45: "truncate", 46: "ftruncate", 48: "faccessat", 52: "fchmod"},
        **{56: "openat", 57: "close", 61: "getdents64", 62: "lseek", 63: "read", 64: "write"},
        **{67: "pread64", 68: "pwrite64", 78: "readlinkat", 79: "newfstatat", 80: "fstat"},
        **{82: "fsync", 83: "fdatasync", 155: MARKER, 276: "renameat2", 291: "statx"},
        **{439: "faccessat2"},
    },
}


class _Info(ctypes.Structure):
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


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


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
    """What to do at the n-th call: kill (no `error`), or fail it, once or from then on."""

    at: int
    error: int = 0
    for_good: bool = False


class Hung(Exception):
    """The child took too long."""


_libc = ctypes.PyDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long
_names = NAMES.get(platform.machine(), {})


def _ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> int:
    result = int(_libc.ptrace(request, pid, address, data))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace {request:#x}: {os.strerror(number)}")
    return result


def why_not() -> str:
    """The reason why this machine cannot trace; empty where it can."""
    if sys.platform != "linux":
        return f"ptrace is Linux's; this is {sys.platform}"
    if not _names:
        return f"the tracer does not know the system calls of {platform.machine()}"
    try:
        found = trace(_two_calls, record=True)
    except OSError as error:
        return f"this machine does not let us trace ({error})"
    return "" if [call.name for call in found.calls] == ["close"] else "the tracer saw nothing"


def _two_calls() -> int:
    os.getpgid(0)
    try:
        os.close(-1)
    except OSError:
        pass
    os.getpgid(0)
    return 0


def trace(
    work: Callable[[], int],
    strike: Strike | None = None,
    *,
    record: bool = False,
    at_entry: Callable[[int], None] | None = None,
) -> Traced:
    """Run `work` in a forked child and stop it at each call between its two markers."""
    pid = os.fork()
    if pid == 0:
        _be_traced(work)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise OSError(errno.EPERM, "the child may not be traced")
    child = _Child(pid, strike, record, at_entry)
    old = signal.signal(signal.SIGALRM, _hung)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        return child.follow()
    except Hung:
        return child.give_up()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        child.close()


def _be_traced(work: Callable[[], int]) -> None:
    code = 9
    try:
        _ptrace(TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        code = work()
    finally:
        os._exit(code)


def _hung(number: int, frame: object) -> None:
    raise Hung


class _Child:
    """A stopped child, moved on from call to call."""

    def __init__(
        self,
        pid: int,
        strike: Strike | None,
        record: bool,
        at_entry: Callable[[int], None] | None,
    ) -> None:
        self.pid = pid
        self.strike = strike
        self.record = record
        self.at_entry = at_entry
        self.traced = Traced()
        self.info = _Info()
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        self.markers = self.count = 0
        self.forced = ""  # the call that fails from now on
        self.failing = False
        _ptrace(SETOPTIONS, pid, 0, OPTIONS)

    def follow(self) -> Traced:
        signal_number = 0
        while True:
            self._go_on(signal_number)
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                self.traced.code = os.waitstatus_to_exitcode(status)
                return self.traced
            signal_number = os.WSTOPSIG(status)
            if signal_number != SYSCALL_STOP:
                continue
            signal_number = 0
            _ptrace(GET_SYSCALL_INFO, self.pid, ctypes.sizeof(_Info), ctypes.addressof(self.info))
            if self.info.op == ENTRY:
                self._enter()
            elif self.info.op == EXIT and self._leave():
                return self._let_go()

    def _go_on(self, signal_number: int) -> None:
        try:
            _ptrace(SYSCALL, self.pid, 0, signal_number)
        except ProcessLookupError:
            return  # killed just now: waitpid tells the rest

    def give_up(self) -> Traced:
        os.kill(self.pid, signal.SIGKILL)
        while True:
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                break
        self.traced.code, self.traced.hung = -signal.SIGKILL, True
        return self.traced

    def close(self) -> None:
        os.close(self.memory)

    def _enter(self) -> None:
        name = _names.get(self.info.nr, f"call-{self.info.nr}")
        self.failing = False
        if name == MARKER:
            self.markers += 1
            return
        if self.markers != 1 or name not in _names.values():
            return  # memory, signals, clocks: nothing on disk changes there
        if self.at_entry is not None:
            self.at_entry(self.count)
        if self.record:
            self._note(name)
        self._strike(name)
        self.count += 1

    def _strike(self, name: str) -> None:
        strike = self.strike
        if strike is None:
            return
        if self.count == strike.at:
            self.traced.fired = True
            self.forced = name if strike.for_good else ""
            if not strike.error:
                _skip(self.pid)
                os.kill(self.pid, signal.SIGKILL)
                return
        if strike.error and (self.count == strike.at or name == self.forced):
            self.failing = True
            _skip(self.pid)

    def _leave(self) -> bool:
        """True when there is nothing more to do for us."""
        if self.failing and self.strike is not None:
            _answer(self.pid, -self.strike.error)
            self.failing = False
            return not self.strike.for_good
        if self.record and self.markers == 1 and self.traced.calls:
            self.traced.calls[-1].result = self.info.nr
        return False

    def _let_go(self) -> Traced:
        """Let the child run on by itself, which is faster."""
        _ptrace(DETACH, self.pid)
        _, status = os.waitpid(self.pid, 0)
        self.traced.code = os.waitstatus_to_exitcode(status)
        return self.traced

    def _note(self, name: str) -> None:
        args = tuple(self.info.args)
        call = Call(name, args, result=-errno.EINTR)
        if name in PATHS:
            call.paths = tuple(self._path(args, *where) for where in PATHS[name])
        elif name in HANDLES:
            call.paths = (self._of_handle(args[0]),)
        if name in ("write", "pwrite64"):
            call.data = os.pread(self.memory, args[2], args[1])
        self.traced.calls.append(call)

    def _path(self, args: tuple[int, ...], folder: int, text: int) -> str:
        name = os.fsdecode(self._text(args[text]))
        if name.startswith("/") or folder < 0:
            return name
        return os.path.normpath(os.path.join(self._of_handle(args[folder]), name))

    def _of_handle(self, handle: int) -> str:
        number = ctypes.c_int(handle & 0xFFFFFFFF).value
        link = "cwd" if number == -100 else f"fd/{number}"  # AT_FDCWD
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
PATHS = {
    **{"openat": ((0, 1),), "mkdirat": ((0, 1),), "unlinkat": ((0, 1),)},
    **{"renameat": ((0, 1), (2, 3)), "renameat2": ((0, 1), (2, 3)), "newfstatat": ((0, 1),)},
    **{"rename": ((-1, 0), (-1, 1)), "unlink": ((-1, 0),), "mkdir": ((-1, 0),)},
    **{"rmdir": ((-1, 0),), "truncate": ((-1, 0),), "readlink": ((-1, 0),)},
}
HANDLES = frozenset(
    ("read", "write", "pread64", "pwrite64", "fsync", "fdatasync", "ftruncate", "fchmod")
    + ("close", "flock", "getdents64", "fstat", "lseek", "dup", "fcntl")
)


def _skip(pid: int) -> None:
    """Let the call the child is about to make be no call at all."""
    if platform.machine() == "x86_64":
        _ptrace(POKEUSER, pid, ORIG_RAX, -1)
        return
    number = ctypes.c_int(-1)
    vector = _Vector(ctypes.addressof(number), ctypes.sizeof(number))
    _ptrace(SETREGSET, pid, NT_ARM_SYSTEM_CALL, ctypes.addressof(vector))


def _answer(pid: int, result: int) -> None:
    """Give the child this result of its call."""
    if platform.machine() == "x86_64":
        _ptrace(POKEUSER, pid, RAX, result)
        return
    registers = (ctypes.c_int64 * 34)()
    vector = _Vector(ctypes.addressof(registers), ctypes.sizeof(registers))
    _ptrace(GETREGSET, pid, NT_PRSTATUS, ctypes.addressof(vector))
    registers[0] = result
    _ptrace(SETREGSET, pid, NT_PRSTATUS, ctypes.addressof(vector))


if __name__ == "__main__":
    start = time.perf_counter()
    print(why_not() or "this machine can trace", f"({time.perf_counter() - start:.3f} s)")

"""Namespaces of our own: no network but loopback, and mounts that nobody else sees.

python fence.py COMMAND ...     runs it inside; without namespaces it refuses
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

LOOPBACK = "lo"
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
REQUEST = struct.Struct("16sh22x")  # a struct ifreq with flags


def unshare() -> list[str]:
    """The command that starts another one in namespaces of its own."""
    mapped = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *mapped, "--net", "--mount"]


def why_not() -> str:
    """Why nothing can be fenced in on this machine; empty where it can."""
    if not sys.platform.startswith("linux"):
        return "network namespaces are a thing of Linux"
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    done = subprocess.run([*unshare(), "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def reachable() -> list[str]:
    """The interfaces, other than loopback, that are up."""
    names = [name for _, name in socket.if_nameindex() if name != LOOPBACK]
    return [name for name in names if _flags(name) & UP]


def refuse_if_open() -> None:
    """Nothing is started where it could reach somebody: asked of the kernel, not of a variable."""
    if reachable():
        raise RuntimeError("a network can be reached from here; run: make acceptance")


def start_loopback() -> None:
    """In a new namespace loopback is there, but down."""
    flags = _flags(LOOPBACK) | UP
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, SET_FLAGS, REQUEST.pack(LOOPBACK.encode(), flags))


def _flags(name: str) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        given = fcntl.ioctl(asked, GET_FLAGS, REQUEST.pack(name.encode(), 0))
    return int(REQUEST.unpack(given)[1])


def enter(command: list[str], environment: dict[str, str]) -> None:
    """Become that command, fenced in; returns never."""
    inside = [*unshare(), sys.executable, "-I", os.path.abspath(__file__), *command]
    os.execvpe(inside[0], inside, environment)


if __name__ == "__main__":
    refuse_if_open()
    start_loopback()
    os.execvp(sys.argv[1], sys.argv[1:])

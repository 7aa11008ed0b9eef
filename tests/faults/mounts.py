"""Small file systems of our own, mounted where nobody else sees them."""

import ctypes
import os
import shutil
import subprocess

from tests.faults import kernel

NEW_NAMESPACE = 0x00020000  # CLONE_NEWNS
# Small images of xfs are for tests only, and mkfs.xfs wants to hear that.
SMALL_XFS = {"TEST_DIR": "1", "TEST_DEV": "1", "QA_CHECK_FS": "1"}


def why_not(*tools: str) -> str:
    """Why this machine cannot mount with these tools; empty where it can."""
    if os.geteuid():
        return "mounting needs root"
    missing = [tool for tool in ("mount", "umount", *tools) if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not installed"
    if tools and not os.path.exists("/dev/loop-control"):
        return "no loop devices here"
    return "this machine does not let us mount" if kernel.wait(kernel.start(_try_tmpfs)) else ""


def _try_tmpfs() -> None:
    enter()
    tmpfs("/tmp", 64)
    unmount("/tmp")


def enter() -> None:
    """Leave the mounts of everybody else; what is mounted from now on goes with this process."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NAMESPACE):
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")
    command("mount", "--make-rprivate", "/")


def command(*words: str) -> None:
    environment = {**os.environ, **SMALL_XFS}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")


def tmpfs(where: str, kilobytes: int, *, again: bool = False) -> None:
    remount = "remount," if again else ""
    options = f"{remount}size={kilobytes}k,mode=0700"
    command("mount", "-t", "tmpfs", "-o", options, "none", where)


def make_image(path: str, megabytes: int, *make: str) -> None:
    """An empty file system in a file."""
    with open(path, "wb") as file:
        file.truncate(megabytes << 20)
    command(*make, path)


def copy_image(path: str, to: str) -> None:
    command("cp", "--sparse=always", path, to)


def sync_file_system(handle: int) -> None:
    ctypes.CDLL(None).syncfs(handle)


def mount_image(path: str, where: str, *options: str) -> None:
    command("mount", "-o", ",".join(("loop", *options)), path, where)


def unmount(where: str) -> None:
    command("umount", where)

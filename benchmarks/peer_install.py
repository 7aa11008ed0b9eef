"""Installs a peer below the cache with the ordinary clients, pip and npm; once per version."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peer_kinds import Peer
from benchmarks.peer_place import Clock, Failed, last_line

# npm: where a registry lacks the newest of these, an older one of the same kind serves.
HELD = {
    "better-call": "^1.0.0",
    "@better-fetch/fetch": "^1.0.0",
    "@better-auth/utils": ">=0.3.0",
}


def install(kind: type[Peer], cache: str, pythons: list[str], clock: Clock) -> tuple[Peer, str]:
    """The newest version that installs, and why a newer one did not."""
    peers = [
        kind(os.path.join(cache, _folder(kind, version)), version) for version in kind.versions
    ]
    for peer in peers:
        if os.path.exists(done := os.path.join(peer.folder, "done")) and kind.cached:
            return peer, Path(done).read_text("utf-8")
    reason = ""
    for peer in peers:
        shutil.rmtree(peer.folder, ignore_errors=True)
        try:
            (_install_npm if kind.npm else _install_pip)(peer, pythons, clock)
        except Failed as error:
            shutil.rmtree(peer.folder, ignore_errors=True)
            reason = reason or f"{peer.version} does not install here: {error}"
            continue
        Path(peer.folder, "done").write_text(reason, "utf-8")
        return peer, reason
    raise Failed(reason)


def _folder(kind: type[Peer], version: str) -> str:
    return f"{kind.name}-{version.replace(' ', '-')}"


def _install_pip(peer: Peer, pythons: list[str], clock: Clock) -> None:
    python = next((path for path in pythons if _serves(path, peer)), None)
    if python is None:
        wanted = ".".join(map(str, peer.python))
        wanted += " whose SQLite loads extensions" if peer.extensions else ""
        raise Failed(f"it needs Python {wanted}, and none is here (--python PATH)")
    venv = os.path.join(peer.folder, "venv")
    _run([python, "-m", "venv", "--without-pip", venv], clock)
    pip = [sys.executable, "-m", "pip", "--python", os.path.join(venv, "bin/python")]
    for packages in peer.packages():
        _run([*pip, "install", "--quiet", "--no-warn-script-location", *packages], clock)


def _install_npm(peer: Peer, pythons: list[str], clock: Clock) -> None:
    if not shutil.which("npm"):
        raise Failed("it needs npm, and none is here")
    os.makedirs(peer.folder)
    for held in ({}, HELD):
        Path(peer.folder, "package.json").write_text(json.dumps({"overrides": held}), "utf-8")
        try:
            words = ["npm", "install", "--no-audit", "--no-fund", *peer.packages()[0]]
            return _run(words, clock, peer.folder)
        except Failed:
            if held:
                raise


def _run(words: list[str], clock: Clock, folder: str | None = None) -> None:
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=clock.left(900)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)[:200]) from None
    if done.returncode:
        complaints = [line for line in done.stderr.splitlines() if "rror" in line and ":" in line]
        raise Failed(last_line(complaints[-1] if complaints else done.stderr)[:120])


def _serves(python: str, peer: Peer) -> bool:
    needed = "hasattr(sqlite3.Connection, 'enable_load_extension')" if peer.extensions else "True"
    code = f"import sys, sqlite3, venv; sys.exit(sys.version_info < {peer.python} or not {needed})"
    try:
        return not subprocess.run([python, "-c", code], capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_pythons(given: str) -> list[str]:
    """The interpreter that runs this first, then the one that was named, then newer ones."""
    names = [f"python3.{minor}" for minor in (12, 13, 14)]
    named = [given] if given else []
    return [sys.executable, *named, *filter(None, map(shutil.which, names)), "/usr/bin/python3"]


def measure_size(peer: Peer) -> tuple[float, int]:
    """Megabytes and packages below its folder, byte code left out."""
    size, packages = 0, 0
    for folder, folders, files in os.walk(peer.folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        packages += sum(name.endswith(".dist-info") for name in folders)
        paths = (os.path.join(folder, name) for name in files)
        size += sum(os.lstat(path).st_size for path in paths)
    if peer.npm:
        lock = Path(peer.folder, "node_modules/.package-lock.json")
        packages = len(json.loads(lock.read_text("utf-8"))["packages"])
    return size / 1e6, packages

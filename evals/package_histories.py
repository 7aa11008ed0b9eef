"""Public packages as git repositories: each release is a commit. Nobody wrote them for a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FIRST = 1_500_000_000  # date of the first commit; a month passes between two
MONTH = 30 * 86_400
DOWNLOAD_SECONDS = 300.0

# Pure Python, small, and each with releases that moved, renamed and removed much.
DEVELOP = {
    "click": "2.6 3.3 4.1 5.1 6.7 7.0 7.1.2 8.0.4 8.1.8 8.2.1 8.3.3",
    "httpx": "0.7.8 0.8.0 0.9.5 0.10.1 0.11.1 0.12.1 0.13.3 0.14.3 0.15.5 0.16.1 0.17.1 0.18.2",
    "flask": "0.10.1 0.11.1 0.12.5 1.0.4 1.1.4 2.0.3 2.1.3 2.2.5 2.3.3 3.0.3 3.1.3",
}
MEASURE = {
    "marshmallow": "2.15.6 2.16.3 2.17.0 2.18.1 2.19.5 2.20.5 2.21.0 3.0.5 3.1.1 3.2.2 3.3.0 3.4.0",
    "starlette": (
        "0.12.13 0.13.8 0.14.2 0.15.0 0.16.0 0.17.1 0.18.0 0.19.1 0.20.4 0.21.0 0.22.0 0.23.1"
    ),
    "werkzeug": "0.10.4 0.11.15 0.12.2 0.13 0.14.1 0.15.6 0.16.1 1.0.1 2.0.3 2.1.2 2.2.3",
}


class NotRun(Exception):
    """The releases cannot be had: offline, no registry, no pip."""


@dataclass(frozen=True)
class PackageHistory:
    name: str
    folder: str  # the git repository
    early: Mapping[str, bytes]  # files of the first release
    last: Mapping[str, bytes]  # files of the last release


def package_cache(environ: Mapping[str, str]) -> Path:
    home = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME", ""), ".cache")
    return Path(home) / "memdir-evals"


def make_package_history(name: str, versions: str, cache: Path) -> PackageHistory:
    """Downloads what is missing; the repository is made again if the list of releases changed."""
    releases = versions.split()
    archives = [_download(name, version, cache / "sdists") for version in releases]
    folder = cache / "repos" / name
    made = folder / ".git" / "releases"
    if not made.is_file() or made.read_text("utf-8") != f"2 {versions}":
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _git(folder, "init", "--quiet", "--initial-branch=main")
        for number, (version, archive) in enumerate(zip(releases, archives, strict=True)):
            _put(folder, _files(archive))
            _git(folder, "add", "--all", "--force")
            when = f"{FIRST + number * MONTH} +0000"
            _git(folder, "commit", "--quiet", "--allow-empty", "-m", version, when=when)
        made.write_text(f"2 {versions}", "utf-8")
    return PackageHistory(name, str(folder), _files(archives[0]), _files(archives[-1]))


def _download(name: str, version: str, sdists: Path) -> Path:
    folder = sdists / f"{name}-{version}"
    if not any(folder.glob("*.tar.gz")):
        words = ["-m", "pip", "download", "--quiet", "--no-binary", ":all:", "--no-deps"]
        command = [sys.executable, *words, "-d", str(folder), f"{name}=={version}"]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotRun(f"pip gave no answer ({type(error).__name__})") from None
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
            raise NotRun(f"{name} {version} cannot be had: {(lines or ['pip failed'])[-1][:160]}")
    archives = sorted(folder.glob("*.tar.gz"))
    if not archives:
        raise NotRun(f"{name} {version} has no archive of its source")
    return archives[0]


def _files(archive: Path) -> dict[str, bytes]:
    """Regular files below the archive's one folder, without what a build wrote."""
    files: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            _, _, path = member.name.partition("/")
            built = ".egg-info/" in path or path == "PKG-INFO"
            parts = path.split("/")
            if member.isfile() and path and not built and not {"", "..", ".git"} & {*parts}:
                content = tar.extractfile(member)
                files[path] = content.read() if content else b""
    return files


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for entry in folder.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _git(folder: Path, *words: str, when: str = "") -> None:
    person = ("-c", "user.name=release", "-c", "user.email=release@example.invalid")
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    env = {**os.environ, **dates, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    safe = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false")
    subprocess.run(
        ["git", *person, *safe, *words], cwd=folder, env=env, capture_output=True, check=True
    )

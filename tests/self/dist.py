"""Builds what is given to others, and tries it as they would: `make dist`.

The wheel is made from the sdist, so both are complete. Then it is installed into an empty
environment of its own, where `memdir doctor` proves that saving works, and uninstalled again.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
MAX_WHEEL_BYTES = 1_500_000


def run(*words: str | Path, folder: Path = ROOT, home: Path | None = None) -> str:
    env = os.environ | ({"HOME": str(home)} if home else {})
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"$ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_in(folder: Path, kind: str) -> Path:
    """The wheel or sdist of the project in this folder, in dist/."""
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", DIST, folder=folder)
    [made] = DIST.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def build_both(scratch: Path) -> tuple[Path, Path]:
    shutil.rmtree(DIST, ignore_errors=True)
    straight = zipfile.ZipFile(build_in(ROOT, "wheel")).namelist()
    sdist = build_in(ROOT, "sdist")
    with tarfile.open(sdist) as packed:
        packed.extractall(scratch, filter="data")
    wheel = build_in(scratch / sdist.name.removesuffix(".tar.gz"), "wheel")
    lacking = {*straight} ^ {*zipfile.ZipFile(wheel).namelist()}
    if lacking:
        sys.exit(f"the wheel of the sdist is another one: {sorted(lacking)[:9]}")
    if wheel.stat().st_size > MAX_WHEEL_BYTES:
        sys.exit(f"{wheel.name} is larger than {MAX_WHEEL_BYTES:,} bytes")
    return wheel, sdist


def try_wheel(wheel: Path, scratch: Path) -> None:
    """Install into an empty environment, run, uninstall; nothing may be left there."""
    home, place = scratch / "home", scratch / "venv"
    (home / ".claude").mkdir(parents=True)
    venv.create(place, with_pip=True)
    before = sorted(place.rglob("*"))
    run(place / "bin/pip", "install", "--quiet", wheel)
    memdir = place / "bin/memdir"
    for words in (["--version"], ["doctor"], ["setup", "claude-code"], ["remember", "Use uv."]):
        print(run(memdir, *words, folder=home, home=home).strip().split("\n")[-1])
    run(memdir, "setup", "claude-code", "--remove", folder=home, home=home)
    if [*home.glob(".claude/settings.json")]:
        sys.exit("setup --remove left settings behind")
    run(place / "bin/pip", "uninstall", "--quiet", "--yes", "memdir")
    left = [path for path in place.rglob("*memdir*") if path not in before]
    if left:
        sys.exit(f"uninstalled, and left: {left}")


def try_make(folder: Path, scratch: Path) -> None:
    """`make install` and `make uninstall`, in the unpacked sdist and a home of its own."""
    home = scratch / "make-home"
    home.mkdir()
    print(run("make", "install", folder=folder, home=home).strip().split("\n")[0])
    run(home / ".local/bin/memdir", "remember", "Use uv.", folder=home, home=home)
    run("make", "uninstall", folder=folder, home=home)
    if left := [*home.glob(".local/bin/*"), *home.glob(".local/share/*")]:
        sys.exit(f"make uninstall left: {left}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        wheel, sdist = build_both(scratch)
        print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist).strip())
        try_wheel(wheel, scratch)
        try_make(scratch / sdist.name.removesuffix(".tar.gz"), scratch)
    for path in (wheel, sdist):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

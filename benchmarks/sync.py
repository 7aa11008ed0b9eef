"""What a sync costs: with nothing new against a raw `git fetch`, and with eight writers at once.

    .venv/bin/python benchmarks/sync.py [--json]

All over the file transport, in memory where there is such a place. `library` is the sync inside a
process, `command` the whole of `memdir sync`.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from memdir.sync.git_transport import GitTransport  # noqa: E402
from tests.faults.sync import Machine  # noqa: E402
from tests.faults.trees import FAST  # noqa: E402

MEMORIES, TURNS, WRITERS, EACH = 200, 25, 8, 15
SCRIPT = "from memdir.cli.main import main; main()"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="memdir-bench-", dir=FAST)
    try:
        found = {**nothing_new(folder), **writers(folder)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(
                f"{name:36} {value:10.2f}" if isinstance(value, float) else f"{name:36} {value:>10}"
            )
    fine = found["git calls with nothing new"] <= 6 and found["times a raw git fetch"] <= 3
    fine = fine and found["lost"] == 0 and found["p95 of 8 over one alone"] <= 10
    print("held" if fine else "MISSED", file=sys.stderr)
    return 0 if fine else 1


def remote_of(folder: str, name: str) -> str:
    path = f"{folder}/{name}.git"
    subprocess.run(["git", "init", "-q", "--bare", path], check=True)
    return path


def nothing_new(folder: str) -> dict[str, float | int]:
    remote, machine = remote_of(folder, "one"), Machine(f"{folder}/one", 0)
    os.makedirs(machine.store)
    for number in range(MEMORIES):
        text = f"---\nname: m{number}\ndescription: fact {number}\n---\n\nFact {number}.\n" * 3
        Path(machine.store, f"m{number}.md").write_text(text)
    machine.join(remote)
    machine.sync()
    calls = [0]
    real = GitTransport._git

    def counted(self: GitTransport, *words: str) -> object:
        calls[0] += 1
        return real(self, *words)

    GitTransport._git = counted  # type: ignore[method-assign,assignment]
    machine.sync()
    GitTransport._git = real  # type: ignore[method-assign]
    clone = f"{folder}/clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", remote, clone], check=True)
    fetch = lambda: subprocess.run(["git", "--git-dir", clone, "fetch", "-q"], check=True)  # noqa: E731
    pairs = [(timed(fetch), timed(machine.sync)) for _ in range(TURNS)]
    raw, ours = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    command = statistics.median(timed(lambda: run(machine)) for _ in range(5)) * 1000
    identity = 1  # `git ls-remote --get-url`, which asks nobody
    return {
        "memories": MEMORIES,
        "git calls with nothing new": calls[0] + identity,
        "raw git fetch, ms": raw,
        "sync with nothing new, library, ms": ours,
        "times a raw git fetch": ours / raw,
        "sync with nothing new, command, ms": command,
    }


def writers(folder: str) -> dict[str, float | int]:
    alone = Machine(f"{folder}/alone", 0)
    alone.join(remote_of(folder, "alone"))
    single = [timed(lambda n=n: write_and_sync(alone, f"alone-{n}")) for n in range(EACH)]
    remote = remote_of(folder, "eight")
    machines = [Machine(f"{folder}/eight", number) for number in range(WRITERS)]
    for machine in machines:
        machine.join(remote)

    def work(machine: Machine) -> list[float]:
        name = os.path.basename(os.path.dirname(machine.project))
        return [timed(lambda: write_and_sync(machine, f"{name}-{n}")) for n in range(EACH)]  # noqa: B023

    with ThreadPoolExecutor(WRITERS) as pool:
        times = sorted(time for some in pool.map(work, machines) for time in some)
    for machine in (*machines, *machines):
        machine.sync()
    texts = [machine.files() for machine in machines]
    lost = sum(WRITERS * EACH + 1 - len(text) for text in texts)
    one = sorted(single)[int(0.95 * len(single))]
    return {
        "writers at once": WRITERS,
        "writes": WRITERS * EACH,
        "lost": lost,
        "all the same": sum(text == texts[0] for text in texts),
        "p95 of one alone, ms": one * 1000,
        "p95 of 8 at once, ms": times[int(0.95 * len(times))] * 1000,
        "p95 of 8 over one alone": times[int(0.95 * len(times))] / one,
    }


def write_and_sync(machine: Machine, name: str) -> None:
    """As a command does it: a process of its own."""
    os.makedirs(machine.store, exist_ok=True)
    Path(machine.store, f"{name}.md").write_text(f"---\nname: {name}\n---\n\nFact {name}.\n")
    run(machine)


def run(machine: Machine) -> None:
    env = {"HOME": machine.home, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-c", SCRIPT, "sync", "--json"]
    subprocess.run(words, cwd=machine.project, env=env, check=True, capture_output=True)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())

"""How commands grow: processor seconds of each on larger and larger stores, and the exponent.

    python benchmarks/scale.py [memories] [history] [index] [body] [records] [--largest N]

An exponent of 1 is linear; n log n looks like 1.12 between 2,500 and 10,000. Each figure is the
least of two rounds, since the first one also warms up; what a command takes on an empty store is
taken off. A `!` marks what grows faster.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from benchmarks.common import WORDS, fill, memory_text, scratch
from memdir.config.config import read_config
from memdir.records.folders import rebuild_record_index
from memdir.records.record import write_record
from memdir.store.writer import App, open_app
from tests.helpers.samples import sample

STEPS = 8, 4, 2, 1  # parts of the largest size
ROUNDS = 2
FASTER = 1.2  # more than n log n
NOISE_SECONDS = 0.15  # growth below it says nothing
COMMAND = [sys.executable, "-c", "from memdir.cli.main import main; main()"]
PROMPT = "how is the release gateway restarted"
MEMORIES = (
    *("list", "show m00007", f"search {WORDS[5]}", f"recall {WORDS[9]}", "status", "doctor"),
    *("audit", "prune --dry-run --retire", "dream", "restructure --dry-run", "verify", "budget"),
    *(
        "index --rebuild",
        "remember Deploys@wait@for@Kim --name kim",
        "edit kim --description other",
    ),
    *("undo", "log", "retire kim", "restore kim", "export --output OUT"),
)
HISTORY = ("log", "undo", "log m00003", "diff", "audit", "doctor", "remember One@more --name one")
INDEX = ("list", "audit", "budget", "restructure --dry-run", "index --rebuild", "remember Hm")
BODY = ("list", "show large", f"search {WORDS[5]}", "audit", "verify", "edit large --type project")
NEW = "records save --category decision --title Kim@owns@it --tag a --set status=accepted"
RECORDS = (
    *("list --scope records", "records index --rebuild", "records index --validate"),
    *("records status", "records gc", "records window", "records search queue"),
    "records candidate --category decision --new-info The@queue@is@slow",
    f"{NEW} --set context=c --set decision=d --set rationale=r",
    *("records retire kim-owns-it", "records restore kim-owns-it"),
    *("recall queue --scope records", "audit --scope records"),
    *("log --scope records", "undo --scope records"),
)


def run(folder: str, words: str) -> float:
    """Processor seconds of one command, which must answer."""
    given = [word.replace("@", " ").replace("OUT", f"{folder}/out.zip") for word in words.split()]
    environ = {"HOME": folder, "PATH": os.environ["PATH"], "MEMDIR_CACHE_DIR": f"{folder}/cache"}
    environ["MEMDIR_STATE_DIR"] = f"{folder}/state"
    command = [*COMMAND, *given]
    if "records" not in words:
        command += ["--dir", f"{folder}/mem"]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=folder)
    after = os.times()
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise RuntimeError(f"memdir {words}: {done.returncode} {done.stderr[-300:]}")
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def table(title: str, commands: Sequence[str], sizes: Sequence[int], make: Callable) -> int:
    """Print the figures; the number of commands that grow too fast."""
    seconds: dict[str, list[float]] = {command: [] for command in commands}
    for size in (0, *sizes):
        rounds = []
        for number in range(ROUNDS):
            with scratch() as folder:
                make(folder, size)
                rounds.append([run(folder, command) for command in commands])
            print(f"  {size:,} {title}, round {number + 1}", file=sys.stderr)
        for command, found in zip(commands, zip(*rounds, strict=True), strict=True):
            seconds[command].append(min(found))
    print(f"\n{title:32}" + "".join(f"{size:>9,}" for size in sizes) + "  exponent")
    missed = 0
    for command, (empty, *found) in seconds.items():
        net = [max(it - empty, 0.001) for it in found]
        step = math.log(sizes[-1] / sizes[-3])
        grows = math.log(net[-1] / net[-3]) / step
        tells = net[-1] - net[-3] > NOISE_SECONDS
        missed += tells and grows > FASTER
        mark = f"{grows:9.2f}{'!' if grows > FASTER else ''}" if tells else "        -"
        print(f"{command[:32]:32}" + "".join(f"{it:9.2f}" for it in found) + mark)
    return missed


# -- stores ------------------------------------------------------------------------------------


def open_store(folder: str) -> App:
    environ = {"HOME": folder, "MEMDIR_STATE_DIR": f"{folder}/state"}
    config = read_config(environ, folder, dir=f"{folder}/mem")
    return open_app(config, now=time.time, tell=print, actor="bench")


def make_memories(folder: str, size: int) -> None:
    fill(f"{folder}/mem", size)
    open_store(folder).snapshot()


def make_history(folder: str, size: int) -> None:
    """So many commits on a store of fifty memories."""
    luck = random.Random(3)
    fill(f"{folder}/mem", 50)
    app = open_store(folder)
    app.snapshot()
    for number in range(size):
        with app.changing("save") as desk:
            desk.store.put(f"m{number % 50:05}.md", memory_text(number, luck))
    kept = f"{folder}/state"
    total = sum(os.path.getsize(f"{at}/{name}") for at, _, names in os.walk(kept) for name in names)
    print(f"{size:,} changes: {total / 2**20:.1f} MB of history", flush=True)


def make_index(folder: str, size: int) -> None:
    """An index of so many lines, a twentieth of them pointers."""
    fill(f"{folder}/mem", size // 20)
    with open(f"{folder}/mem/MEMORY.md", "a") as file:
        luck = random.Random(5)
        for _ in range(size - size // 20):
            file.write(" ".join(luck.choices(WORDS, k=9)) + "\n")
    open_store(folder).snapshot()


def make_body(folder: str, size: int) -> None:
    """A memory of so many kilobytes."""
    luck = random.Random(5)
    fill(f"{folder}/mem", 20)
    lines = (" ".join(luck.choices(WORDS, k=12)) for _ in range(size * 1024 // 80))
    head = "---\nname: large\ndescription: a large one\ntype: reference\n---\n\n"
    with open(f"{folder}/mem/large.md", "w") as file:
        file.write(head + "\n".join(lines) + "\n")
    open_store(folder).snapshot()


def make_records(folder: str, size: int) -> None:
    """Written at once: a thousand saves, each of which reads them all, would take minutes."""
    root = f"{folder}/.claude/memory"
    os.makedirs(f"{root}/decisions")
    os.mkdir(f"{folder}/.git")
    with open(f"{root}/memory-config.json", "w") as file:
        file.write('{"max_memories_per_category": 100000}')
    luck = random.Random(2)
    for number in range(size):
        title = " ".join([*luck.choices(WORDS, k=3), str(number)])
        with open(f"{root}/decisions/r{number}.json", "wb") as file:
            file.write(write_record(sample(id=f"r{number}", title=title, tags=["a", "b"])))
    environ = {"HOME": folder, "MEMDIR_STATE_DIR": f"{folder}/state"}
    config = read_config(environ, folder, scope="records")
    rebuild_record_index(open_app(config, now=time.time, tell=print, actor="bench"))


KINDS = {
    "memories": (MEMORIES, 10_000, make_memories),
    "history": (HISTORY, 10_000, make_history),
    "index": (INDEX, 2_000, make_index),
    "body": (BODY, 5 * 1024, make_body),
    "records": (RECORDS, 1_000, make_records),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], default=[])
    parser.add_argument("--largest", type=int, default=0)
    given = parser.parse_args()
    missed = 0
    for kind in given.kinds or KINDS:
        commands, largest, make = KINDS[kind]
        sizes = [(given.largest or largest) // part for part in STEPS]
        missed += table(kind, commands, sizes, make)
    print(f"\n{missed} grow faster than n log n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

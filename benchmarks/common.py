"""What every benchmark shares: stores to measure on, repeated timing, one table of ratios."""

from __future__ import annotations

import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

# Some thousand made-up words, used as unevenly as words are: an index of real memories does not
# say the same forty words in every line.
_PARTS = [
    *("ba", "co", "du", "fe", "gi", "ho", "ja", "ku", "la", "me", "ni", "po", "qua", "re", "si"),
    *("ta", "ul", "ve", "wi", "xo", "ya", "ze", "bra", "cle", "dri", "fro", "gle", "ple"),
    *("ston", "tion", "ment", "able", "ster", "ward"),
]
_MAKE = random.Random(1)
WORDS = ["".join(_MAKE.choices(_PARTS, k=_MAKE.choice((2, 2, 3)))) for _ in range(4000)]
WEIGHTS = [1 / (rank + 10) for rank in range(len(WORDS))]


@dataclass(frozen=True)
class Row:
    """One figure: ours against a floor measured in the same run."""

    name: str
    floor: float
    ours: float
    goal: float | None = None
    unit: str = "ms"
    over: bool = False  # compare ours - floor with the goal instead of the ratio
    note: str = ""

    @property
    def figure(self) -> float:
        """The ratio, or the difference where the goal is one."""
        return self.ours - self.floor if self.over else self.ours / self.floor

    @property
    def verdict(self) -> str:
        """met, missed, or nothing where there is no goal."""
        return "" if self.goal is None else "met" if self.figure <= self.goal else "missed"


def memory_text(number: int, rnd: random.Random) -> bytes:
    """A memory as they are in the wild: a short header and a few hundred bytes."""
    line = " ".join(rnd.choices(WORDS, WEIGHTS, k=12))
    body = "\n".join(" ".join(rnd.choices(WORDS, WEIGHTS, k=14)) for _ in range(5))
    head = f"name: m{number:05}\ndescription: {line} {number}\ntype: feedback\n"
    return f"---\n{head}metadata:\n  created: 2026-01-02T03:04:05Z\n---\n\n{body}\n".encode()


def fill(folder: str, count: int) -> None:
    """A directory of that many memories with their index."""
    rnd = random.Random(count)
    os.makedirs(folder, 0o700)
    pointers = []
    for number in range(count):
        data = memory_text(number, rnd)
        with open(os.path.join(folder, f"m{number:05}.md"), "wb") as file:
            file.write(data)
        hook = data.split(b"description: ", 1)[1].split(b"\n", 1)[0].decode()
        pointers.append(f"- [M{number:05}](m{number:05}.md) — {hook}\n")
    with open(os.path.join(folder, "MEMORY.md"), "w", encoding="utf-8") as file:
        file.writelines(pointers)


def prompts(folder: str, count: int) -> list[str]:
    """What a person might ask: some of the rarer words of a memory among everyday ones."""
    rnd = random.Random(count)
    names = sorted(name for name in os.listdir(folder) if name[0] == "m")
    asked = []
    for name in rnd.sample(names, count):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            words = sorted(set(file.read().split("---", 2)[2].split()), key=WORDS.index)
        rare, usual = words[-4:], rnd.sample(words[:-4], 5)
        asked.append(f"how do we handle {' '.join([*rare, *usual])} when it fails")
    return asked


@contextmanager
def scratch() -> Iterator[str]:
    """A throw-away directory on the disk that the tree is on (not a tmpfs: fsync must cost)."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory(
        prefix=".bench-", dir=here, ignore_cleanup_errors=True
    ) as folder:  # a worker may still write
        yield folder


def interleaved(runs: int, *acts: Callable[[], float | None]) -> list[list[float]]:
    """Milliseconds of each act, taken in turns so that a busy moment hits all of them."""
    times: list[list[float]] = [[] for _ in acts]
    for _ in range(runs):
        for act, taken in zip(acts, times, strict=True):
            start = time.perf_counter()
            own = act()
            taken.append((time.perf_counter() - start) * 1e3 if own is None else own)
    return times


def middle(times: list[float]) -> float:
    """The median."""
    return statistics.median(times)


def show(title: str, rows: list[Row], as_json: bool) -> None:
    """One table, or one JSON object."""
    if as_json:
        figures = [{**asdict(row), "figure": row.figure, "verdict": row.verdict} for row in rows]
        print(json.dumps({"benchmark": title, "rows": figures}))
        return
    print(f"\n{title}")
    print(f"{'what':<42}{'floor':>8}{'ours':>9}{'figure':>10}{'goal':>7}  verdict")
    for row in rows:
        figure = f"{row.figure:+.2f} {row.unit}" if row.over else f"{row.figure:.2f} x"
        goal = "" if row.goal is None else f"{row.goal:g}"
        print(
            f"{row.name:<42}{row.floor:>8.2f}{row.ours:>9.2f}{figure:>10}{goal:>7}  {row.verdict}"
        )
        if row.note:
            print(f"    {row.note}")

"""The plug is pulled: a real journalling file system as its disk has it, at every call.

The store runs on a loop-mounted image that writes back only what is forced. At each system call
the image is copied while still mounted: that is what the disk holds. Each copy is mounted
(journal replay) and judged. `journal` lets another program's fsync commit the journal before every
call, which makes names durable before bytes: the classic "renamed but empty".
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tests.faults import mounts, seeds, tracer
from tests.faults.stage import Stage, Tally

CONTROLS = {"no fsync": ("create",), "no directory fsync": ("retire",)}
# Nothing is written back by a timer, and no heuristics repair what we forget.
OPTIONS = {"ext4": ("commit=900", "noauto_da_alloc")}
OTHER = "another-program"


def why_not(kind: str) -> str:
    return mounts.why_not(f"mkfs.{kind}") or ("" if kind in OPTIONS else "options not known")


def run(
    operations: Sequence[str], kind: str = "ext4", *, journal: bool = False, defect: str = ""
) -> Tally:
    """Every operation, with a power cut at each of its calls and after its end."""
    tally = Tally()
    reader, writer = os.pipe()

    def work() -> None:
        import pickle

        for operation in operations:
            tally.merge(_cut(operation, kind, journal, defect))
        with open(f"{folder}/tally", "wb") as file:
            pickle.dump(tally, file)

    os.close(reader), os.close(writer)
    folder = seeds.work_folder()
    problem = mounts.alone(work)
    if problem:
        raise RuntimeError(problem)
    import pickle
    import shutil

    with open(f"{folder}/tally", "rb") as file:
        result: Tally = pickle.load(file)
    shutil.rmtree(folder)
    return result

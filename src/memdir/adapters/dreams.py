"""What is kept between two runs of a consolidation: one small file, and a lock of its own.

Whoever dies holding the lock lets go of it: the kernel does. The file is written when a run is
done, so a run that failed was none.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict

from memdir.adapters.disk import Disk, failure
from memdir.adapters.lock import Lock
from memdir.core.dreaming import State

FILE, LOCK = "dream.json", "dream.lock"
LARGEST_BYTES = 4 * 1024 * 1024
NOTICE_SECONDS = 0.0


class Dreams:
    """The runs of one store, below its state folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._disk = Disk(folder)
        self.lock = Lock(os.path.join(folder, LOCK), NOTICE_SECONDS, NOTICE_SECONDS)

    def load(self) -> State:
        """What earlier runs left; what cannot be read is as if there had been none."""
        try:
            told = json.loads(self._disk.read(FILE, LARGEST_BYTES)[0])
            logs = {str(path): int(end) for path, end in told["logs"].items()}
            state = State(float(told["done"]), float(told["looked"]), logs, str(told["code"]))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return State()
        return state if math.isfinite(state.done + state.looked) else State()

    def keep(self, state: State) -> None:
        """Put it down, durably."""
        data = json.dumps({**asdict(state), "logs": dict(state.logs)}).encode()
        try:
            self._disk.make_root()
            self._disk.put(FILE, data)
        except OSError as error:
            path = os.path.join(self.folder, FILE)
            raise failure(error, path, "the run cannot be written down") from None

"""Who wrote each memory that came from others, and the authors whom the user accepts.

Kept beside what was accepted, for one store. An accepted author's memories are told at once, with
their source, unless one gives an agent orders; all others wait in `memdir review`.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field

from memdir.hot.disk import digest_of
from memdir.store import state

NAME = "givers.json"
UNVERIFIED = "not verified"


@dataclass(frozen=True)
class Giver:
    """The author of exactly this content; `verified` if the remote checked who it was."""

    digest: str
    name: str
    id: str
    verified: bool = False
    time: float = 0.0

    @property
    def label(self) -> str:
        name = self.name or self.id
        return name if self.verified or not name else f"{name} ({UNVERIFIED})"


@dataclass
class Givers:
    folder: str
    files: dict[str, Giver] = field(default_factory=dict)
    accepted: dict[str, str] = field(default_factory=dict)  # id -> name

    def of(self, path: str, data: bytes) -> Giver | None:
        giver = self.files.get(path)
        return giver if giver is not None and giver.digest == digest_of(data) else None

    def save(self) -> None:
        value = {
            "files": {path: asdict(giver) for path, giver in self.files.items()},
            "accepted": self.accepted,
        }
        with state.state_errors(os.path.join(self.folder, NAME), "cannot be written"):
            state.replace_state_json(self.folder, NAME, value)


def read_givers(folder: str) -> Givers:
    """Damaged or missing: nobody is accepted, and everything waits."""
    try:
        value = state.read_state_json(folder, NAME, dict) or {}
        files = {path: Giver(**row) for path, row in value["files"].items()}
        return Givers(folder, files, dict(value["accepted"]))
    except (OSError, *state.DAMAGE):
        return Givers(folder)

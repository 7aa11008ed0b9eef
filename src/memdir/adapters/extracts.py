"""What a model made of past sessions, kept: asked again, they cost nothing and say the same."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace

from memdir.adapters.captures import read_catch
from memdir.adapters.disk import Disk, failure
from memdir.core.agent.telling import masked, without_secrets
from memdir.core.capturing import Catch
from memdir.core.store_key import store_key
from memdir.core.transcript import Cursor

FOLDER = "extracts"
LARGEST_BYTES = 4 * 1024 * 1024
LEFT_OUT = "a secret was left out of it"
DAMAGE = (ValueError, TypeError, KeyError, RecursionError)


class Extracts:
    """The folder of one store, a small file per session."""

    def __init__(self, state_folder: str) -> None:
        self.folder = os.path.join(state_folder, FOLDER)
        self._disk = Disk(self.folder)

    def load(self, session: str, cursor: Cursor) -> tuple[Catch, ...] | None:
        """What was made of the session as far as it went then; None where nobody knows."""
        try:
            said = json.loads(self._disk.read(store_key(session), LARGEST_BYTES + 1)[0])
            if (said["session"], said["cursor"]) == (session, cursor.id):
                return tuple(map(read_catch, said["catches"]))
        except (OSError, *DAMAGE):
            return None  # then the model is asked again
        return None

    def keep(self, session: str, cursor: Cursor, catches: Sequence[Catch]) -> None:
        """Durable when it returns."""
        told = {
            "session": session,
            "cursor": cursor.id,
            "catches": [asdict(_safe(one)) for one in catches],
        }
        data = json.dumps(told, default=str).encode("ascii")
        try:
            self._disk.make_root()
            self._disk.put(store_key(session), data)
        except OSError as error:
            raise failure(error, self.folder, "what the model made cannot be kept") from None


def _safe(catch: Catch) -> Catch:
    """Without secrets; a person sees first what was left out of what would be saved at once."""
    if catch.draft is None:
        return replace(catch, forget=masked(catch.forget))
    draft = without_secrets(catch.draft)
    hold = catch.hold or ("" if draft.body == catch.draft.body else LEFT_OUT)
    return replace(catch, draft=draft, hold=hold)

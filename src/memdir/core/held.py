"""A draft that waits for a person's yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from memdir.core.capturing import Catch
from memdir.core.errors import Missing
from memdir.core.revision import hash_of

ID_CHARACTERS = 12
NAMED = 5  # ids that a message names one by one
APPROVED, REJECTED = "approved", "rejected"  # how it was settled
REVIEWED_KEY = "metadata.review"  # in the header of what was approved: the id it had here
_REASON = "review "  # what the history says of an approval, before the id


@dataclass(frozen=True)
class Held:
    """What capture came to, why it waits, and since when."""

    id: str
    catch: Catch
    reason: str
    time: float


def id_of(catch: Catch) -> str:
    """The same draft from the same message has the same id, however often it is caught.

    Not the session: a fork of one has the messages of the other.
    """
    origin = catch.origin
    draft = () if catch.draft is None else astuple(replace(catch.draft, extra=()))
    told = repr((draft, catch.forget, origin.client, origin.message))
    return hash_of(told.encode("utf-8", "surrogatepass"))[:ID_CHARACTERS]


def find_id(text: str, ids: Sequence[str]) -> str:
    """The id that begins so, else the empty string; refuses the start of several."""
    wanted = text.strip().lower()
    found = [id for id in ids if wanted and id.startswith(wanted)]
    if len(found) < 2 or wanted in found:
        return wanted if wanted in found else "".join(found)
    few = ", ".join(found[:NAMED]) + (", …" if len(found) > NAMED else "")
    raise Missing(f"{text[:40]!r} is the start of several ids: {few}", next="give more of it")


def reason_of(id: str) -> str:
    """Why a change was made that approves a draft, for the history."""
    return _REASON + id


def approved_by(reason: str) -> str:
    """The inverse of `reason_of`: the draft that a change approved; empty for other reasons."""
    id = reason.removeprefix(_REASON)
    return id if id != reason and len(id) == ID_CHARACTERS and id.isalnum() else ""

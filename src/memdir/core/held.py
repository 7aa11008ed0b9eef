"""A draft that waits for a person's yes."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

from memdir.core.capturing import Catch
from memdir.core.revision import hash_of

ID_CHARACTERS = 12
APPROVED, REJECTED = "approved", "rejected"  # how it was settled
REVIEWED_KEY = "metadata.review"  # in the header of what was approved: the id it had here


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

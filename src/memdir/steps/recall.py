"""recall: the few memories that belong to a prompt, from every scope; nothing where none fits.

Hot path. Given as bodies where the match is sure, as pointers where it may be.
"""

import os

from memdir.core.asking import wants_nothing
from memdir.core.frontmatter import decode
from memdir.core.injection import Recalled
from memdir.core.memory import stem
from memdir.core.ranking import SURE
from memdir.core.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memdir.core.errors import MemdirError
    from memdir.core.finding import Finding
    from memdir.core.hit import Hit
    from memdir.core.memory import Memory
    from memdir.core.ports import Search, Store
    from memdir.core.session_state import SessionState

BODIES = 5
POINTERS = 15
MORE = 8  # candidates beyond those that can be given: twins fall out
MOST_SURFACED = 2000  # of those told already that a search is asked to look beyond
LEADERS = 3  # one of the first must be a sure match, else nothing fits
TEAM = "team"
SAME = 0.8  # share of words in common from which on two memories say the same
COMPARED = 16_384  # characters of a memory whose words are compared


class Place:
    """A store in its scope, and the search over it."""

    __slots__ = ("real", "scope", "search", "source", "store")

    def __init__(
        self,
        scope: str,
        store: "Store",
        search: "Search",
        source: "Callable[[str], str] | None" = None,
    ) -> None:
        self.scope = scope
        self.store = store
        self.search = search
        self.source = source  # who else wrote the memory at a path
        self.real = os.path.realpath(store.root)  # a session may reach it by several spellings

    def recalled(self, memory: "Memory") -> Recalled:
        """One of its memories."""
        one = Recalled(memory, self.scope, self.store.root)
        one.real = self.real
        one.giver = self.source(memory.path) if self.source else ""
        return one


class Recollection:
    """What came back: bodies and pointers, best first, and why there is nothing if so."""

    __slots__ = ("abstained", "bodies", "findings", "near", "pointers", "reason", "searched")

    def __init__(self) -> None:
        self.bodies: list[Recalled] = []
        self.pointers: list[Recalled] = []
        self.near: list[Recalled] = []  # what came closest, where nothing fits
        self.abstained = False
        self.reason = ""
        self.searched = 0
        self.findings: list[Finding] = []

    def nothing(self, reason: str) -> "Recollection":
        """The same without any memory."""
        self.abstained, self.reason = True, reason
        return self


def recall(
    places: "Sequence[Place]",
    prompt: str,
    state: "SessionState",
    *,
    limit: int = BODIES,
    pointers: int = POINTERS,
    abstain: bool = True,
) -> Recollection:
    """Search every place, leave out what was told already, and choose."""
    recollection = Recollection()
    reason = wants_nothing(prompt) if abstain else ""
    if reason:
        return recollection.nothing(reason)
    wanted = limit + pointers + MORE + min(len(state.surfaced), MOST_SURFACED)
    every = _search(places, prompt, wanted, recollection)
    found = [one for one in every if one.version not in state.surfaced]
    if abstain:
        found = [one for one in found if one.words]  # rules for any task are told at the start
        if not _fits(found):
            recollection.near = found[:LEADERS]
            return recollection.nothing(_why(every, found))
    reader = Reader(places, recollection.findings)
    found = private_wins(found, reader)
    for one in found:
        sure = one.sure >= SURE or not abstain
        if sure and len(recollection.bodies) < limit:
            if reader.read(one) and not reader.has_twin(one, recollection.bodies):
                recollection.bodies.append(one)
        elif len(recollection.pointers) < pointers:
            recollection.pointers.append(one)
    for given in (recollection.bodies, recollection.pointers):
        given.sort(key=lambda one: bool(one.giver))  # the user's own come first
    return recollection


def _fits(found: list[Recalled]) -> bool:
    """True where one of the first is a sure match."""
    return max([one.sure for one in found[:LEADERS]], default=0.0) >= SURE


def _why(every: list[Recalled], found: list[Recalled]) -> str:
    if _fits(every):
        return "what fits was told already in this session"
    return "nothing fits well enough" if found else "nothing matches"


def _search(
    places: "Sequence[Place]", prompt: str, limit: int, recollection: Recollection
) -> list[Recalled]:
    """What every place found: in its own order, and among the places the surest next."""
    waiting: list[list[Recalled]] = []
    for place in places:
        try:
            found = place.search.find(prompt, limit)
        except _broken() as error:  # one store that cannot be opened hides no other
            recollection.findings.append(_finding(error))
            continue
        recollection.searched += found.searched
        recollection.findings += found.findings
        waiting.append([_recalled(place, hit) for hit in reversed(found.hits)])
    merged = []
    while waiting := [rest for rest in waiting if rest]:
        merged.append(max(waiting, key=lambda rest: rest[-1].sure).pop())
    return merged


def _recalled(place: Place, hit: "Hit") -> Recalled:
    one = place.recalled(hit.memory)
    one.score, one.sure, one.words = hit.score, hit.sure, hit.words
    return one


def _broken() -> "type[MemdirError]":
    """What a store says that cannot be read; a prompt that goes well does not import it."""
    from memdir.core.errors import MemdirError

    return MemdirError


def _finding(error: "MemdirError") -> "Finding":
    from memdir.core.finding import Finding

    return Finding(error.code, error.path, error.message, error.next)


class Reader:
    """Reads the text of a memory when it is needed; one that cannot be read is reported."""

    def __init__(self, places: "Sequence[Place]", findings: "list[Finding]") -> None:
        self.stores = {place.scope: place.store for place in places}
        self.findings = findings
        self.words: dict[Recalled, frozenset[str]] = {}  # of each memory that was compared

    def read(self, one: Recalled) -> bool:
        """Fill in its text; False where that is impossible."""
        if one.text:
            return True
        try:
            one.text = decode(self.stores[one.scope].view(one.memory.path))
        except _broken() as error:
            found = _finding(error)
            self.findings += [found] if found not in self.findings else []
            return False
        return True

    def has_twin(self, one: Recalled, others: list[Recalled]) -> bool:
        """Does one of the others say the same?"""
        return any(self.say_same(one, other) for other in others)

    def say_same(self, one: Recalled, other: Recalled) -> bool:
        """Have two memories that were read most of their words in common?"""
        shorter, longer = sorted((len(one.text), len(other.text)))
        if shorter < SAME / 2 * longer:
            return False  # too different in size, whatever the words
        ours, theirs = self._words(one), self._words(other)
        return len(ours & theirs) >= SAME * len(ours | theirs)

    def _words(self, one: Recalled) -> frozenset[str]:
        if one not in self.words:
            self.words[one] = frozenset(split(one.text[:COMPARED].lower()))
        return self.words[one]


def private_wins(found: list[Recalled], reader: Reader) -> list[Recalled]:
    """Where the team and the user have a memory of the same name, the user's; it says so."""
    own = {_label(one): one for one in reversed(found) if one.scope != TEAM}
    kept = []
    for one in found:
        mine = own.get(_label(one)) if one.scope == TEAM else None
        if mine is None or not reader.read(mine):
            kept.append(one)
        elif reader.read(one) and not reader.say_same(one, mine):
            mine.note = f"the team's {one.memory.path} says something else; yours counts more"
    return kept


def _label(one: Recalled) -> str:
    return stem(one.memory.path).lower().replace("_", "-")

"""Search without a catalog: read everything, keep it in memory."""

from memdir.errors import Finding, MemdirError
from memdir.hot import catalog, recall
from memdir.hot.memory import Memory, stem
from memdir.hot.recall import Found
from memdir.hot.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array

    from memdir.store.ports import Store


class Uncollected:
    """No search for garbage while many small objects come and none goes: it costs a fifth."""

    def __enter__(self) -> None:
        import gc

        self.back = gc.enable if gc.isenabled() else gc.disable
        gc.disable()

    def __exit__(self, *_: object) -> None:
        self.back()


class Postings(dict[str, "array[int]"]):
    """The entries of every term, while a store is read."""

    def __missing__(self, term: str) -> "array[int]":
        entries = self[term] = catalog.none()
        return entries

    def add(self, number: int, terms: list[str], weights: list[int]) -> None:
        """One memory with its terms and their weights."""
        from array import array

        lightest = catalog.entry(number, 0)
        entries = [lightest - (weight << catalog.SHIFT) for weight in weights]
        any(map(array.append, map(self.__getitem__, terms), entries))  # a loop in C


class Scan:
    """Holds the words of a store as it was when it was first asked."""

    def __init__(self, store: "Store") -> None:
        self.store = store
        self.words = Words()
        self.numbered: dict[int, Memory] = {}
        self.lines: list[str] = []  # what the index says about each
        self.terms: list[str] = []  # the terms of each
        self.postings = Postings()
        self.findings: list[Finding] = []
        self._read = False

    def find(self, prompt: str, limit: int) -> Found:
        """The memories that fit, best first."""
        self.read()
        terms = recall.read_prompt(prompt, self.words)

        def look_up(term: str) -> tuple[int, dict[int, int]]:
            entries = self.postings.get(term, catalog.none())
            return len(entries), catalog.read(catalog.front(entries))

        matches = recall.Matches(terms, len(self.numbered), look_up)
        best = matches.best(limit + catalog.MORE)
        rest: list[Memory] = []
        for number, memory in self.numbered.items() if len(best) < limit else ():
            if number not in matches.scores and catalog.is_rule(memory):
                rest.append(memory)
        found = [(n, self.numbered[n], catalog.is_rule(self.numbered[n])) for n in best]
        hits = catalog.hits(matches, found, rest, limit)
        return Found(hits, len(self.numbered), self.findings)

    def read(self) -> None:
        """Read every memory and the index, once."""
        if not self._read:
            with Uncollected():
                self._read_all()
            self._read = True

    def _read_all(self) -> None:
        scan = self.store.scan()
        self.findings = list(scan.findings)
        lines = catalog.lines_of(self._index())
        for memory in sorted(scan.memories, key=lambda memory: memory.path):
            try:
                data = self.store.view(memory.path)
            except MemdirError as error:
                self.findings.append(Finding(error.code, memory.path, error.message, error.next))
                continue
            if memory.head and not memory.document.closing:
                memory = catalog.read_whole(memory.path, data, memory.mtime)
            self._add(memory, data, lines.get(stem(memory.path), ""))

    def _add(self, memory: Memory, data: bytes, line: str) -> None:
        number = catalog.number_of(memory.path, self.numbered)
        terms, weights = catalog.read_entries(self.words, memory, data, line)
        self.numbered[number] = memory
        self.lines.append(line)
        self.terms.append(" ".join(terms))
        self.postings.add(number, terms, weights)

    def _index(self) -> bytes | None:
        try:
            return self.store.index()
        except MemdirError as error:
            self.findings.append(Finding(error.code, error.path, error.message, error.next))
            return None


class Fresh:
    """Forgets what it has read; `Scan` is the one to ask many things of a store that rests."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    def find(self, prompt: str, limit: int) -> "Found":
        """The memories that fit, best first."""
        return Scan(self.store).find(prompt, limit)


def open_search(store: "Store", folder: str) -> Fresh:
    """The search of one store; it keeps nothing in `folder`."""
    return Fresh(store)

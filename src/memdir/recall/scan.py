"""Search without a catalog: reads everything into memory. Catalogs are made from it."""

from array import array
from binascii import crc32
from math import log

from memdir.errors import Finding, MemdirError
from memdir.format.pointer import below_store, read_pointers
from memdir.hot import memory as memory_module
from memdir.hot.catalog import HEAVIEST, MAX_HOLDERS, NUMBER, SHIFT, rank_hits, read_weights
from memdir.hot.memory import Memory, decode, stem
from memdir.hot.recall import RULES, STEPS, Found, Matches, read_prompt
from memdir.hot.words import Words, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from memdir.store.ports import Store

MAX_INDEX_LINES, INDEX_LINE_CHARACTERS = 20, 1000  # index lines per memory
SPACES = str.maketrans("-_/", "   ")
# Weights of a word in: file name, name, description, index line, body.
WEIGHTS = (2, 2, 3, 1, 1)
LENGTH, USUAL_LENGTH = 0.6, 80  # influence of a body's length, and a usual length in words


def number_memory(memory: Memory, taken: "Container[int]") -> int:
    """Derived from the path, so ties keep their order; odd for a rule."""
    number = crc32(memory.path.encode("utf-8", "surrogateescape")) & ~1 | (memory.kind in RULES)
    while number in taken:
        number = (number + 2) & NUMBER
    return number


def make_entry(number: int, weight: int) -> int:
    return (HEAVIEST - min(weight, HEAVIEST)) << SHIFT | number


def pack_entries(entries: "array[int]") -> bytes:
    return (array("Q", sorted(entries)) if len(entries) > MAX_HOLDERS else entries).tobytes()


def log_holders(count: int) -> float:
    """The BM25 factor that depends on how many memories contain the term."""
    return log(count + 0.5)


def log_count(count: int) -> float:
    """The BM25 factor that depends on the size of the store."""
    return log(count + 1)


def weigh_terms(words: Words, memory: Memory, text: str, line: str) -> tuple[list[str], list[int]]:
    values = memory.values
    document = memory.document  # may hold the header only
    header_only = document.closing and not document.body and text.startswith(memory.head)
    body = text[len(memory.head) :] if header_only else memory_module.read(text).body
    file = stem(memory.path).translate(SPACES)
    return weigh_fields(
        words, (file, values.get("name", ""), values.get("description", ""), line, body)
    )


def weigh_fields(words: Words, fields: "Sequence[str]") -> tuple[list[str], list[int]]:
    *short, body = fields
    counts, length = words.count(body)
    share = WEIGHTS[-1] * STEPS / (1 - LENGTH + LENGTH * length / USUAL_LENGTH)
    heading: list[str] = []
    for text, times in zip(short, WEIGHTS, strict=False):
        heading += split_words(text) * times
    terms, weights = [], []
    for term, count in words.tally(heading)[0].items():
        terms.append(term)
        weights.append(_round(count * STEPS + counts.pop(term, 0) * share))
    terms += counts
    weights += map(_Rounded(share).__getitem__, counts.values())
    return terms, weights


class _Rounded(dict[float, int]):
    """Cache of weights by the count of a word in a body."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __missing__(self, count: float) -> int:
        weight = self[count] = _round(count * self.share)
        return weight


def _round(weight: float) -> int:
    return min(int(weight + 0.5), HEAVIEST) or 1  # a word may occur hundreds of times


def read_whole(path: str, text: str, mtime: float) -> Memory:
    document = memory_module.read(text)
    head = text[: len(text) - len(document.body)] if document.closing else ""
    return Memory(path, head, mtime, len(memory_module.encode(text)))


def read_index_lines(store: "Store", findings: list[Finding]) -> dict[str, str]:
    try:
        index = store.index()
    except MemdirError as error:
        findings.append(Finding(error.code, error.path, error.message, error.next))
        index = None
    targets: dict[str, list[str]] = {}
    for number, line in enumerate(decode(index or b"").split("\n")):
        for pointer in read_pointers(line, number):
            lines = targets.setdefault(stem(below_store(pointer.target) or pointer.target), [])
            if len(lines) < MAX_INDEX_LINES:
                lines.append(f"{pointer.title} {pointer.hook}"[:INDEX_LINE_CHARACTERS])
    return {target: " ".join(lines) for target, lines in targets.items()}


class Uncollected:
    """Disables garbage collection during a bulk load, where it would cost a fifth of the time."""

    def __enter__(self) -> None:
        import gc

        self.back = gc.enable if gc.isenabled() else gc.disable
        gc.disable()

    def __exit__(self, *_: object) -> None:
        self.back()


class Postings(dict[str, "array[int]"]):
    """Entries by term; arrays need a quarter of the memory of lists."""

    def __missing__(self, term: str) -> "array[int]":
        entries = self[term] = array("Q")
        return entries

    def add(self, number: int, terms: list[str], weights: list[int]) -> None:
        lightest = make_entry(number, 0)
        entries = [lightest - (weight << SHIFT) for weight in weights]
        any(map(array.append, map(self.__getitem__, terms), entries))  # a loop in C is faster


class Scan:
    def __init__(self, store: "Store") -> None:
        self.store = store
        self.words = Words()
        self.numbered: dict[int, Memory] = {}
        self.lines: list[str] = []  # index text of each memory
        self.terms: list[str] = []  # terms of each memory
        self.postings = Postings()
        self.findings: list[Finding] = []
        self._read = False

    def find(self, prompt: str, limit: int) -> Found:
        self.read()

        def look_up(term: str) -> tuple[float, dict[int, int]]:
            entries = self.postings.get(term, array("Q"))
            data = pack_entries(entries)[: MAX_HOLDERS * entries.itemsize]
            return log_holders(len(entries)), read_weights(data)

        numbered = self.numbered
        matches = Matches(read_prompt(prompt, self.words), log_count(len(numbered)), look_up)
        best = matches.best(limit)
        rules = [
            memory
            for number, memory in (numbered.items() if len(best) < limit else ())
            if number & 1 and number not in matches.scores
        ]
        hits = rank_hits(matches, best, numbered, rules, limit)
        return Found(hits, len(numbered), self.findings)

    def read(self) -> None:
        if self._read:
            return
        with Uncollected():
            scan = self.store.scan()
            self.findings = list(scan.findings)
            lines = read_index_lines(self.store, self.findings)
            for memory in sorted(scan.memories, key=lambda memory: memory.path):
                try:
                    text = decode(self.store.view(memory.path))
                except MemdirError as error:
                    finding = Finding(error.code, memory.path, error.message, error.next)
                    self.findings.append(finding)
                    continue
                if memory.head and not memory.document.closing:
                    memory = read_whole(memory.path, text, memory.mtime)
                line = lines.get(stem(memory.path), "")
                terms, weights = weigh_terms(self.words, memory, text, line)
                number = number_memory(memory, self.numbered)
                self.numbered[number] = memory
                self.lines.append(line)
                self.terms.append(" ".join(terms))
                self.postings.add(number, terms, weights)
        self._read = True


class Fresh:
    """Reads the store for every search; use `Scan` for many searches of a store at rest."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    def find(self, prompt: str, limit: int) -> "Found":
        return Scan(self.store).find(prompt, limit)


def open_search(store: "Store", folder: str) -> Fresh:
    return Fresh(store)

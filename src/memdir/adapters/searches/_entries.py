"""What of a memory is searched, the same for every search. Hot path."""

from memdir.core import frontmatter
from memdir.core.hit import Hit
from memdir.core.memory import TYPE_KEYS, Memory, stem
from memdir.core.ranking import RULES, Matches, final

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memdir.core.words import Words

    Candidate = tuple[int, Memory, bool]  # its number, itself, and whether it is a rule

MOST_LINES, LONGEST_LINE = 20, 1000  # of the index, about one memory
MORE = 12  # candidates beyond the limit whose type may still lift them
SPACES = str.maketrans("-_/", "   ")


def read_entries(
    words: "Words", memory: Memory, data: bytes, line: str
) -> tuple[list[str], list[int]]:
    """The terms of a memory and their weights; `line` is what the index says about it."""
    from memdir.core.weighing import weights  # whoever asks a catalog weighs nothing

    values = memory.values
    file = stem(memory.path).translate(SPACES)
    text = frontmatter.decode(data)
    read = memory.document  # of the header alone, or of the whole file
    header_only = read.closing and not read.body and text.startswith(memory.head)
    body = text[len(memory.head) :] if header_only else frontmatter.read(text).body
    return weights(words, (file, values.get("name", ""), values.get("description", ""), line, body))


def read_whole(path: str, data: bytes, mtime: float) -> Memory:
    """A memory from its whole bytes, also where its header is longer than a scan looks."""
    text = frontmatter.decode(data)
    document = frontmatter.read(text)
    head = text[: len(text) - len(document.body)] if document.closing else ""
    return Memory(path, head, mtime, len(data))


def is_rule(memory: Memory) -> bool:
    """True for a memory that applies to a kind of task, whatever its words."""
    return kind_of(memory) in RULES


def kind_of(memory: Memory) -> str:
    """The type as it is written: whether it is known would take eleven modules to say."""
    return memory.get(TYPE_KEYS).strip().lower()


def lines_of(index: bytes | None) -> dict[str, str]:
    """What the index says about each memory: its lines by the stem they point at."""
    from memdir.core.pointer import below_store, read_pointers

    found: dict[str, list[str]] = {}
    for number, line in enumerate(frontmatter.decode(index or b"").split("\n")):
        for pointer in read_pointers(line, number):
            target = stem(below_store(pointer.target) or pointer.target)
            said = found.setdefault(target, [])
            if len(said) < MOST_LINES:
                said.append(f"{pointer.title} {pointer.hook}"[:LONGEST_LINE])
    return {target: " ".join(said) for target, said in found.items()}


def hits(
    matches: Matches, found: "Iterable[Candidate]", rest: "Iterable[Memory]", limit: int
) -> list[Hit]:
    """In the order of their final scores, then rules that share no word with the prompt."""
    ranked = [
        (-final(matches.scores[number], rule), memory.path, number, memory)
        for number, memory, rule in found
    ]
    ranked += [(-final(0.0, True), memory.path, -1, memory) for memory in rest]
    ranked.sort(key=lambda one: one[:2])
    return [
        Hit(memory, -score, matches.sure(number), matches.words(number))
        for score, _, number, memory in ranked[:limit]
        if score < 0
    ]

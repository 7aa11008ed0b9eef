"""Questions that a store can be asked without anybody: its own descriptions, its own links."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from memdir.core.frontmatter import Document
from memdir.core.loading import REST, TEXT, layers
from memdir.core.memory import Memory
from memdir.core.outline import Lookup
from memdir.core.pointer import WIKILINK, read_pointers
from memdir.core.words import STOP, split
from memdir.evaluation.metrics import SEED
from memdir.evaluation.sets import Query

MOST = 300  # questions of a kind; a larger store is sampled, always the same way
FEWEST_WORDS = 2  # of a question; less could mean anything
DROPPED = 3  # every third word is left out
CHUNK = 4  # characters that stand for a word where words have no spaces between them


def paraphrase(text: str, seed: str) -> str:
    """The text without its stop words and every third word, in another order, always the same."""
    words = [part for word in split(text) for part in _chunks(word) if part.lower() not in STOP]
    kept = [word for at, word in enumerate(words, 1) if at % DROPPED]
    random.Random(f"{SEED} {seed}").shuffle(kept)
    return " ".join(kept) if len(kept) >= FEWEST_WORDS else ""


def _chunks(word: str) -> list[str]:
    """A run of a script without spaces in parts; any other word whole."""
    if word.isascii() or len(word) <= 2 * CHUNK or word.lower() != word.upper():
        return [word]
    return [word[at : at + CHUNK] for at in range(0, len(word), CHUNK)]


def ask_descriptions(memories: Iterable[Memory]) -> list[Query]:
    """Each description, paraphrased, should find its memory."""
    asked = [(one.path, paraphrase(one.description, one.path)) for one in memories]
    return sample([Query(path, text, "", (path,)) for path, text in asked if text])


def ask_links(
    documents: Mapping[str, Document], names: Mapping[str, str]
) -> tuple[list[Query], list[tuple[str, str]]]:
    """Each sentence with a `[[link]]` should find what it links to; and links to nothing."""
    lookup = Lookup(documents, names)
    asked: dict[tuple[str, str], Query] = {}
    dangling: list[tuple[str, str]] = []
    for path, document in documents.items():
        for target, said in _links(document.body.split("\n")):
            found = lookup.find(target, WIKILINK)
            if found is None:
                dangling.append((path, target))
            elif found != path:
                asked.setdefault((path, found), Query(path, said, "", (found,)))
    return list(asked.values()), dangling


def _links(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(target, the line without its brackets) of each link outside code."""
    found = []
    for number, (layer, shown) in enumerate(layers(lines), 1):
        if layer in (TEXT, REST) and "[[" in shown:
            said = shown.replace("[[", " ").replace("]]", " ")
            pointers = read_pointers(shown, number)
            found += [(one.target, said) for one in pointers if one.form == WIKILINK]
    return found


def sample(queries: list[Query]) -> list[Query]:
    """All of them, or as many as a run has time for."""
    if len(queries) <= MOST:
        return queries
    return random.Random(SEED).sample(queries, MOST)

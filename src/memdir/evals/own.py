"""Quality of memory on your own store: offline, read-only, without a model."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace

from memdir import evals
from memdir.errors import MemdirError
from memdir.evals import recall_sets
from memdir.format.outline import Lookup
from memdir.format.pointer import WIKILINK, parse_pointers
from memdir.hot import memory
from memdir.hot.memory import Memory, decode
from memdir.hot.words import STOP, split_words
from memdir.store.writer import App
from memdir.text import markdown
from memdir.text.terminal import plural

MAX_QUERIES = 300  # per kind; larger stores are sampled, always the same way
CHUNK_CHARACTERS = 4  # per word in scripts without spaces
MIN_WORDS = 2  # per question; fewer are ambiguous
ABOUT_RECALL = (
    "Self-recall: each description without its stop words and every third word, in another "
    "order, should find its memory. Links: the line around a [[link]] should find its target. "
    "Index, ages, duplicates, claims, tokens: memdir audit --deep."
)


def evaluate_own_store(app: App) -> evals.Report:
    memories = app.store.scan().memories
    texts = {}
    for item in memories:
        try:
            texts[item.path] = decode(app.store.view(item.path))
        except MemdirError:
            continue  # memdir audit reports it
    linked = make_questions_from_links(texts, {item.name: item.path for item in memories})
    described = make_questions_from_descriptions(memories)
    asked = recall_sets.rank_eval_set(described, {"": app.search}, recall_sets.DEPTH)
    around = recall_sets.rank_eval_set(linked, {"": app.search}, recall_sets.DEPTH)
    # The memory that contains the link is no answer to its own question.
    around = [
        replace(item, ranking=tuple(path for path in item.ranking if path != item.query.id))
        for item in around
    ]
    figures = (
        evals.mean_figure("self-recall R@1", recall_sets.recall_figures(asked, 1)),
        evals.mean_figure("self-recall R@5", recall_sets.recall_figures(asked, 5)),
        evals.mean_figure("self-recall MRR", recall_sets.rank_figures(asked)),
        evals.mean_figure("linked memory found, R@5", recall_sets.recall_figures(around, 5)),
        *evals.time_figures("recall, ms", [item.milliseconds for item in asked]),
    )
    summary = f"{plural(len(memories), 'memory', 'memories')}, {app.config.scope} scope"
    remarks = (ABOUT_RECALL,)
    return evals.Report("own", app.store.root, summary, "Is it found?", figures, remarks)


def make_questions_from_descriptions(memories: Iterable[Memory]) -> list[recall_sets.Query]:
    """Each description, without stop words and every third word, should find its memory."""
    queries = []
    for item in memories:
        words = [part for word in split_words(item.description) for part in _chunks(word)]
        words = [word for word in words if word.lower() not in STOP]
        kept = [word for number, word in enumerate(words, 1) if number % 3]
        random.Random(f"{evals.SEED} {item.path}").shuffle(kept)  # the same in every run
        if len(kept) >= MIN_WORDS:
            queries.append(recall_sets.Query(item.path, " ".join(kept), "", (item.path,)))
    return _sample(queries)


def _chunks(word: str) -> list[str]:
    """Scripts without spaces write a sentence as one word."""
    size = CHUNK_CHARACTERS
    if word.isascii() or len(word) <= 2 * size or word.lower() != word.upper():
        return [word]
    return [word[start : start + size] for start in range(0, len(word), size)]


def make_questions_from_links(
    texts: Mapping[str, str], names: Mapping[str, str]
) -> list[recall_sets.Query]:
    """Each line with a `[[link]]` should find its target."""
    lookup = Lookup(texts, names)
    asked: dict[tuple[str, str], recall_sets.Query] = {}
    for path, text in texts.items():
        for layer, line in markdown.markdown_layers(memory.read_header(text).body.split("\n")):
            if layer not in (markdown.TEXT, markdown.REST) or "[[" not in line:
                continue
            prompt = line.replace("[[", " ").replace("]]", " ")
            for pointer in parse_pointers(line, 1):
                target = lookup.find(pointer.target, WIKILINK)
                if pointer.form == WIKILINK and target and target != path:
                    asked.setdefault((path, target), recall_sets.Query(path, prompt, "", (target,)))
    return _sample(list(asked.values()))


def _sample(queries: list[recall_sets.Query]) -> list[recall_sets.Query]:
    if len(queries) <= MAX_QUERIES:
        return queries
    return random.Random(evals.SEED).sample(queries, MAX_QUERIES)

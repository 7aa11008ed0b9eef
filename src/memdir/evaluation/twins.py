"""Near-identical memories of one store, without comparing each with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from memdir.core.similarity import FEWEST_WORDS, SAME, words

NEIGHBOURS = 50  # memories that each one is compared with per word: a thousand copies stay cheap


def find_twins(texts: Mapping[str, str]) -> list[tuple[str, str, float]]:
    """Pairs that share at least SAME of their words, the most alike first.

    Two such sets share one of their few rarest words, so only those are looked up.
    """
    sets = {path: words(text) for path, text in sorted(texts.items())}
    seen = Counter(word for held in sets.values() for word in held)
    holders: dict[str, list[str]] = {}
    pairs = []
    for path, mine in sets.items():
        if len(mine) < FEWEST_WORDS:
            continue
        rarest = sorted(mine, key=lambda word: (seen[word], word))
        few = rarest[: len(mine) - int(len(mine) * SAME) + 1]
        others = dict.fromkeys(
            other for word in few for other in holders.get(word, [])[-NEIGHBOURS:]
        )
        for other in others:
            theirs = sets[other]
            share = len(mine & theirs) / len(mine | theirs)
            pairs += [(other, path, share)] if share >= SAME else []
        for word in few:
            holders.setdefault(word, []).append(path)
    return sorted(pairs, key=lambda pair: (-pair[2], pair[:2]))

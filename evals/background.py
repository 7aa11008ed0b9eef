"""Make src/memdir/hot/background.txt: how common words are in memories at large.

    python evals/background.py CORPUS_DIRECTORY

A word gets in when three repositories or more use it, so that no project's names do. What goes
out is a table of words by how rare they are; no sentence of any memory. Words of everyday talk
(plain_words.txt) are rare in memories but not in prompts, so they count as PLAIN at most.
"""

from __future__ import annotations

import math
import sys
import textwrap
from collections import Counter, defaultdict
from pathlib import Path

from memdir.hot import memory
from memdir.hot.words import Words

STEP = 0.5  # two words closer than this are equally rare
REPOSITORIES = 3
PLAIN = 2.0
PLAIN_WORDS = Path(__file__).with_name("plain_words.txt")
WIDTH = 92
OUT = Path(__file__).parents[1] / "src" / "memdir" / "hot" / "background.txt"


def main(corpus: Path) -> None:
    """Count, round, write."""
    words, files, used = Words(), Counter[str](), defaultdict[str, set[str]](set)
    texts = sorted(corpus.glob("*__*/**/*.md"))
    for path in texts:
        document = memory.read_header(path.read_text("utf-8", "replace"))
        said = (document.get("name"), document.get("description"), document.body)
        terms, _ = words.count("\n".join(said))
        files.update(terms.keys())
        for term in terms:
            used[term].add(path.relative_to(corpus).parts[0])
    plain, _ = words.count(PLAIN_WORDS.read_text("utf-8"))
    levels = defaultdict[float, list[str]](list)
    for term in {*files, *plain}:
        count = files[term]
        rare = math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
        level = round(rare / STEP) * STEP
        if term in plain:
            levels[min(level, PLAIN)].append(term)
        elif len(used[term]) >= REPOSITORIES and not term.isdigit():
            levels[level].append(term)
    table = "\n".join(
        f"{level:g} {line}"
        for level in sorted(levels)
        for line in textwrap.wrap(" ".join(sorted(levels[level])), WIDTH)
    )
    OUT.write_text(f"{table}\n", "utf-8")
    print(f"{OUT}: {sum(map(len, levels.values()))} words")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

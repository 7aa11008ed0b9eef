"""Make src/memdir/hot/background.txt: how common words are in memories at large.

    python evals/background.py CORPUS_DIRECTORY

A word gets in when three repositories or more use it, so that no project's names do. What goes
out is a table of words by how rare they are; no sentence of any memory.
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
    levels = defaultdict[float, list[str]](list)
    for term, count in files.items():
        if len(used[term]) >= REPOSITORIES and not term.isdigit():
            rare = math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
            levels[round(rare / STEP) * STEP].append(term)
    table = "\n".join(
        f"{level:g} {line}"
        for level in sorted(levels)
        for line in textwrap.wrap(" ".join(sorted(levels[level])), WIDTH)
    )
    OUT.write_text(f"{table}\n", "utf-8")
    print(f"{OUT}: {sum(map(len, levels.values()))} words")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""What the memories say already: content of the index that is known makes no second memory."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.core import naming
from memdir.core.memory import UNKNOWN, stem
from memdir.core.outline import untyped
from memdir.core.restructuring.bodies import level_of
from memdir.core.restructuring.knowledge import bare
from memdir.core.restructuring.merging import blocks
from memdir.core.restructuring.work import MERGED, Work

FEWEST_WORDS = 6  # in lines that stand in another memory by no accident
SHARE = 0.5  # of the lines; then a memory of the same name is the same topic


class Known:
    """The lines of every memory."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._lines: dict[str, set[str]] = {}
        self._holders: dict[str, list[str]] = {}
        for path, page in work.pages.items():
            self._lines[path] = {bare(line) for line in page.document.body.split("\n")}
            for line in self._lines[path]:
                self._holders.setdefault(line, []).append(path)

    def took(self, title: str, lines: Sequence[str]) -> bool:
        """Does a memory say this already, or nearly so? It then takes the rest of it."""
        said = [bare(line) for line in lines if not level_of(line)]
        said = [line for line in said if any(map(str.isalnum, line))]
        if not said or len(" ".join(said).split()) < FEWEST_WORDS:
            return False
        for path in self._holders.get(said[0], []):
            if all(line in self._lines[path] for line in said):
                self._settle(path, lines)
                return True
        named = naming.name_for(title, UNKNOWN, "-")
        for path, there in self._lines.items():
            same = untyped(stem(path)).replace("_", "-").casefold() == named
            if same and sum(line in there for line in said) >= SHARE * len(said):
                self._settle(path, lines)
                return True
        return False

    def _settle(self, path: str, lines: Sequence[str]) -> None:
        work, there = self._work, self._lines[path]
        new = [
            block
            for block in blocks(list(lines))
            if any(bare(line) not in there and not level_of(line) for line in block)
        ]
        kept = {line for block in new for line in block}
        for line in lines:
            if line not in kept and any(map(str.isalnum, line)):
                work.account(work.given.index_path, line, f"{path} says it already")
        for block in new:
            work.append(path, "\n".join(block))
        counted = sum(map(len, new))
        told = f"took {counted} new of them" if counted else "says them all"
        work.say(MERGED, path, f"has these lines of the index already; {told}")

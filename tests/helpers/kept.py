"""Whether every line of before is there afterwards: found by words alone, not by the product."""

import re
from collections.abc import Iterable, Mapping

LINK = re.compile(r"\[+([^\[\]]*)\]+(?:\(<?([^()<>]*(?:\([^()]*\))?[^()<>]*)>?\))?")
SEE = re.compile(r"[\s(—–-]*\bsee\s*:?\s*[.)]*\s*$", re.IGNORECASE)


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


class After:
    """The files as they are now, as one stream of words each."""

    def __init__(self, files: Mapping[str, bytes], accounted: Iterable[str]) -> None:
        texts = [data.decode("utf-8", "surrogateescape") for data in files.values()]
        self.streams = "\n".join(f" {words(text)} " for text in texts)
        self.lines = {words(line) for text in texts for line in text.split("\n")}
        self.accounted = {words(text) for text in accounted}

    def has(self, text: str) -> bool:
        said = words(text)
        return not said or said in self.lines or f" {said} " in self.streams

    def keeps(self, line: str) -> bool:
        if self.has(line) or words(line) in self.accounted:
            return True
        _, colon, value = line.partition(":")
        if colon and self.has(value):
            return True
        found = list(LINK.finditer(line))
        parts, at = [], 0
        for link in found:
            parts += [SEE.sub("", line[at : link.start()]), link[1]]
            at = link.end()
        return bool(found) and all(map(self.has, [*parts, line[at:]]))


def not_kept(
    before: Mapping[str, bytes], after: Mapping[str, bytes], accounted: Iterable[str] = ()
) -> list[str]:
    """The lines of before that are nowhere afterwards, and of which nobody gave account."""
    now = After(after, accounted)
    return [
        f"{path}: {line}"
        for path, data in before.items()
        if path.endswith(".md")
        for line in data.decode("utf-8", "surrogateescape").split("\n")
        if not now.keeps(line)
    ]

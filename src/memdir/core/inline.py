"""The inside of one Markdown line: code spans, brackets, escapes and link targets.

Every function costs no more than its line is long, whatever the line holds: an index may come
from anybody's repository.
"""

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")  # what a backslash can escape
_LONGEST_TARGET = 4096  # characters; the longest path that Linux takes
_DEEPEST = 8  # parentheses inside a target; no name has more


def structure(line: str) -> tuple[dict[int, int], dict[int, int]]:
    """Code spans (start to end) and brackets outside them (opening to closing), in one pass."""
    ticks = _tick_runs(line) if "`" in line else {}
    spans: dict[int, int] = {}
    pairs: dict[int, int] = {}
    opened: list[int] = []
    # From mark to mark, not from character to character: most of a line is words.
    marks = {mark: place for mark in "\\[]`" if (place := line.find(mark)) >= 0}
    while marks:
        char = min(marks, key=marks.__getitem__)
        at = marks[char]
        step = 1
        if char == "\\":
            step = 2
        elif char == "[":
            opened.append(at)
        elif char == "]" and opened:
            pairs[opened.pop()] = at
        elif char == "`":
            step = _run(line, at)
            same = ticks.get(step, [])
            while same and same[-1] <= at:
                same.pop()
            if same:
                spans[at] = same[-1] + step
                step = spans[at] - at
        for mark in [mark for mark, place in marks.items() if place < at + step]:
            marks[mark] = line.find(mark, at + step)
            if marks[mark] < 0:
                del marks[mark]
    return spans, pairs


def plain(text: str) -> str:
    """A text without its escapes; code spans stay as they are."""
    if "\\" not in text:
        return text
    spans, _ = structure(text)
    out = []
    at = 0
    while at < len(text):
        end = spans.get(at, at + 1)
        if text[at] == "\\" and text[at + 1 : at + 2] in _PUNCTUATION:
            at += 1
            end = at + 1
        out.append(text[at:end])
        at = end
    return "".join(out)


def escape(text: str, marks: str) -> str:
    """A text in which `marks` mean themselves; `plain` is the inverse. Code spans stay readable."""
    if "\\" not in text and "-->" not in text and not any(mark in text for mark in marks):
        return text
    spans = {} if "`" in marks or "-->" in text else structure(text)[0]
    out = []
    at = 0
    while at < len(text):
        end = spans.get(at, at + 1)
        char = text[at]
        if (
            end == at + 1
            and (
                char in marks
                or (char == "\\" and (at + 1 == len(text) or text[at + 1] in _PUNCTUATION))
                # A comment that is left open further up in the index must not end in here.
                or (char == ">" and text[max(at - 2, 0) : at] == "--")
            )
        ):
            out.append("\\")
        out.append(text[at:end])
        at = end
    return "".join(out)


def destination(line: str, at: int) -> tuple[str, int]:
    """The target that starts after `](` and where the link ends; the end is -1 if there is none."""
    while line.startswith((" ", "\t"), at):
        at += 1
    end = _angled(line, at) if line.startswith("<", at) else _unbroken(line, at)
    close = _link_close(line, end)
    if close >= 0:
        target = line[at + 1 : end - 1] if line.startswith("<", at) else line[at:end]
        return plain(target), close
    # `[x](my file.md)` is no link to a strict reader, but people and models write it.
    close = line.find(")", at, at + _LONGEST_TARGET)
    if close < 0 or not line.endswith(".md", at, close):
        return "", -1
    return plain(line[at:close]), close + 1


def _angled(line: str, at: int) -> int:
    """One past the `>` of a target in angle brackets; -1 if it is not closed."""
    at += 1
    while at < len(line) and line[at] not in "<>":
        at += 2 if line[at] == "\\" else 1
    return at + 1 if line.startswith(">", at) else -1


def _unbroken(line: str, at: int) -> int:
    """The end of a target without spaces, parentheses balanced; -1 if it nests too deep."""
    depth = 0
    while at < len(line) and line[at] not in " \t":
        char = line[at]
        if char == "(":
            depth += 1
            # Also what keeps `[a]([a]([a](…` from costing its length squared.
            if depth > _DEEPEST:
                return -1
        elif char == ")":
            if not depth:
                break
            depth -= 1
        at += 2 if char == "\\" else 1
    return min(at, len(line))


def _link_close(line: str, at: int) -> int:
    """One past the `)` that ends a link after its target and an optional quoted title, else -1."""
    if at < 0:
        return -1
    start = at
    while line.startswith((" ", "\t"), at):
        at += 1
    if at > start and line.startswith(('"', "'"), at):
        at = line.find(line[at], at + 1) + 1
        if not at:
            return -1
    return at + 1 if line.startswith(")", at) else -1


def _run(line: str, start: int) -> int:
    """How many backticks stand here."""
    end = start + 1
    while line.startswith("`", end):
        end += 1
    return end - start


def _tick_runs(line: str) -> dict[int, list[int]]:
    """Where runs of backticks start, by their length, the last one first."""
    runs: dict[int, list[int]] = {}
    start = line.find("`")
    while start >= 0:
        length = _run(line, start)
        runs.setdefault(length, []).append(start)
        start = line.find("`", start + length)
    for starts in runs.values():
        starts.reverse()
    return runs

"""The index of a store: surveyed, healed and changed line by line, as text.

Lines that we did not write are the user's: they stay where they are, byte for byte.
"""

from memdir.core.loading import CODE, MAX_CHARACTERS, MAX_LINES, OPEN, POINTER_AIM, load
from memdir.core.outline import (
    CONTENT,
    HEADING,
    INTRO,
    POINTER,
    Line,
    Lookup,
    block_end,
    hanging,
    read_outline,
    write_outline,
)
from memdir.core.placing import rewrite
from memdir.core.pointer import LINK, Pointer, read_pointers, write_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Describe = Callable[[str], tuple[str, str, str]]
    Lost = Callable[[Pointer], bool]

_ODD = "\\\r<>\ufeff%#\t`"  # a list with any of these is read line by line
_NO_NAMES: "Mapping[str, str]" = {}


class Survey:
    """What an index points at, what it misses, and what does not belong into it."""

    __slots__ = (
        "characters",
        "dangling",
        "duplicates",
        "inline",
        "intro",
        "lines",
        "no_memories",
        "orphans",
        "overlong",
        "pointers",
    )

    def __init__(self) -> None:
        self.pointers: dict[str, list[Pointer]] = {}  # by the file they mean
        self.orphans: list[str] = []  # files without a pointer
        self.dangling: list[Pointer] = []  # pointers without a file
        self.no_memories: list[Pointer] = []  # pointers to a link, a hidden file, a folder
        self.duplicates: list[Pointer] = []  # further entries for a file that has one
        self.overlong: list[int] = []  # numbers of lines
        self.inline: list[int] = []  # numbers of lines that are content, not pointers
        self.intro: list[int] = []  # numbers of lines that introduce the index, or are all of it
        self.lines = 0  # as the loader counts them
        self.characters = 0  # UTF-16 units, as the loader counts them


class Healed:
    """An index after healing: which files got a pointer, which targets lost a line, and why."""

    __slots__ = ("added", "dropped", "repeated", "text")

    def __init__(
        self, text: str, added: list[str], dropped: "Sequence[str]", repeated: "Sequence[str]" = ()
    ) -> None:
        self.text = text
        self.added = added
        self.dropped = dropped  # there is no such file
        self.repeated = repeated  # the same list has the same link above it


def resolve(
    target: str, form: str, files: "Iterable[str]", names: "Mapping[str, str]" = _NO_NAMES
) -> str | None:
    """Which of the store's files a pointer means; `names` maps labels to files."""
    return Lookup(files, names).find(target, form)


def survey(
    text: str,
    files: "Sequence[str]",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
) -> Survey:
    """Everything there is to say about an index, without changing it."""
    found = Survey()
    entries: set[str] = set()
    _, lines = read_outline(text, Lookup(files, names))
    for line in lines:
        for pointer, path in zip(line.pointers, line.paths, strict=True):
            if path is None:
                there = lost is not None and not lost(pointer)
                (found.no_memories if there else found.dangling).append(pointer)
            else:
                found.pointers.setdefault(path, []).append(pointer)
        if line.entry and line.paths[0]:
            if line.paths[0] in entries:
                found.duplicates.append(line.pointers[0])
            entries.add(line.paths[0])
        if line.kind == POINTER and len(line.text) > POINTER_AIM:
            found.overlong.append(line.number)
        if line.kind in (CONTENT, CODE, OPEN):
            found.inline.append(line.number)
        if line.kind == INTRO:
            found.intro.append(line.number)
    found.orphans = sorted(set(files) - set(found.pointers))
    loaded = load(text)
    found.lines, found.characters = loaded.lines, loaded.characters
    return found


def heal(
    text: str,
    files: "Sequence[str]",
    describe: "Describe",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
) -> Healed:
    """A pointer for every orphan, in the order of `files`; none that is dangling.

    A line that leads to something stays, unless its list says the same above. `lost` asks the
    store itself whether a target is gone; without it, its folder decides.
    """
    lacking = _only_lacking(text, files)
    if lacking is not None and len(lacking) <= 1:
        return _append(text, lacking, describe)
    lookup = Lookup(files, names)
    bom, lines = read_outline(text, lookup)
    gone, dropped, repeated = _superfluous(lines, files, lost)
    pointed = {path for line in lines for path in line.paths}
    added: list[str] = []
    fresh: list[tuple[str, str]] = []
    for path in dict.fromkeys(files):
        if path not in pointed:
            title, hook, section = describe(path)
            written = write_pointer(title, path, hook)
            # A name that no line can hold (a line break in it) would be added again and again.
            if [lookup.find(each.target, LINK) for each in read_pointers(written, 1)] == [path]:
                added.append(path)
                fresh.append((section, written))
    if not added and not gone:
        return Healed(text, [], [])
    return Healed(rewrite(bom, lines, gone, fresh), added, dropped, repeated)


def rebuild(
    text: str,
    files: "Sequence[str]",
    describe: "Describe",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
) -> Healed:
    """An index from the files alone; what a person wrote into the old text stays."""
    return heal(text if text.strip() else "", files, describe, names, lost)


def replace_pointer(text: str, target: str, title: str, hook: str, *, old: str) -> str:
    """The index with a new line for one memory where the old one still stands as we wrote it."""
    bom, lines = read_outline(text, Lookup((target,), _NO_NAMES))
    for line in lines:
        if line.text == old and target in line.paths:
            line.text = write_pointer(title, target, hook)
            break
    return write_outline(bom, lines)


def arrange(text: str, order: "Sequence[str]", ours: "Mapping[str, str]") -> str:
    """The index with our own lines in this order, each section for itself; others stay in place."""
    bom, lines = read_outline(text, Lookup(ours, _NO_NAMES))
    rank = {target: at for at, target in enumerate(order)}
    targets = {line: target for target, line in ours.items()}
    slots: list[Line] = []
    for at, line in enumerate(lines):
        if line.kind == HEADING:
            _sort(slots, targets, rank)
            slots = []
        # A line with something below it belongs to somebody who added that.
        elif line.entry and line.text in targets and block_end(lines, at, line.indent) == at + 1:
            slots.append(line)
    _sort(slots, targets, rank)
    return write_outline(bom, lines)


def over_limit(text: str) -> tuple[int, int]:
    """How many lines and characters an agent would not see."""
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    if text.count("\n") < MAX_LINES and units <= MAX_CHARACTERS:
        return 0, 0  # the whole is within the limits, so what the loader shows of it is
    loaded = load(text)
    return loaded.cut_lines, loaded.cut_characters


def _only_lacking(text: str, files: "Sequence[str]") -> list[str] | None:
    """The files without a pointer, where that is all that can be wrong; None if it may be more.

    Most indexes are a plain list of links, and most saves add one memory: this sees it at a
    fraction of the cost of reading every line. A test holds that `heal` gives the same.
    """
    parts = text.split("](")
    count = len(parts) - 1
    marks = (text.count("["), text.count("]"), text.count("\n"))
    if text[:3] != "- [" or text[-1:] != "\n" or marks != (count, count, count):
        return None  # not one link and one line end for each line
    if "\n" in parts[-1][:-1] or any("\n- [" not in part for part in parts[1:-1]):
        return None
    targets = [part.partition(")")[0] for part in parts[1:]]
    unique = set(targets)
    if len(unique) != count or not unique <= set(files) or any(mark in text for mark in _ODD):
        return None
    return [path for path in files if path not in unique]


def _append(text: str, lacking: list[str], describe: "Describe") -> Healed:
    """A plain list with one more line."""
    for path in lacking:
        title, hook, _ = describe(path)
        written = write_pointer(title, path, hook)
        if [each.target for each in read_pointers(written, 1)] != [path]:
            return Healed(text, [], [])  # a name that no line can hold
        text += written + "\n"
    return Healed(text, lacking, [])


def _sort(slots: list[Line], targets: dict[str, str], rank: dict[str, int]) -> None:
    texts = sorted(
        [line.text for line in slots], key=lambda text: rank.get(targets[text], len(rank))
    )
    for line, text in zip(slots, texts, strict=True):
        line.text = text


def _superfluous(
    lines: list[Line], files: "Iterable[str]", lost: "Lost | None"
) -> tuple[set[int], list[str], list[str]]:
    """Lines that are nothing but a pointer to a missing file, or the same link of a list again."""
    folders = _folders(files)
    seen: set[tuple[str, str]] = set()
    dangling: dict[int, str] = {}
    gone: set[int] = set()
    repeated: list[str] = []
    for at, line in enumerate(lines):
        if line.kind == HEADING:
            seen.clear()  # below another heading it is another entry somebody wanted
        if not line.entry or len(line.pointers) > 1:
            continue
        pointer, path = line.pointers[0], line.paths[0]
        # A folder that the store does not have may be one of the repository: only reported.
        target = pointer.target
        # The same as written up to the hook: another title is another entry somebody wanted.
        wording = line.text[: pointer.end].strip()
        if path is None and (lost(pointer) if lost else target.rpartition("/")[0] in folders):
            dangling[at] = target
        elif path is not None and (path, wording) in seen and hanging(lines, at, ()) == []:
            gone.add(at)
            repeated.append(path)
        elif path is not None:
            seen.add((path, wording))
    dropped: list[str] = []
    # From the last to the first: what hangs below a line decides whether the line may go.
    for at in reversed(dangling):
        below = hanging(lines, at, gone)
        if below is not None:
            gone.update((at, *below))
            dropped.append(dangling[at])
    return gone, dropped[::-1], repeated


def _folders(files: "Iterable[str]") -> set[str]:
    """Every folder that holds a file, at any depth; the store itself is the empty one."""
    found = {""}
    for path in files:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found

"""MEMORY.md as a whole: what an agent sees of it, what it lacks, and how it is healed."""

from memdir.format.outline import (
    BLANK,
    CONTENT,
    HEAD,
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
from memdir.format.pointer import LINK, Pointer, read_pointers, write_pointer
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, POINTER_AIM, utf16_units
from memdir.text.markdown import BOM, CODE, COMMENT, FRONT, OPEN, REST, layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Describe = Callable[[str], tuple[str, str, str]]
    Lost = Callable[[Pointer], bool]
    # The line it goes before, and whether a blank line belongs above and below it.
    Place = tuple[int, bool, bool]


# What an agent sees of an index. The limits and the order of the steps are the client's (seed 004);
# the words of the warning are ours. Lines are those between "\n", as in the client.

KILOBYTE = 1024
# What JavaScript's trim() takes away; Python's strip() would also take U+001C to U+001F and U+0085.
_BLANK = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000" + BOM
)


class Loaded:
    """The text an agent gets, the size of the whole, and what is missing from the text."""

    def __init__(
        self,
        text: str,
        lines: int,
        characters: int,
        cut_lines: int = 0,
        cut_characters: int = 0,
        warning: str = "",
    ) -> None:
        self.text = text
        self.lines = lines
        self.characters = characters
        self.cut_lines = cut_lines
        self.cut_characters = cut_characters
        self.warning = warning


def load(text: str) -> Loaded:
    """The index as an agent gets it: trimmed, cut to the limits, with a warning if it was cut."""
    whole, numbers = _view(text)
    lines = whole.count("\n") + 1 if whole else 0
    characters = utf16_units(whole)
    if lines <= MAX_LINES and characters <= MAX_CHARACTERS:
        return Loaded(whole, lines, characters)
    kept = _first_units("\n".join(whole.split("\n", MAX_LINES)[:MAX_LINES]))
    shown = kept.count("\n") + 1
    over = [f"{lines} lines (limit: {MAX_LINES})"] if lines > MAX_LINES else []
    if characters > MAX_CHARACTERS:
        size, limit = characters / KILOBYTE, MAX_CHARACTERS / KILOBYTE
        over.append(f"{size:.1f}KB (limit: {limit:.1f}KB)")
    if whole[len(kept)] == "\n":
        lost = f"everything from line {numbers[shown]} on"
    else:
        lost = f"the rest of line {numbers[shown - 1]} and everything below it"
    warning = (
        f"> MEMORY.md is too long: {' and '.join(over)}. Left out: {lost}. "
        f"Repair: one line per memory under ~{POINTER_AIM} characters, "
        "detail moved into topic files; `memdir index --check` lists the lines."
    )
    cut = characters - utf16_units(kept)
    return Loaded(f"{kept}\n\n{warning}", lines, characters, lines - shown, cut, warning)


def _view(text: str) -> tuple[str, list[int]]:
    """What is left after header and comments, trimmed, and each line's number in the file."""
    lines = text.removeprefix(BOM).replace("\r\n", "\n").split("\n")
    visible, numbers, after_comment = [], [], False
    for number, (layer, shown) in enumerate(layers(lines), 1):
        # A comment takes the blank lines below it along, as it does in the client.
        if layer in (FRONT, COMMENT) or (after_comment and not shown.strip(_BLANK)):
            after_comment = layer != FRONT
            continue
        after_comment = False
        visible.append(shown)
        numbers.append(number)
    joined = "\n".join(visible)
    trimmed = joined.lstrip(_BLANK)
    above = joined.count("\n", 0, len(joined) - len(trimmed))
    return trimmed.rstrip(_BLANK), numbers[above:]


def _first_units(text: str) -> str:
    """A text cut to MAX_CHARACTERS at the last line end; a single longer line is cut hard."""
    end = MAX_CHARACTERS
    # Each round takes off at most one unit too many, and only in front of a pair: never half of it.
    while (over := utf16_units(text[:end]) - MAX_CHARACTERS) > 0:
        end -= (over + 1) // 2
    if end >= len(text):
        return text
    line_end = text.rfind("\n", 0, end + 1)
    return text[: line_end if line_end > 0 else end]


# The index of a store: surveyed, healed and changed line by line, as text.
#
# Lines that we did not write are the user's: they stay where they are, byte for byte.

_NO_NAMES: "Mapping[str, str]" = {}


class Survey:
    """What an index points at, what it misses, and what does not belong into it."""

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

    def __init__(
        self, text: str, added: list[str], dropped: "Sequence[str]", repeated: "Sequence[str]" = ()
    ) -> None:
        self.text = text
        self.added = added
        self.dropped = dropped  # there is no such file
        self.repeated = repeated  # the same list says it above


def survey(
    text: str,
    files: "Sequence[str]",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
) -> Survey:
    """Everything there is to say about an index, without changing it."""
    result = Survey()
    entries: set[str] = set()
    _, lines = read_outline(text, Lookup(files, names))
    for line in lines:
        for pointer, path in zip(line.pointers, line.paths, strict=True):
            if path is None:
                there = lost is not None and not lost(pointer)
                (result.no_memories if there else result.dangling).append(pointer)
            else:
                result.pointers.setdefault(path, []).append(pointer)
        if line.entry and line.paths[0]:
            if line.paths[0] in entries:
                result.duplicates.append(line.pointers[0])
            entries.add(line.paths[0])
        if line.kind == POINTER and len(line.text) > POINTER_AIM:
            result.overlong.append(line.number)
        if line.kind in (CONTENT, CODE, OPEN):
            result.inline.append(line.number)
        if line.kind == INTRO:
            result.intro.append(line.number)
    result.orphans = sorted(set(files) - set(result.pointers))
    loaded = load(text)
    result.lines, result.characters = loaded.lines, loaded.characters
    return result


def heal(
    text: str,
    files: "Sequence[str]",
    describe: "Describe",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
    by_link: bool = False,
) -> Healed:
    """A pointer for every orphan, in the order of `files`; none that is dangling.

    A line that leads to something stays, unless its list has the same line above; `by_link`, only
    the same link. `lost` asks the store whether a target is gone; without it, its folder decides.
    """
    lookup = Lookup(files, names)
    bom, lines = read_outline(text, lookup)
    gone, dropped, repeated = _superfluous(lines, files, lost, by_link)
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
    return Healed(_rewrite(bom, lines, gone, fresh), added, dropped, repeated)


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
    rank = {target: i for i, target in enumerate(order)}
    targets = {line: target for target, line in ours.items()}
    slots: list[Line] = []
    for i, line in enumerate(lines):
        if line.kind == HEADING:
            _sort(slots, targets, rank)
            slots = []
        # A line with something below it belongs to somebody who added that.
        elif line.entry and line.text in targets and block_end(lines, i, line.indent) == i + 1:
            slots.append(line)
    _sort(slots, targets, rank)
    return write_outline(bom, lines)


def over_limit(text: str) -> tuple[int, int]:
    """How many lines and characters an agent would not see."""
    loaded = load(text)
    return loaded.cut_lines, loaded.cut_characters


def _sort(slots: list[Line], targets: dict[str, str], rank: dict[str, int]) -> None:
    texts = sorted(
        [line.text for line in slots], key=lambda text: rank.get(targets[text], len(rank))
    )
    for line, text in zip(slots, texts, strict=True):
        line.text = text


def _superfluous(
    lines: list[Line], files: "Iterable[str]", lost: "Lost | None", by_link: bool
) -> tuple[set[int], list[str], list[str]]:
    """Lines that are nothing but a pointer to a missing file, or an entry of a list again."""
    folders = {""}  # each that holds a file, at any depth; the store itself is the empty one
    for file in files:
        folder = file.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    seen: set[tuple[str, str]] = set()
    dangling: dict[int, str] = {}
    gone: set[int] = set()
    repeated: list[str] = []
    for i, line in enumerate(lines):
        if line.kind == HEADING:
            seen.clear()  # below another heading it is another entry somebody wanted
        if not line.entry or len(line.pointers) > 1:
            continue
        pointer, path = line.pointers[0], line.paths[0]
        wording = line.text[: pointer.end if by_link else None].strip()  # the title counts
        # A folder that the store does not have may be one of the repository: only reported.
        folder = pointer.target.rpartition("/")[0]
        if path is None and (lost(pointer) if lost else folder in folders):
            dangling[i] = pointer.target
        elif path is not None and (path, wording) in seen and hanging(lines, i, ()) == []:
            gone.add(i)
            repeated.append(path)
        elif path is not None:
            seen.add((path, wording))
    dropped: list[str] = []
    # From the last to the first: what hangs below a line decides whether the line may go.
    for i in reversed(dangling):
        below = hanging(lines, i, gone)
        if below is not None:
            gone.update((i, *below))
            dropped.append(dangling[i])
    return gone, dropped[::-1], repeated


# Words that say nothing about which memories stand below a heading.
_FILLERS = ("memory", "entry", "pointer", "file")


def _rewrite(
    bom: str, lines: list[Line], gone: set[int], fresh: "Iterable[tuple[str, str]]"
) -> str:
    """The index without the lines in `gone` and with fresh ones, each below its section."""
    ended = not lines or bool(lines[-1].end)
    line_end = (lines[0].end if lines else "") or "\n"
    groups: dict[int, tuple[Place, list[str]]] = {}
    places: dict[str, Place] = {}
    for section, text in fresh:
        if section not in places:
            places[section] = _place(lines, section)
        place = places[section]
        groups.setdefault(place[0], (place, []))[1].append(text)
    out: list[Line] = []
    for i in range(len(lines) + 1):
        if i in groups:
            (_, above, below), texts = groups[i]
            padded = [""] * above + texts + [""] * below
            out += [Line(text, line_end) for text in padded]
        if i < len(lines) and i not in gone:
            out.append(lines[i])
    if 0 in gone and out and out[0].text.strip() == "---":
        # On top it would open a header, and the lines below would be taken for one.
        out.insert(0, Line("", line_end))
    for line in out[:-1]:
        line.end = line.end or line_end
    for line in out[-1:]:
        line.end = (line.end or line_end) if ended else ""
    return write_outline(bom, out)


def _place(lines: list[Line], section: str) -> "Place":
    """At the end of the section's list, else of the last list of pointers, else of the text."""
    heading = find_heading(lines, section)
    if heading >= 0:
        return _place_below(lines, heading)
    last = _last_pointer(lines, 0, len(lines))
    if last >= 0:
        return _below(lines, last), False, False
    # A code block that is never closed takes all that comes after it.
    closed = next((i for i, line in enumerate(lines) if line.layer == OPEN), len(lines))
    return _place_after(lines, -1, closed)


def _place_below(lines: list[Line], heading: int) -> "Place":
    """In the section of this heading."""
    end = _section_end(lines, heading)
    last = _last_pointer(lines, heading + 1, end)
    if last >= 0:
        return min(_below(lines, last), end), False, False
    if any(line.kind != BLANK for line in lines[heading + 1 : end]):
        return _place_after(lines, heading, end)
    i = min(heading + 2, end)
    return i, False, heading + 1 < i < len(lines) and lines[i].kind != BLANK


def _place_after(lines: list[Line], start: int, end: int) -> "Place":
    """After the last line before `end` that is not blank; a list needs no blank line above."""
    i = end - 1
    while i > start and lines[i].kind == BLANK:
        i -= 1
    above = i >= 0 and not lines[i].item and not lines[i].indent
    return i + 1, above, False


def _last_pointer(lines: list[Line], start: int, end: int) -> int:
    """The last item there is only for its pointer, else the last that has one, else -1."""
    items = [i for i in range(start, end) if lines[i].kind == POINTER and lines[i].item]
    entries = [i for i in items if lines[i].entry]
    return (entries or items or [-1])[-1]


def _below(lines: list[Line], i: int) -> int:
    """The place below an item and all that hangs on it, outside of code blocks and comments."""
    end = block_end(lines, i, 0)
    while end < len(lines):
        above, below = lines[end - 1], lines[end]
        # Taking two blocks for one does no harm.
        comment = above.layer == COMMENT and below.layer in (COMMENT, REST)
        if not (comment or above.layer == below.layer == CODE or above.kind == below.kind == HEAD):
            break
        end = block_end(lines, end, 0)
    return end


def _section_end(lines: list[Line], heading: int) -> int:
    end = heading + 1
    while end < len(lines) and lines[end].kind not in (HEADING, OPEN):
        end += 1
    return end


def find_heading(lines: list[Line], section: str) -> int:
    """The heading of a section: its words, else the first that begins with them; -1 if none."""
    wanted = _words(section)
    headings = [i for i, line in enumerate(lines) if line.kind == HEADING]
    begins = -1
    for i in headings if wanted else ():
        words = _words(lines[i].text)
        # `# Project memory` names the whole index; `# Project` would be a section.
        title = i == headings[0] and lines[i].level == 1
        if title and _words(lines[i].text, ()) != wanted:
            continue
        if words == wanted:
            return i
        kinds = {line.kind for line in lines[i + 1 : _section_end(lines, i)]}
        # Above prose the word stands by chance.
        may_hold = POINTER in kinds or CONTENT not in kinds
        if begins < 0 and may_hold and words[: len(wanted)] == wanted:
            begins = i
    return begins


def _words(text: str, fillers: tuple[str, ...] = _FILLERS) -> list[str]:
    """The words of a heading in lower case and singular: `## Feedback memories` is `feedback`."""
    spaced = "".join([char if char.isalnum() else " " for char in text.casefold()])
    singular = [
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
        for word in spaced.split()
    ]
    return [word for word in singular if word not in fillers]

"""MEMORY.md as a whole: what an agent sees of it, what is missing, and how it is repaired."""

from memdir.format import outline
from memdir.format.pointer import LINK, Pointer, format_pointer, parse_pointers
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, POINTER_AIM, utf16_units
from memdir.text import pattern
from memdir.text.markdown import BOM, CODE, COMMENT, FRONT, OPEN, REST, TEXT, markdown_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    Describe = Callable[[str], tuple[str, str, str]]
    Lost = Callable[[Pointer], bool]
    Dead = tuple[Pointer, list[str]]  # to nothing, and the lines that went with it
    # Line to insert before, and whether a blank line is needed above and below.
    Place = tuple[int, bool, bool]


# Limits, order of the steps and line ends (only "\n") are the client's; the warning is ours.
KILOBYTE = 1024
# Same as JavaScript's trim(); strip() also removes U+001C to U+001F and U+0085.
_BLANK = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000" + BOM
)
# A link that leaves the store by its words alone.
_OUTSIDE = pattern(r"\]\(<?((?:\.\./|[/\\]|~/)[^)>\s]+)")


class Loaded:
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


def cut_index(text: str) -> Loaded:
    """Trims and cuts the index like the client does, with a warning if it was cut."""
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
    lines = text.removeprefix(BOM).replace("\r\n", "\n").split("\n")
    visible, numbers, after_comment = [], [], False
    for number, (layer, shown) in enumerate(markdown_layers(lines), 1):
        # A comment is removed with the blank lines below it, as in the client.
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
    end = MAX_CHARACTERS
    # A round removes at most one unit too many, and never half of a surrogate pair.
    while (over := utf16_units(text[:end]) - MAX_CHARACTERS) > 0:
        end -= (over + 1) // 2
    if end >= len(text):
        return text
    line_end = text.rfind("\n", 0, end + 1)
    return text[: line_end if line_end > 0 else end]


# The index is changed line by line: lines that we did not write stay in place, byte for byte.

_NO_NAMES: "Mapping[str, str]" = {}


class Survey:
    def __init__(self) -> None:
        self.pointers: dict[str, list[Pointer]] = {}  # by file
        self.orphans: list[str] = []  # files without a pointer
        self.dangling: list[Pointer] = []  # pointers without a file
        self.by_hand: list[Pointer] = []  # those in lines that no repair takes away
        self.no_memories: list[Pointer] = []  # pointers to links, hidden files, folders
        self.duplicates: list[Pointer] = []  # further entries for a file that has one
        self.overlong: list[int] = []  # line numbers
        self.inline: list[int] = []  # line numbers of content that is not a pointer
        self.intro: list[int] = []  # line numbers of the introduction
        self.lines = 0  # as `load` counts them
        self.characters = 0  # UTF-16 units, as `load` counts them


class Healed:
    def __init__(
        self, text: str, added: list[str], dead: "Sequence[Dead]", repeated: "Sequence[str]" = ()
    ) -> None:
        self.text = text
        self.added = added
        self.dead = dead
        self.dropped = [pointer.target for pointer, _ in dead]  # targets that do not exist
        self.repeated = repeated  # lines that a list repeats


def survey_pointers(
    text: str,
    files: "Sequence[str]",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
) -> Survey:
    result = Survey()
    entries: set[str] = set()
    _, lines = outline.read_index_lines(text, outline.Lookup(files, names))
    mended = _superfluous(lines, lost, by_link=False)[0]
    for i, line in enumerate(lines):
        if line.kind == outline.HEADING:
            entries.clear()  # the same link under another heading is intended
        if line.layer == TEXT and (away := _OUTSIDE.search(line.text)):
            result.no_memories.append(Pointer(away[1], "", "", line.number, LINK))
        for pointer, path in zip(line.pointers, line.paths, strict=True):
            if path is None:
                there = lost is not None and not lost(pointer)
                (result.no_memories if there else result.dangling).append(pointer)
                if not there and i not in mended:
                    result.by_hand.append(pointer)
            else:
                result.pointers.setdefault(path, []).append(pointer)
        if line.entry and line.paths[0]:
            if line.paths[0] in entries:
                result.duplicates.append(line.pointers[0])
            entries.add(line.paths[0])
        if line.kind == outline.POINTER and len(line.text) > POINTER_AIM:
            result.overlong.append(line.number)
        if line.kind in (outline.CONTENT, CODE, OPEN):
            result.inline.append(line.number)
        if line.kind == outline.INTRO:
            result.intro.append(line.number)
    result.orphans = sorted(set(files) - set(result.pointers))
    loaded = cut_index(text)
    result.lines, result.characters = loaded.lines, loaded.characters
    return result


def heal_pointers(
    text: str,
    files: "Sequence[str]",
    describe: "Describe",
    names: "Mapping[str, str]" = _NO_NAMES,
    lost: "Lost | None" = None,
    by_link: bool = False,
) -> Healed:
    """Adds a pointer for each orphan, in the order of `files`, and removes dangling ones.

    A line that leads to a file stays unless the same section repeats it word for word, or with
    `by_link` points to the same file. `lost` asks the store whether a target is gone.
    """
    lookup = outline.Lookup(files, names)
    bom, lines = outline.read_index_lines(text, lookup)
    gone, dead, repeated = _superfluous(lines, lost, by_link)
    pointed = {path for line in lines for path in line.paths}
    added: list[str] = []
    fresh: list[tuple[str, str]] = []
    for path in dict.fromkeys(files):
        if path not in pointed:
            title, hook, section = describe(path)
            written = format_pointer(title, path, hook)
            # A name with a line break cannot be written: it would be added again each time.
            if [lookup.find(each.target, LINK) for each in parse_pointers(written, 1)] == [path]:
                added.append(path)
                fresh.append((section, written))
    if not added and not gone:
        return Healed(text, [], [])
    return Healed(_rewrite(bom, lines, gone, fresh), added, dead, repeated)


def replace_index_pointer(text: str, target: str, old: "Collection[str]", new: str) -> str:
    """Replaces the line only if it still reads as we wrote it, now or in an older version."""
    bom, lines = outline.read_index_lines(text, outline.Lookup((target,), _NO_NAMES))
    for line in lines:
        if line.text in old and target in line.paths:
            line.text = new
            break
    return outline.write_index_lines(bom, lines)


def arrange_index_pointers(text: str, order: "Sequence[str]", ours: "Mapping[str, str]") -> str:
    """Reorders our own lines within each section; other lines stay in place."""
    bom, lines = outline.read_index_lines(text, outline.Lookup(ours, _NO_NAMES))
    rank = {target: i for i, target in enumerate(order)}
    targets = {line: target for target, line in ours.items()}
    slots: list[outline.Line] = []
    for i, line in enumerate(lines):
        if line.kind == outline.HEADING:
            _sort(slots, targets, rank)
            slots = []
        # A line with something below it was extended by the user.
        elif (
            line.entry
            and line.text in targets
            and outline.index_block_end(lines, i, line.indent) == i + 1
        ):
            slots.append(line)
    _sort(slots, targets, rank)
    return outline.write_index_lines(bom, lines)


def index_excess(text: str) -> tuple[int, int]:
    loaded = cut_index(text)
    return loaded.cut_lines, loaded.cut_characters


def _sort(slots: list[outline.Line], targets: dict[str, str], rank: dict[str, int]) -> None:
    texts = sorted(
        [line.text for line in slots], key=lambda text: rank.get(targets[text], len(rank))
    )
    for line, text in zip(slots, texts, strict=True):
        line.text = text


def _superfluous(
    lines: list[outline.Line], lost: "Lost | None", by_link: bool
) -> "tuple[set[int], list[Dead], list[str]]":
    seen: set[tuple[str, str]] = set()
    dangling: dict[int, Pointer] = {}
    gone: set[int] = set()
    repeated: list[str] = []
    for i, line in enumerate(lines):
        if line.kind == outline.HEADING:
            seen.clear()  # the same link under another heading is intended
        if not line.entry or len(line.pointers) > 1:
            continue
        pointer, path = line.pointers[0], line.paths[0]
        wording = "" if by_link else line.text.strip()
        if path is None and (lost is None or lost(pointer)):
            dangling[i] = pointer
        elif (
            path is not None
            and (path, wording) in seen
            and outline.hanging_index_lines(lines, i, ()) == []
        ):
            gone.add(i)
            repeated.append(path)
        elif path is not None:
            seen.add((path, wording))
    dead: list[Dead] = []
    # Last to first: the lines below an entry decide whether it may be removed.
    for i in reversed(dangling):
        below = outline.hanging_index_lines(lines, i, gone)
        if below is not None:
            gone.update((i, *below))
            dead.append((dangling[i], [lines[each].text.strip() for each in (i, *below)]))
    return gone, dead[::-1], repeated


# Words in headings that name no section.
_FILLERS = ("memory", "entry", "pointer", "file")


def _rewrite(
    bom: str, lines: list[outline.Line], gone: set[int], fresh: "Iterable[tuple[str, str]]"
) -> str:
    ended = not lines or bool(lines[-1].end)
    line_end = (lines[0].end if lines else "") or "\n"
    groups: dict[int, tuple[Place, list[str]]] = {}
    places: dict[str, Place] = {}
    for section, text in fresh:
        if section not in places:
            places[section] = _place(lines, section)
        place = places[section]
        groups.setdefault(place[0], (place, []))[1].append(text)
    out: list[outline.Line] = []
    for i in range(len(lines) + 1):
        if i in groups:
            (_, above, below), texts = groups[i]
            padded = [""] * above + texts + [""] * below
            out += [outline.Line(text, line_end) for text in padded]
        if i < len(lines) and i not in gone:
            out.append(lines[i])
    if 0 in gone and out and out[0].text.strip() == "---":
        # As the first line it would open a header.
        out.insert(0, outline.Line("", line_end))
    for line in out[:-1]:
        line.end = line.end or line_end
    for line in out[-1:]:
        line.end = (line.end or line_end) if ended else ""
    return outline.write_index_lines(bom, out)


def _place(lines: list[outline.Line], section: str) -> "Place":
    heading = find_index_heading(lines, section)
    if heading >= 0:
        return _place_below(lines, heading)
    last = _last_pointer(lines, 0, len(lines))
    if last >= 0:
        return _below(lines, last), False, False
    # An unclosed code block extends to the end.
    closed = next((i for i, line in enumerate(lines) if line.layer == OPEN), len(lines))
    return _place_after(lines, -1, closed)


def _place_below(lines: list[outline.Line], heading: int) -> "Place":
    end = _section_end(lines, heading)
    last = _last_pointer(lines, heading + 1, end)
    if last >= 0:
        return min(_below(lines, last), end), False, False
    if any(line.kind != outline.BLANK for line in lines[heading + 1 : end]):
        return _place_after(lines, heading, end)
    i = min(heading + 2, end)
    return i, False, heading + 1 < i < len(lines) and lines[i].kind != outline.BLANK


def _place_after(lines: list[outline.Line], start: int, end: int) -> "Place":
    i = end - 1
    while i > start and lines[i].kind == outline.BLANK:
        i -= 1
    above = i >= 0 and not lines[i].item and not lines[i].indent
    return i + 1, above, False


def _last_pointer(lines: list[outline.Line], start: int, end: int) -> int:
    items = [i for i in range(start, end) if lines[i].kind == outline.POINTER and lines[i].item]
    entries = [i for i in items if lines[i].entry]
    return (entries or items or [-1])[-1]


def _below(lines: list[outline.Line], i: int) -> int:
    end = outline.index_block_end(lines, i, 0)
    while end < len(lines):
        above, below = lines[end - 1], lines[end]
        # Treating two blocks as one does no harm.
        comment = above.layer == COMMENT and below.layer in (COMMENT, REST)
        if not (
            comment
            or above.layer == below.layer == CODE
            or above.kind == below.kind == outline.HEAD
        ):
            break
        end = outline.index_block_end(lines, end, 0)
    return end


def _section_end(lines: list[outline.Line], heading: int) -> int:
    end = heading + 1
    while end < len(lines) and lines[end].kind not in (outline.HEADING, OPEN):
        end += 1
    return end


def find_index_heading(lines: list[outline.Line], section: str) -> int:
    """Exact match, else the first heading that begins with these words; -1 if none."""
    wanted = _words(section)
    headings = [i for i, line in enumerate(lines) if line.kind == outline.HEADING]
    begins = -1
    for i in headings if wanted else ():
        words = _words(lines[i].text)
        # `# Project memory` is the title of the index; `# Project` is a section.
        title = i == headings[0] and lines[i].level == 1
        if title and _words(lines[i].text, ()) != wanted:
            continue
        if words == wanted:
            return i
        kinds = {line.kind for line in lines[i + 1 : _section_end(lines, i)]}
        # A heading above prose matches by chance.
        may_hold = outline.POINTER in kinds or outline.CONTENT not in kinds
        if begins < 0 and may_hold and words[: len(wanted)] == wanted:
            begins = i
    return begins


def _words(text: str, fillers: tuple[str, ...] = _FILLERS) -> list[str]:
    """Lower case, singular, without fillers: `## Feedback memories` is `feedback`."""
    singular = [
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
        for word in outline.split_index_title(text)
    ]
    return [word for word in singular if word not in fillers]

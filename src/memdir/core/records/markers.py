"""Titles and tags without the signs that give an index line its form. Light: no `re`."""

ARROW = " -> "  # between a title and its path
TAGS = "#tags:"  # in front of the tags
_CONTROLS: dict[int, str] = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")


def clean_title(title: str) -> str:
    """One line: no controls, no runs of blanks, no marker that an index line is read by."""
    return _clean(title)


def clean_tag(tag: str) -> str:
    """In small letters, trimmed, without commas and markers; may leave nothing."""
    if tag.isalnum() and tag.islower() and tag.isascii():
        return tag
    return _clean(tag.replace(",", " ")).lower()


def clean_tags(tags: list[str]) -> list[str]:
    """Each tag once, in the order given; what holds a comma is two."""
    parts = [part for tag in tags for part in tag.split(",")]
    return [tag for tag in dict.fromkeys(map(clean_tag, parts)) if tag]


def split_tags(text: str) -> list[str]:
    """The tags in a text that should have been a list."""
    return clean_tags([text.strip().strip("[]").replace(";", ",").replace("\n", ",")])


def _clean(text: str) -> str:
    words = text.translate(_CONTROLS).split()
    # Something stays where a marker stood: what is left must not grow together into another.
    line = " ".join(["→" if word == "->" else word for word in words])
    first, *rest = line.split("#")
    return first + "".join([f"# {part}" if _is_marker(part) else f"#{part}" for part in rest])


def _is_marker(part: str) -> bool:
    return part[:5].lower() == TAGS[1:]

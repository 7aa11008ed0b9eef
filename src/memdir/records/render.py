"""A record as Markdown, for recall, audit and people, and the way back.

The header is that of a memory; the body has a line per choice and a section per text or list.
"""

from memdir.hot import memory
from memdir.records import fields
from memdir.records.fields import Field, Record

# Header keys of the record's keys.
HEADER = {
    "id": "name",
    "title": "description",
    "category": "type",
    "created_at": "metadata.created",
    "updated_at": "metadata.modified",
}
TAGS, FILES = "Tags", "Related files"
SECTION = "## "
_BETWEEN = " — "  # between an alternative and why it was rejected


def render_record(record: Record) -> str:
    header = [(to, _word(record.get(key))) for key, to in HEADER.items() if key in record]
    content = record.get("content")
    values = content if isinstance(content, dict) else {}
    known = fields.CONTENT.get(str(record.get("category")), ())
    top = [
        f"**{field.label}:** {_word(values[field.name])}"
        for field in known
        if field.kind in (fields.CHOICE, fields.FLAG) and field.name in values
    ]
    if tags := fields.record_texts(record.get("tags")):
        top.append(f"**{TAGS}:** {', '.join(tags)}")
    parts = [f"# {_word(record.get('title'))}", "\n".join(top)]
    for field in known:
        if field.name in values:
            parts += _sections(field, values[field.name])
    if files := fields.record_texts(record.get("related_files")):
        parts.append(_section(FILES, _items([f"`{path}`" for path in files])))
    return memory.write_header(header, "\n\n".join(part for part in parts if part))


def read_rendered_record(text: str) -> Record:
    """Inverse of `render_record`; fields that are not shown are absent."""
    document = memory.read_header(text)
    record: Record = {
        key: value for key, to in HEADER.items() if (value := document.values.get(to)) is not None
    }
    top, *sections = f"\n{document.body}".split(f"\n{SECTION}")
    pairs = [line[2:].partition(":** ") for line in top.split("\n") if line.startswith("**")]
    pairs += [section.partition("\n\n") for section in sections]
    shown = {label: text.strip("\n") for label, _, text in pairs}
    known = fields.CONTENT.get(str(record.get("category")), ())
    read = {field.name: _value(field, shown) for field in known}
    record["tags"] = [tag for tag in shown.get(TAGS, "").split(", ") if tag]
    record["related_files"] = [item.strip("`") for item in _split_items(shown.get(FILES, ""))]
    record["content"] = {name: value for name, value in read.items() if value is not None}
    return record


def _sections(field: Field, value: object) -> list[str]:
    if field.kind == fields.TEXT:
        lines = _word(value).split("\n")
        # A line of text must not look like one of our headings.
        text = "\n".join(f"\\{line}" if _is_marked(line) else line for line in lines)
        return [_section(field.label, text)]
    if field.kind == fields.EXAMPLES and isinstance(value, dict):
        lists = [
            (key.capitalize(), fields.record_texts(value.get(key))) for key in fields.EXAMPLE_KEYS
        ]
        return [_section(label, _items(items)) for label, items in lists]
    items = fields.record_texts(value)
    if field.kind == fields.ALTERNATIVES and isinstance(value, list):
        for item in (item for item in value if isinstance(item, dict)):
            option, reason = _word(item.get("option")), _word(item.get("rejected_reason"))
            items.append(f"{option}{_BETWEEN}{reason}" if reason else option)
    listed = field.kind in (fields.TEXTS, fields.ALTERNATIVES)
    return [_section(field.label, _items(items))] if listed else []


def _section(label: str, text: str) -> str:
    return f"{SECTION}{label}\n\n{text}" if text else ""


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else "" if value is None else str(value)


def _items(items: list[str]) -> str:
    return "\n".join("- " + item.replace("\n", "\n  ") for item in items)


def _split_items(text: str) -> list[str]:
    return [item.replace("\n  ", "\n") for item in f"\n{text}".split("\n- ")[1:]]


def _is_marked(line: str) -> bool:
    return line.lstrip("\\").startswith(SECTION)


def _value(field: Field, shown: dict[str, str]) -> object:
    if field.kind == fields.EXAMPLES:
        lists = {key: _split_items(shown.get(key.capitalize(), "")) for key in fields.EXAMPLE_KEYS}
        filled = {key: items for key, items in lists.items() if items}
        return filled or None
    text = shown.get(field.label)
    if text is None:
        return None
    if field.kind == fields.FLAG:
        return text == "yes"
    if field.kind == fields.CHOICE:
        return text
    if field.kind == fields.TEXT:
        lines = text.split("\n")
        own = [line[1:] if line[:1] == "\\" and _is_marked(line) else line for line in lines]
        return "\n".join(own)
    items = _split_items(text)
    if field.kind == fields.TEXTS:
        return items
    pairs = [item.partition(_BETWEEN) for item in items]
    return [{"option": option, "rejected_reason": reason} for option, _, reason in pairs]

"""The common fields of records and the content fields of each type, as data and as Markdown.

Schema, check, repair, rendering and the command line read this one table. Light: hooks import it.
"""

from memdir.hot import memory

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
else:
    Record = dict

SCHEMA_VERSION = "1.0"
MAX_TITLE_CHARACTERS = 120
MAX_TAGS = 12
MAX_SUMMARY_CHARACTERS = 300  # of a change
MAX_CHANGES = 50  # the oldest are dropped
MAX_DEPTH = 16  # of a value quoted in a change
DEFAULT_CONFIDENCE = 0.7  # low end of the seed's usual range

ACTIVE, RETIRED, ARCHIVED = "active", "retired", "archived"
STATUSES = (ACTIVE, RETIRED, ARCHIVED)
FOLDERS = {
    "session_summary": "sessions",
    "decision": "decisions",
    "runbook": "runbooks",
    "constraint": "constraints",
    "tech_debt": "tech-debt",
    "preference": "preferences",
}
TYPES = tuple(FOLDERS)
TYPE_OF_FOLDER = {folder: type for type, folder in FOLDERS.items()}

# Order of the keys in a file; other keys follow in their given order.
KEYS = (
    *("schema_version", "category", "id", "title", "created_at", "updated_at", "tags"),
    *("related_files", "confidence", "record_status", "changes", "times_updated"),
    *("retired_at", "retired_reason", "archived_at", "archived_reason", "content"),
)
# Missing in older files; `record_status` came with version 4 of the plugin.
DEFAULTS: Record = {
    "related_files": [],
    "confidence": DEFAULT_CONFIDENCE,
    "record_status": ACTIVE,
    "changes": [],
    "times_updated": 0,
}
OPTIONAL_KEYS = ("retired_at", "retired_reason", "archived_at", "archived_reason")
REQUIRED_KEYS = tuple(key for key in KEYS if key not in OPTIONAL_KEYS)
TIME_KEYS = ("created_at", "updated_at", "retired_at", "archived_at")
CHANGE_KEYS = ("date", "summary", "field", "old_value", "new_value")
ALTERNATIVE_KEYS = ("option", "rejected_reason")
EXAMPLE_KEYS = ("prefer", "avoid")

TEXT, TEXTS, CHOICE, FLAG, ALTERNATIVES, EXAMPLES = (
    *("text", "texts", "choice", "flag", "alternatives", "examples"),
)
SCALARS = (TEXT, CHOICE, FLAG)


class Field:
    __slots__ = ("choices", "kind", "label", "min_items", "name", "required")

    def __init__(
        self, name: str, kind: str = TEXT, *choices: str, required: bool = True, min_items: int = 0
    ) -> None:
        self.name = name
        self.kind = kind
        self.choices = choices
        self.required = required
        self.min_items = min_items
        self.label = name.replace("_", " ").capitalize()  # heading for people


def _optional(*names: str, kind: str = TEXTS) -> tuple[Field, ...]:
    return tuple(Field(name, kind, required=False) for name in names)


CONTENT: dict[str, tuple[Field, ...]] = {
    "session_summary": (
        Field("goal"),
        Field("outcome", CHOICE, "success", "partial", "blocked", "abandoned"),
        Field("completed", TEXTS),
        *_optional("in_progress", "blockers"),
        Field("next_actions", TEXTS),
        *_optional("key_changes"),
    ),
    "decision": (
        Field("status", CHOICE, "proposed", "accepted", "deprecated", "superseded"),
        Field("context"),
        Field("decision"),
        *_optional("alternatives", kind=ALTERNATIVES),
        Field("rationale", TEXTS, min_items=1),
        *_optional("consequences"),
    ),
    "runbook": (
        Field("trigger"),
        *_optional("symptoms"),
        Field("steps", TEXTS, min_items=1),
        Field("verification"),
        *_optional("root_cause", "environment", kind=TEXT),
    ),
    "constraint": (
        Field("kind", CHOICE, "limitation", "gap", "policy", "technical"),
        Field("rule"),
        Field("impact", TEXTS, min_items=1),
        *_optional("workarounds"),
        Field("severity", CHOICE, "high", "medium", "low"),
        Field("active", FLAG),
        *_optional("expires", kind=TEXT),
    ),
    "tech_debt": (
        Field("status", CHOICE, "open", "in_progress", "resolved", "wont_fix"),
        Field("priority", CHOICE, "critical", "high", "medium", "low"),
        Field("description"),
        Field("reason_deferred"),
        *_optional("impact", "suggested_fix", "acceptance_criteria"),
    ),
    "preference": (
        Field("topic"),
        Field("value"),
        Field("reason"),
        Field("strength", CHOICE, "strong", "default", "soft"),
        *_optional("examples", kind=EXAMPLES),
    ),
}


def record_type_named(name: object) -> str:
    """Ignores case and hyphens, accepts folder names; empty if unknown."""
    if not isinstance(name, str):
        return ""
    plain = name.strip().lower().rstrip("/")
    plain = TYPE_OF_FOLDER.get(plain, plain).replace("-", "_").replace(" ", "_")
    return plain if plain in FOLDERS else ""


def record_type_at(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    return TYPE_OF_FOLDER.get(parts[-2], "") if len(parts) > 1 else ""


def record_path(type: str, id: str) -> str:
    return f"{FOLDERS[type]}/{id}.json"


def fields_of_record_type(record: Record) -> tuple[Field, ...]:
    return CONTENT.get(str(record.get("category")), ())


def status_of_record(record: Record) -> str:
    """Older records have no status and are active."""
    return str(record.get("record_status") or ACTIVE)


def is_active_record(record: Record) -> bool:
    return status_of_record(record) == ACTIVE


def record_texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def is_record_newer(record: Record) -> bool:
    """A record of a later format version is read, never rewritten."""
    version = record.get("schema_version")
    if version == SCHEMA_VERSION or not isinstance(version, int | float | str):
        return False
    major, _, minor = str(version).strip().lower().removeprefix("v")[:20].partition(".")
    minor = minor.partition(".")[0] or "0"
    digits = major + minor
    if not (major and digits.isascii() and digits.isdigit()):
        return False
    return (int(major), int(minor)) > (1, 0)


# A record as Markdown: a section per text or list, a line per choice

# Header keys of the record's keys.
HEADER = {
    "id": "name",
    "title": "description",
    "category": "type",
    "created_at": "metadata.created",
    "updated_at": "metadata.modified",
}
SECTION = "## "
_BETWEEN = " — "  # between an alternative and why it was rejected


def render_record(record: Record) -> str:
    header = [(to, _word(record.get(key))) for key, to in HEADER.items() if key in record]
    content = record.get("content")
    values = content if isinstance(content, dict) else {}
    known = CONTENT.get(str(record.get("category")), ())
    top = [
        f"**{field.label}:** {_word(values[field.name])}"
        for field in known
        if field.kind in (CHOICE, FLAG) and field.name in values
    ]
    if tags := record_texts(record.get("tags")):
        top.append(f"**Tags:** {', '.join(tags)}")
    parts = [f"# {_word(record.get('title'))}", "\n".join(top)]
    for field in known:
        if field.name in values:
            parts += _sections(field, values[field.name])
    if files := record_texts(record.get("related_files")):
        parts.append(_section("Related files", _items([f"`{path}`" for path in files])))
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
    read = {field.name: _value(field, shown) for field in fields_of_record_type(record)}
    record["tags"] = [tag for tag in shown.get("Tags", "").split(", ") if tag]
    record["related_files"] = [it.strip("`") for it in _split_items(shown.get("Related files", ""))]
    record["content"] = {name: value for name, value in read.items() if value is not None}
    return record


def _sections(field: Field, value: object) -> list[str]:
    if field.kind == TEXT:
        lines = _word(value).split("\n")
        # A line of text must not look like one of our headings.
        text = "\n".join(f"\\{line}" if _is_marked(line) else line for line in lines)
        return [_section(field.label, text)]
    if field.kind == EXAMPLES and isinstance(value, dict):
        lists = [(key.capitalize(), record_texts(value.get(key))) for key in EXAMPLE_KEYS]
        return [_section(label, _items(items)) for label, items in lists]
    items = record_texts(value)
    if field.kind == ALTERNATIVES and isinstance(value, list):
        for item in (item for item in value if isinstance(item, dict)):
            option, reason = _word(item.get("option")), _word(item.get("rejected_reason"))
            items.append(f"{option}{_BETWEEN}{reason}" if reason else option)
    listed = field.kind in (TEXTS, ALTERNATIVES)
    return [_section(field.label, _items(items))] if listed else []


def _section(label: str, text: str) -> str:
    return f"{SECTION}{label}\n\n{text}" if text else ""


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else "" if value is None else str(value)


def _items(items: list[str]) -> str:
    return "\n".join("- " + item.replace("\n", "\n  ") for item in items)


def _is_marked(line: str) -> bool:
    return line.lstrip("\\").startswith(SECTION)


def _split_items(text: str) -> list[str]:
    return [item.replace("\n  ", "\n") for item in f"\n{text}".split("\n- ")[1:]]


def _value(field: Field, shown: dict[str, str]) -> object:
    if field.kind == EXAMPLES:
        lists = {key: _split_items(shown.get(key.capitalize(), "")) for key in EXAMPLE_KEYS}
        return {key: items for key, items in lists.items() if items} or None
    text = shown.get(field.label)
    if text is None or field.kind == CHOICE:
        return text
    if field.kind == FLAG:
        return text == "yes"
    if field.kind == TEXT:
        lines = text.split("\n")
        return "\n".join(
            line[1:] if line[:1] == "\\" and _is_marked(line) else line for line in lines
        )
    items = _split_items(text)
    if field.kind == TEXTS:
        return items
    pairs = [item.partition(_BETWEEN) for item in items]
    return [{"option": option, "rejected_reason": reason} for option, _, reason in pairs]

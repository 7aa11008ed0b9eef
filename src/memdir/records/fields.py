"""What a record consists of: the fields that all have and the content of each type, as data."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
else:
    Record = dict

SCHEMA_VERSION = "1.0"
_OURS = (1, 0)
MAX_TITLE = 120  # characters
MAX_TAGS = 12
MAX_SUMMARY = 300  # characters of a change's summary
MAX_CHANGES = 50  # the oldest are dropped
MAX_DEPTH = 16  # of a value that a change quotes
DEFAULT_CONFIDENCE = 0.7  # the low end of what the seed gives to most records

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

# The order of the keys in a file; what is not here follows in the order it was given.
KEYS = (
    *("schema_version", "category", "id", "title", "created_at", "updated_at", "tags"),
    *("related_files", "confidence", "record_status", "changes", "times_updated"),
    *("retired_at", "retired_reason", "archived_at", "archived_reason", "content"),
)
OPTIONAL_KEYS = ("retired_at", "retired_reason", "archived_at", "archived_reason")
TIME_KEYS = ("created_at", "updated_at", "retired_at", "archived_at")
CHANGE_KEYS = ("date", "summary", "field", "old_value", "new_value")
ALTERNATIVE_KEYS = ("option", "rejected_reason")
EXAMPLE_KEYS = ("prefer", "avoid")

TEXT, TEXTS, CHOICE, FLAG, ALTERNATIVES, EXAMPLES = (
    *("text", "texts", "choice", "flag", "alternatives", "examples"),
)
SCALARS = (TEXT, CHOICE, FLAG)


class Field:
    """One key of a content: its kind, whether it must be there, and what it may say."""

    __slots__ = ("choices", "kind", "least", "name", "required")

    def __init__(
        self,
        name: str,
        kind: str = TEXT,
        *,
        required: bool = False,
        choices: tuple[str, ...] = (),
        least: int = 0,
    ) -> None:
        self.name = name
        self.kind = kind
        self.required = required
        self.choices = choices
        self.least = least  # items that a list must have

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.kind!r})"

    @property
    def label(self) -> str:
        """What a person reads above it."""
        return self.name.replace("_", " ").capitalize()


def _text(name: str) -> Field:
    return Field(name, TEXT, required=True)


def _choice(name: str, *choices: str) -> Field:
    return Field(name, CHOICE, required=True, choices=choices)


def _texts(name: str, least: int = 0) -> Field:
    return Field(name, TEXTS, required=True, least=least)


def _more(*names: str) -> tuple[Field, ...]:
    """Lists that may be missing."""
    return tuple(Field(name, TEXTS) for name in names)


CONTENT: dict[str, tuple[Field, ...]] = {
    "session_summary": (
        _text("goal"),
        _choice("outcome", "success", "partial", "blocked", "abandoned"),
        _texts("completed"),
        *_more("in_progress", "blockers"),
        _texts("next_actions"),
        *_more("key_changes"),
    ),
    "decision": (
        _choice("status", "proposed", "accepted", "deprecated", "superseded"),
        _text("context"),
        _text("decision"),
        Field("alternatives", ALTERNATIVES),
        _texts("rationale", least=1),
        *_more("consequences"),
    ),
    "runbook": (
        _text("trigger"),
        *_more("symptoms"),
        _texts("steps", least=1),
        _text("verification"),
        Field("root_cause"),
        Field("environment"),
    ),
    "constraint": (
        _choice("kind", "limitation", "gap", "policy", "technical"),
        _text("rule"),
        _texts("impact", least=1),
        *_more("workarounds"),
        _choice("severity", "high", "medium", "low"),
        Field("active", FLAG, required=True),
        Field("expires"),
    ),
    "tech_debt": (
        _choice("status", "open", "in_progress", "resolved", "wont_fix"),
        _choice("priority", "critical", "high", "medium", "low"),
        _text("description"),
        _text("reason_deferred"),
        *_more("impact", "suggested_fix", "acceptance_criteria"),
    ),
    "preference": (
        _text("topic"),
        _text("value"),
        _text("reason"),
        _choice("strength", "strong", "default", "soft"),
        Field("examples", EXAMPLES),
    ),
}


def type_named(name: object) -> str:
    """One of the six types, forgiving case, hyphens and the folder's name; else nothing."""
    if not isinstance(name, str):
        return ""
    plain = name.strip().lower().rstrip("/")
    plain = TYPE_OF_FOLDER.get(plain, plain).replace("-", "_").replace(" ", "_")
    return plain if plain in FOLDERS else ""


def type_at(path: str) -> str:
    """The type that the folder of a path stands for; nothing outside the six folders."""
    parts = path.replace("\\", "/").split("/")
    return TYPE_OF_FOLDER.get(parts[-2], "") if len(parts) > 1 else ""


def path_of(type: str, id: str) -> str:
    """Where a record lies below its store."""
    return f"{FOLDERS[type]}/{id}.json"


def is_newer(record: Record) -> bool:
    """Was it written by a later version of the format? Then it is read and never rewritten."""
    return _version_of(record.get("schema_version")) > _OURS


def _version_of(value: object) -> tuple[int, int]:
    """Major and minor; (0, 0) for what is no version."""
    if value == SCHEMA_VERSION:
        return _OURS
    text = str(value) if isinstance(value, int | float | str) else ""
    major, _, minor = text.strip().lower().removeprefix("v")[:20].partition(".")
    minor = minor.partition(".")[0] or "0"
    if not (major.isascii() and major.isdigit() and minor.isascii() and minor.isdigit()):
        return 0, 0
    return int(major), int(minor)

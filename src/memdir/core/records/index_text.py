"""The lines of index.md: one per active record, sorted, rebuilt to the same bytes at any time."""

from __future__ import annotations

from memdir.core import dates
from memdir.core.records import fields, markers
from memdir.core.records.fields import Record
from memdir.core.records.status import status_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "index.md"
HEAD = "# Memory index\n\n<!-- Made from the records: memdir records index --rebuild -->\n\n"
PROJECT_FOLDER = ".claude/memory/"  # in front of paths that other writers of the file give
OFTEN_UPDATED = 5  # times; then a record may hold several things
RECENT_DAYS = 7
SHOWN = 20  # names in a health report
MISSING, STALE, DIFFERENT, TWICE, UNREADABLE = (
    *("missing", "stale", "different", "twice", "unreadable"),
)


class Entry:
    """One line of the index as it reads."""

    __slots__ = ("line", "number", "path", "tags", "title", "type")

    def __init__(self, line: str, number: int, type: str, title: str, path: str, tags: list[str]):
        self.line = line
        self.number = number
        self.type = type
        self.title = title
        self.path = path
        self.tags = tags

    @property
    def record(self) -> Record:
        """As much of a record as a line tells; enough to find a candidate."""
        return {"category": self.type, "title": self.title, "tags": self.tags}


class Mismatch:
    """Where index and records differ: `kind` is missing, stale, different, twice or unreadable."""

    __slots__ = ("kind", "number", "path")

    def __init__(self, kind: str, path: str, number: int = 0) -> None:
        self.kind = kind
        self.path = path
        self.number = number  # of the line, 0 where there is none

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mismatch) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Mismatch{self._key()}"

    def _key(self) -> tuple[str, str, int]:
        return self.kind, self.path, self.number


def line(record: Record, path: str) -> str:
    """`- [DECISION] title -> path #tags:a,b`; markers in a title cannot break it."""
    title = markers.clean_title(str(record.get("title", ""))) or "untitled"
    given = record.get("tags")
    tags = [tag for tag in given if isinstance(tag, str)] if isinstance(given, list) else []
    clean = markers.clean_tags(tags)
    end = f" {markers.TAGS}{','.join(clean)}" if clean else ""
    return f"- [{str(record.get('category', '')).upper()}] {title}{markers.ARROW}{path}{end}"


def build(records: Iterable[tuple[str, Record]]) -> str:
    """The whole file from pairs of path and record; only active records are in it."""
    lines = [
        (str(record.get("category")), str(record.get("title")).casefold(), path, line(record, path))
        for path, record in records
        if is_active(record)
    ]
    return HEAD + "".join(f"{one[-1]}\n" for one in sorted(lines))


def parse(text: str) -> tuple[list[Entry], list[Mismatch]]:
    """The entries of an index, and the lines that look like one and are none."""
    entries, bad = [], []
    for number, raw in enumerate(text.split("\n"), 1):
        bare = raw.rstrip("\r")
        if not bare.startswith("- "):
            continue
        entry = _entry(bare, number)
        if entry is None:
            bad.append(Mismatch(UNREADABLE, "", number))
        else:
            entries.append(entry)
    return entries, bad


def _entry(raw: str, number: int) -> Entry | None:
    head, bracket, rest = raw[2:].partition("] ")
    type = head[1:].lower()
    if not bracket or head[:1] != "[" or type not in fields.TYPES:
        return None
    body, mark, tags = rest.rpartition(f" {markers.TAGS}")
    title, arrow, path = (body if mark else rest).rpartition(markers.ARROW)
    path = path.strip()
    if not arrow or not title.strip() or not path:
        return None
    named = [tag.strip() for tag in tags.split(",") if tag.strip()] if mark else []
    return Entry(raw, number, type, title.strip(), path.removeprefix(PROJECT_FOLDER), named)


def validate(text: str, records: Iterable[tuple[str, Record]]) -> list[Mismatch]:
    """Where an index differs from what the records say; nothing when it is right."""
    wanted = {path: line(record, path) for path, record in records if is_active(record)}
    entries, found = parse(text)
    seen: set[str] = set()
    for entry in entries:
        if entry.path in seen:
            found.append(Mismatch(TWICE, entry.path, entry.number))
        elif entry.path not in wanted:
            found.append(Mismatch(STALE, entry.path, entry.number))
        elif (
            entry.line.replace(markers.ARROW + PROJECT_FOLDER, markers.ARROW) != wanted[entry.path]
        ):
            found.append(Mismatch(DIFFERENT, entry.path, entry.number))
        seen.add(entry.path)
    return found + [Mismatch(MISSING, path) for path in sorted(wanted.keys() - seen)]


def health(text: str, records: Iterable[tuple[str, Record]], now: float) -> dict[str, object]:
    """Counts by type and status, what was retired lately, what is updated often, mismatches."""
    everything = list(records)
    counts = {type: dict.fromkeys(fields.STATUSES, 0) for type in fields.TYPES}
    for _, record in everything:
        type, status = str(record.get("category")), status_of(record)
        if type in counts and status in fields.STATUSES:
            counts[type][status] += 1
    often = [path for path, record in everything if _is_updated_often(record)]
    lately = [path for path, record in everything if _is_retired_lately(record, now)]
    mismatches = validate(text, everything)
    return {
        "records": len(everything),
        "counts": counts,
        "mismatches": len(mismatches),
        "in_sync": not mismatches,
        "often_updated": sorted(often)[:SHOWN],
        "recently_retired": sorted(lately)[:SHOWN],
    }


def is_active(record: Record) -> bool:
    """Retired and archived records are in no index."""
    return status_of(record) == fields.ACTIVE


def _is_updated_often(record: Record) -> bool:
    times = record.get("times_updated")
    return is_active(record) and isinstance(times, int) and times > OFTEN_UPDATED


def _is_retired_lately(record: Record, now: float) -> bool:
    since = dates.parse_time(str(record.get("retired_at") or ""))
    if since is None or status_of(record) != fields.RETIRED:
        return False
    return dates.age_days(since, now) < RECENT_DAYS

"""Index.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memdir.errors import Finding, MemdirError, Missing, Unwritable
from memdir.format.draft import REBUILT, SKIPPED, Change
from memdir.format.names import slug_for
from memdir.hot import safe
from memdir.hot.memory import encode, stem
from memdir.records import fields
from memdir.records import validate as validate_module
from memdir.records.fields import Record
from memdir.records.lookup import Collected, collect, everything, index_of, paths_of
from memdir.records.update import status_of
from memdir.store.ports import Store
from memdir.store.writer import Act, App, Desk, Done, Told

if TYPE_CHECKING:
    from collections.abc import Iterable


# The lines of index.md: one per active record, sorted, rebuilt to the same bytes at any time.

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
    title = validate_module.clean_title(str(record.get("title", ""))) or "untitled"
    given = record.get("tags")
    tags = [tag for tag in given if isinstance(tag, str)] if isinstance(given, list) else []
    clean = validate_module.clean_tags(tags)
    end = f" {validate_module.TAGS}{','.join(clean)}" if clean else ""
    return (
        f"- [{str(record.get('category', '')).upper()}] {title}{validate_module.ARROW}{path}{end}"
    )


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
    body, mark, tags = rest.rpartition(f" {validate_module.TAGS}")
    title, arrow, path = (body if mark else rest).rpartition(validate_module.ARROW)
    path = path.strip()
    if not arrow or not title.strip() or not path:
        return None
    named = [tag.strip() for tag in tags.split(",") if tag.strip()] if mark else []
    return Entry(raw, number, type, title.strip(), path.removeprefix(PROJECT_FOLDER), named)


def check_index_text(text: str, records: Iterable[tuple[str, Record]]) -> list[Mismatch]:
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
            entry.line.replace(validate_module.ARROW + PROJECT_FOLDER, validate_module.ARROW)
            != wanted[entry.path]
        ):
            found.append(Mismatch(DIFFERENT, entry.path, entry.number))
        seen.add(entry.path)
    return found + [Mismatch(MISSING, path) for path in sorted(wanted.keys() - seen)]


def index_health(text: str, records: Iterable[tuple[str, Record]], now: float) -> dict[str, object]:
    """Counts by type and status, what was retired lately, what is updated often, mismatches."""
    everything = list(records)
    counts = {type: dict.fromkeys(fields.STATUSES, 0) for type in fields.TYPES}
    for _, record in everything:
        type, status = str(record.get("category")), status_of(record)
        if type in counts and status in fields.STATUSES:
            counts[type][status] += 1
    often = [path for path, record in everything if _is_updated_often(record)]
    lately = [path for path, record in everything if _is_retired_lately(record, now)]
    mismatches = check_index_text(text, everything)
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
    since = safe.parse_time(str(record.get("retired_at") or ""))
    if since is None or status_of(record) != fields.RETIRED:
        return False
    return safe.age_days(since, now) < RECENT_DAYS


# A rename that was cut off left one record under two names: the next change takes one away.


def heal(desk: Desk, whole: bool = False) -> bool:
    """Take away what a rename left; True where there was something.

    The index is written last, so a new name that it does not list may be such a one; `whole`
    looks at every record, whatever the index says.
    """
    known = len(desk.remarks)
    if whole or _strangers(desk):
        _take_away(desk, everything(desk.store)[0])
    return len(desk.remarks) > known


def _strangers(desk: Desk) -> bool:
    """Is any record active that the index does not know?"""
    store = desk.store
    listed = {one.path for one in parse(index_of(store))[0]}
    unknown = [path for path in paths_of(store) if path not in listed]
    return any(_is_active(one) for one in collect(store, unknown)[0].values())


def _take_away(desk: Desk, records: Collected) -> None:
    same: dict[str, list[str]] = {}
    for path, record in records.items():
        if _is_active(record) and _is_retitled(record) and record.get("id") == stem(path):
            rest = {key: value for key, value in record.items() if key != "id"}
            same.setdefault(repr(sorted(rest.items())), []).append(path)
    for paths in same.values():
        named = [path for path in paths if _says_its_title(path, records[path])]
        for path in paths if len(named) == 1 else ():
            if path not in named:
                desk.store.drop(path)
                desk.remarks.append(f"{path} is called {named[0]} now: its rename was cut off")


def _is_active(record: Record) -> bool:
    return status_of(record) == fields.ACTIVE


def _is_retitled(record: Record) -> bool:
    changes = record.get("changes")
    entries = changes if isinstance(changes, list) else []
    return any(isinstance(one, dict) and one.get("field") == "title" for one in entries)


def _says_its_title(path: str, record: Record) -> bool:
    return stem(path) == slug_for(str(record["title"]), str(record["category"]))


# Enlist records: index.md says what is active, always the same bytes for the same records.


def enlist(records: Mapping[str, Record], store: Store) -> bool:
    """Write the index of these records where it differs; True when it did."""
    data = encode(build(records.items()))
    try:
        standing = store.read(store.index_path)
    except Missing:
        standing = b""
    if data == standing or (not standing and not records):
        return False
    store.put(store.index_path, data)
    return True


# index.md: in step with the records after every change, or where it is not.

INVALID = "invalid-record"  # it is in the index all the same


@dataclass(frozen=True)
class Validated:
    """Where index and records differ, and the records that nobody can read."""

    mismatches: tuple[Mismatch, ...]
    findings: tuple[Finding, ...]


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def bring_in_step(store: Store) -> bool:
    """collect → enlist; True where the index had to change"""
    records, _ = collect(store, store.files())
    for entry in parse(index_of(store))[0]:
        if entry.path not in records and store.is_memory(entry.path):
            records |= _still_there(store, entry)
    return enlist(records, store)


def _still_there(store: Store, entry: Entry) -> Collected:
    """What the index lists and a look at the folders did not show: unless it is gone, it stays."""
    records, findings = collect(store, [entry.path])
    if not findings or store.facts(entry.path) is None:
        return records
    try:
        store.read(entry.path)
    except Unwritable:
        return {entry.path: entry.record}  # nobody can read it just now, so its line stays
    except MemdirError:
        pass
    return {}  # what stands there is no record any more


def healed(act: Act) -> Act:
    """The same act on a store in which nothing is left half renamed."""

    def first_heal(desk: Desk) -> list[Change]:
        if heal(desk):
            bring_in_step(desk.store)
        return act(desk)

    return first_heal


def indexed(desk: Desk, changes: list[Change]) -> list[Change]:
    """The index after these changes; when it cannot be written, say what stands."""
    done = [change for change in changes if change.changed]
    more = f" and {len(done) - 1} more" if len(done) > 1 else ""
    desk.cause = replace(desk.cause, name=done[0].name + more if done else "")
    for change in changes:
        desk.remarks += change.remarks
    try:
        bring_in_step(desk.store)
    except MemdirError as error:
        what = ", ".join(f"{change.path} is {change.kind}" for change in changes)
        stands = f"{what}, but " if what else ""
        raise Unwritable(
            f"{stands}the index is not in step: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir records index --rebuild, mends it",
        ) from None
    return changes


def rebuild(app: App, told: Told = _untold) -> Done:
    """collect → enlist"""

    def act(desk: Desk) -> list[Change]:
        store = desk.store
        heal(desk, whole=True)
        # Looked for twice: what one look misses because a disk fails, the other one may find.
        records, broken = collect(store, sorted({*store.files(), *paths_of(store)}))
        missed = [*broken, *store.scan().findings]
        said = {one.path: f"{one.message}; {one.fix}" for one in missed if one.kind != INVALID}
        desk.remarks += said.values()
        changed = enlist(records, store)
        path = store.index_path
        return [Change(REBUILT if changed else SKIPPED, stem(path), path)]

    return app.change("index", act, told)


def validate(app: App) -> Validated:
    """collect → compare with what the index says"""
    records, findings = everything(app.store)
    found = check_index_text(index_of(app.store), records.items())
    return Validated(tuple(found), tuple(findings))


def health(app: App) -> tuple[dict[str, object], list[Finding]]:
    """collect → count"""
    records, findings = everything(app.store)
    return index_health(index_of(app.store), records.items(), app.now()), findings

"""Six folders of JSON files as a store, and their index.md.

Each active record appears as a memory: the title is the description, the content the body. Retired
and archived records keep their files but do not count as memories. The index has one line for each
active record, and is in step with the records after every change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from memdir.errors import BadInput, Finding, MemdirError, Missing, Unwritable
from memdir.hot import memory
from memdir.hot.layout import MAX_FILE_BYTES, RecordFolders, Scan
from memdir.hot.memory import encode, stem
from memdir.records import fields
from memdir.records.fields import Record, is_active_record
from memdir.records.hook import LightRecords
from memdir.records.record import (
    PROJECT_FOLDER,
    collect_records,
    read_all_records,
    read_record,
    read_record_index,
    record_paths,
)
from memdir.records.validate import (
    ARROW,
    TAGS,
    check_record,
    clean_record_tags,
    clean_record_title,
)
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done

HEAD = "# Memory index\n\n<!-- Made from the records: memdir records index --rebuild -->\n\n"
INVALID = "invalid-record"  # still listed in the index
# A record without these words is active; there is no need to parse it.
_PUT_AWAY = (fields.RETIRED.encode(), fields.ARCHIVED.encode())
_MARKS = str.maketrans("[]|`\\", "()/'/")  # these would end the pointer
_SHOWN_PROBLEMS = 3


class Records(LightRecords):
    def __init__(self, root: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        super().__init__(root, max_file_bytes)
        # Bytes of each file and the rendered result, because rendering is slow.
        self._seen: dict[str, tuple[bytes, str, list[Finding]]] = {}

    def scan(self) -> Scan:
        """An unreadable record is reported and hides no other."""
        scan, before = Scan(), self._seen
        self._seen = {}  # forget deleted files
        for path, data, facts in self.record_files(scan.skipped):
            seen = before.get(path)
            if seen is None or seen[0] != data:
                seen = (data, *_look(path, data))
            self._seen[path] = seen
            _, text, findings = seen
            scan.skipped += findings
            if text:
                scan.memories.append(memory.Memory(path, text, facts.st_mtime, facts.st_size))
        return scan

    def files(self) -> list[str]:
        files = self.record_files([])
        return sorted([path for path, data, _ in files if not _is_put_away(path, data)])

    def view(self, path: str, data: bytes | None = None) -> bytes:
        content = self.read(path) if data is None else data
        if path == memory.RECORD_INDEX:
            return _pointers(content)
        if not self.is_memory(path):
            return content
        record, _ = read_record(content, path)
        if data is None and not fields.is_active_record(record):
            step = f"memdir records restore {record.get('id', path)}"
            raise Missing(f"{path} is {fields.status_of_record(record)}", path=path, next=step)
        return encode(fields.render_record(record))

    def index(self) -> bytes | None:
        data = RecordFolders.index(self)
        return None if data is None else _pointers(data)

    def put(self, path: str, data: bytes) -> None:
        """Durable on return; refuses files that do not belong to records."""
        if path != memory.RECORD_INDEX and not memory.is_record_file(path):
            raise BadInput(
                f"{path!r} is not a path below the store of records",
                path=path,
                next="a record lies in one of " + ", ".join(memory.RECORD_FOLDERS),
            )
        super().put(path, data)

    def keep_index(self, store: Store) -> bool:
        return update_record_index(store)


def _look(path: str, data: bytes) -> tuple[str, list[Finding]]:
    try:
        record, _ = read_record(data, path)
    except MemdirError as error:
        return "", [Finding("broken-record", path, error.message, error.next)]
    if not fields.is_active_record(record):
        return "", []
    text, problems = fields.render_record(record), check_record(record)
    if not problems:
        return text, []
    message = "; ".join(f"{it.field} {it.rule}" for it in problems[:_SHOWN_PROBLEMS])
    if len(problems) > _SHOWN_PROBLEMS:
        message += f" and {len(problems) - _SHOWN_PROBLEMS} more"
    fix = f"memdir records write --action update --target {path}"
    return text, [Finding("invalid-record", path, f"{path}: {message}", fix)]


def _is_put_away(path: str, data: bytes) -> bool:
    if not any(word in data for word in _PUT_AWAY):
        return False
    try:
        return not fields.is_active_record(read_record(data, path)[0])
    except MemdirError:
        return False  # unknown; reported when it is read


def _pointers(data: bytes) -> bytes:
    lines = []
    for entry in parse_record_index(memory.decode(data))[0]:
        room = memory.POINTER_AIM - len(entry.path) - len("- [[|]]")
        title = entry.title.translate(_MARKS)
        line = f"- [[{entry.path}|{title if len(title) <= room else title[: room - 1] + '…'}]]"
        tags = f" — {', '.join(entry.tags)}".translate(_MARKS) if entry.tags else ""
        lines.append(line + tags if len(line + tags) <= memory.POINTER_AIM else line)
    return encode("".join(f"{line}\n" for line in lines))


def open_store(root: str, max_file_bytes: int) -> Records:
    return Records(root, max_file_bytes)


# index.md

Pairs = Iterable[tuple[str, Record]]


class Entry(NamedTuple):
    line: str
    number: int
    type: str
    title: str
    path: str
    tags: list[str]


class Mismatch(NamedTuple):
    """`number` is the line number, 0 if there is no line."""

    kind: str
    path: str
    number: int = 0


def record_index_line(record: Record, path: str) -> str:
    """`- [DECISION] title -> path #tags:a,b`; markers in a title cannot break it."""
    title = clean_record_title(str(record.get("title", ""))) or "untitled"
    tags = clean_record_tags(fields.record_texts(record.get("tags")))
    end = f" {TAGS}{','.join(tags)}" if tags else ""
    return f"- [{str(record.get('category', '')).upper()}] {title}{ARROW}{path}{end}"


def build_record_index(records: Pairs) -> str:
    """The same records always give the same bytes."""
    lines = [
        (
            str(record.get("category")),
            str(record.get("title")).casefold(),
            path,
            record_index_line(record, path),
        )
        for path, record in records
        if is_active_record(record)
    ]
    return HEAD + "".join(f"{text}\n" for _, _, _, text in sorted(lines))


def parse_record_index(text: str) -> tuple[list[Entry], list[Mismatch]]:
    entries, bad = [], []
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.startswith("- "):
            continue
        bare = raw.rstrip("\r")
        head, bracket, rest = bare[2:].partition("] ")
        type = head[1:].lower()
        body, mark, tags = rest.rpartition(f" {TAGS}")
        title, arrow, path = (body if mark else rest).rpartition(ARROW)
        title, path = title.strip(), path.strip().removeprefix(PROJECT_FOLDER)
        if bracket and head[:1] == "[" and type in fields.TYPES and arrow and title and path:
            named = [tag.strip() for tag in tags.split(",") if tag.strip()] if mark else []
            entries.append(Entry(bare, number, type, title, path, named))
        else:
            bad.append(Mismatch("unreadable", "", number))
    return entries, bad


def find_record_index_mismatches(text: str, records: Pairs) -> list[Mismatch]:
    wanted = {
        path: record_index_line(record, path)
        for path, record in records
        if is_active_record(record)
    }
    entries, mismatches = parse_record_index(text)
    seen: set[str] = set()
    for entry in entries:
        if entry.path in seen:
            mismatches.append(Mismatch("twice", entry.path, entry.number))
        elif entry.path not in wanted:
            mismatches.append(Mismatch("stale", entry.path, entry.number))
        elif entry.line.replace(ARROW + PROJECT_FOLDER, ARROW) != wanted[entry.path]:
            mismatches.append(Mismatch("different", entry.path, entry.number))
        seen.add(entry.path)
    return mismatches + [Mismatch("missing", path) for path in sorted(wanted.keys() - seen)]


def report_record_health(text: str, records: Pairs) -> dict[str, object]:
    pairs = list(records)
    counts = {type: dict.fromkeys(fields.STATUSES, 0) for type in fields.TYPES}
    for _, record in pairs:
        status = fields.status_of_record(record)
        if status in fields.STATUSES:
            counts[str(record["category"])][status] += 1
    mismatches = len(find_record_index_mismatches(text, pairs))
    return {
        "records": len(pairs),
        "counts": counts,
        "mismatches": mismatches,
        "in_sync": not mismatches,
    }


@contextmanager
def change_records(app: App, verb: str, reason: str = "") -> Iterator[Desk]:
    """Interrupted renames are repaired first; the index is written last."""
    with app.changing(verb, reason) as desk:
        if heal_renamed_records(desk):
            update_record_index(desk.store)
        yield desk
        changed = [change for change in desk.changes if change.changed]
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        desk.cause = replace(desk.cause, name=changed[0].name + more if changed else "")
        for change in desk.changes:
            desk.remarks += change.remarks
        try:
            update_record_index(desk.store)
        except MemdirError as error:
            stands = ", ".join(f"{change.path} is {change.kind}" for change in desk.changes)
            raise Unwritable(
                f"{stands + ', but ' if stands else ''}the index is not in step: {error.message}",
                path=error.path,
                next=f"{error.next}; the next change, or memdir records index --rebuild, mends it",
            ) from None


def heal_renamed_records(desk: Desk, whole: bool = False) -> bool:
    """Remove the old name of a record whose rename was interrupted: it exists under both.

    The index is written last, so a name it does not list may be a new one; `whole` checks every
    record, listed or not.
    """
    store = desk.store
    listed = {entry.path for entry in parse_record_index(read_record_index(store))[0]}
    unknown = [path for path in record_paths(store) if path not in listed]
    if not whole and not any(map(is_active_record, collect_records(store, unknown)[0].values())):
        return False
    records = read_all_records(store)[0]
    same: dict[str, list[str]] = {}
    for path, record in records.items():
        changes = record.get("changes")
        entries = changes if isinstance(changes, list) else []
        retitled = any(isinstance(it, dict) and it.get("field") == "title" for it in entries)
        if is_active_record(record) and retitled and record.get("id") == stem(path):
            rest = {key: value for key, value in record.items() if key != "id"}
            same.setdefault(repr(sorted(rest.items())), []).append(path)
    gone = []
    for paths in same.values():
        from memdir.format.names import memory_slug  # slow to import; there is seldom one

        title, type = str(records[paths[0]]["title"]), str(records[paths[0]]["category"])
        named = [path for path in paths if stem(path) == memory_slug(title, type)]
        for path in paths if len(named) == 1 else ():
            if path not in named:
                store.drop(path)
                gone.append(f"{path} is called {named[0]} now: its rename was cut off")
    desk.remarks += gone
    return bool(gone)


def update_record_index(store: Store) -> bool:
    records, _ = collect_records(store, store.files())
    for entry in parse_record_index(read_record_index(store))[0]:
        if entry.path in records or not store.is_memory(entry.path):
            continue
        # The scan missed it: its line stays unless the file is gone.
        more, findings = collect_records(store, [entry.path])
        records |= more
        if findings and store.facts(entry.path) is not None:
            try:
                store.read(entry.path)
            except Unwritable:  # temporarily unreadable
                known = {"category": entry.type, "title": entry.title, "tags": entry.tags}
                records[entry.path] = known
            except MemdirError:
                continue
    return _write_index(records, store)


def _write_index(records: Mapping[str, Record], store: Store) -> bool:
    data = encode(build_record_index(records.items()))
    try:
        standing = store.read(store.index_path)
    except Missing:
        standing = b""
    if data == standing or (not standing and not records):
        return False
    store.put(store.index_path, data)
    return True


def rebuild_record_index(app: App) -> Done:
    from memdir.format.draft import REBUILT, SKIPPED, Change  # slow to import, and seldom needed

    with app.changing("index") as desk:
        store = desk.store
        heal_renamed_records(desk, whole=True)
        # Scan twice: on a failing disk, the second scan may find records missing in the first.
        records, broken = collect_records(store, sorted({*store.files(), *record_paths(store)}))
        missed = [*broken, *store.scan().findings]
        remarks = {it.path: f"{it.message}; {it.fix}" for it in missed if it.kind != INVALID}
        desk.remarks += remarks.values()
        kind = REBUILT if _write_index(records, store) else SKIPPED
        desk.changes.append(Change(kind, stem(store.index_path), store.index_path))
    return desk.done

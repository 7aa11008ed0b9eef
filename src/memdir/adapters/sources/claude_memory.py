"""JSON of tools around Claude: claude-memory, claude-mem, and memories.json of a Claude account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memdir.adapters.exchange import OTHER, Brought
from memdir.adapters.sources._files import BROKEN, Around, inside, read_json, skip, unusable
from memdir.adapters.sources._pieces import Piece, brought_from, clean

TITLE = "claude-memory JSON"
SOURCE = "claude-memory"
FILE = ".claude/memory.json"  # of a project
NEXT = "name the file: memdir import claude-memory export.json"
PASSED_OVER = ("tasks", "sessions", "actions", "prompts", "summaries")  # work, no knowledge
ACCOUNT = "conversations_memory"
PROJECTS = "project_memories"
KNOWN = ("decisions", "patterns", "knowledge", "observations", ACCOUNT, PROJECTS)


def read(path: str, around: Around) -> Brought:
    """Decisions, patterns, knowledge, observations; what an account remembers."""
    path = path or (inside(around.project, *FILE.split("/")) if around.project else "")
    if not path:
        raise unusable(SOURCE, f"the exported file is needed (there is no {FILE})", NEXT)
    values = read_json(path, NEXT)
    whole = values if isinstance(values, list) else [values]
    parts = [one for one in whole if isinstance(one, dict) and any(key in one for key in KNOWN)]
    if not parts:
        raise unusable(path, "it holds no memories that are known", NEXT)
    brought = Brought()
    brought_from(SOURCE, (one for part in parts for one in _pieces(part, brought)), brought)
    return brought


def _pieces(part: Mapping[str, Any], brought: Brought) -> Iterator[Piece]:
    readers = {"decisions": _decision, "patterns": _pattern, "observations": _observation}
    for key, reader in readers.items():
        for number, row in enumerate(_list(part.get(key)), 1):
            fields = row if isinstance(row, dict) else {}
            place = f"{key} {clean(fields.get('id')) or number}"
            piece = reader(fields, place)
            if piece:
                yield piece
            else:
                skip(brought, place, "it cannot be read", BROKEN)
    yield from _knowledge(part.get("knowledge"), brought)
    yield from _account(part)
    for key in PASSED_OVER:
        if rows := _list(part.get(key)):
            skip(brought, f"{key} ({len(rows)})", "that is work, no knowledge", OTHER)


def _decision(fields: Mapping[str, Any], place: str) -> Piece | None:
    said, why = clean(fields.get("decision")), clean(fields.get("reasoning"))
    if not said.strip():
        return None
    others = [clean(one) for one in _list(fields.get("alternatives")) if clean(one)]
    lines = [said, f"**Why:** {why}" if why else ""]
    lines += [f"Considered and not taken: {', '.join(others)}." if others else ""]
    lines += [f"Outcome: {clean(fields.get('outcome'))}" if clean(fields.get("outcome")) else ""]
    time = clean(fields.get("timestamp"))
    return Piece(said, "\n\n".join(filter(None, lines)), "decision", place, said, time)


def _pattern(fields: Mapping[str, Any], place: str) -> Piece | None:
    name, said = clean(fields.get("pattern")), clean(fields.get("description"))
    if not name.strip():
        return None
    lines = [f"{name}: {said}" if said else name]
    lines += [f"Solution: {clean(fields.get('solution'))}" if clean(fields.get("solution")) else ""]
    times = clean(fields.get("firstSeen")), clean(fields.get("lastSeen"))
    return Piece(name, "\n\n".join(filter(None, lines)), "feedback", place, said or name, *times)


def _observation(fields: Mapping[str, Any], place: str) -> Piece | None:
    title = clean(fields.get("title"))
    facts = fields.get("facts")
    rows = [clean(one) for one in _list(facts)] or [clean(facts)]
    text = clean(fields.get("narrative")) or clean(fields.get("text"))
    body = "\n\n".join(filter(None, [text, "\n".join(f"- {one}" for one in rows if one)]))
    if not title and not body:
        return None
    kind = "decision" if fields.get("type") == "decision" else "project"
    about = clean(fields.get("subtitle")) or title
    return Piece(title or body, body or title, kind, place, about, clean(fields.get("created_at")))


def _knowledge(values: Any, brought: Brought) -> Iterator[Piece]:
    """Values by their keys, in categories."""
    for category, rows in values.items() if isinstance(values, dict) else ():
        for key, row in rows.items() if isinstance(rows, dict) else ():
            fields = row if isinstance(row, dict) else {"value": row}
            said, place = clean(fields.get("value")), f"knowledge {category}: {key}"
            if said.strip():
                time = clean(fields.get("lastUpdated")) or clean(fields.get("timestamp"))
                yield Piece(key, f"{key}: {said}", "reference", place, "", "", time)
            else:
                skip(brought, place, "it cannot be read", BROKEN)


def _account(part: Mapping[str, Any]) -> Iterator[Piece]:
    """What Claude itself remembers of a person, and of each of their projects."""
    if said := clean(part.get(ACCOUNT)):
        yield Piece("claude account memory", said, "user", ACCOUNT)
    projects = part.get(PROJECTS)
    for key, text in projects.items() if isinstance(projects, dict) else ():
        if said := clean(text):
            yield Piece(f"claude project {key}", said, "project", f"{PROJECTS} {key}")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

"""The tools: memories are framed, long texts are paged, and next steps name tools."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from memdir.errors import BadInput, MemdirError
from memdir.format.draft import (
    ANYWAY,
    SKIPPED,
    Change,
    Draft,
    Wishes,
    check_memory_type,
    content_hash,
)
from memdir.format.names import WILD, check_memory_name
from memdir.hot import inject, safe
from memdir.hot.memory import UNKNOWN, decode, read_memory
from memdir.hot.place import MAIN_SCOPES, RECORDS
from memdir.hot.safe import clip, inert, inert_line, make_visible
from memdir.hot.verdicts import Verdicts
from memdir.mcp.server import INTERNAL, NO_RESOURCE, PARAMS, Refused
from memdir.mcp.tools import TOOLS, Wrong, check_mcp_arguments
from memdir.recall import answer as recall_answer
from memdir.store.accept import hide_unaccepted, stored_memory_source
from memdir.store.writer import store_cache_folder

# What only some tools need is imported there: the first recall should not wait for it.

if TYPE_CHECKING:
    from memdir.audit.ages import Listed
    from memdir.mcp.server import Fields, Stores
    from memdir.store.ports import Logged
    from memdir.store.writer import App

    Given = dict[str, Any]

PAGE_CHARACTERS = 20_000  # of one memory per call
FRAME_UNITS = 30_000  # per answer, in UTF-16 units; clients cut or refuse more
LINE_BYTES, CHANGE_BYTES = 300, 600
NONCE_BYTES = 4
RECALLED = 5
MAX_ROWS = 100  # memories per list
MAX_CLAIMS = 60  # per verify
CHANGES = 20  # per history
MAX_PATHS = 5  # per change
MAX_UNDONE = 20  # paths
LOOKED_AT = 3  # newest changes of a memory to search for ours
SHORTEST_ID, SHOWN_ID = 8, 12  # characters of a change's id: accepted, printed
# Rewrites advice for the command line into advice for tools.
_STEPS = (
    (re.compile(r"memdir edit ([\w.-]{1,80})"), r"call save with name \1"),
    (re.compile(r"memdir restore --list|memdir log\b( --json)?"), "the tool history"),
    (re.compile(r"memdir (list|undo|verify)\b"), r"the tool \1"),
    (re.compile(r"memdir remember TEXT"), "the tool save"),
    (re.compile(r"insist with --anyway|--anyway"), "call save with anyway: true"),
    (re.compile(r"--dir and --scope (\w{1,20}) both say where"), r"scope \1 is not served here"),
    (re.compile(r"Give one of them\.?"), "leave scope out: one directory is served"),
    (re.compile(r"(?<![\w-])--if-hash\b"), "if_hash"),
    (re.compile(r"(?<![\w-])--(name|scope|description|type)\b"), r"\1"),
)


@dataclass(frozen=True)
class Answer:
    text: str
    wrong: bool = False


def call_mcp_tool(stores: Stores, name: object, arguments: object, client: str) -> Answer:
    if not isinstance(name, str) or name not in TOOLS:
        known = ", ".join(TOOLS)
        shown = inert_line(name, 80) if isinstance(name, str) else "without a name"
        raise Refused(PARAMS, f"there is no tool {shown}; there are {known}")
    if arguments is not None and not isinstance(arguments, dict):
        raise Refused(PARAMS, "arguments is an object")
    stores.remarks.clear()
    try:
        answer = RUNS[name](stores, check_mcp_arguments(name, arguments or {}), client)
    except Wrong as wrong:
        return Answer(f"{wrong}.", wrong=True)
    except MemdirError as error:
        answer = Answer(render_mcp_refusal(error), wrong=True)
    return replace(answer, text=_with_remarks([answer.text], stores.remarks))


def frame_mcp_text(text: str) -> str:
    """Put text from memories between delimiters that no memory can forge."""
    return inject.render_hook_frame(
        os.urandom(NONCE_BYTES).hex(), (), (), text, limit=FRAME_UNITS
    ).text


def render_mcp_refusal(error: MemdirError) -> str:
    message = _step(error.message, 4 * LINE_BYTES)
    next = _step(error.next, 2 * LINE_BYTES)
    return f"{message}. Next: {next}" if next else f"{message}."


def _step(text: str, limit_bytes: int) -> str:
    """Advice for the command line, rewritten for a client that has tools."""
    for pattern, instead in _STEPS:
        text = pattern.sub(instead, text)
    return inert_line(text, limit_bytes)


def _with_remarks(lines: Sequence[str], remarks: Sequence[str]) -> str:
    notes = [f"note: {_step(text, 2 * LINE_BYTES)}" for text in dict.fromkeys(remarks)]
    return "\n".join([*lines, *notes])


def render_mcp_memory(app: App, scope: str, name: str, start: int = 1) -> tuple[str, bytes]:
    from memdir.store.look import show_in_store

    path, data, document = show_in_store(app, name)
    facts = app.store.facts(path)
    moment = facts[0] / 1e9 if facts else app.now()
    memory = read_memory(path, app.store.view(path, data), moment)
    recalled = inject.Recalled(memory, scope, app.store.root)
    source = stored_memory_source(app)
    recalled.giver = source(memory.path) if source else ""
    if app.config.code:
        Verdicts(store_cache_folder(app.config), app.config.code).tell([recalled])
    head = inject.render_injected_body(recalled, app.now()).partition("\n\n")[0]
    return frame_mcp_text(f"{head}\n\n{_page(document.body, start)}".rstrip()), data


def render_mcp_index(app: App, start: int = 1) -> str:
    text = decode(app.store.index() or b"")
    if not text.strip():
        return ""
    where = inert_line(f"{app.store.root}/{app.store.index_path}", LINE_BYTES)
    return frame_mcp_text(f"Contents of {where} (index of the memories):\n\n{_page(text, start)}")


def _page(text: str, start: int) -> str:
    lines = inert(make_visible(text)).strip("\n").split("\n")
    shown: list[str] = []
    room = PAGE_CHARACTERS
    for line in lines[start - 1 :]:
        if shown and len(line) + 1 > room:
            break
        shown.append(clip(line, room) if len(line) > room else line)
        room -= len(line) + 1
    left = len(lines) - (start - 1) - len(shown)
    if left > 0:
        more = f"{left:,} more line{'s' * (left != 1)}"
        shown.append(f"({more}: read again with line {start + len(shown)})")
    return "\n".join(shown) if start <= len(lines) else f"(it has {len(lines):,} lines)"


def _save(stores: Stores, given: Given, client: str) -> Answer:
    from memdir.store import changes

    app, name = _writable(stores, given, client), given.get("name", "")
    draft = Draft(
        given["text"],
        name=check_memory_name(name) if name else "",
        source=app.actor,
        expected=given.get("if_hash"),
        **{key: given[key] for key in ("type", "description", "why", "how") if key in given},
    )
    done = changes.save_memory(app, draft, Wishes(bool(given.get("anyway")), offered=(ANYWAY,)))
    remarks = list(done.remarks)
    if not app.config.enabled:
        by = app.config.enabled_by
        remarks.append(f"memory is switched off (by {by}); the client will not load this by itself")
    return _changed(done.changes[0], remarks)


def _forget(stores: Stores, given: Given, client: str) -> Answer:
    """Retires one memory at a time: a pattern could match memories the agent has not read."""
    from memdir.store import changes, look

    app, name = _writable(stores, given, client), given.get("name", "")
    if not name.strip():
        raise BadInput("name is empty", next="memdir list shows them")
    if any(mark in name for mark in WILD):
        raise BadInput("name holds a wildcard", next="name one memory")
    done = changes.retire_memories(app, [name], reason=given.get("reason", ""))
    # Another process may have added a newer change.
    logged = look.store_log(app, done.changes[0].path, LOOKED_AT)
    ours = [f"change {it.id[:SHOWN_ID]}" for it in logged if it.verb == "retire"]
    id = ours[0] if ours else "the id that history shows"
    return _changed(done.changes[0], [*done.remarks, f"to bring it back, call undo with {id}"])


def _undo(stores: Stores, given: Given, client: str) -> Answer:
    """Needs an id: the newest change may be somebody else's."""
    from memdir.capture import review

    app, change = stores.app(given.get("scope", ""), client), given.get("change", "").strip()
    if len(change) < SHORTEST_ID or change.lower().strip("0123456789abcdef"):
        hint = "memdir log"
        raise BadInput(f"change must be an id of at least {SHORTEST_ID} hex digits", next=hint)
    done = review.undo_and_hold_again(app, change)
    lines = [
        inert_line(f"undone: {change.path} {change.reason or 'is as it was before'}", CHANGE_BYTES)
        for change in done.changes[:MAX_UNDONE]
    ]
    nothing = ["The files already are as before; nothing was written."]
    return Answer(_with_remarks(lines or nothing, done.remarks))


def _writable(stores: Stores, given: Given, client: str) -> App:
    app = stores.app(given.get("scope", ""), client)
    if app.config.layout == RECORDS:
        message = f"the scope {RECORDS} holds records, which these tools only read"
        raise BadInput(message, next="choose another scope, or let the user run memdir records")
    return app


def _changed(change: Change, remarks: list[str]) -> Answer:
    refused = change.kind == SKIPPED and not change.hash
    where = inert_line(change.path or change.name, CHANGE_BYTES)
    reason = _step(change.reason, CHANGE_BYTES)
    text = f"{change.kind} {where}".rstrip() + f": {reason}" * bool(reason)
    text = f"not saved: {reason}" if refused else text
    return Answer(_with_remarks([text], remarks), refused)


def _recall(stores: Stores, given: Given, client: str) -> Answer:
    apps, limit = stores.apps(given.get("scope", "")), given.get("limit", RECALLED)
    answer = recall_answer.recall(apps, given.get("query", ""), limit=limit, verify=None)
    if answer.text:
        hint = "To read one of the lines whole: read, with its path and scope."
        return Answer(f"{answer.text}\n{hint}" if answer.injected.pointers else answer.text)
    now = apps[0][1].now() if apps else 0.0
    near = [inject.render_injected_pointer(memory, now) for memory in answer.found.near[:RECALLED]]
    there = any(app.store.files() for _, app in apps)
    text = f"Nothing recalled: {answer.reason if there else 'there is no memory yet'}."
    return Answer(
        "\n".join([text, frame_mcp_text("\n".join(["Nearest:", *near]))]) if near else text
    )


def _read(stores: Stores, given: Given, client: str) -> Answer:
    app, name = hide_unaccepted(stores.app(given.get("scope", ""))), given.get("name", "")
    start = given.get("line", 1)
    if not name:
        return Answer(render_mcp_index(app, start) or "The index is empty: nothing was saved yet.")
    text, data = render_mcp_memory(app, str(app.config.scope), name, start)
    return Answer(f"{text}\nhash: {content_hash(data)}")


def _list(stores: Stores, given: Given, client: str) -> Answer:
    from memdir.audit import ages

    kind, start = given.get("type", ""), given.get("offset", 0)
    check_memory_type(kind or UNKNOWN)
    rows: list[tuple[str, Listed]] = []
    remarks: list[str] = []
    for scope, app in stores.apps(given.get("scope", "")):
        listed, findings = ages.list_memory_ages(hide_unaccepted(app))
        rows += [(scope, row) for row in listed if kind in ("", row.memory.type)]
        remarks += [f"{finding.message}; {finding.fix}" for finding in findings]
    shown = [_row(scope, listed) for scope, listed in rows[start : start + MAX_ROWS]]
    left = len(rows) - start - len(shown)
    more = [f"({left:,} more: call list with offset {start + len(shown)})"] if left > 0 else []
    total = f"{len(rows):,} {'memory' if len(rows) == 1 else 'memories'}"
    lines = [
        frame_mcp_text(
            "\n".join([f"{total}. Each line: scope: path [type, age] description", *shown])
        )
    ]
    if not shown:
        none = f"{total}; none from {start} on." if rows else f"No {kind} memories yet."
        lines, more = [" ".join(none.split())], []
    return Answer(_with_remarks([*lines, *more], remarks[:MAX_ROWS]))


def _row(scope: str, listed: Listed) -> str:
    memory = listed.memory
    facts = f"{memory.type}, {safe.age_words(listed.age_days)}" + ", pinned" * memory.pinned
    return inert_line(f"- {scope}: {memory.path} [{facts}] {memory.description}", LINE_BYTES)


def _verify(stores: Stores, given: Given, client: str) -> Answer:
    from memdir.claims import verify
    from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE
    from memdir.claims.claim import UNKNOWN as UNSURE

    name, scope = given.get("name", ""), given.get("scope", "")
    lines: list[str] = []
    remarks: list[str] = []
    counts: Counter[str] = Counter()
    unchecked = 0
    for app in [stores.app(scope)] if name else [app for _, app in stores.apps(scope)]:
        checked = verify.verify_memories(app, [name] if name else [])
        remarks += checked.remarks
        for path, judged in checked.memories.items():
            claims = [item for item in judged if item.verdict != NOT_A_CLAIM]
            if not app.config.code:  # there is nothing to check them against
                unchecked += len(claims)
                continue
            counts.update(claim.verdict for claim in claims)
            for item in claims:
                if item.verdict == STALE or name:
                    shown = f"{path}:{item.claim.line}: {item.claim.text} – {item.reason}"
                    lines.append(inert_line(f"- {item.verdict}: {shown}", LINE_BYTES))
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (STALE, UNSURE, TRUE))
    if unchecked:
        missing = f"{unchecked} not checked: this is no git repository"
        total = f"{total}, {missing}" if counts else missing
    left = [f"({len(lines) - MAX_CLAIMS} more)"] if len(lines) > MAX_CLAIMS else []
    text = frame_mcp_text("\n".join([f"Claims: {total}.", *lines[:MAX_CLAIMS], *left]))
    return Answer(_with_remarks([text], remarks[:MAX_CLAIMS]))


def _history(stores: Stores, given: Given, client: str) -> Answer:
    from memdir.store import look

    app, name = stores.app(given.get("scope", "")), given.get("name", "")
    logged = look.store_log(app, name, given.get("limit", CHANGES))
    if not logged:
        return Answer(f"No change of {inert_line(name, 80)}." if name else "No changes yet.")
    return Answer(frame_mcp_text("\n".join(["Changes, newest first:", *map(_change, logged)])))


def _change(logged: Logged) -> str:
    paths = ", ".join(change + " " + path for change, path in logged.paths[:MAX_PATHS])
    more = f" and {len(logged.paths) - MAX_PATHS} more" if len(logged.paths) > MAX_PATHS else ""
    reason = f" ({logged.reason})" if logged.reason else ""
    text = f"{logged.actor}: {logged.verb} {logged.name}{reason}: {paths}{more}"
    return inert_line(f"- {logged.id[:SHOWN_ID]} {safe.iso_time(logged.time)} {text}", LINE_BYTES)


RUNS: dict[str, Callable[[Stores, Given, str], Answer]] = {
    "recall": _recall,
    "save": _save,
    "read": _read,
    "list": _list,
    "forget": _forget,
    "verify": _verify,
    "history": _history,
    "undo": _undo,
}


# Resources: `memdir://SCOPE/PATH`, including the index of a store.

SCHEME = "memdir://"
URI_CHARACTERS = 4_000
KIND = "text/markdown"
SCOPES = (*MAIN_SCOPES, RECORDS)


def list_mcp_resources(stores: Stores, cursor: object) -> Fields:
    """A page of all resources in a stable order; the cursor is the last one listed."""
    after = _parsed(cursor) if cursor is not None else ("", "")
    entries: dict[tuple[str, str], Fields] = {}  # by scope and path
    for scope, app in stores.apps():
        store = hide_unaccepted(app).store
        about = {store.index_path: "index of the memories"} if store.index() else {}
        about |= {memory.path: memory.description for memory in store.scan().memories}
        entries |= {(scope, path): _entry(scope, path, about[path]) for path in about}
    rest = sorted(key for key in entries if key > after)
    fields: Fields = {"resources": [entries[key] for key in rest[:MAX_ROWS]]}
    if len(rest) > MAX_ROWS:
        fields["nextCursor"] = entries[rest[MAX_ROWS - 1]]["uri"]
    return fields


def read_mcp_resource(stores: Stores, uri: object) -> Fields:
    """Opens only paths that the store itself lists, so no path leads outside."""
    scope, path = _parsed(uri)
    try:
        app = hide_unaccepted(stores.app(scope))
        text = ""
        if path == app.store.index_path:
            text = render_mcp_index(app)
        elif path in app.store.files():
            text = render_mcp_memory(app, scope, path)[0]
    except MemdirError as error:
        raise Refused(INTERNAL, render_mcp_refusal(error), {"uri": uri}) from None
    if not text:
        shown = inert_line(str(uri), LINE_BYTES)
        reason = f"there is no resource {shown}; resources/list names them"
        raise Refused(NO_RESOURCE, reason, {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": KIND, "text": text}]}


def _entry(scope: str, path: str, about: str) -> Fields:
    uri = f"{SCHEME}{scope}/{quote(path, errors='surrogateescape')}"
    fields: Fields = {"uri": uri, "name": inert_line(path, LINE_BYTES), "mimeType": KIND}
    return {**fields, "description": inert_line(about, LINE_BYTES)} if about else fields


def _parsed(uri: object) -> tuple[str, str]:
    if isinstance(uri, str) and len(uri) <= URI_CHARACTERS and uri.startswith(SCHEME):
        scope, _, path = uri[len(SCHEME) :].partition("/")
        if scope in SCOPES and path:
            return scope, unquote(path, errors="surrogateescape")
    known = ", ".join(SCOPES)
    raise Refused(PARAMS, f"an address is {SCHEME}SCOPE/PATH, its scope one of {known}")

"""A call of a tool: checked, one flow, told. What only looks is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memdir import flows
from memdir.core import dates, frontmatter, injection
from memdir.core.claim import NOT_A_CLAIM, STALE, TRUE
from memdir.core.claim import UNKNOWN as UNSURE
from memdir.core.drafting import check_type
from memdir.core.errors import MemdirError
from memdir.core.inert import inert_line
from memdir.core.memory import UNKNOWN, read_memory
from memdir.core.revision import hash_of
from memdir.flows.acceptance import as_told
from memdir.surfaces.mcp import changing, messages, words
from memdir.surfaces.mcp.messages import Refused
from memdir.surfaces.mcp.tools import TOOLS, Wrong, check
from memdir.surfaces.mcp.words import Told

if TYPE_CHECKING:
    from memdir.app import App
    from memdir.core.claim import Judged
    from memdir.core.history import Logged
    from memdir.core.listing import Listed
    from memdir.surfaces.mcp.messages import Fields
    from memdir.surfaces.mcp.stores import Stores

ROWS = 100  # memories of one list
CLAIMS = 60  # of one verify
CHANGES = 20  # of one history
RECALLED = 5
SHORT_ID = 12  # characters of a change's id
PATHS = 5  # of one change
LINE_BYTES = 300
NANOSECONDS = 1e9
Tool = Callable[["Stores", "Fields", str], Told]


def call(stores: Stores, name: object, arguments: object, client: str) -> Told:
    """What a tool answers; what the user can cause is an answer, too."""
    if not isinstance(name, str) or name not in TOOLS:
        known = ", ".join(TOOLS)
        shown = inert_line(name, 80) if isinstance(name, str) else "without a name"
        raise Refused(messages.PARAMS, f"there is no tool {shown}; there are {known}")
    if arguments is not None and not isinstance(arguments, dict):
        raise Refused(messages.PARAMS, "arguments is an object")
    stores.heard.clear()
    try:
        told = RUNS[name](stores, check(name, arguments or {}), client)
    except Wrong as wrong:
        return Told(f"{wrong}.", wrong=True)
    except MemdirError as error:
        told = words.refusal(error)
    if not stores.heard:
        return told
    return Told(words.remarked([told.text], stores.heard), told.fields, told.wrong)


def text_of(given: Mapping[str, object], key: str, default: str = "") -> str:
    """A text among arguments that were checked."""
    found = given.get(key, default)
    return found if isinstance(found, str) else default


def number_of(given: Mapping[str, object], key: str, default: int) -> int:
    """A number among them."""
    found = given.get(key, default)
    return found if isinstance(found, int) else default


def _recall(stores: Stores, given: Fields, client: str) -> Told:
    apps = stores.apps(text_of(given, "scope"))
    limit = number_of(given, "limit", RECALLED)
    answer = flows.recall(apps, text_of(given, "query"), limit=limit, verify=True)
    if answer.text:
        hint = "To read one of the lines whole: read, with its path and scope."
        return Told(f"{answer.text}\n{hint}" if answer.injected.pointers else answer.text)
    now = apps[0][1].now() if apps else 0.0
    near = [injection.pointer(one, now) for one in answer.found.near[:RECALLED]]
    there = any(app.store.files() for _, app in apps)
    reason = answer.reason if there else "there is no memory yet"
    text = f"Nothing to tell: {reason}."
    return Told("\n".join([text, words.framed("\n".join(["Nearest:", *near]))]) if near else text)


def _read(stores: Stores, given: Fields, client: str) -> Told:
    scope, name = text_of(given, "scope"), text_of(given, "name")
    app = as_told(stores.app(scope))
    start = number_of(given, "line", 1)
    if not name:
        return Told(index_text(app, start) or "The index is empty: nothing was saved yet.")
    path, data, document = flows.show(app, name)
    facts = app.store.facts(path)
    shown = app.store.view(path, data)
    memory = read_memory(path, shown, facts[0] / NANOSECONDS if facts else app.now())
    text = words.whole(app, str(app.config.scope), memory, document.body, start)
    return Told(f"{words.framed(text)}\nhash: {hash_of(data)}")


def index_text(app: App, start: int = 1) -> str:
    """The index as far as it goes in one page, in a frame; empty where there is none."""
    text = frontmatter.decode(app.store.index() or b"")
    if not text.strip():
        return ""
    where = inert_line(f"{app.store.root}/{app.store.index_path}", LINE_BYTES)
    return words.framed(
        f"Contents of {where} (index of the memories):\n\n{words.page(text, start)}"
    )


def _list(stores: Stores, given: Fields, client: str) -> Told:
    kind, start = text_of(given, "type"), number_of(given, "offset", 0)
    check_type(kind or UNKNOWN)
    rows: list[tuple[str, Listed]] = []
    remarks: list[str] = []
    for scope, app in stores.apps(text_of(given, "scope")):
        app = as_told(app)
        listed, findings = flows.list_memories(app)
        rows += [(scope, one) for one in listed if kind in ("", one.memory.type)]
        remarks += [f"{one.message}; {one.fix}" for one in findings]
    shown = rows[start : start + ROWS]
    lines = [_row(scope, one) for scope, one in shown]
    left = len(rows) - start - len(shown)
    more = [f"({left:,} more: call list with offset {start + len(shown)})"] if left > 0 else []
    total = words.count(len(rows), "memory", "memories")
    head = f"{total}. Each line: scope: path [type, age] description"
    if not shown:
        none = f"{total}; none from {start} on." if rows else f"No {kind} memories yet."
        none = " ".join(none.split())
        return Told(words.remarked([none], remarks[:ROWS]))
    return Told(words.remarked([words.framed("\n".join([head, *lines])), *more], remarks[:ROWS]))


def _row(scope: str, listed: Listed) -> str:
    memory = listed.memory
    facts = f"{memory.type}, {dates.age_words(listed.age_days)}" + ", pinned" * memory.pinned
    return inert_line(f"- {scope}: {memory.path} [{facts}] {memory.description}", LINE_BYTES)


def _verify(stores: Stores, given: Fields, client: str) -> Told:
    name, scope = text_of(given, "name"), text_of(given, "scope")
    apps = [("", stores.app(scope))] if name else stores.apps(scope)
    lines: list[str] = []
    remarks: list[str] = []
    counts: Counter[str] = Counter()
    for _, app in apps:
        checked = flows.verify(app, [name] if name else [])
        remarks += checked.remarks
        for path, judged in checked.memories.items():
            counts.update(one.verdict for one in judged)
            lines += [_claim(path, one) for one in judged if _worth_telling(one, bool(name))]
    total = ", ".join(f"{counts[one]} {one}" for one in (STALE, UNSURE, TRUE))
    left = [f"({len(lines) - CLAIMS} more)"] if len(lines) > CLAIMS else []
    text = words.framed("\n".join([f"Claims: {total}.", *lines[:CLAIMS], *left]))
    return Told(words.remarked([text], remarks[:CLAIMS]))


def _worth_telling(judged: Judged, named: bool) -> bool:
    return judged.verdict == STALE or (named and judged.verdict != NOT_A_CLAIM)


def _claim(path: str, judged: Judged) -> str:
    said = f"- {judged.verdict}: {path}:{judged.claim.line}: {judged.claim.text} – {judged.reason}"
    return inert_line(said, LINE_BYTES)


def _history(stores: Stores, given: Fields, client: str) -> Told:
    app, name = stores.app(text_of(given, "scope")), text_of(given, "name")
    found = flows.log(app, name, number_of(given, "limit", CHANGES))
    if not found:
        return Told(f"No change of {inert_line(name, 80)}." if name else "No changes yet.")
    return Told(words.framed("\n".join(["Changes, newest first:", *map(_change, found)])))


def _change(logged: Logged) -> str:
    cause = logged.cause
    paths = [change + " " + path for change, path in logged.paths[:PATHS]]
    more = f" and {len(logged.paths) - PATHS} more" if len(logged.paths) > PATHS else ""
    reason = f" ({cause.reason})" if cause.reason else ""
    what = f"{cause.verb} {cause.name}{reason}: {', '.join(paths)}{more}"
    when = dates.iso_time(logged.time)
    return inert_line(f"- {logged.id[:SHORT_ID]} {when} {cause.actor}: {what}", LINE_BYTES)


RUNS: dict[str, Tool] = {
    "recall": _recall,
    "save": changing.save,
    "read": _read,
    "list": _list,
    "forget": changing.forget,
    "verify": _verify,
    "history": _history,
    "undo": changing.undo,
}

"""Each tool: one call, told."""

from __future__ import annotations

import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdir.audit import ages
from memdir.capture import review
from memdir.claims import verify
from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE
from memdir.claims.claim import UNKNOWN as UNSURE
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import ANYWAY, SKIPPED, Change, Draft, Wishes, check_type, hash_of
from memdir.format.names import WILD, check_name
from memdir.hot import inject, memory, safe
from memdir.hot.memory import UNKNOWN, read_memory
from memdir.hot.place import RECORDS
from memdir.hot.safe import clip, inert, inert_line, make_visible
from memdir.mcp import rpc
from memdir.mcp.rpc import Refused
from memdir.mcp.tools import TOOLS, Wrong, check
from memdir.recall import answer as answer_module
from memdir.store import changes, look
from memdir.store.accept import as_told, source_of

if TYPE_CHECKING:
    from memdir.audit.ages import Listed
    from memdir.claims.claim import Judged
    from memdir.config.config import Config
    from memdir.hot.memory import Memory
    from memdir.mcp.rpc import Fields
    from memdir.store.ports import Logged
    from memdir.store.writer import App, Done


# What an agent reads: memories in a frame, long texts in pages, next steps as tools.

PAGE = 20_000  # characters of one memory at once
FRAME = 30_000  # UTF-16 units of an answer; clients cut or refuse more
NONCE_BYTES = 4
# The command line's words for what a tool does here.
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
class Told:
    """The answer of a tool: a text, and the same in fields where a program may want them."""

    text: str
    fields: Fields | None = None
    wrong: bool = False


def framed(text: str) -> str:
    """A text that holds words of memories, between lines that only we can write."""
    return inject.frame(secrets.token_hex(NONCE_BYTES), (), (), text, limit=FRAME).text


def step(text: str) -> str:
    """Advice for the command line, for somebody who has tools instead."""
    for pattern, instead in _STEPS:
        text = pattern.sub(instead, text)
    return text


def refusal(error: MemdirError) -> Told:
    """An error as a sentence, and what to do next."""
    said = inert_line(step(error.message), 4 * LINE_BYTES)
    next = inert_line(step(error.next), 2 * LINE_BYTES)
    return Told(f"{said}. Next: {next}" if next else f"{said}.", wrong=True)


def whole(app: App, scope: str, memory: Memory, text: str, start: int = 1) -> str:
    """A memory from a line on: header with age, origin and verdicts, then a page of its text."""
    one = inject.Recalled(memory, scope, app.store.root)
    source = source_of(app)
    one.giver = source(memory.path) if source else ""
    if app.config.code:
        from memdir.claims.verify import kept_verdicts

        kept_verdicts(app).tell([one])
    head = inject.body(one, app.now()).partition("\n\n")[0]  # below it: what it is about
    return f"{head}\n\n{page(text, start)}".rstrip()


def page(text: str, start: int) -> str:
    """The lines from `start` on that fit; one that is too long is cut."""
    lines = inert(make_visible(text)).strip("\n").split("\n")
    shown: list[str] = []
    room = PAGE
    for line in lines[start - 1 :]:
        if shown and len(line) + 1 > room:
            break
        shown.append(clip(line, room) if len(line) > room else line)
        room -= len(line) + 1
    left = len(lines) - (start - 1) - len(shown)
    if left > 0:
        more = count(left, "more line", "more lines")
        shown.append(f"({more}: read again with line {start + len(shown)})")
    return "\n".join(shown) if start <= len(lines) else f"(it has {len(lines):,} lines)"


def count(number: int, one: str, many: str) -> str:
    """`1 memory`, `2 memories`."""
    return f"{number:,} {one if number == 1 else many}"


def remarked(lines: Sequence[str], remarks: Sequence[str]) -> str:
    """Lines, then what is worth knowing beside them."""
    said = [f"note: {inert_line(step(text), 2 * LINE_BYTES)}" for text in dict.fromkeys(remarks)]
    return "\n".join([*lines, *said])


# The tools that change something: save, forget, undo; each through the one writer.

SHORTEST_ID = 8  # characters that may stand for a change
LOOKED_AT = 3  # newest changes of a memory
CHANGING_LINE_BYTES = 600


def save(stores: Stores, given: Fields, client: str) -> Told:
    """A new memory, or the next version of the one that has its name."""
    app = _markdown(stores, given, client)
    name = str(given.get("name", ""))
    draft = Draft(
        body=str(given["text"]),
        type=str(given.get("type", UNKNOWN)),
        name=check_name(name) if name else "",
        description=str(given.get("description", "")),
        why=str(given.get("why", "")),
        how=str(given.get("how", "")),
        source=app.actor,
        expected=str(given["if_hash"]) if given.get("if_hash") else None,
    )
    done = changes.save(app, draft, Wishes(bool(given.get("anyway")), offered=(ANYWAY,)))
    change = done.changes[0]
    remarks = list(done.remarks)
    if not app.config.enabled:
        by = app.config.enabled_by
        remarks.append(f"memory is switched off (by {by}); the client will not load this by itself")
    return _told(app, done, change, remarks)


def forget(stores: Stores, given: Fields, client: str) -> Told:
    """Into the trash, one memory at a time: a pattern might mean more than was read."""
    app, name = _markdown(stores, given, client), str(given["name"])
    if not name.strip():
        raise BadInput("name is empty", next="memdir list shows them")
    if any(mark in name for mark in WILD):
        raise BadInput("name holds a wildcard", next="name one memory")
    done = changes.retire(app, [name], reason=str(given.get("reason", "")))
    return _told(app, done, done.changes[0], [*done.remarks, _way_back(app, done.changes[0])])


def _way_back(app: App, change: Change) -> str:
    """What to call to have it again; in the log another change may already be the newest."""
    found = look.log(app, change.path, LOOKED_AT)
    ours = [one for one in found if (one.cause.verb, one.cause.actor) == ("retire", app.actor)]
    id = f"change {ours[0].id[:SHORT_ID]}" if ours else "the id that history shows"
    return f"to bring it back, call undo with {id}"


def undo(stores: Stores, given: Fields, client: str) -> Told:
    """One change by its id: the newest may be somebody else's."""
    app, change = stores.app(str(given.get("scope", "")), client), str(given["change"]).strip()
    if len(change) < SHORTEST_ID or change.lower().strip("0123456789abcdef"):
        raise BadInput(
            f"change is an id of {SHORTEST_ID} or more of 0-9 and a-f", next="memdir log shows them"
        )
    done = review.undo(app, change)
    lines = [f"undone: {one.path} {one.reason or 'is as it was before'}" for one in done.changes]
    lines = [inert_line(line, CHANGING_LINE_BYTES) for line in lines[:20]]
    paths = [inert_line(one.path, CHANGING_LINE_BYTES) for one in done.changes]
    fields: Fields = {"change": "undone", "paths": paths, "remarks": _plain(done.remarks)}
    nothing = ["The files are as before already; nothing was written."]
    return Told(remarked(lines or nothing, done.remarks), fields)


def _markdown(stores: Stores, given: Fields, client: str) -> App:
    app = stores.app(str(given.get("scope", "")), client)
    if app.config.layout == RECORDS:
        raise BadInput(
            f"the scope {RECORDS} holds records, which these tools only read",
            next="choose another scope, or let the user run memdir records",
        )
    return app


def _told(app: App, done: Done, change: Change, remarks: list[str]) -> Told:
    """What became of it; not done, although it was asked for, is an error."""
    refused = change.kind == SKIPPED and not change.hash
    where = inert_line(change.path or change.name, CHANGING_LINE_BYTES)
    reason = inert_line(step(change.reason), CHANGING_LINE_BYTES)
    text = f"{change.kind} {where}".rstrip() + f": {reason}" * bool(reason)
    text = f"not saved: {reason}" if refused else text
    # Some clients show these instead of the text: nothing of a memory comes in unquoted.
    fields: Fields = {"change": change.kind, "name": inert_line(change.name), "path": where}
    fields |= {"hash": change.hash, "reason": reason, "remarks": _plain(remarks)}
    return Told(remarked([text], remarks), None if refused else fields, refused)


def _plain(remarks: Sequence[str]) -> list[str]:
    return [inert_line(step(text), CHANGING_LINE_BYTES) for text in remarks]


# A call of a tool: checked, one flow, told. What only looks is here.

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
        raise Refused(rpc.PARAMS, f"there is no tool {shown}; there are {known}")
    if arguments is not None and not isinstance(arguments, dict):
        raise Refused(rpc.PARAMS, "arguments is an object")
    stores.heard.clear()
    try:
        told = RUNS[name](stores, check(name, arguments or {}), client)
    except Wrong as wrong:
        return Told(f"{wrong}.", wrong=True)
    except MemdirError as error:
        told = refusal(error)
    if not stores.heard:
        return told
    return Told(remarked([told.text], stores.heard), told.fields, told.wrong)


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
    answer = answer_module.recall(apps, text_of(given, "query"), limit=limit, verify=True)
    if answer.text:
        hint = "To read one of the lines whole: read, with its path and scope."
        return Told(f"{answer.text}\n{hint}" if answer.injected.pointers else answer.text)
    now = apps[0][1].now() if apps else 0.0
    near = [inject.pointer(one, now) for one in answer.found.near[:RECALLED]]
    there = any(app.store.files() for _, app in apps)
    reason = answer.reason if there else "there is no memory yet"
    text = f"Nothing to tell: {reason}."
    return Told("\n".join([text, framed("\n".join(["Nearest:", *near]))]) if near else text)


def _read(stores: Stores, given: Fields, client: str) -> Told:
    scope, name = text_of(given, "scope"), text_of(given, "name")
    app = as_told(stores.app(scope))
    start = number_of(given, "line", 1)
    if not name:
        return Told(index_text(app, start) or "The index is empty: nothing was saved yet.")
    path, data, document = look.show(app, name)
    facts = app.store.facts(path)
    shown = app.store.view(path, data)
    memory = read_memory(path, shown, facts[0] / NANOSECONDS if facts else app.now())
    text = whole(app, str(app.config.scope), memory, document.body, start)
    return Told(f"{framed(text)}\nhash: {hash_of(data)}")


def index_text(app: App, start: int = 1) -> str:
    """The index as far as it goes in one page, in a frame; empty where there is none."""
    text = memory.decode(app.store.index() or b"")
    if not text.strip():
        return ""
    where = inert_line(f"{app.store.root}/{app.store.index_path}", LINE_BYTES)
    return framed(f"Contents of {where} (index of the memories):\n\n{page(text, start)}")


def _list(stores: Stores, given: Fields, client: str) -> Told:
    kind, start = text_of(given, "type"), number_of(given, "offset", 0)
    check_type(kind or UNKNOWN)
    rows: list[tuple[str, Listed]] = []
    remarks: list[str] = []
    for scope, app in stores.apps(text_of(given, "scope")):
        app = as_told(app)
        listed, findings = ages.list_memories(app)
        rows += [(scope, one) for one in listed if kind in ("", one.memory.type)]
        remarks += [f"{one.message}; {one.fix}" for one in findings]
    shown = rows[start : start + ROWS]
    lines = [_row(scope, one) for scope, one in shown]
    left = len(rows) - start - len(shown)
    more = [f"({left:,} more: call list with offset {start + len(shown)})"] if left > 0 else []
    total = count(len(rows), "memory", "memories")
    head = f"{total}. Each line: scope: path [type, age] description"
    if not shown:
        none = f"{total}; none from {start} on." if rows else f"No {kind} memories yet."
        none = " ".join(none.split())
        return Told(remarked([none], remarks[:ROWS]))
    return Told(remarked([framed("\n".join([head, *lines])), *more], remarks[:ROWS]))


def _row(scope: str, listed: Listed) -> str:
    memory = listed.memory
    facts = f"{memory.type}, {safe.age_words(listed.age_days)}" + ", pinned" * memory.pinned
    return inert_line(f"- {scope}: {memory.path} [{facts}] {memory.description}", LINE_BYTES)


def _verify(stores: Stores, given: Fields, client: str) -> Told:
    name, scope = text_of(given, "name"), text_of(given, "scope")
    apps = [("", stores.app(scope))] if name else stores.apps(scope)
    lines: list[str] = []
    remarks: list[str] = []
    counts: Counter[str] = Counter()
    for _, app in apps:
        checked = verify.verify(app, [name] if name else [])
        remarks += checked.remarks
        for path, judged in checked.memories.items():
            counts.update(one.verdict for one in judged)
            lines += [_claim(path, one) for one in judged if _worth_telling(one, bool(name))]
    total = ", ".join(f"{counts[one]} {one}" for one in (STALE, UNSURE, TRUE))
    left = [f"({len(lines) - CLAIMS} more)"] if len(lines) > CLAIMS else []
    text = framed("\n".join([f"Claims: {total}.", *lines[:CLAIMS], *left]))
    return Told(remarked([text], remarks[:CLAIMS]))


def _worth_telling(judged: Judged, named: bool) -> bool:
    return judged.verdict == STALE or (named and judged.verdict != NOT_A_CLAIM)


def _claim(path: str, judged: Judged) -> str:
    said = f"- {judged.verdict}: {path}:{judged.claim.line}: {judged.claim.text} – {judged.reason}"
    return inert_line(said, LINE_BYTES)


def _history(stores: Stores, given: Fields, client: str) -> Told:
    app, name = stores.app(text_of(given, "scope")), text_of(given, "name")
    found = look.log(app, name, number_of(given, "limit", CHANGES))
    if not found:
        return Told(f"No change of {inert_line(name, 80)}." if name else "No changes yet.")
    return Told(framed("\n".join(["Changes, newest first:", *map(_change, found)])))


def _change(logged: Logged) -> str:
    cause = logged.cause
    paths = [change + " " + path for change, path in logged.paths[:PATHS]]
    more = f" and {len(logged.paths) - PATHS} more" if len(logged.paths) > PATHS else ""
    reason = f" ({cause.reason})" if cause.reason else ""
    what = f"{cause.verb} {cause.name}{reason}: {', '.join(paths)}{more}"
    when = safe.iso_time(logged.time)
    return inert_line(f"- {logged.id[:SHORT_ID]} {when} {cause.actor}: {what}", LINE_BYTES)


RUNS: dict[str, Tool] = {
    "recall": _recall,
    "save": save,
    "read": _read,
    "list": _list,
    "forget": forget,
    "verify": _verify,
    "history": _history,
    "undo": undo,
}


# The stores of the project, opened anew for each call: settings and directories may change.

ALL, PROJECT = "all", "project"
ACTOR = "mcp"


class Stores:
    """Where the server stands. `scope` is the one it was started for; `all` for every one."""

    def __init__(
        self,
        environ: Mapping[str, str],
        cwd: str,
        now: Callable[[], float],
        project: str | None = None,
        dir: str | None = None,
        scope: str = ALL,
    ) -> None:
        self.environ = environ
        self.cwd = cwd
        self.now = now
        self.project = project
        self.dir = dir
        self.scope = scope
        self.heard: list[str] = []  # what the person would be told on a terminal
        self._looked: list[App] = []

    def app(self, scope: str = "", client: str = "") -> App:
        """One store; the project's where nobody says which."""
        from memdir.errors import BadInput
        from memdir.hot.place import MAIN_SCOPES

        if scope == ALL:
            what = "scope all means several stores; this works on one"
            raise BadInput(what, next=f"choose one of {', '.join(MAIN_SCOPES)}")
        default = PROJECT if self.scope == ALL else self.scope
        return self._open(scope or default, client)

    def apps(self, scope: str = "") -> list[tuple[str, App]]:
        """Every store that applies and is there, or the one that was asked for."""
        from memdir.hot.place import MAIN_SCOPES

        wanted = scope or self.scope
        if wanted != ALL:
            return [(wanted, self.app(wanted))]
        known = self.config(PROJECT).scopes
        names = [PROJECT, *(() if self.dir else [one for one in known if one in MAIN_SCOPES])]
        found = [(name, self._open(name, "")) for name in dict.fromkeys(names)]
        return [(name, app) for name, app in found if os.path.isdir(app.store.root)]

    def config(self, scope: str) -> Config:
        """What files and environment say of a scope now."""
        from memdir.config.config import read_config

        return read_config(self.environ, self.cwd, project=self.project, dir=self.dir, scope=scope)

    def keep_what_others_did(self) -> None:
        """Commit what a client or a person wrote past us, if nobody is writing."""
        while self._looked:
            self._looked.pop().snapshot()
        self.heard.clear()

    def log(self, what: str) -> None:
        """A mistake of ours, for whoever looks for it; nothing of what was sent."""
        from memdir.errors import MemdirError
        from memdir.hot.log import log

        try:
            log(self.config(PROJECT).state_dir, ACTOR, what)
        except MemdirError:
            return  # without a home there is no log

    def _open(self, scope: str, client: str) -> App:
        from memdir.store.writer import open_app

        actor = f"{ACTOR}:{client}" if client else ACTOR
        app = open_app(self.config(scope), now=self.now, tell=self.heard.append, actor=actor)
        self._looked.append(app)
        return app

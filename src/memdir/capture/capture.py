"""Capture: read what is new in a conversation, draft memories of it, save or hold them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, cast

from memdir.capture.choice import PURPOSE, UNTIL_END, choose, model_settings
from memdir.capture.plan import ACTOR, CLIENT, Outcome, Request, carry_out, make_plan
from memdir.capture.progress import PATIENCE, Captures, Entry, Plan, Progress, is_due, pause
from memdir.clients.conversation import Cursor, Message, NewMessages, Session
from memdir.config.config import Config, read_config
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.draft import hash_of
from memdir.hot.disk import failure
from memdir.hot.log import log
from memdir.hot.place import is_below
from memdir.store import registry
from memdir.store.writer import App, state_folder

HANDED_OVER = "library"  # an agent handed the messages over itself: there is no transcript
NOTHING_NEW = "nothing new was said"
NOT_YET = "not this turn: capture.every"
WROTE = "the agent wrote memories itself"
NO_SIGNAL = "nothing worth keeping was said"
WAITS = "it waits for the model"
GONE = "the transcript is gone"
CUT = "so much was said that its oldest part was not read"
LOST = "the place up to which it was read is gone from the transcript: all of it was read again"


class Reader(Protocol):
    """Reads the transcripts of one client, none outside of `root`."""

    root: str

    def read(self, path: str, since: Cursor, last: str = "") -> NewMessages: ...
    def sessions(self, project: str) -> list[Session]: ...


def open_reader(app: App, client: str, path: str = "") -> Reader:
    """The reader of a client's transcripts; a `path` that a person named may lie anywhere."""
    member = registry.load("transcripts", client.replace("-", "_"), app.config.own)
    # What was decided counts, not the variable: a repository may have set that.
    environ = {**app.config.environ, "CLAUDE_CONFIG_DIR": app.config.claude_dir}
    reader = cast(Reader, member.open_reader(app.config.home, environ))
    if path:
        reader.root = os.path.dirname(os.path.realpath(path))
    return reader


def captures_of(app: App) -> Captures:
    return Captures(state_folder(app.config))


def capture(app: App, request: Request, reader: Reader | None = None) -> Outcome:
    """load progress → read new messages → notice and draft → plan → carry out

    One run of a store at a time; what a killed run had planned is carried out first.
    """
    captures = captures_of(app)
    if app.dry_run:
        return _Run(app, captures, request).capture(reader)
    with captures.lock.held("memdir capture", app.tell):
        finished = _finish(app, captures)
        outcome = _Run(app, captures, request).capture(reader)
    things = {**finished.things, **outcome.things}
    return replace(outcome, decided=(*finished.decided, *outcome.decided), things=things)


class _Run:
    """One look at one conversation."""

    def __init__(self, app: App, captures: Captures, request: Request) -> None:
        name = os.path.splitext(os.path.basename(request.transcript))[0]
        self.app, self.captures, self.request = app, captures, request
        self.known = captures.load(request.session or name)

    def capture(self, reader: Reader | None) -> Outcome:
        app, request, known = self.app, self.request, self.known
        size = _size(request.transcript)
        if size is None:
            return self._move_on(self._here(known.size), GONE)
        here = self._here(size)
        waits = request.model is None and _waits(app, known)
        same = size == known.size and request.client == (known.client or request.client)
        if same and (waits or not known.failures):
            after, reason = (known.after, WAITS) if waits else (0.0, NOTHING_NEW)
            return Outcome(waiting=int(waits), reason=reason, after=after)
        if not request.ends and known.turns + request.turns < app.config.options.capture_every:
            return self._count_turns()
        reader = reader or open_reader(app, request.client)
        try:
            stretch = reader.read(request.transcript, known.cursor, request.last)
        except Missing:
            return self._move_on(here, GONE)
        if stretch.unreadable and (stretch.lost or not known.cursor.id):
            if known.client in ("", request.client):  # to name the wrong client changes nothing
                self._keep(here)
            reason = f"0 of {stretch.lines:,} lines could be read as a transcript of"
            return Outcome(reason=f"{reason} {request.client}", unreadable=True)
        remarks = tuple(text for is_so, text in ((stretch.cut, CUT), (stretch.lost, LOST)) if is_so)
        outcome = replace(self._take(stretch, here, waits), remarks=remarks)
        for remark in remarks if not app.dry_run else ():
            log(app.config.state_dir, PURPOSE, f"session {known.session}: {remark}")
        return outcome

    def _take(self, stretch: NewMessages, here: Progress, waits: bool) -> Outcome:
        """notice → draft → plan → carry out"""
        app, request, known = self.app, self.request, self.known
        there = replace(here, cursor=stretch.cursor)
        if _wrote_memories(stretch.said, app):
            return self._move_on(there, WROTE)
        given_up = request.model is None and _has_given_up(app, known)
        chosen = choose(
            app,
            stretch,
            known,
            request.client,
            # A dry run asks nobody but the one a person named.
            "" if request.model is None and (app.dry_run or given_up) else request.model,
            waits=WAITS if waits else "",
            given_up=known.why if given_up else "",
            ends=request.ends,
        )
        if chosen.reason == UNTIL_END and not chosen.catches:
            return self._count_turns()
        if not chosen.catches and not chosen.left:
            unread = f"{stretch.broken:,} of {stretch.lines:,} lines could not be read"
            reason = f"{NO_SIGNAL} ({unread})" if stretch.broken else NO_SIGNAL
            return self._move_on(there, reason, chosen.tokens)
        after, progress = 0.0, _settled(there)
        if chosen.left:  # a model has to see the rest: nothing moves but what was done
            failures = known.failures + (not chosen.waits)
            after = chosen.after or app.now() + pause(failures)
            progress = replace(
                here,
                failures=failures,
                after=after,
                asked=model_settings(app),
                why=chosen.reason,
                done=(*known.done, *chosen.done),
            )
            if chosen.reason == UNTIL_END:  # not read as far as its size says
                after, progress = 0.0, replace(progress, size=known.size, after=0.0)
        plan = make_plan(app, progress, known, stretch, chosen, self._waiting())
        done = self._carry_out(plan)
        things = {item.id: item.catch for item in plan.items}
        return Outcome(done, len(plan.waits), chosen.tokens, chosen.reason, after, things)

    def _here(self, size: int) -> Progress:
        """The same place in the conversation, as it is known now."""
        request = self.request
        return replace(
            self.known,
            client=request.client,
            path=request.transcript,
            size=size,
            turns=0,
            time=self.app.now(),
        )

    def _count_turns(self) -> Outcome:
        """The conversation is looked at when there were enough of them."""
        turns = self.known.turns + self.request.turns
        self._keep(replace(self._here(self.known.size), turns=turns))
        return Outcome(reason=NOT_YET)

    def _move_on(self, progress: Progress, reason: str, tokens: int = 0) -> Outcome:
        """There is nothing to do: only the cursor moves, and what waited came to nothing."""
        plan = Plan("", _settled(progress), dropped=self._waiting(), reason=reason)
        if not plan.dropped:
            self._keep(plan.progress)
            return Outcome(reason=reason, tokens=tokens)
        return Outcome(self._carry_out(plan), 0, tokens, reason)

    def _carry_out(self, plan: Plan) -> tuple[Entry, ...]:
        if not self.app.dry_run:
            self.captures.announce(plan)
        return tuple(carry_out(self.app, self.captures, plan))

    def _waiting(self) -> tuple[str, ...]:
        """The things of this conversation that wait."""
        account = self.captures.journal.account()
        return tuple(item.id for item in account.waiting if item.session == self.known.session)

    def _keep(self, progress: Progress) -> None:
        if not self.app.dry_run:
            self.captures.keep(progress)


def _settled(progress: Progress) -> Progress:
    """With nothing left behind that waits for a model."""
    return replace(progress, failures=0, after=0.0, asked="", why="", done=())


def finish(app: App) -> Outcome:
    """Carry out what an earlier run had written down when it was cut off."""
    captures = captures_of(app)
    with captures.lock.held("memdir capture", app.tell):
        return _finish(app, captures)


def _finish(app: App, captures: Captures) -> Outcome:
    plan = captures.plan()
    if plan is None:
        return Outcome()
    things = {item.id: item.catch for item in plan.items}
    return Outcome(tuple(carry_out(app, captures, plan, again=True)), things=things)


def begin(app: App, request: Request) -> None:
    """Note that a conversation began: should nobody say that it ended, it is made up for."""
    captures = captures_of(app)
    with captures.lock.held("memdir capture", app.tell):
        known = captures.load(request.session)
        if known.path != request.transcript:
            captures.keep(
                replace(known, client=request.client, path=request.transcript, time=app.now())
            )
            captures.prune(app.now())


def missed(app: App, but: Sequence[str], limit: int) -> list[Request]:
    """Conversations that went on after they were looked at last, the newest first.

    Also those whose model may be asked again by now.
    """
    requests: list[Request] = []
    for known in captures_of(app).sessions():
        if len(requests) >= limit:
            break
        if known.session in but or not known.path or _waits(app, known):
            continue
        size = _size(known.path) if _is_of_client(app, known) else None
        if size is not None and (size != known.size or known.failures):
            requests.append(Request(known.path, known.session, known.client or CLIENT, turns=0))
    return requests


def _waits(app: App, known: Progress) -> bool:
    """True while a model is not to be asked; with other limits, or another model, it is at once."""
    if not known.failures or is_due(known.after, app.now()):
        return False
    return known.asked == model_settings(app)


def _has_given_up(app: App, known: Progress) -> bool:
    return known.failures >= PATIENCE and known.asked in ("", model_settings(app))


def _is_of_client(app: App, known: Progress) -> bool:
    """True for a file among the client's own; any other is read only when a person names it."""
    if known.client == HANDED_OVER:
        return False
    root = os.path.realpath(open_reader(app, known.client or CLIENT).root)
    folder = os.path.realpath(os.path.dirname(known.path))
    return folder == root or is_below(folder, root)


def _wrote_memories(said: Sequence[Message], app: App) -> bool:
    """True where the agent of the conversation wrote into one of the stores at hand."""
    roots = {app.config.store, *app.config.scopes.values()}
    roots |= {os.path.realpath(root) for root in roots}
    wrote = {os.path.normpath(path) for message in said for path in message.wrote}
    return any(is_below(path, root) for path in wrote for root in roots)


def _size(path: str) -> int | None:
    """None where there is no such file; one that cannot be looked at may be there."""
    try:
        return os.stat(path).st_size
    except NotADirectoryError:
        # A conversation inside a database has no size of its own: when that was last written.
        table = os.path.dirname(path)
        files = [file for file in (table, f"{table}-wal") if os.path.isfile(file)]
        return max((os.stat(file).st_mtime_ns for file in files), default=None)
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise failure(error, path, "the transcript cannot be looked at") from None


# A conversation that an agent hands over itself.

GivenMessage = Mapping[str, object]
PERSON, AGENT, TOOL = "user", "assistant", "tool"
SILENT_ROLES = ("system", "developer")
ID_CHARACTERS = 24
TOOL_ROOT = "/memories"  # where the Anthropic memory tool has the store
_NEXT = 'give messages such as {"role": "user", "content": "…"}'


def hand_over(
    app: App,
    conversation: str | Sequence[GivenMessage],
    *,
    session: str = "",
    client: str = "",
    model: str | None = "",
) -> Outcome:
    """capture, of a transcript or of messages; handed over again, only what is new counts"""
    app = replace(app, actor=ACTOR)
    if isinstance(conversation, str):
        path = os.path.abspath(conversation)
        if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):
            raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
        request = Request(path, session, client or CLIENT, model=model)
        return capture(app, request, open_reader(app, request.client, path))
    lines = [json.dumps(record) for record in _records(conversation, app.store.root)]
    name = session or f"{HANDED_OVER}-{_hash(lines[0] if lines else '')}"
    # A silent record: other messages have another size, by which capture sees what is new.
    padding = "·" * (int(_hash(*lines)[:3], 16) + 1)
    lines.append(json.dumps({"type": "summary", "summary": padding}))
    # The file is for this run alone: the cursor goes by the ids of what was said.
    with tempfile.TemporaryDirectory(prefix="memdir-") as folder:
        path = os.path.join(folder, "conversation.jsonl")
        with open(path, "x", encoding="ascii") as file:
            file.write("".join(f"{line}\n" for line in lines))
        request = Request(path, name, HANDED_OVER, model=model)
        return capture(app, request, open_reader(app, CLIENT, path))


def _hash(*texts: str) -> str:
    return hash_of("\n".join(texts).encode())[:ID_CHARACTERS]


def _records(messages: Sequence[GivenMessage], store: str) -> Iterator[dict[str, object]]:
    """Each message as a record of the client whose transcripts have the same form."""
    seen: dict[str, int] = {}
    if not isinstance(messages, Iterable):
        raise BadInput("a conversation is a list of messages, or a path", next=_NEXT)
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            raise BadInput(f"message {number} is no object", next=_NEXT)
        role, content = message.get("role"), message.get("content")
        if role not in (PERSON, AGENT, TOOL, *SILENT_ROLES):
            raise BadInput(f"message {number} has no role that is known", next=_NEXT)
        if content is not None and not isinstance(content, str | list):
            raise BadInput(f"message {number} has neither a text nor blocks as content", next=_NEXT)
        if role in SILENT_ROLES:
            continue
        if role == TOOL:
            id = message.get("tool_call_id", "")
            block = {"type": "tool_result", "tool_use_id": id, "content": content or ""}
            role, content = PERSON, [block]
        if isinstance(content, list):
            content = [_block(block, store) for block in content]
        content = content or ""
        try:
            text = json.dumps([role, content])
        except (TypeError, ValueError, RecursionError):
            raise BadInput(f"message {number} is not JSON", next=_NEXT) from None
        seen[text] = seen.get(text, 0) + 1
        id = _hash(str(seen[text]), text)
        yield {"type": role, "uuid": id, "message": {"role": role, "content": content}}


def _block(block: object, store: str) -> object:
    """A block as JSON, also one of the SDK; what the memory tool wrote is in the store."""
    dump = getattr(block, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else block
    given = plain.get("input") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or plain.get("name") != "memory" or not isinstance(given, dict):
        return plain
    paths = {
        key: store + given[key][len(TOOL_ROOT) :]
        for key in ("path", "new_path")
        if str(given.get(key)).startswith(TOOL_ROOT)
    }
    return {**plain, "input": {**given, **paths}}


# The project that a conversation belongs to is the one in which it was started: an agent that goes
# to another directory on the way still works for it.


def place_of(app: App, request: Request, cwd: str) -> str:
    """For a hook that is called in `cwd`: the directory whose project learns from it.

    Where the conversation was started, as long as that is there and keeps its state in one place.
    """
    started = _started_in(open_reader(app, request.client), request.transcript)
    if not started.startswith("/") or "\0" in started or not os.path.isdir(started):
        return cwd
    try:
        there = read_config(app.config.environ, started)
    except MemdirError:
        return cwd
    return started if there.state_dir == app.config.state_dir else cwd


def project_of(app: App, request: Request) -> tuple[str, str]:
    """A directory of the project in which it was started, and why that cannot be used.

    Both are empty for the current project.
    """
    config = app.config
    cwd = _started_in(open_reader(app, request.client, request.transcript), request.transcript)
    if not cwd:
        return "", ""
    if not cwd.startswith("/") or not os.path.isdir(cwd):
        return "", f"the directory of the conversation is gone: {cwd}"
    try:
        there = read_config(config.environ, cwd)
    except MemdirError as error:
        return "", f"the project of the conversation cannot be used: {error.message}"
    # Nothing but the place may differ: a repository must not bring settings of its own along.
    if _own_settings(there) != _own_settings(config):
        return "", f"other settings hold in {cwd}"
    if not there.enabled and there.enabled_by.startswith("repository"):
        raise BadInput(
            f"memory is switched off for {there.checkout} ({there.enabled_by})",
            path=there.checkout,
            next="name the project that should remember it with --project",
        )
    return ("", "") if there.store == config.store else (cwd, "")


def _started_in(reader: Reader, transcript: str) -> str:
    """The directory of the first words of a conversation; empty where nobody knows."""
    look = getattr(reader, "started_in", None)  # of clients that write down each change of it
    try:
        return str(look(transcript) if look else reader.read(transcript, Cursor()).cwd)
    except MemdirError:
        return ""


def _own_settings(config: Config) -> tuple[object, ...]:
    return config.home, config.claude_dir, config.state_dir, config.config_file, config.options

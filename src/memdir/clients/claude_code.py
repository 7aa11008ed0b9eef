"""Install + transcripts."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.clients import transcripts
from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch
from memdir.clients.edit_json import read_values, with_values, without
from memdir.clients.receipt import (
    PLUGIN,
    SETTINGS,
    ByHand,
    Edit,
    Host,
    Placed,
    Plan,
    Receipt,
    UnsafeEdit,
    Wish,
    hash_of,
    read_file,
    target_of,
)
from memdir.clients.setup import runs_us
from memdir.clients.transcripts import (
    belongs,
    listed,
    readable,
    seconds,
    typed,
    unframed,
    words,
    written,
)
from memdir.errors import BadInput
from memdir.hot.place import NAME_CHARACTERS, project_name, tidy

# Claude Code: hooks in the user's settings.json, or the plugin that brings its own.

TITLE = "Claude Code"
FILE = "settings.json"
# The client's name of an event, ours, and the seconds it may take. The client itself allows a
# SessionEnd one second.
EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 5),
    ("SubagentStart", "subagent-start", 5),
    ("PreToolUse", "pre-tool", 5),
    ("Stop", "stop", 5),
    ("PreCompact", "pre-compact", 5),
    ("SessionEnd", "session-end", 1),
)
GUARD = "pre-tool"
MATCHERS = {GUARD: "Bash|Edit|MultiEdit|NotebookEdit|Write"}  # the tools that an event is about
# Without records there is nothing to guard, and no Python is started for that.
UNGUARDED = (
    'for d in "$CLAUDE_PROJECT_DIR" "$PWD"; do while [ "${d#*/}" != "$d" ]; do '
    '[ -d "$d/.claude/memory" ] && break 2; d=${d%/*}; done; done; [ -n "$d" ] || exit 0; '
)
CODE = "memdir/hot/start.py"  # by it we know our own hooks
MARKETPLACE, ENABLED, KNOWN = "memdir", "enabledPlugins", "extraKnownMarketplaces"
ID = f"{MARKETPLACE}@{MARKETPLACE}"
COMMANDS = ("config", "save", "search", "status")  # installed as /memory:* on request
LAUNCHER = '"$CLAUDE_PLUGIN_ROOT/hooks/launch.sh"'
OFF = ("disableAllHooks", "allowManagedHooksOnly")


def folder(host: Host) -> str:
    """Where the client keeps what is the user's."""
    return host.claude_dir


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to the client's files."""
    path = os.path.join(host.claude_dir, FILE)
    target = target_of(path)
    old, kept = read_file(target), receipt.kept(path)
    placed = Placed(path, target, old, kept)
    try:
        clean = without(placed, _is_ours(bool(kept and ID in kept.added)))
        values = read_values(clean)
        way = _way(wish, values, receipt, path)
        wanted = {} if wish.remove else _wanted(way, host, values)
        edit = with_values(placed, clean, wanted, _ours)
    except UnsafeEdit as error:
        raise _by_hand(wish, host, path, error) from None
    edits, remarks = [edit], _remarks(wish, way, host, values, placed)
    for name in COMMANDS if wish.commands or wish.remove else ():
        edits += _command(name, wish, host, receipt, remarks)
    return Plan(way, tuple(edits), {} if wish.remove else hooks(way, host), tuple(remarks))


def hooks(way: str, host: Host) -> dict[str, str]:
    """The command line of each event, as the client's shell gets it."""
    if way == SETTINGS:
        return {name: command_line(host, event) for name, event, _ in EVENTS}
    root = os.path.join(marketplace(host), "plugin") if marketplace(host) else ""
    given = f"export CLAUDE_PLUGIN_ROOT={shlex.quote(root)}; "
    return {name: given + plugin_line(event) for name, event, _ in EVENTS} if root else {}


def command_line(host: Host, event: str) -> str:
    """Silent where Python or memdir is gone: Python itself would exit with 2, and 2 blocks."""
    python = shlex.quote(host.python)
    code = shlex.quote(_code(host))
    first = UNGUARDED if event == GUARD else ""
    line = f"test -x {python} && test -r {code} && exec {python} -I -S {code} {event}; exit 0"
    return first + line


def plugin_line(event: str) -> str:
    """The same in the plugin, whose launcher looks for a Python; no path is written into it."""
    return f"test -r {LAUNCHER} || exit 0; memdir_event={event}; . {LAUNCHER}"


def marketplace(host: Host) -> str:
    """The directory that offers the plugin: the checkout, or the installed package itself."""
    checkout = os.path.dirname(os.path.dirname(host.package))
    for place in (checkout, host.package):
        if os.path.isfile(os.path.join(place, ".claude-plugin/marketplace.json")):
            return place
    return ""


def _code(host: Host) -> str:
    return os.path.join(os.path.dirname(host.package), CODE)


def _way(wish: Wish, values: Mapping[str, Any], receipt: Receipt, path: str) -> str:
    """How it is, or will be, installed."""
    kept = receipt.kept(path)
    before = kept and (PLUGIN if ID in kept.added else SETTINGS)
    theirs = _plugins(values)
    if wish.remove or not any(theirs.values()):
        if theirs and wish.way == PLUGIN:
            raise BadInput(
                "the plugin is installed, but switched off",
                path=path,
                next=f"claude plugin enable {next(iter(theirs))}",
            )
        return wish.way or before or SETTINGS
    if wish.way == SETTINGS:
        raise BadInput(
            "the plugin is installed; with hooks in the settings everything would run twice",
            path=path,
            next=f"leave it so, or first: claude plugin uninstall {next(iter(theirs))}",
        )
    return PLUGIN


def _plugins(values: Mapping[str, Any]) -> dict[str, bool]:
    """Our plugin as somebody else has put it there, from whichever marketplace; is it on?"""
    enabled = values.get(ENABLED)
    named = enabled if isinstance(enabled, dict) else {}
    return {key: on is True for key, on in named.items() if key.partition("@")[0] == MARKETPLACE}


def _wanted(way: str, host: Host, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings lack."""
    if way == SETTINGS:
        return {"hooks": {name: [_group(host, event, s)] for name, event, s in EVENTS}}
    if any(_plugins(values).values()):
        return {}
    place = marketplace(host)
    if not place:
        raise BadInput("this copy of memdir brings no plugin", next="use --settings instead")
    source = {MARKETPLACE: {"source": {"source": "directory", "path": place}}}
    known = values.get(KNOWN)
    has_one = isinstance(known, dict) and MARKETPLACE in known
    return {**({} if has_one else {KNOWN: source}), ENABLED: {ID: True}}


def _group(host: Host, event: str, seconds: int) -> dict[str, Any]:
    command = {"type": "command", "command": command_line(host, event), "timeout": seconds}
    matcher = {"matcher": MATCHERS[event]} if event in MATCHERS else {}
    return {**matcher, "hooks": [command]}


def _ours(values: Mapping[str, Any]) -> dict[str, Any]:
    """What of ours stands in the settings, wherever in its list."""
    found: dict[str, Any] = {ID: _plugins(values), KNOWN: values.get(KNOWN)}
    all_hooks = values.get("hooks")
    for event, groups in (all_hooks if isinstance(all_hooks, dict) else {}).items():
        for group in groups if isinstance(groups, list) else ():
            inner = group.get("hooks") if isinstance(group, dict) else None
            some = [one for one in (inner if isinstance(inner, list) else ()) if _runs_us(one)]
            found[event] = [*found.get(event, []), *some]
    return {event: some for event, some in found.items() if some}


def _runs_us(hook: object) -> bool:
    return runs_us(hook)


def _is_ours(plugin: bool) -> Any:
    """Finds our own values in settings that somebody has written anew."""

    def found(path: tuple[str | int, ...], value: Any) -> bool:
        if plugin and path in ((ENABLED, ID), (KNOWN, MARKETPLACE)):
            return True
        if path[:1] != ("hooks",):
            return False
        inner = value.get("hooks") if len(path) == 3 and isinstance(value, dict) else None
        whole = isinstance(inner, list) and bool(inner) and all(map(_runs_us, inner))
        return whole or (len(path) == 5 and _runs_us(value))

    return found


def _command(name: str, wish: Wish, host: Host, receipt: Receipt, remarks: list[str]) -> list[Edit]:
    """A command of the plugin under its old name; a file of somebody else's stays."""
    path = os.path.join(host.claude_dir, "commands", "memory", f"{name}.md")
    target = target_of(path)
    old, kept = read_file(target), receipt.kept(path)
    ours = old is None or bool(kept and kept.after == hash_of(old))
    if wish.remove:
        if kept and not ours:
            remarks.append(f"{path} was changed since; it stays")
        return [Edit(path, target, old, None if ours else old, clean=old)] if kept and old else []
    source = os.path.join(marketplace(host), "plugin", "commands", f"{name}.md")
    data = read_file(source) if marketplace(host) else None
    if data is None:
        raise BadInput("this copy of memdir brings no commands", next="leave out --commands")
    if not ours and old != data:
        remarks.append(f"{path} is not ours; it stays")
        return [Edit(path, target, old, old, clean=old)]
    return [Edit(path, target, old, data)]


def _remarks(
    wish: Wish, way: str, host: Host, values: Mapping[str, Any], placed: Placed
) -> list[str]:
    remarks = []
    if placed.target != os.path.join(os.path.realpath(host.claude_dir), FILE):
        remarks.append(f"{placed.path} is a link; {placed.target} is the file that is written")
    theirs = [key for key, on in _plugins(values).items() if on]
    if theirs and wish.remove:
        remarks.append(f"the plugin is installed too; claude plugin uninstall {theirs[0]}")
    elif theirs:
        remarks.append(f"the plugin {theirs[0]} is installed: its hooks run already")
    elif way == SETTINGS and not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
    remarks += [
        f"{FILE} says {name}: until that is gone, no hook of yours runs"
        for name in OFF
        if values.get(name) is True and not wish.remove
    ]
    return remarks


def _by_hand(wish: Wish, host: Host, path: str, error: UnsafeEdit) -> ByHand:
    """The client passes over a file that is not JSON as a whole: hooks in it would never run."""
    if wish.remove:
        lines, next = "", f"take out by hand what names {CODE} or {ID}"
    else:
        way = wish.way or SETTINGS
        lines = json.dumps(_wanted(way, host, {}), indent=2, ensure_ascii=False)
        next = "mend the file and run the command again, or add these lines by hand"
    message = f"{path} is left as it is: {error.problem}"
    return ByHand(message, path=path, next=next, lines=lines)


# Claude Code: a JSONL file per session below `projects/` of its own directory.

CLIENT = "claude-code"
SUFFIX = ".jsonl"
USER, ASSISTANT, ATTACHMENT = "user", "assistant", "attachment"
# Flags of records that nobody said: the client's own words, another agent's talk, a summary.
NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Who may have started a turn, where the record says so. All others are programs.
PERSONS = ("human", "person", "composer", "voice-call", "remote", "sdk", "")
# Kinds of records that hold nothing that was said. Others are counted: the client has changed.
SILENT = frozenset(
    (
        *("attachment", "system", "summary", "progress", "mode", "permission-mode", "cost-state"),
        *("queue-operation", "last-prompt", "tools-used", "atis-latch", "file-history-snapshot"),
        *("api-request", "api-request-blob", "api-request-shape", "custom-title", "ai-title"),
        *("agent-name", "agent-color", "agent-setting", "tag", "pr-link", "worktree-state"),
        *("content-replacement", "attribution-snapshot", "marble-origami-commit"),
        *("marble-origami-snapshot", "speculation-accept", "task-summary", "bridge-session"),
    )
)
CLAUDE_CODE_KNOWN = SILENT | {USER, ASSISTANT}
# A refusal in which the person says what to do instead. A tool cannot forge the record's field.
REJECTED = "User rejected tool use"
REASON = "the user said:\n"
REMARK = "\n\nNote: The user's next message may contain"
ASKING = "AskUserQuestion"
HEAD = 256 * 1024  # bytes at the top of a file in which it says where it was


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    named = environ.get("CLAUDE_CONFIG_DIR", "")
    folder = named if named.startswith("/") else os.path.join(home, ".claude")
    return Reader(os.path.join(tidy(folder), "projects"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        session = os.path.basename(path).removesuffix(SUFFIX)
        return transcripts.read(path, self.root, since, last, Talk(self.home), session)

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        key = project_name(os.path.realpath(project))[:NAME_CHARACTERS]
        found = []
        for folder in listed(self.root):
            if folder.name == key or folder.name.startswith(f"{key}-"):
                for file in listed(folder.path, SUFFIX):
                    cwd = self.started_in(file.path)
                    if not file.name.startswith("agent-") and belongs(cwd, project):
                        id = file.name.removesuffix(SUFFIX)
                        found.append(Session(CLIENT, id, file.path, *file.facts, cwd))
        return sorted(found, key=lambda session: session.modified, reverse=True)

    def started_in(self, path: str) -> str:
        """Where the session was started; empty where its file does not say."""
        return words(transcripts.first_if_any(path, self.root, HEAD, "cwd").get("cwd"))


class Talk:
    """What Claude Code's records mean."""

    def __init__(self, home: str) -> None:
        self.home, self.cwd = home, ""
        self.names: dict[str, str] = {}  # of tools, by the id of the call
        self.calls: dict[str, tuple[str, tuple[str, ...]]] = {}  # who called, and for which files
        self.failed: dict[str, set[str]] = {}

    def mark(self, record: transcripts.Record) -> str | None:
        id = words(record.get("uuid"))
        return id or ("" if record.get("type") in (USER, ASSISTANT) else None)

    def take(self, record: transcripts.Record, id: str) -> list[Said] | None:
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in CLAUDE_CODE_KNOWN:
            return None
        self.cwd = words(record.get("cwd")) or self.cwd
        if any(record.get(flag) for flag in NOT_SAID):
            return []
        time = seconds(record.get("timestamp"))
        if kind == ATTACHMENT:
            return _queued(record.get("attachment"), id, time)
        if kind == USER:
            return list(self._user(record, id, time))
        return list(self._assistant(record, id, time)) if kind == ASSISTANT else []

    def _user(self, record: transcripts.Record, id: str, time: float) -> Iterator[Said]:
        texts = []
        for block in _blocks(record):
            if _kind(block) == "text":
                texts.append(typed(words(block.get("text"))))
            elif _kind(block) == "tool_result":
                yield from self._result(block, record, id, time)
        text = readable("\n".join(filter(None, texts)))
        if text and _by_person(record):
            yield Said(id, PERSON, text, time)

    def _result(
        self, block: transcripts.Record, record: transcripts.Record, id: str, time: float
    ) -> Iterator[Said]:
        call = words(block.get("tool_use_id"))
        tool = self.names.get(call, "")
        text, more = _flat(block.get("content")), record.get("toolUseResult")
        if block.get("is_error") is True:
            caller, paths = self.calls.get(call, ("", ()))
            self.failed.setdefault(caller, set()).update(paths)
        if more == REJECTED and block.get("is_error") is True:
            said = text.partition(REASON)[2].partition(REMARK)[0]
            who, text, tool = PERSON, typed(said), ""
        else:
            who = TOOL
        if text := readable(unframed(text, reminders=True)):
            yield Said(id, who, text, time, tool)
        if tool == ASKING and isinstance(more, dict):
            yield from _answers(more, id, time)

    def _assistant(self, record: transcripts.Record, id: str, time: float) -> Iterator[Said]:
        message = record.get("message")
        synthetic = isinstance(message, dict) and message.get("model") == "<synthetic>"
        if record.get("isApiErrorMessage") or synthetic:
            return
        texts: list[str] = []
        wrote: list[str] = []
        blocks = list(_blocks(record))
        for block in blocks:
            kind = _kind(block)
            if kind == "text":
                texts.append(words(block.get("text")))
            elif kind.endswith("tool_use"):
                wrote += self._call(block, id)
        text = readable(unframed("\n".join(texts)))
        if text or wrote:
            yield Said(id, AGENT, text, time, wrote=tuple(wrote))
        for block in blocks:
            if _kind(block).endswith("tool_result"):  # of a tool that ran at the API's side
                tool = self.names.get(words(block.get("tool_use_id")), "")
                if found := readable(unframed(_flat(block.get("content")), reminders=True)):
                    yield Said(id, TOOL, found, time, tool)

    def _call(self, block: transcripts.Record, id: str) -> tuple[str, ...]:
        call, name = words(block.get("id")), words(block.get("name"))
        paths = written(name, block.get("input"), self.cwd, self.home)
        self.names[call] = name
        if paths:
            self.calls[call] = (id, paths)
        return paths


def _by_person(record: transcripts.Record) -> bool:
    """False where the record itself says that a program wrote it."""
    origin = record.get("origin")
    kind = words(origin.get("kind")) if isinstance(origin, dict) else ""
    return kind in PERSONS and words(record.get("turnOrigin")) in PERSONS


def _queued(attachment: Any, id: str, time: float) -> list[Said]:
    """What the person typed while the agent was working: the one attachment that was said."""
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return []
    if attachment.get("isMeta") or attachment.get("commandMode", "prompt") != "prompt":
        return []
    text = readable(typed(_flat(attachment.get("prompt"))))
    return [Said(id, PERSON, text, time)] if text and _by_person(attachment) else []


def _answers(asked: transcripts.Record, id: str, time: float) -> Iterator[Said]:
    """What the person typed when he was asked; what he only chose are the agent's words."""
    answers, questions = asked.get("answers"), json.dumps(asked.get("questions"))
    for answer in answers.values() if isinstance(answers, dict) else ():
        if text := readable(words(answer)):
            offered = json.dumps(words(answer)) in questions
            yield Said(id, AGENT if offered else PERSON, text, time)


def _blocks(record: transcripts.Record) -> Iterator[transcripts.Record]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _kind(block: transcripts.Record) -> str:
    return words(block.get("type"))


def _flat(content: Any) -> str:
    """The text of a result: itself, or that of its blocks; an image has none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [words(one.get("text") or one.get("title")) for one in blocks if isinstance(one, dict)]
    return "\n".join(filter(None, texts))

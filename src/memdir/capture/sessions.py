"""Transcripts: the sessions, their readers, and the project of each; messages as a transcript.

A session belongs to the project where it was started, even if the agent changes its directory.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from memdir.capture.plan import Request
from memdir.clients.conversation import Cursor, NewMessages, Session
from memdir.config.config import Config, read_config
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.draft import content_hash
from memdir.hot.disk import disk_failure
from memdir.hot.place import is_below
from memdir.hot.verdicts import read_git_file_line
from memdir.store import registry
from memdir.store.writer import App

FAMILY = "transcripts"
HANDED_OVER = "library"  # messages handed over by an agent, without a transcript
MAX_SESSIONS = 500  # the newest, per run
MAX_WORKTREES = 200
GivenMessage = Mapping[str, object]
ROLES = {"user": "user", "assistant": "assistant", "tool": "user", "system": "", "developer": ""}
ID_CHARACTERS = 24
TOOL_ROOT = "/memories"  # path of the store in the Anthropic memory tool


class Reader(Protocol):
    """Reads the transcripts of one client, none outside `root`."""

    root: str

    def read(self, path: str, since: Cursor, last: str = "") -> NewMessages: ...
    def sessions(self, project: str) -> list[Session]: ...


def capture_reader(app: App, client: str, path: str = "") -> Reader:
    """A `path` named by a person may be anywhere."""
    member = registry.load(FAMILY, client.replace("-", "_"), app.config.own)
    # Not the environment variable: a repository may have set it.
    environ = {**app.config.environ, "CLAUDE_CONFIG_DIR": app.config.claude_dir}
    reader = cast(Reader, member.open_reader(app.config.home, environ))
    if path:
        reader.root = os.path.dirname(os.path.realpath(path))
    return reader


def may_capture_session_unasked(app: App, client: str, path: str) -> bool:
    """Any other file is read only if a person names it."""
    if client == HANDED_OVER:
        return False
    root = os.path.realpath(capture_reader(app, client).root)
    return is_below(os.path.join(os.path.realpath(os.path.dirname(path)), ""), root)


def transcript_size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except NotADirectoryError:
        # A session in a database has no size of its own: use the time of the last write.
        table = os.path.dirname(path)
        files = [file for file in (table, f"{table}-wal") if os.path.isfile(file)]
        return max((os.stat(file).st_mtime_ns for file in files), default=None)
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise disk_failure(error, path, "the transcript cannot be looked at") from None


def captured_session_directory(app: App, request: Request, cwd: str) -> str:
    """The directory whose project learns from a hook called in `cwd`.

    It is where the session started, if that still exists and has the same state folder.
    """
    started, there = _started_in(app, capture_reader(app, request.client), request.transcript)
    same = isinstance(there, Config) and there.state_dir == app.config.state_dir
    return started if same else cwd


def find_session_project(app: App, request: Request) -> tuple[str, str]:
    """A directory of the project where the session started, and why it cannot be used.

    Both are empty for the current project.
    """
    config = app.config
    reader = capture_reader(app, request.client, request.transcript)
    cwd, there = _started_in(app, reader, request.transcript)
    if isinstance(there, str):
        return "", there
    # Only the path may differ: a repository must not bring its own settings.
    if _own_settings(there) != _own_settings(config):
        return "", f"other settings hold in {cwd}"
    if not there.enabled and there.enabled_by.startswith("repository"):
        raise BadInput(
            f"memory is switched off for {there.checkout} ({there.enabled_by})",
            path=there.checkout,
            next="name the project that should remember it with --project",
        )
    return ("", "") if there.store == config.store else (cwd, "")


def _started_in(app: App, reader: Reader, transcript: str) -> tuple[str, Config | str]:
    """Where a session was started, with the settings there, or why they cannot be read."""
    look = getattr(reader, "started_in", None)  # only for clients that log each change of directory
    try:
        cwd = str(look(transcript) if look else reader.read(transcript, Cursor()).cwd)
    except MemdirError:
        cwd = ""
    if not cwd:
        return "", ""
    if not cwd.startswith("/") or "\0" in cwd or not os.path.isdir(cwd):
        return "", f"the directory of the conversation is gone: {cwd}"
    try:
        return cwd, read_config(app.config.environ, cwd)
    except MemdirError as error:
        return "", f"the project of the conversation cannot be used: {error.message}"


def _own_settings(config: Config) -> tuple[object, ...]:
    return config.home, config.claude_dir, config.state_dir, config.config_file, config.options


@dataclass(frozen=True)
class PastSession:
    session: Session
    project: str
    reader: Reader


def find_sessions_to_extract(
    app: App, names: Sequence[str] = (), last: int = 0
) -> list[PastSession]:
    """Sessions of the project and its worktrees, the newest first; only these `names` if any."""
    root, listed = app.config.project_root, dict[str, PastSession]()
    for client in registry.members(FAMILY, app.config.own):
        reader = capture_reader(app, client)
        for project in dict.fromkeys([app.config.checkout, root, *_worktrees(root)]):
            try:
                sessions = reader.sessions(project)
            except MemdirError as error:  # of one client or project; go on with the others
                app.tell(f"{client}: {error.message}. Next: {error.next}")
                continue
            # Anywhere in a repository, else only in exactly that directory.
            whole = os.path.lexists(os.path.join(project, ".git"))
            real = os.path.realpath(project)
            for item in sessions:
                if whole or not item.cwd or os.path.realpath(item.cwd) == real:
                    listed.setdefault(item.path, PastSession(item, project, reader))
    past = sorted(listed.values(), key=lambda past: past.session.modified, reverse=True)
    if names:
        paths = {_find_named(name, past) for name in names}
        return [one for one in past if one.session.path in paths]
    if len(past) > MAX_SESSIONS and not last:
        app.tell(f"{len(past):,} sessions: only the newest {MAX_SESSIONS} are read")
    return past[: last or MAX_SESSIONS]


def _find_named(name: str, among: Sequence[PastSession]) -> str:
    """The transcript of a session that is named by its file or the start of its id."""
    paths = {past.session.path: past.session.id for past in among}
    path = os.path.realpath(name) if "/" in name and "\0" not in name else ""
    fitting = [it for it, id in paths.items() if name == id or path == os.path.realpath(it)]
    fitting = fitting or [it for it, id in paths.items() if name.strip() and id.startswith(name)]
    if not fitting:
        next = f"choose one: {', '.join([*paths.values()][:9])}" if paths else "there is none yet"
        raise Missing(f"there is no session {name[:80]!r}", next=next)
    if len(fitting) > 1:
        raise BadInput(f"{name!r} is the start of several sessions", next="give more of it")
    return fitting[0]


def _worktrees(root: str) -> list[str]:
    top = os.path.join(root, ".git", "worktrees")
    top = top if os.path.isdir(top) else os.path.join(root, "worktrees")  # a bare repository
    try:
        names = sorted(os.listdir(top))[:MAX_WORKTREES]
    except OSError:
        return []
    paths = [read_git_file_line(os.path.join(top, name, "gitdir")) for name in names]
    plain = [path for path in paths if path.isprintable() and path[:1] == "/"]
    return [os.path.dirname(path) for path in plain if path.endswith("/.git")]


def transcript_to_capture(messages: Sequence[GivenMessage], store: str) -> list[dict[str, object]]:
    """The messages that an agent hands over, as lines of a transcript of Claude Code."""
    records: list[dict[str, object]] = []
    seen: Counter[str] = Counter()
    if not isinstance(messages, Iterable):
        raise _bad_message("a conversation is a list of messages, or a path")
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            raise _bad_message(f"message {number} is no object")
        role, content = message.get("role"), message.get("content")
        if not isinstance(role, str) or role not in ROLES:
            raise _bad_message(f"message {number} has no role that is known")
        if content is not None and not isinstance(content, str | list):
            raise _bad_message(f"message {number} has neither a text nor blocks as content")
        if role == "tool":
            id = message.get("tool_call_id", "")
            content = [{"type": "tool_result", "tool_use_id": id, "content": content or ""}]
        if isinstance(content, list):
            content = [_block(block, store) for block in content]
        kind = ROLES[role]
        try:
            text = json.dumps([kind, content or ""])
        except (TypeError, ValueError, RecursionError):
            raise _bad_message(f"message {number} is not JSON") from None
        if kind:
            seen[text] += 1
            given = {"role": kind, "content": content or ""}
            id = _hash(f"{seen[text]}\n{text}")
            records.append({"type": kind, "uuid": id, "message": given})
    # Capture notices news by the size; this silent record makes it differ for other messages.
    padding = "·" * (int(_hash(json.dumps(records))[:3], 16) + 1)
    return [*records, {"type": "summary", "summary": padding}]


def _hash(text: str) -> str:
    return content_hash(text.encode())[:ID_CHARACTERS]


def _bad_message(problem: str) -> BadInput:
    return BadInput(problem, next='give messages such as {"role": "user", "content": "…"}')


def _block(block: object, store: str) -> object:
    """A block as plain data; paths of the memory tool are made those of the store."""
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

"""A space of a memory server as a remote: HTTP with the standard library, and a token in a file."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import stat
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from memdir.errors import BadInput
from memdir.format.names import slugify
from memdir.hot.disk import Disk, digest_of, disk_failure, read_start
from memdir.hot.safe import inert_line, parse_time
from memdir.sync.transport import (
    AGAIN,
    REFUSED,
    TAKEN,
    Author,
    Fetched,
    File,
    Push,
    Pushed,
    Remote,
    Since,
    Unreachable,
)

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECONDS = 30  # for an answer
PAGE = 500  # changes
MAX_ANSWER_BYTES = 16_000_000  # a page is about 1 MB; JSON may write a character as six
MAX_TOKEN_BYTES = 400
MAX_SHOWN = 300  # bytes of what a server says
CHECK = "check the address, and that the server runs"
RENEW = "ask for a new one: memdir serve admin invite"
ENTER = "ask a maintainer to let you into this space: memdir serve admin invite"


class ServerTransport:
    """One connection, opened at the first question."""

    def __init__(self, remote: Remote) -> None:
        self.remote, self.prefix = remote, ""
        self.base = check_server_url(remote.url)
        self._connection: http.client.HTTPConnection | None = None

    def list_spaces(self) -> list[str]:
        status, answer = self._ask("/v1/spaces")
        self._check(status, answer)
        return [str(row["space"]) for row in answer.get("spaces", [])]

    def fetch(self, since: Since) -> Fetched:
        known = since.cursor if since.cursor.isdecimal() else ""
        try:
            fetched = self._fetch_after(int(known), since.sent, whole=False) if known else None
            # Without one the database is new here, or it was replaced or restored.
            fetched = fetched or self._fetch_after(0, since.sent, whole=True)
        except (KeyError, TypeError, ValueError, AttributeError):
            fetched = None
        if fetched is None:
            raise self._unreachable("its feed is not memdir's")
        return fetched

    def prepare(self, push: Push) -> str:
        return uuid.uuid4().hex

    def push(self, id: str, push: Push) -> Pushed:
        items = self._items(push)
        if isinstance(items, Pushed):
            return items
        status, answer = self._ask(self._path("push"), {"items": items, "id": id})
        if status == 409:
            return Pushed(AGAIN, reason="somebody else changed the same memory first")
        if status != 200:
            return _refusal(status, answer)
        rows = answer["items"]
        saved = sum(row["saved"] for row in rows)
        # What others pushed in between is still to be fetched; then the cursor stays.
        alone = push.cursor.isdecimal() and answer["seq"] - saved == int(push.cursor)
        cursor = str(answer["seq"]) if alone else push.cursor
        versions = {row["path"]: str(row["version"]) for row in rows}
        return Pushed(TAKEN, cursor, versions)

    def leave(self, id: str, push: Push) -> Pushed:
        reason = "a memory server keeps no outbox; it waits on this machine"
        return Pushed(REFUSED, reason=reason, next="memdir sync tries again")

    def propose(self, name: str, push: Push) -> Pushed:
        items = self._items(push)
        if isinstance(items, Pushed):
            return items
        status, answer = self._ask(self._path("proposals"), {"items": items})
        return Pushed(TAKEN, push.cursor) if status == 200 else _refusal(status, answer)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _path(self, rest: str) -> str:
        return f"/v1/spaces/{quote(self.remote.space, safe='')}/{rest}"

    def _fetch_after(self, cursor: int, sent: tuple[str, ...], *, whole: bool) -> Fetched | None:
        """None if the feed never was at this cursor."""
        files: dict[str, File] = {}
        pushes: set[str] = set()
        while True:
            status, page = self._ask(self._path(f"changes?after={cursor}&limit={PAGE}"))
            if status == 410:
                return None
            self._check(status, page)
            for item in page["items"]:
                pushes.add(item["push"])
                files[str(item["path"])] = _read_item(item)
            if page["next"] <= cursor or not page["items"]:
                received = next((id for id in reversed(sent) if id in pushes), "")
                return Fetched(str(cursor), files, whole, received)
            cursor = page["next"]

    def _items(self, push: Push) -> list[dict[str, Any]] | Pushed:
        items = []
        for path, data in push.changes.items():
            version = push.versions.get(path) or "0"
            try:
                body = None if data is None else data.decode("utf-8")
            except UnicodeDecodeError:
                hint = "save it as UTF-8, or keep it out of the team: memdir share --help"
                return Pushed(REFUSED, reason=f"{path} is not UTF-8", next=hint)
            items.append({"path": path, "version": int(version), "body": body})
        return items

    def _check(self, status: int, answer: Mapping[str, Any]) -> None:
        if status != 200:
            refused = _refusal(status, answer)
            raise BadInput(f"{self.remote.url}: {refused.reason}", next=refused.next)

    def _ask(self, path: str, given: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        status, data = self._send(path, given)
        if status >= 500 or status == 429:
            raise self._unreachable(f"it answered {status}")
        try:
            answer = json.loads(data)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._unreachable(f"it answered {status} with something that is not memdir's")
        return status, answer

    def _send(self, path: str, given: Mapping[str, Any] | None) -> tuple[int, bytes]:
        body = None if given is None else json.dumps(given, ensure_ascii=False).encode()
        headers = {
            "Authorization": f"Bearer {read_sync_token(self.remote.token_file)}",
            "User-Agent": "memdir",
            **({"Content-Type": "application/json"} if body is not None else {}),
        }
        fresh = self._connection is None
        try:
            connection = self._connection = self._connection or _connect(self.base)
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            data = answer.read(MAX_ANSWER_BYTES + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            if not fresh:  # it was kept open for a while, and the server closed it
                return self._send(path, given)
            raise self._unreachable(getattr(error, "strerror", None) or str(error)) from None
        if len(data) > MAX_ANSWER_BYTES:
            self.close()
            raise self._unreachable("its answer is too long")
        return answer.status, data

    def _unreachable(self, cause: str) -> Unreachable:
        cause = inert_line(cause, MAX_SHOWN)
        return Unreachable(f"{self.remote.url} cannot be reached: {cause}", next=CHECK)


def check_server_url(url: str) -> str:
    """Without a path; over plain http a token would be readable on the way."""
    parts = urlsplit(url)
    try:
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if parts.scheme not in ("https", "http") or not host or "@" in parts.netloc:
        raise BadInput(f"{url!r} is no address of a server", next="give https://HOST/SPACE")
    if parts.scheme == "http" and host not in LOOPBACK:
        message = f"{url} is not encrypted: anybody on the way could read the token"
        raise BadInput(message, next="use https://, or a tunnel to 127.0.0.1")
    return f"{parts.scheme}://{parts.netloc}"


def read_sync_token(path: str) -> str:
    """Refuses a file that others may read, as ssh does with a key."""
    try:
        data, facts = read_start(path, MAX_TOKEN_BYTES)
    except OSError as error:
        message = f"{path}: {error.strerror or 'not a file'}"
        raise BadInput(message, path=path, next="name the file with the token") from None
    if facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        message = f"{path} can be read by others"
        raise BadInput(message, path=path, next=f"chmod 600 {path}")
    token = data.decode("ascii", "replace").strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(f"{path} holds no token", path=path, next=RENEW)
    return token


def _connect(base: str) -> http.client.HTTPConnection:
    parts = urlsplit(base)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=SECONDS, context=context)
    return http.client.HTTPConnection(host, port, timeout=SECONDS)


def _refusal(status: int, answer: Mapping[str, Any]) -> Pushed:
    error = answer.get("error")
    error = error if isinstance(error, dict) else {}
    reason = inert_line(str(error.get("message") or f"the server answered {status}"), MAX_SHOWN)
    next = inert_line(str(error.get("next") or CHECK), MAX_SHOWN)
    next = {401: RENEW, 404: ENTER}.get(status, next)
    return Pushed(REFUSED, reason=reason, next=next)


def _read_item(item: Mapping[str, Any]) -> File:
    name = str(item["author"])
    author = Author(name, name, verified=True)
    at, version = parse_time(str(item["at"])) or 0.0, str(item["version"])
    data = None if item["body"] is None else item["body"].encode()
    return File(data, author, at, version, data is None and bool(item["purged"]))


def make_server_remote(remote: Remote, given: str, folder: str) -> Remote:
    """`remote.url` is a server; the token of the file `given` is copied into our private folder.

    The space is the one named, else the only one that the token may enter.
    """
    base = check_server_url(remote.url)
    token = read_sync_token(os.path.abspath(os.path.expanduser(given)))
    host = slugify(urlsplit(base).netloc)
    name = f"{host}-{digest_of(token.encode())[:12]}.token"
    kept, disk = os.path.join(folder, name), Disk(folder)
    try:
        disk.make_root()
        disk.put(name, f"{token}\n".encode())
    except OSError as error:
        raise disk_failure(error, kept, "the token cannot be kept") from None
    space = remote.space or urlsplit(remote.url).path.strip("/")
    remote = replace(remote, kind="server", url=base, space=space, token_file=kept, branch="")
    transport = ServerTransport(remote)
    try:
        spaces = transport.list_spaces()
    finally:
        transport.close()
    if not space and len(spaces) == 1:
        space = spaces[0]
    if space not in spaces:
        known = ", ".join(sorted(spaces)) or "none"
        message = f"{base}: this token has no space {space!r}" if space else f"{base}: which space?"
        raise BadInput(message, next=f"choose one with --space: {inert_line(known, MAX_SHOWN)}")
    return replace(remote, url=f"{base}/{space}", space=space)

"""What an HTTP request must look like before its body is read: place, token, form."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from email.message import Message
from typing import TYPE_CHECKING

from memdir.surfaces.mcp import messages
from memdir.surfaces.mcp.messages import MOST_BYTES, Refused
from memdir.surfaces.mcp.talk import META, MODERN

if TYPE_CHECKING:
    from memdir.surfaces.mcp.token import Token

PATH = "/mcp"
HOSTS = ("127.0.0.1", "localhost")
# A second one would be read by somebody else than the first.
ONCE = (
    *("authorization", "content-length", "content-type", "host", "origin"),
    *("mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"),
)
NAMED = {"tools/call": "name", "resources/read": "uri"}  # what the header Mcp-Name repeats
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")


class Bad(Exception):
    """A request that is refused with a status of HTTP."""

    def __init__(self, status: int, message: str, more: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.more = more or {}


def check_request(
    headers: Message, path: str, port: int, token: Token, *, body: bool = True
) -> int:
    """How many bytes to read; refuses first what a web page could have sent, then strangers."""
    names = [name.lower() for name in headers.keys()]  # noqa: SIM118 (each of several)
    # A line that is no header ends them for the parser: what came after it was not looked at.
    if headers.defects or any(not name or set(name) - _TOKEN for name in names):
        raise Bad(400, "the name of a header is malformed")
    if any(names.count(name) > 1 for name in ONCE):
        raise Bad(400, "a header that may stand once stands twice")
    if headers.get("Host", "") not in [f"{host}:{port}" for host in HOSTS]:
        raise Bad(421, "this server answers to 127.0.0.1 and localhost alone")
    origin = headers.get("Origin")
    if origin is not None and origin not in [f"http://{host}:{port}" for host in HOSTS]:
        raise Bad(403, "web pages have no business here")
    _check_token(headers, token)
    if path != PATH:
        raise Bad(404, f"there is nothing but {PATH}")
    return _size(headers) if body else 0


def _check_token(headers: Message, token: Token) -> None:
    """The right one always comes in: nobody can lock the owner out by guessing."""
    kind, _, given = (headers.get("Authorization") or "").partition(" ")
    if kind.lower() == "bearer" and token.admits(given.strip()):
        return
    if token.besieged:
        raise Bad(429, "too many wrong tokens; wait a minute", {"Retry-After": "60"})
    what = "send the header Authorization: Bearer TOKEN; the token is in the file that "
    raise Bad(401, what + "memdir mcp --http names", {"WWW-Authenticate": "Bearer"})


def _size(headers: Message) -> int:
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Bad(415, "send Content-Type: application/json")
    accept = headers.get("Accept") or "*/*"
    if not any(form in accept.lower() for form in ("application/json", "application/*", "*/*")):
        raise Bad(406, "the answer is application/json; accept it")
    length = headers.get("Content-Length", "")
    if "Transfer-Encoding" in headers or not (length.isascii() and length.isdigit()):
        raise Bad(411 if not length else 400, "send a body with a Content-Length")
    if len(length) > 12 or int(length) > MOST_BYTES:
        raise Bad(413, f"a message has at most {MOST_BYTES:,} bytes")
    return int(length)


def is_modern(message: object, headers: Message) -> bool:
    """A request of the newest kind: it needs no session, for it says all itself."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    said = isinstance(meta, dict) and META + "protocolVersion" in meta
    return said or headers.get("Mcp-Protocol-Version") in MODERN


def check_modern(message: object, headers: Message) -> None:
    """Header and body must say the same: others on the way read the header alone."""
    if not isinstance(message, dict):
        raise Refused(messages.INVALID, "the body is one request or notification")
    if "id" not in message:
        return
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(meta, dict):
        raise Refused(messages.PARAMS, "params._meta with the version of the protocol is missing")
    version = meta.get(META + "protocolVersion")
    if version is None or headers.get("Mcp-Protocol-Version") != version:
        raise Refused(messages.MISMATCH, "Mcp-Protocol-Version is not what _meta says")
    if headers.get("Mcp-Method") != message.get("method"):
        raise Refused(messages.MISMATCH, "Mcp-Method is not the method of the body")
    named = params.get(NAMED.get(str(message.get("method")), ""))
    if named is not None and _decoded(headers.get("Mcp-Name")) != named:
        raise Refused(messages.MISMATCH, "Mcp-Name is not what the body names")


def _decoded(value: str | None) -> str | None:
    """A header's value; what is no plain ASCII comes as `=?base64?…?=`."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None

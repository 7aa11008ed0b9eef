"""In front of every route: hosts, tokens, rates and sizes, before anything is parsed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
import traceback
from collections import OrderedDict
from collections.abc import Hashable, Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memdir.server.database import Unavailable
from memdir.server.intake import MAX_PUSH_BYTES, Refused

LOG = logging.getLogger("memdir.server")
TOKEN = "memdir.token"  # key of the token's hash in the ASGI scope
BODY_SECONDS = 30.0  # for a body to arrive
MAX_TOKEN = 200  # characters
STRANGERS_PER_SECOND, STRANGERS_BURST = 20.0, 1_000.0
MAX_KEYS = 20_000  # the longest unused one is forgotten
BURST_SECONDS = 10  # of its rate that a token may use at once
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
COUNTING = ("host", "origin", "authorization", "content-type", "content-length")
OPEN_PATHS = ("/healthz", "/v1/openapi.json")
HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
REASONS = {400: "bad request", 401: "unauthorized", 403: "forbidden", 404: "not found"}


class Rates:
    """A bucket per key: `burst` requests at once, refilled by `per_second`."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second, self.burst = per_second, burst
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._levels

    def forget(self, key: Hashable) -> None:
        self._levels.pop(key, None)

    def wait_seconds(self, key: Hashable) -> float:
        """Takes one; 0.0 if it was there, else for how long to wait."""
        now = time.monotonic()
        level, then = self._levels.pop(key, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.per_second)
        allowed = level >= 1
        self._levels[key] = (level - 1 if allowed else level, now)
        if len(self._levels) > MAX_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self.per_second


class Door:
    """Refuses in the order of cost: names, token, rate; a body only where a route takes one."""

    def __init__(self, inside: ASGIApp, hosts: Sequence[str], per_second: float) -> None:
        self.inside = inside
        self.hosts = frozenset(host.lower() for host in (*LOCAL_HOSTS, *hosts))
        self.known = Rates(per_second, per_second * BURST_SECONDS)
        self.strangers = Rates(STRANGERS_PER_SECOND, STRANGERS_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            asked = read_server_headers(scope)
            self._check_origin(asked["host"], asked["origin"])
            if scope["path"] in OPEN_PATHS:
                self._slow_down(self.strangers, (scope.get("client") or ("",))[0])
            else:
                scope[TOKEN] = self._check_token(asked["authorization"], scope)
            await self.inside(scope, receive, send)
        except Refused as refused:
            if refused.status == 401:
                self.known.forget(scope.get(TOKEN))
            await refuse_request(send, refused)
        except Unavailable as error:
            gone = Refused(503, error.message, "try again in a moment", retry_after=1)
            await refuse_request(send, gone)
        except Exception as error:  # the one net: a bug answers, and says where without any text
            LOG.error(
                "%s at %s", type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
            )
            await refuse_request(send, Refused(500, "this is a bug in memdir", "please report it"))

    def welcome(self, token: bytes) -> None:
        """This token was good: from now on its own rate counts, not that of its address."""
        if token not in self.known:
            self.known.wait_seconds(token)

    def _check_origin(self, host: str, origin: str) -> None:
        if server_host_name(host) not in self.hosts:
            raise Refused(421, "unknown host", "the server's --name says which it answers to")
        own = origin.partition("://")[2]
        if origin and (server_host_name(own) not in self.hosts or own != host):
            raise Refused(403, "a page of another origin may not ask", "ask without a browser")

    def _check_token(self, given: str, scope: Scope) -> bytes:
        scheme, _, text = given.partition(" ")
        if scheme.lower() != "bearer" or not 0 < len(text.strip()) <= MAX_TOKEN:
            raise Refused(401, "no token", "send the header Authorization: Bearer TOKEN")
        token = hashlib.sha256(text.strip().encode("latin-1")).digest()
        if token in self.known:
            self._slow_down(self.known, token)
        else:
            self._slow_down(self.strangers, (scope.get("client") or ("",))[0])
        return token

    def _slow_down(self, rates: Rates, key: str | bytes) -> None:
        if wait := rates.wait_seconds(key):
            seconds = int(wait) + 1
            raise Refused(429, "too many requests", f"wait {seconds} s", retry_after=seconds)


def read_server_headers(scope: Scope) -> dict[str, str]:
    """Those that count, each at most once; empty if it is not there."""
    found = dict.fromkeys(COUNTING, "")
    for raw, value in scope["headers"]:
        if (name := raw.decode("latin-1")) in found:
            if found[name]:
                raise Refused(400, f"the header {name} occurs twice", "send it once")
            found[name] = value.decode("latin-1")
    return found


def server_host_name(host: str) -> str:
    """Without the port, in lower case."""
    name, _, port = host.rpartition(":")
    return (name if name and port.isdecimal() else host).lower()


def check_server_post(scope: Scope) -> None:
    """By its headers alone: what is too large is not read."""
    asked = read_server_headers(scope)
    if asked["content-type"].partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "the body is not application/json", "say so in Content-Type")
    length = asked["content-length"] or "0"
    if not length.isdecimal() or len(length) > 15:
        raise Refused(400, "content-length is not a number", "send its bytes")
    if int(length) > MAX_PUSH_BYTES:
        raise push_too_large_for_server()


def push_too_large_for_server() -> Refused:
    message = f"a push has at most {MAX_PUSH_BYTES:,} bytes"
    return Refused(413, message, "send several smaller ones", limit=MAX_PUSH_BYTES)


async def read_server_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body; counts also what arrives in pieces without a length."""
    check_server_post(scope)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message: Message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "the body ended early", "send it again")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > MAX_PUSH_BYTES:
                    raise push_too_large_for_server()
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise Refused(408, "the body did not arrive in time", "send it again") from None


async def refuse_request(send: Send, refused: Refused) -> None:
    facts = dict(refused.facts)
    more = []
    if "allow" in facts:
        more.append((b"allow", str(facts.pop("allow")).encode()))
    if "retry_after" in facts:
        more.append((b"retry-after", str(facts["retry_after"]).encode()))
    if refused.status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    code = REASONS.get(refused.status, "refused")
    error = {"code": code, "message": refused.message, "next": refused.next, **facts}
    await send_server_json(send, refused.status, json.dumps({"error": error}).encode(), more)


async def send_server_json(
    send: Send, status: int, body: bytes, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *HEADERS,
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

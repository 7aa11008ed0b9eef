"""The gate in front of every page: who may ask, how much they may send, what browsers may do.

The token stands in the URL once. Whoever brings it gets a cookie, and the token is spent: a URL
stays in the browser's history and in the list of processes. Without the cookie nothing is told, on
no path and with no method.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs, parse_qsl

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_FORM_BYTES = 1024 * 1024
MAX_FIELDS = 200
BODY_SECONDS = 20.0  # for a form to arrive
FORM = "memdir.form"  # key of the fields in the ASGI scope
METHODS = ("GET", "HEAD", "POST")
FORM_TYPE = "application/x-www-form-urlencoded"
CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# With `no-referrer` browsers send `Origin: null` with a form; `same-origin` tells others as little.
HEADERS = {
    "content-security-policy": CSP,
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
CLOSED = (
    "memdir: this page opens with the link that `memdir ui` printed, once.\n"
    "If you have just opened it, reload. Else stop memdir ui and start it again.\n"
)


class Gate:
    inside: ASGIApp

    def __init__(self, port: int, now: Callable[[], float]) -> None:
        self.now = now
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"memdir_{port}"  # browsers share cookies between ports
        self.token = secrets.token_urlsafe()
        self.form_token = secrets.token_urlsafe()
        self.last = now()  # when somebody with the cookie asked
        self._secret = secrets.token_urlsafe()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # neither lifespan nor sockets

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        answer = self._refuse(scope)
        if answer is None and scope["method"] == "POST":
            answer = await self._take_form(scope, receive)
        if answer is None:
            self.last = self.now()
        await (answer or self.inside)(scope, receive, send_safely)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self.hosts]:
            return _text("memdir: unknown host\n", 421)
        if scope["method"] not in METHODS:
            return _text("memdir: unknown method\n", 405)
        query = parse_qs(scope["query_string"].decode("ascii", "replace"))
        if scope["method"] == "GET" and "token" in query:
            return self._let_in(query["token"][0])
        if not _same(_cookie(headers, self.cookie), self._secret):
            return _text(CLOSED, 403)
        if scope["method"] != "POST":
            return None
        if headers.getlist("origin") != [f"http://{headers['host']}"]:
            return _text("memdir: a change must come from this page\n", 403)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
            return _text("memdir: not a form\n", 415)
        return None

    def _let_in(self, given: str) -> Response:
        if not self.token or not _same(given, self.token):
            return _text(CLOSED, 403)
        self.token = ""
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.cookie, self._secret, path="/", httponly=True, samesite="strict")
        return answer

    async def _take_form(self, scope: Scope, receive: Receive) -> Response | None:
        data, more = b"", True
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        return _text("", 400)
                    data, more = data + message.get("body", b""), message.get("more_body", False)
                    if len(data) > MAX_FORM_BYTES:
                        return _text("memdir: the form is too long\n", 413)
            pairs = parse_qsl(data.decode("ascii"), True, max_num_fields=MAX_FIELDS)
        except TimeoutError:
            return _text("memdir: the form did not arrive\n", 408)
        except ValueError:
            return _text("memdir: not a form\n", 400)
        scope[FORM] = fields = {name: value.replace("\r\n", "\n") for name, value in pairs}
        if not _same(fields.pop("form", ""), self.form_token):
            return _text("memdir: this form is out of date; load its page again\n", 403)
        return None


def _cookie(headers: Headers, name: str) -> str:
    """The only cookie of this name: of two, nobody knows which one is ours."""
    pairs = [part.strip().partition("=") for part in headers.get("cookie", "").split(";")]
    values = [value for key, _, value in pairs if key == name]
    return values[0] if len(values) == 1 else ""


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _text(text: str, status: int) -> Response:
    return PlainTextResponse(text, status)

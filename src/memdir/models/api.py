"""Shared by the members behind an HTTP API: one request, its answer, its failures.

Our messages never contain text of a server, since some servers repeat the key.
"""

from __future__ import annotations

import asyncio
import importlib
import re
import site
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast
from urllib.parse import urlsplit

from memdir.models.model import (
    Answer,
    BadAnswer,
    ModelFailed,
    ModelUnavailable,
    Question,
    Usage,
    model_answer,
    model_refused,
    model_too_slow,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters


P = ParamSpec("P")
T = TypeVar("T")
# The client, to be closed, and its model.
Opened = tuple[AbstractAsyncContextManager[Any], "Model[Any]"]
Mode = Literal["tool", "native"]  # how a model gets the schema

TOOL = "answer"
INSTALL = "pip install 'memdir[llm]'"
NOTHING = Usage()
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MAX_ANSWER_BYTES = 1024 * 1024  # twice an answer of 100,000 tokens
PLAIN = "identity"
WORK_SHARE = 0.95  # of the time; the rest is for closing connections
# Errors that libraries may raise for malformed answers.
BROKEN = (
    OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError, AssertionError,
)  # fmt: skip
# A warning of pydantic-ai about bad token counts; we estimate them instead.
BAD_COUNTS = "Failed to extract usage"
CHECK_ADDRESS = "check model.base_url: does a server of this kind answer there?"
HTTP_PROBLEMS = {
    400: ("the request was not understood", "choose another model"),
    401: ("the key was not accepted", "check the key in your environment"),
    403: ("the key may not use this model", "check the key in your environment"),
    404: ("there is no such model or address", "check model.name and model.base_url"),
    429: ("too many requests, or no credit left", "wait a while, or check your account"),
}
_HOST = re.compile(r"[\w.:-]+", re.ASCII)


def make_model_messages(question: Question, mode: Mode) -> list[ModelMessage]:
    from pydantic_ai.messages import (
        CachePoint,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    # Parts only if caches need marks: more servers accept a single plain text.
    more = mode == "tool" and (question.more or bool(question.earlier))
    first = UserPromptPart([question.user, CachePoint()] if more else question.user)
    messages: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(question.system), first])]
    for number, turn in enumerate(question.earlier, 1):
        if mode == "native" or question.schema is None:
            messages.append(ModelResponse(parts=[TextPart(turn.answered)]))
            messages.append(ModelRequest(parts=[UserPromptPart(turn.told)]))
            continue
        # An answer given as a tool call is repeated as one, with its result.
        id = f"{TOOL}_{number}"
        messages.append(ModelResponse(parts=[ToolCallPart(TOOL, turn.answered, tool_call_id=id)]))
        messages.append(ModelRequest(parts=[ToolReturnPart(TOOL, turn.told, tool_call_id=id)]))
    return messages


class Unfit(ValueError):
    """An unreadable answer; the text of the error is ours, not the server's."""


def http_client_for_model(default: type[Any]) -> Any:
    """An HTTP client that follows no redirect and reads at most `MAX_ANSWER_BYTES`.

    It subclasses the client class of the package, whatever HTTP library that uses.
    """

    class Plain(default):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            options |= {"stream": True, "follow_redirects": False}
            response = await super().send(request, **options)
            try:
                body = await _read_body(response)
            finally:
                await response.aclose()
            made = type(response)(
                response.status_code, headers=response.headers, content=body, request=request
            )
            made.elapsed = response.elapsed
            return made

    # A compressed answer could unpack to any size.
    return Plain(headers={"accept-encoding": PLAIN})


async def _read_body(response: Any) -> bytes:
    if 300 <= response.status_code < 400:
        raise Unfit("the server sends us to another address, which is not followed")
    if response.headers.get("content-encoding", PLAIN).lower() != PLAIN:
        raise Unfit("the answer is packed, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise Unfit(f"the answer is longer than {MAX_ANSWER_BYTES:,} bytes")
    return bytes(body)


def run_model(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    def run() -> T:
        loop = asyncio.new_event_loop()
        loop.set_default_executor(_Daemons())
        try:
            result = loop.run_until_complete(asyncio.wait_for(work(), seconds * WORK_SHARE))
            loop.run_until_complete(loop.shutdown_asyncgens())
            return result
        finally:
            loop.close()

    return _Daemons().submit(run).result(seconds)


class _Daemons(ThreadPoolExecutor):
    """Daemon threads: a name server that hangs must not delay our exit."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # raised where the future is awaited
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


@dataclass(frozen=True)
class Api:
    name: str
    modules: tuple[str, ...]
    mode: Mode
    connect: Callable[[], Opened] = field(repr=False)  # contains the key
    caching: Mapping[str, object] = field(default_factory=dict)  # settings if turns may follow

    def answer(self, question: Question) -> Answer:
        """Ask once, without a retry; the limit excludes loading the packages (seconds)."""
        load_model_packages(self.modules)
        warnings.filterwarnings("ignore", BAD_COUNTS)
        failure: ModelFailed
        try:
            response = run_model(question.seconds, lambda: self._request(question))
            text, usage = _text(response), _usage(response)
        except TimeoutError:
            failure = model_too_slow(self.name, question.seconds)
        except BROKEN as error:
            failure = _failure(self.name, question.seconds, error)
        else:
            if response.finish_reason == "content_filter":
                raise model_refused(self.name, usage)
            return model_answer(question, text, self.name, usage)
        raise failure  # outside the handler, whose context could contain text of the server

    async def _request(self, question: Question) -> ModelResponse:
        from pydantic_ai.settings import ModelSettings

        client, model = self.connect()
        limits = {"max_tokens": question.max_tokens, "timeout": question.seconds, "max_retries": 0}
        more = self.caching if question.more or question.earlier else {}
        settings = cast(ModelSettings, {**limits, **more})
        asked = make_model_messages(question, self.mode)
        async with client:
            return await model.request(asked, settings, _held_to(question.schema, self.mode))


def load_model_packages(modules: tuple[str, ...]) -> None:
    if sys.flags.no_site and modules[-1] not in sys.modules:
        site.main()  # hooks start Python without its packages (-S)
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError as error:
        package = (error.name or "a package").partition(".")[0]
        message = f"this model needs {package}, which is not installed"
        raise ModelUnavailable(message, next=INSTALL, usage=NOTHING) from None


def model_api_key(variable: str, base_url: str, environ: Mapping[str, str]) -> str:
    """The key for that address; never sent unencrypted to another machine."""
    key = environ.get(variable, "").strip()
    try:
        address = urlsplit(base_url)
        sound = address.port != 0 and _HOST.fullmatch(address.hostname or "")
    except ValueError:
        sound = None
    if not sound or address.scheme not in ("http", "https") or not base_url.isprintable():
        message = "model.base_url is not the address of a server"
        raise ModelUnavailable(message, next="write https://HOST/PATH", usage=NOTHING)
    if key and address.scheme != "https" and address.hostname not in LOOPBACK:
        # Show only scheme and host: the rest may contain a password.
        place = f"{address.scheme}://{address.hostname}"
        message = f"{place} is not https: everybody on the way could read {variable}"
        hint = f"use https in model.base_url, or unset {variable}"
        raise ModelUnavailable(message, next=hint, usage=NOTHING)
    return key


def _held_to(schema: Mapping[str, object] | None, mode: Mode) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if schema is None:
        return ModelRequestParameters()
    if mode == "native":
        wanted = OutputObjectDefinition(json_schema=dict(schema), name=TOOL)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    tool = ToolDefinition(
        name=TOOL, description="Give your answer.", parameters_json_schema=dict(schema)
    )
    tool.kind = "output"
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _text(response: ModelResponse) -> str:
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    return calls[0] if calls else "".join(texts)


def _usage(response: ModelResponse) -> Usage:
    """The server's token counts, corrected if it claims to have cached more than was sent."""
    used = response.usage
    given, made, cached = used.input_tokens, used.output_tokens, used.cache_read_tokens
    return Usage(max(given - cached, 0), max(made, 0), max(cached, 0))


def _failure(name: str, seconds: float, error: Exception) -> ModelFailed:
    from pydantic_ai import exceptions

    for cause in _chain(error):
        if isinstance(cause, Unfit):  # our own error, wrapped by the packages
            return BadAnswer(f"{name}: {cause}", next=CHECK_ADDRESS)
    if isinstance(error, exceptions.ModelTimeoutError | exceptions.ModelRequestTimeout):
        return model_too_slow(name, seconds)
    if isinstance(error, exceptions.ModelHTTPError):
        status = error.status_code
        problem, hint = HTTP_PROBLEMS.get(status, ("the server failed", "try again later"))
        message = f"{name}: {problem} (HTTP {status})"
        return ModelUnavailable(message, next=hint, usage=NOTHING)
    if isinstance(error, exceptions.ModelConnectionError):
        hint = "check the connection and model.base_url"
        # Only an unsent request certainly costs nothing.
        usage = NOTHING if error.phase in ("pool", "connect") else None
        if any("CERTIFICATE_VERIFY_FAILED" in str(cause) for cause in _chain(error)):
            hint = "if the authority is your own: SSL_CERT_FILE=FILE, with its certificate"
            message = f"{name}: the certificate of the server or proxy is not trusted; {hint}"
            return ModelUnavailable(message, next=hint, usage=usage)
        return ModelUnavailable(f"{name}: no connection", next=hint, usage=usage)
    if isinstance(error, exceptions.ContentFilterError):
        return model_refused(name)
    problem = f"the answer cannot be read ({type(error).__name__})"
    return BadAnswer(f"{name}: {problem}", next=CHECK_ADDRESS)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what caused it: the library in between says little."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

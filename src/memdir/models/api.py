"""What HTTP members share."""

from __future__ import annotations

import asyncio
import importlib
import re
import site
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, cast
from urllib.parse import SplitResult, urlsplit

from memdir.models.model import (
    Answer,
    BadAnswer,
    ModelFailed,
    ModelRefused,
    ModelUnavailable,
    Question,
    Usage,
    answered,
    too_slow,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters


# A question as the messages of an API: what was sent once stands first, and unchanged.

TOOL = "answer"


def conversation(question: Question, mode: Literal["tool", "native"]) -> list[ModelMessage]:
    """The first text and each earlier turn; a mark for caches behind the first text."""
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

    # Only where caches want marks: for the others one plain text fits more servers.
    more = mode == "tool" and (question.more or bool(question.earlier))
    first = UserPromptPart([question.user, CachePoint()] if more else question.user)
    said: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(question.system), first])]
    for number, turn in enumerate(question.earlier, 1):
        if mode == "native" or question.schema is None:
            said.append(ModelResponse(parts=[TextPart(turn.answered)]))
            said.append(ModelRequest(parts=[UserPromptPart(turn.told)]))
            continue
        # An answer that was given as a call of a tool is repeated as one, with its result.
        id = f"{TOOL}_{number}"
        said.append(ModelResponse(parts=[ToolCallPart(TOOL, turn.answered, tool_call_id=id)]))
        said.append(ModelRequest(parts=[ToolReturnPart(TOOL, turn.told, tool_call_id=id)]))
    return said


# The HTTP client that a package of an API gets from us: one answer of limited size from one place.
#
# Made from the class that the package brings along, so whatever HTTP library it uses is ours too.

LARGEST_BYTES = 1024 * 1024  # of an answer; one of 100,000 tokens has half of it
PLAIN = "identity"


class Unfit(ValueError):
    """An answer that is not read; its text is ours."""


def plain_client(default: type[Any]) -> Any:
    """A client that follows nobody elsewhere and reads no more than `LARGEST_BYTES`."""

    class Plain(default):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            options |= {"stream": True, "follow_redirects": False}
            response = await super().send(request, **options)
            try:
                body = await _body(response)
            finally:
                await response.aclose()
            made = type(response)(
                response.status_code, headers=response.headers, content=body, request=request
            )
            made.elapsed = response.elapsed
            return made

    # A packed answer could unfold to any size at once.
    return Plain(headers={"accept-encoding": PLAIN})


async def _body(response: Any) -> bytes:
    if 300 <= response.status_code < 400:
        raise Unfit("the server sends us to another address, which is not followed")
    if response.headers.get("content-encoding", PLAIN).lower() != PLAIN:
        raise Unfit("the answer is packed, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > LARGEST_BYTES:
            raise Unfit(f"the answer is longer than {LARGEST_BYTES:,} bytes")
    return bytes(body)


# A coroutine with a hard limit on the clock, from synchronous code, inside any event loop.

P = ParamSpec("P")
T = TypeVar("T")

# The coroutine is cancelled a little earlier, so that its connections are closed in time.
TO_WORK = 0.95


def within(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The coroutine's result; TimeoutError when the time is up, whatever it is doing then."""
    call = _Call(seconds, work)
    call.start()
    call.join(seconds)
    if call.is_alive():
        raise TimeoutError  # left behind: a daemon does not keep the process from ending
    if call.error is not None:
        raise call.error
    return call.result


class _Call(threading.Thread, Generic[T]):
    """A thread of its own: the caller's may have an event loop already."""

    def __init__(self, seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        super().__init__(name="memdir-model", daemon=True)
        self.seconds = seconds
        self.work = work
        self.error: BaseException | None = None
        self.result: T

    def run(self) -> None:
        loop = asyncio.new_event_loop()
        loop.set_default_executor(_Daemons())
        try:
            timed = asyncio.wait_for(self.work(), self.seconds * TO_WORK)
            self.result = loop.run_until_complete(timed)
            loop.run_until_complete(loop.shutdown_asyncgens())
        except BaseException as error:  # handed to the caller, who knows what it means
            self.error = error
        finally:
            loop.close()


class _Daemons(ThreadPoolExecutor):
    """Threads that nobody waits for: a name server that hangs must not delay our exit."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # belongs to whoever awaits it
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


# What the members that speak to an HTTP API share: one request, its answer, its failures.
#
# Texts of the server never enter our messages: some repeat the key they were given.

INSTALL = "pip install 'memdir[llm]'"
NOTHING = Usage()
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# What a library may raise over bytes that no server should send.
BROKEN = (
    OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError, AssertionError,
)  # fmt: skip
# What pydantic-ai says on standard error of counts that are none; we count for ourselves then.
BAD_COUNTS = "Failed to extract usage"
_HOST = re.compile(r"[\w.:-]+", re.ASCII)

# The client, to be closed, and the model that speaks through it.
Opened = tuple[AbstractAsyncContextManager[Any], "Model[Any]"]


@dataclass(frozen=True)
class Api:
    """A model behind an HTTP API. `connect` runs anew for each question, in its own event loop."""

    name: str
    modules: tuple[str, ...]
    mode: Literal["tool", "native"]  # how it is held to a schema
    connect: Callable[[], Opened] = field(repr=False)  # it knows the key
    caching: Mapping[str, object] = field(default_factory=dict)  # settings, where turns may follow

    def answer(self, question: Question) -> Answer:
        """Ask once, without a second try. Loading the packages (seconds) is not in the limit."""
        load(self.modules)
        warnings.filterwarnings("ignore", BAD_COUNTS)
        failure: ModelFailed
        try:
            response = within(question.seconds, lambda: self._request(question))
            text, usage = _text(response), _usage(response)
        except TimeoutError:
            failure = too_slow(self.name, question.seconds)
        except BROKEN as error:
            failure = _failure(self.name, question.seconds, error)
        else:
            if response.finish_reason == "content_filter":
                raise _refused(self.name, usage)
            return answered(question, text, self.name, usage)
        raise failure  # not inside the handler: its context could hold what a server said

    async def _request(self, question: Question) -> ModelResponse:
        from pydantic_ai.settings import ModelSettings

        client, model = self.connect()
        limits = {"max_tokens": question.max_tokens, "timeout": question.seconds, "max_retries": 0}
        more = self.caching if question.more or question.earlier else {}
        settings = cast(ModelSettings, {**limits, **more})
        asked = conversation(question, self.mode)
        async with client:
            return await model.request(asked, settings, _held_to(question.schema, self.mode))


def load(modules: tuple[str, ...]) -> None:
    """Import what a member needs; it may not be installed."""
    _find_packages()
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError as error:
        package = (error.name or "a package").partition(".")[0]
        message = f"this model needs {package}, which is not installed"
        raise ModelUnavailable(message, next=INSTALL, usage=NOTHING) from None


@cache
def _find_packages() -> None:
    """Hooks start Python without its packages (-S): nobody but a model needs them."""
    if sys.flags.no_site:
        site.main()


def key_of(variable: str, base_url: str, environ: Mapping[str, str]) -> str:
    """The key for that address; none travels in the clear to another machine."""
    key = environ.get(variable, "").strip()
    address = _address(base_url)
    if key and address.scheme != "https" and address.hostname not in LOOPBACK:
        # Only scheme and host are shown: the rest may hold a password.
        message = (
            f"{address.scheme}://{address.hostname} is not https: everybody on the way could read "
            f"{variable}"
        )
        raise ModelUnavailable(
            message, next=f"use https in model.base_url, or unset {variable}", usage=NOTHING
        )
    return key


def _address(base_url: str) -> SplitResult:
    try:
        address = urlsplit(base_url)
        sound = address.port != 0 and _HOST.fullmatch(address.hostname or "")
    except ValueError:
        sound = None
    if not sound or address.scheme not in ("http", "https") or not base_url.isprintable():
        message = "model.base_url is not the address of a server"
        raise ModelUnavailable(message, next="write https://HOST/PATH", usage=NOTHING)
    return address


def _held_to(
    schema: Mapping[str, object] | None, mode: Literal["tool", "native"]
) -> ModelRequestParameters:
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
    """What the server counted; it may claim to have cached more than there was."""
    used = response.usage
    given, made, cached = used.input_tokens, used.output_tokens, used.cache_read_tokens
    return Usage(max(given - cached, 0), max(made, 0), max(cached, 0))


def _refused(name: str, usage: Usage | None = None) -> ModelRefused:
    hint = "say it in other words, or choose another model"
    return ModelRefused(f"{name} refused to answer", next=hint, usage=usage)


def _unfit(error: BaseException | None) -> Unfit | None:
    """Our own reason, below what the packages made of it."""
    while error is not None and not isinstance(error, Unfit):
        error = error.__cause__ or error.__context__
    return error


def _failure(name: str, seconds: float, error: Exception) -> ModelFailed:
    from pydantic_ai import exceptions

    at_the_address = "check model.base_url: does a server of this kind answer there?"
    if unfit := _unfit(error):
        return BadAnswer(f"{name}: {unfit}", next=at_the_address)
    if isinstance(error, exceptions.ModelTimeoutError | exceptions.ModelRequestTimeout):
        return too_slow(name, seconds)
    if isinstance(error, exceptions.ModelHTTPError):
        return _status(name, error.status_code)
    if isinstance(error, exceptions.ModelConnectionError):
        hint = "check the connection and model.base_url"
        # Only where the request was not sent is it sure that nothing was spent.
        usage = NOTHING if error.phase in ("pool", "connect") else None
        return ModelUnavailable(f"{name}: no connection", next=hint, usage=usage)
    if isinstance(error, exceptions.ContentFilterError):
        return _refused(name)
    if isinstance(error, exceptions.UserError):
        return ModelUnavailable(f"{name} cannot be asked in this way", next="choose another model")
    what = f"the answer cannot be read ({type(error).__name__})"
    return BadAnswer(f"{name}: {what}", next=at_the_address)


def _status(name: str, status: int) -> ModelFailed:
    """An HTTP status in words; such an answer is not charged for."""
    what, hint = {
        400: ("the request was not understood", "choose another model"),
        401: ("the key was not accepted", "check the key in your environment"),
        403: ("the key may not use this model", "check the key in your environment"),
        404: ("there is no such model or address", "check model.name and model.base_url"),
        413: ("the question is too long", "choose a model with more room"),
        429: ("too many requests, or no credit left", "wait a while, or check your account"),
    }.get(status, ("the server failed", "try again later"))
    message = f"{name}: {what} (HTTP {status})"
    return ModelUnavailable(message, next=hint, usage=NOTHING)

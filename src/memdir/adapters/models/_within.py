"""A coroutine with a hard limit on the clock, from synchronous code, inside any event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, ParamSpec, TypeVar

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

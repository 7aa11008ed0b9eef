"""One hook from end to end: what the client hands over in, the answer out. Hot path.

Whatever goes wrong, the session goes on: no answer, no word on stderr, a line in our own log.
"""

import os
import sys

from memdir.adapters.reports import take_report
from memdir.core.nested import NESTED
from memdir.core.scope import checkout_root
from memdir.surfaces.hooks.event import MOST_BYTES, Event
from memdir.surfaces.hooks.place import BUILT_IN, INDEX, SILENT, Around, Here, file_of, look, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

MAX_FILE_BYTES = 4 * 1024 * 1024
REPORTING = ("prompt", "session-start", "stop")  # whose message the client shows to the user
MEMORY_OFF = "memory=off"  # the client has none of its own


def run(event: str, module: str, arguments: list[str], settle: "Callable[[str], None]") -> None:
    """Answer one event; `arguments` name the place, where nobody has to look for it.

    `settle` is told of the cache as soon as it can be trusted.
    """
    if os.environ.get(NESTED):
        return  # we are what called the client
    state = arguments[0] if arguments else ""
    try:
        asked = Event(sys.stdin.buffer.read(MOST_BYTES))
        here = _named(arguments, asked) if arguments else find_here(asked.cwd)
        if here is None or SILENT in here.holds:
            return
        state = here.state
        settle(here.cache)
        hook: ModuleType = __import__(f"memdir.surfaces.hooks.{module}", fromlist=["answer"])
        text, work = hook.answer(event, asked, here)
        if event in REPORTING and (report := take_report(here.state, here.checkout or asked.cwd)):
            text = asked.with_report(text, report)
        if text:
            sys.stdout.buffer.write(f"{text}\n".encode())
            sys.stdout.flush()
        if work:  # only after the answer: nobody waits for it
            from memdir.surfaces.hooks.detached import start_worker

            start_worker(*work)
    except Exception as error:  # the one broad net: a memory is never worth a broken session
        from memdir.adapters.log_file import log, trouble

        if state:
            log(state, event, trouble(error))


def find_here(cwd: str) -> Here | None:
    """What holds in a directory; None where that cannot be told, or must not be."""
    if not cwd.startswith("/") or "\0" in cwd:
        return None
    around = Around(cwd, os.environ)
    path = "" if around.doubtful else file_of(around, os.environ)
    here = read(path, around.seen) if path else None
    if here is None:
        from memdir.surfaces.hooks.placing import settle

        here = settle(cwd, os.environ, around, path)
    return here


def _named(arguments: list[str], asked: Event) -> Here | None:
    """The place that the arguments say: STATE CACHE SCOPE=DIRECTORY ..."""
    if len(arguments) < 2:
        return None
    state, cache, *named = arguments
    scopes = {scope: at for scope, equals, at in (one.partition("=") for one in named) if equals}
    holds = {INDEX} if MEMORY_OFF in named else {INDEX, BUILT_IN}
    scopes.pop(MEMORY_OFF.partition("=")[0], None)
    inside = asked.cwd.startswith("/") and "\0" not in asked.cwd
    code = checkout_root(asked.cwd, look) if inside else ""
    return Here(state, cache, code, frozenset(holds), scopes, MAX_FILE_BYTES)

"""The prompt hook: the client's JSON on stdin, the memories that fit as JSON on stdout. Hot path.

SQLite reads and writes the JSON: it is here anyway, and the json module costs as much as the
interpreter. Whatever goes wrong, the session goes on: no answer, exit code 0.
"""

import os
import sys
from time import time

from memdir.adapters.layouts.markdown import Markdown
from memdir.adapters.searches._sqlite import connect
from memdir.adapters.searches.fts import open_search
from memdir.adapters.sessions import Sessions
from memdir.adapters.verdicts import Verdicts
from memdir.core.store_key import store_key
from memdir.steps.inject import inject_once
from memdir.steps.recall import Place, recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.injection import Recalled

EVENT = "UserPromptSubmit"
USER = "user"
NONCE_BYTES = 4
NUL, SPACE = b"\\u0000", b"\\u0020"  # as JSON writes them
MOST_BYTES = 16 * 1024 * 1024  # of what a client hands over


def answer(
    given: bytes, state_dir: str, cache_dir: str, stores: list[tuple[str, str]]
) -> tuple[str, list[Verdicts]]:
    """The client's answer for its question, and which verdicts it lacked.

    The answer is empty where there is nothing to tell.
    """
    database = connect(":memory:")
    database.text_factory = bytes  # half of a character is no reason to fail
    # To SQLite a text ends at a zero.
    event = given.replace(NUL, SPACE).decode("utf-8", "replace")
    try:
        row = database.execute(
            "SELECT json_extract(?1, '$.prompt'), json_extract(?1, '$.session_id'),"
            " json_extract(?1, '$.cwd')",
            (event,),
        ).fetchone()
        prompt, session, cwd = (
            value.decode("utf-8", "replace") if isinstance(value, bytes) else "" for value in row
        )
        text, lacking = _told(prompt, session, cwd, (state_dir, cache_dir), stores)
        if not text:
            return "", []
        query = (
            "SELECT json_object('hookSpecificOutput', json_object("
            "'hookEventName', ?, 'additionalContext', ?))"
        )
        whole = text.encode("utf-8", "replace").decode()  # bytes of a memory that are no UTF-8
        made: bytes = database.execute(query, (EVENT, whole)).fetchone()[0]
        return made.decode(), lacking
    finally:
        database.close()


def _told(
    prompt: str, session: str, cwd: str, folders: tuple[str, str], stores: list[tuple[str, str]]
) -> tuple[str, list[Verdicts]]:
    """recall → verify → inject, as `flows.recall` does, without what the hot path cannot afford."""
    state_dir, cache_dir = folders
    places, caches = [], {}
    for scope, root in stores:
        store = Markdown(root)
        folder = os.path.join(cache_dir, "stores", store_key(os.path.realpath(root)))
        places.append(Place(scope, store, open_search(store, folder)))
        caches[scope] = folder
    sessions = Sessions(state_dir)
    found = recall(places, prompt, sessions.load(session))
    lacking = _verify(found.bodies, _checkout(cwd), caches)
    nonce = os.urandom(NONCE_BYTES).hex()
    told = found.bodies, found.pointers
    return inject_once(*told, sessions, session, now=time(), nonce=nonce).text, lacking


def _verify(bodies: "list[Recalled]", code: str, caches: dict[str, str]) -> list[Verdicts]:
    """Let them say which claims hold now; the verdicts that some of them lack."""
    lacking = []
    for scope, folder in caches.items():
        some = [one for one in bodies if one.scope == scope]
        if code and some and scope != USER:  # a user's memories speak of no one repository
            verdicts = Verdicts(folder, code)
            lacking += [verdicts] if verdicts.tell(some) else []
    return lacking


def _checkout(cwd: str) -> str:
    """The checkout that the session works in; empty where it is in none."""
    here = cwd if cwd.startswith("/") and "\0" not in cwd else ""
    while here and not os.path.lexists(f"{here}/.git"):
        here = here.rpartition("/")[0]
    return here


def main(arguments: list[str]) -> int:
    """Never in the way of a session."""
    try:
        state_dir, cache_dir, *named = arguments
        stores = [(scope, root) for scope, _, root in (one.partition("=") for one in named)]
        given = sys.stdin.buffer.read(MOST_BYTES)
        text, lacking = answer(given, state_dir, cache_dir, stores)
        if text:
            sys.stdout.buffer.write(f"{text}\n".encode())
            sys.stdout.flush()
        if lacking:  # for the next prompts; this one does not wait
            from memdir.surfaces.hooks.background import start_worker

            start_worker(lacking[0].folder, lacking[0].root)
    except Exception as error:  # the one broad net: a memory is never worth a broken session
        sys.stderr.write(f"memdir: {type(error).__name__}: {error}\n")
    return 0

"""The standing rules as text, left behind in the cache as long as no memory changes. Hot path."""

import os
from binascii import crc32
from time import time_ns

from memdir.adapters.acceptance import facts_of
from memdir.adapters.layouts.markdown import Markdown
from memdir.adapters.searches import _freshness
from memdir.core.errors import MemdirError
from memdir.core.store_key import store_key
from memdir.surfaces.hooks.told import state_folder, view_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.adapters.wrappers.acceptance import AcceptanceView
    from memdir.surfaces.hooks.place import Here

FOLDER = "standing"
MARK = "memdir standing 2"
MOST_BYTES = 64 * 1024
LARGE, CLOSED = "large", "closed"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def standing_text(here: "Here") -> tuple[str, str]:
    """The rules of every scope, and what waits for the user; read only where something changed."""
    stores = [(scope, Markdown(root, here.most_bytes)) for scope, root in here.stores()]
    key = store_key("\n".join(f"{scope} {os.path.realpath(one.root)}" for scope, one in stores))
    path = os.path.join(here.cache, FOLDER, key)
    kept, text, notice = _read(path)
    if kept and kept == [_state(one, here, LARGE in was) for was, (_, one) in _pairs(kept, stores)]:
        return text, notice
    from memdir.steps.remind import remind

    states = [_state(store, here, False) for _, store in stores]
    opened = [
        (scope, store, view_of(scope, store, here))
        for (scope, store), state in zip(stores, states, strict=True)
        if not state.startswith(CLOSED)
    ]
    text = remind([(scope, view or store) for scope, store, view in opened])[0]
    notice = _notice([view for _, _, view in opened if view])
    _write(path, states, text, notice)
    return text, notice


def _notice(views: "list[AcceptanceView]") -> str:
    """One line for the user about what nobody has accepted."""
    said = []
    for view in views:
        if count := len(view.waiting()):
            what = "memory" if count == 1 else "memories"
            said.append(f"{count} {what} of {view.acceptance.origin}")
    wait = "waits" if len(said) == 1 and said[0].startswith("1 ") else "wait"
    rest = f"{wait} for the user's yes; no agent is told before. To look: memdir review"
    return f"memdir: {' and '.join(said)} {rest}" if said else ""


def _pairs(
    kept: list[str], stores: list[tuple[str, Markdown]]
) -> "list[tuple[str, tuple[str, Markdown]]]":
    return list(zip(kept, stores, strict=False))


def _state(store: Markdown, here: "Here", large: bool) -> str:
    """What changes when a memory does; of a large store only its folders are looked at."""
    return f"{_files(store, large)} {facts_of(state_folder(store, here))}"


def _files(store: Markdown, large: bool) -> str:
    try:
        if not large:
            state = _freshness.look(store)
            if len(state.facts) <= _freshness.SMALL:
                young = any(map(_freshness.is_unsure, state.facts.values()))
                return f"{state.files} {time_ns() if young else ''}"
        folders = sorted(_freshness._folders(store.root, time_ns()).items())
        return f"{LARGE} {crc32(repr(folders).encode('utf-8', 'replace')):08x}"
    except MemdirError as error:
        return f"{CLOSED} {error.code}"  # it hides no other


def _read(path: str) -> tuple[list[str], str, str]:
    """The states of the stores and both texts; nothing where these are not our bytes."""
    try:
        handle = os.open(path, _READ)
        try:
            data = os.read(handle, MOST_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return [], "", ""
    head, _, rest = data.partition(b"\n")
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return [], "", ""
    states, text, notice = rest.decode("utf-8", "surrogateescape").split("\0")
    return states.split("\n"), text, notice


def _write(path: str, states: list[str], text: str, notice: str) -> None:
    data = "\0".join(["\n".join(states), text, notice]).encode("utf-8", "replace")
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(part, _WRITE, 0o600), "wb") as file:
            file.write(f"{MARK} {crc32(data):08x}\n".encode() + data)
        os.replace(part, path)
    except OSError:
        return  # then the memories are read each time

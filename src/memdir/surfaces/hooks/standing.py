"""The standing rules as text, left behind in the cache as long as no memory changes. Hot path."""

import os
from binascii import crc32
from time import time_ns

from memdir.adapters.layouts.markdown import Markdown
from memdir.adapters.searches import _freshness
from memdir.core.errors import MemdirError
from memdir.core.store_key import store_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.place import Here

FOLDER = "standing"
MARK = "memdir standing 1"
MOST_BYTES = 64 * 1024
LARGE, CLOSED = "large", "closed"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def standing_text(here: "Here") -> str:
    """The rules of every scope; read from the memories only where one has changed."""
    stores = [(scope, Markdown(root, here.most_bytes)) for scope, root in here.stores()]
    key = store_key("\n".join(f"{scope} {os.path.realpath(one.root)}" for scope, one in stores))
    path = os.path.join(here.cache, FOLDER, key)
    kept, text = _read(path)
    if kept and kept == [_state(one, LARGE in was) for was, (_, one) in _pairs(kept, stores)]:
        return text
    from memdir.steps.remind import remind

    states = [_state(store, False) for _, store in stores]
    opened = [
        one for one, state in zip(stores, states, strict=True) if not state.startswith(CLOSED)
    ]
    text = remind(opened)[0]
    _write(path, states, text)
    return text


def _pairs(
    kept: list[str], stores: list[tuple[str, Markdown]]
) -> "list[tuple[str, tuple[str, Markdown]]]":
    return list(zip(kept, stores, strict=False))


def _state(store: Markdown, large: bool) -> str:
    """What changes when a memory does; of a large store only its folders are looked at."""
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


def _read(path: str) -> tuple[list[str], str]:
    """The states of the stores and the text; nothing where these are not our bytes."""
    try:
        handle = os.open(path, _READ)
        try:
            data = os.read(handle, MOST_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return [], ""
    head, _, rest = data.partition(b"\n")
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return [], ""
    states, _, text = rest.decode("utf-8", "surrogateescape").partition("\0")
    return states.split("\n"), text


def _write(path: str, states: list[str], text: str) -> None:
    data = "\0".join(["\n".join(states), text]).encode("utf-8", "replace")
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(part, _WRITE, 0o600), "wb") as file:
            file.write(f"{MARK} {crc32(data):08x}\n".encode() + data)
        os.replace(part, path)
    except OSError:
        return  # then the memories are read each time

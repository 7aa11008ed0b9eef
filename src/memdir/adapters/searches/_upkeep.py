"""Who may write a catalog, when, and with what: one process at a time, without waiting."""

import fcntl
import os

from memdir.adapters.searches import _entries, _freshness, _writing
from memdir.adapters.searches._catalog import open_catalog, seconds
from memdir.adapters.searches._scanning import Scan, Uncollected
from memdir.core.errors import MemdirError, Missing
from memdir.core.finding import Finding
from memdir.core.memory import Memory, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.ports import Store

LOCK = "catalog.lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Busy(Exception):
    """Another process is writing the catalog."""


class Guard:
    """The right to write a catalog, held while the block runs."""

    def __init__(self, path: str) -> None:
        folder = os.path.dirname(path)
        _make(folder)
        self.handle = os.open(os.path.join(folder, LOCK), _FLAGS, 0o600)

    def __enter__(self) -> None:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.handle)
            raise Busy("another process is writing it") from None

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)


def make(store: "Store", path: str, scan: Scan) -> None:
    """A new catalog from what a scan reads now: an earlier look would take back an update."""
    with Guard(path), Uncollected():
        state = _freshness.look(store)
        scan.read()
        _writing.write_new(path, scan, state)


def update(store: "Store", path: str, findings: list[Finding]) -> None:
    """Read again what changed since the catalog was written, and nothing else."""
    with Guard(path):
        state = _freshness.look(store)
        catalog = open_catalog(path)
        try:
            known = catalog.known()
            lines = catalog.lines() if catalog.fact("index") != state.index else None
        finally:
            catalog.close()
        new = {
            path
            for path, facts in state.facts.items()
            if _freshness.is_unsure(facts) or facts != known.get(path)
        }
        said = _entries.lines_of(_index(store, findings))
        if lines is not None:
            new |= {path for path in state.facts if said.get(stem(path), "") != lines.get(path, "")}
        changed: dict[str, tuple[Memory, bytes, str]] = {}
        gone = set(known) - set(state.facts)
        for one in sorted(new):
            try:
                data = store.view(one)
            except Missing:
                gone.add(one)  # since we looked, or it is put away
                continue
            except MemdirError as error:
                findings.append(Finding(error.code, one, error.message, error.next))
                gone.add(one)
                continue
            memory = _entries.read_whole(one, data, seconds(state.facts[one][0]))
            changed[one] = memory, data, said.get(stem(one), "")
        _writing.update(path, state, gone, changed)


def _index(store: "Store", findings: list[Finding]) -> bytes | None:
    try:
        return store.index()
    except MemdirError as error:
        findings.append(Finding(error.code, error.path, error.message, error.next))
        return None


def _make(folder: str) -> None:
    """The folder and those above it, private."""
    if not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above != folder:
            _make(above)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise

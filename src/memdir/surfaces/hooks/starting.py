"""How a hook gets its modules: forty small ones cost as much as half an interpreter.

So a run leaves their byte code in one file, and the next ones take it from there. The bundle is
derived: where it is missing, damaged, of another Python or older than a module, the modules are
imported as ever. It lies beside the code, where Python keeps its own: a cache directory is named by
variables, and a repository may set those. Hot path.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType

HERE = os.path.dirname(os.path.realpath(__file__))  # a plugin holds a link to it
ROOT = os.path.abspath(f"{HERE}/../../..")
TAG = sys.implementation.cache_tag
MAGIC = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
SUM_BYTES = 4
# A run that wrote a catalog, decided on a place, read rules or a conversation has more than is
# needed.
RARE = (
    *("memdir.adapters.searches._upkeep", "memdir.config", "memdir.steps.remind"),
    "memdir.surfaces.hooks.stopping",
)
OWN_ONLY = 0o022  # nobody else may write what we run
WRITE = os.W_OK | os.X_OK  # a file that stands in the way of the folder has not both
# The module that answers an event.
EVENTS = {
    "prompt": "prompt",
    "session-start": "opening",
    "subagent-start": "agent",
    "stop": "ending",
    "pre-compact": "ending",
    "session-end": "ending",
    "pre-tool": "guard",
}
END = "session-end"
END_SECONDS = 0.4  # after one second the client ends the hook, and tells the user


class Bundle:
    """The modules of one file that was read at once, in the order in which they were ready."""

    def __init__(self, modules: "dict[str, tuple[str, bool, CodeType]]") -> None:
        self.modules = modules

    def runs(self) -> bool:
        """False where it does not, and then nothing of it is left."""
        try:
            self._run()
        except Exception:  # by its looks it was ours; the modules themselves will do
            for name in self.modules:
                sys.modules.pop(name, None)
            return False
        return True

    def _run(self) -> None:
        """Make all of them, each after those it needs: so no import has to look for one."""
        new_spec, new_module = type(sys.__spec__), type(sys)  # to import them would cost more
        for name, (file, is_package, code) in self.modules.items():
            if name in sys.modules:
                continue  # one before it asked for it, and got it from its file
            spec: ModuleSpec = new_spec(name, None, origin=file, is_package=is_package)
            spec.has_location = True
            package, _, last = name.rpartition(".")
            module = sys.modules[name] = new_module(name)
            names = module.__dict__
            names["__spec__"], names["__file__"] = spec, file
            names["__package__"] = name if is_package else package
            if is_package:
                names["__path__"] = spec.submodule_search_locations = [os.path.dirname(file)]
            exec(code, names)
            if package:
                setattr(sys.modules[package], last, module)


def read(path: str) -> Bundle | None:
    """The bundle at that path, if it is ours, of this Python, and no module changed since."""
    try:
        with open(path, "rb", 0) as file:
            facts = os.fstat(file.fileno())
            # Ours, or of whoever owns the code.
            if facts.st_mode & OWN_ONLY or facts.st_uid not in (os.geteuid(), _owner()):
                return None
            data = file.readall()
        from binascii import crc32
        from marshal import loads

        code = memoryview(data)[SUM_BYTES:]
        if crc32(code) != int.from_bytes(data[:SUM_BYTES]):
            return None  # damaged byte code could do anything
        magic, root, modules = loads(code)
        if magic != MAGIC or root != ROOT:
            return None
        for name, (file_name, _, _, mtime, size) in modules.items():
            now = os.stat(file_name)
            if (now.st_mtime_ns, now.st_size) != (mtime, size) or name[:6] != "memdir":
                return None
    except (OSError, ValueError, TypeError, EOFError):
        return None
    return Bundle({name: one[:3] for name, one in modules.items()})


def _owner() -> int:
    return os.stat(HERE).st_uid


class Start:
    """One start of a hook: where its bundle lies, and whether it had one."""

    def __init__(self, module: str) -> None:
        self.name = f"{module}.{TAG}.bin"
        self.path = f"{HERE}/__pycache__/{self.name}"
        self.bundled = self._load()

    def settle(self, cache: str) -> None:
        """Where the code is not ours to write beside, the cache of a place we trust must do."""
        folder = os.path.dirname(self.path)
        if not self.bundled and not os.access(folder if os.path.lexists(folder) else HERE, WRITE):
            self.path = f"{cache}/{self.name}"
            self.bundled = self._load()

    def _load(self) -> bool:
        bundle = read(self.path)
        return bundle is not None and bundle.runs()

    def end(self) -> None:
        """Leave a bundle behind, where there was none and the run was a usual one."""
        if not self.bundled and not any(name in sys.modules for name in RARE):
            from memdir.surfaces.hooks import bundling

            bundling.write(self.path, ROOT, MAGIC)


def _leave_in_time() -> None:
    """Where the end of a session takes long, let the client go and do the rest without it."""
    # The module around it costs a millisecond.
    import _signal  # type: ignore[import-not-found, unused-ignore]

    def leave(*_: object) -> None:
        if os.fork():
            os._exit(0)
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)  # the client waits for what we could still say
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)

    _signal.signal(_signal.SIGALRM, leave)
    _signal.setitimer(_signal.ITIMER_REAL, END_SECONDS)


def main(arguments: list[str]) -> None:
    """Answer first; a bundle for the next time only afterwards."""
    module = EVENTS.get(arguments[0], "") if arguments else ""
    if not module:
        return
    if arguments[0] == END:
        _leave_in_time()
    start = Start(module)
    from memdir.surfaces.hooks.run import run

    run(arguments[0], module, arguments[1:], start.settle)
    if f"memdir.surfaces.hooks.{module}" in sys.modules:  # else the run ended early
        start.end()

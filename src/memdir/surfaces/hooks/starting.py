"""How a hook gets its modules: forty small ones cost as much as half an interpreter.

So a run leaves their byte code in one file of the cache directory, and the next ones take it from
there. The bundle is derived: where it is missing, damaged, of another Python or older than a
module, the modules are imported as ever. Hot path.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType

NAME = f"hooks-{sys.implementation.cache_tag}.bin"
ROOT = os.path.abspath(__file__ + "/../../../..")
MAGIC = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
SUM_BYTES = 4
RARE = "memdir.adapters.searches._upkeep"  # a run that wrote a catalog has more than is needed
OWN_ONLY = 0o022  # nobody else may write what we run


class Bundle:
    """The modules of one file that was read at once, in the order in which they were ready."""

    def __init__(self, modules: "dict[str, tuple[str, bool, CodeType]]") -> None:
        self.modules = modules

    def run(self) -> None:
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
            if facts.st_uid != os.geteuid() or facts.st_mode & OWN_ONLY:
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


def main(arguments: list[str]) -> int:
    """Answer first; a bundle for the next time only afterwards."""
    event, cache = (*arguments, "", "", "")[0], (*arguments, "", "", "")[2]
    path = os.path.join(cache, NAME)
    bundle = read(path) if cache else None
    if bundle is not None:
        bundle.run()
    if event != "prompt":
        sys.stderr.write(f"memdir: there is no hook {event!r}\n")
        return 0
    from memdir.surfaces.hooks import prompt

    code = prompt.main(arguments[1:])
    if bundle is None and cache and RARE not in sys.modules:
        from memdir.surfaces.hooks import bundling

        bundling.write(path, ROOT, MAGIC)
    return code

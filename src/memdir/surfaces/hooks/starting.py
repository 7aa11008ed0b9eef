"""How a hook gets its modules: forty small ones cost as much as half an interpreter.

So a run leaves their byte code in one file of the cache directory, and the next ones take it from
there. The bundle is derived: where it is missing, damaged, of another Python or older than a
module, the modules are imported as ever. Hot path.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

NAME = f"hooks-{sys.implementation.cache_tag}.bin"
ROOT = os.path.abspath(__file__ + "/../../../..")
MAGIC = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
SUM_BYTES = 4
RARE = "memdir.adapters.searches._upkeep"  # a run that wrote a catalog has more than is needed
OWN_ONLY = 0o022  # nobody else may write what we run


class Bundle:
    """Finds modules in one file that was read at once."""

    def __init__(self, modules: "dict[str, tuple[str, bool, CodeType]]") -> None:
        self.modules = modules

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """What Python asks before it looks at the disk."""
        found = self.modules.get(name)
        if found is None:
            return None
        file, is_package, _ = found
        made = type(sys.__spec__)  # importing it would cost more than it saves
        spec: ModuleSpec = made(name, self, origin=file, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def create_module(self, spec: "ModuleSpec") -> None:
        """Python's own will do."""

    def exec_module(self, module: "ModuleType") -> None:
        """Run the byte code as Python would."""
        names = vars(module)
        exec(self.modules[names["__name__"]][2], names)


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

        if crc32(data[SUM_BYTES:]) != int.from_bytes(data[:SUM_BYTES]):
            return None  # damaged byte code could do anything
        magic, root, modules = loads(data[SUM_BYTES:])
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
        sys.meta_path.insert(0, bundle)
    if event != "prompt":
        sys.stderr.write(f"memdir: there is no hook {event!r}\n")
        return 0
    from memdir.surfaces.hooks import prompt

    code = prompt.main(arguments[1:])
    if bundle is None and cache and RARE not in sys.modules:
        from memdir.surfaces.hooks import bundling

        bundling.write(path, ROOT, MAGIC)
    return code

"""memdir: a memory for coding agents that its users can trust.

core/       what a memory is: pure values and rules
steps/      what happens to it: one verb per file
adapters/   what can be swapped: layouts, searches, models, history, wrappers
config      files and environment in, one frozen Config out
registry    finds family members without importing them
app         the only wiring
flows       the sequences: read this to know what the system does
doctor      the check-up: look, mend, and prove in a throw-away store
evaluation  how good recall is, on your store and on test sets
surfaces/   ways in: the command line, hooks, the MCP server, the library
tools       for models that call them: the Anthropic memory tool
"""

__version__ = "0.1.0"
__all__ = ["Memdir", "MemdirError", "__version__"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.errors import MemdirError
    from memdir.library import Memdir


def __getattr__(name: str) -> object:
    if name == "Memdir":  # not before somebody asks: the hot path imports this package too
        from memdir.library import Memdir

        return Memdir
    if name == "MemdirError":
        from memdir.errors import MemdirError

        return MemdirError
    raise AttributeError(f"module 'memdir' has no attribute {name!r}")

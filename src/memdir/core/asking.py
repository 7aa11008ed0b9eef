"""Which prompts ask for no memory, and which memories would be noise. Hot path."""

from memdir.core.memory import TYPE_KEYS
from memdir.core.words import is_unspaced, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.memory import Memory

# As a person says it: a verb, perhaps some words between, then the word itself.
_VERBS = (
    *("ignore", "ignoring", "disregard", "disregarding", "skip", "without", "forget about"),
    *("without using", "dont use", "do not use", "dont consult", "do not consult", "dont read"),
    *("do not read", "dont recall", "do not recall", "dont rely on", "do not rely on", "never use"),
    *("dont look at", "do not look at", "dont check", "do not check", "not using"),
)
_NO = ("dont", "not", "never")  # "do not ignore memory"
_BETWEEN = frozenset(
    (
        *("the", "your", "my", "any", "all", "its", "our", "of", "these", "those", "what", "from"),
        *("saved", "stored", "project", "previous", "past", "old", "earlier"),
    )
)
_MOST_BETWEEN = 4  # words between the verb and the word
_MEMORY = ("memory", "memories")
# What makes it the computer's memory, or a thing with that name: "ignore memory leaks for now".
_THINGS = frozenset(
    (
        *("access", "accesses", "address", "addresses", "alignment", "allocation", "allocations"),
        *("argument", "bank", "barrier", "barriers", "budget", "check", "checks", "column"),
        *("configuration", "constraint", "constraints", "consumption", "corruption", "error"),
        *("errors", "field", "flag", "flags", "footprint", "fragmentation", "growth", "issues"),
        *("layout", "leak", "leaks", "limit", "limits", "management", "mapped", "mapping"),
        *("metrics", "mode", "option", "options", "ordering", "overhead", "parameter", "pool"),
        *("pressure", "profiler", "profiling", "protection", "regression", "requirements"),
        *("reservation", "safety", "setting", "settings", "spike", "spikes", "swap", "switch"),
        *("test", "tests", "toggle", "usage", "use", "warning", "warnings"),
    )
)
_LOOK = 2000  # characters of a prompt in which such a wish may stand
WARNINGS = frozenset(
    (
        *("avoid", "beware", "broken", "bug", "careful", "caveat", "crash", "crashes", "dont"),
        *("fail", "fails", "gotcha", "hang", "hangs", "never", "not", "pitfall", "trap", "warning"),
        *("workaround", "wrong"),
    )
)
USAGE = "reference"


def wants_nothing(prompt: str) -> str:
    """Why a prompt gets no memory, or nothing: a command, a single word, a wish for none."""
    bare = prompt.strip()
    if bare[:1] == "/" and bare[1:2].isalpha() and "/" not in bare.split(None, 1)[0][1:]:
        return "it is a slash command"
    words = split(bare[:_LOOK])
    if not words:
        return "it has no words"
    if len(words) == 1 and not any(map(is_unspaced, words[0])):
        return "it is a single word"
    said = [word.lower() for word in words]
    if any(_is_waived(said, at) for at, word in enumerate(said) if word in _MEMORY):
        return "it asks to ignore memory"
    return ""


def _is_waived(said: list[str], at: int) -> bool:
    """True where the words before the one at that place ask to do without it."""
    if said[at + 1 : at + 2] and said[at + 1] in _THINGS:
        return False
    first = at
    while first and at - first < _MOST_BETWEEN and said[first - 1] in _BETWEEN:
        first -= 1
    before = " " + " ".join(said[max(0, first - 4) : first])
    if before.endswith(tuple(f" {no} {verb}" for no in _NO for verb in _VERBS)):
        return False
    return before.endswith(tuple(f" {verb}" for verb in _VERBS))


def is_noise(memory: "Memory", tools: "tuple[str, ...]") -> bool:
    """True for a usage reference of a tool that is in use already; its warnings are no noise."""
    if not tools or memory.get(TYPE_KEYS).strip().lower() != USAGE:
        return False
    words = {word.lower() for word in split(f"{memory.name} {memory.description}")}
    return not words & WARNINGS and any(tool.lower() in words for tool in tools)

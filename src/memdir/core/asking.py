"""Which prompts ask for no memory. Hot path."""

from memdir.core.words import is_unspaced, split

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

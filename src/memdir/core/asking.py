"""Which prompts ask for no memory, and which memories would be noise. Hot path."""

from memdir.core.memory import TYPE_KEYS
from memdir.core.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.memory import Memory

# As a person says it: the verb before, the word after, nothing but an article between.
_VERBS = ("ignore", "disregard", "skip", "without", "forget about", "dont use", "do not use")
_ARTICLES = ("", "the ", "your ", "my ", "any ", "all ", "its ")
_MEMORY = ("memory", "memories")
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
    if len(words) == 1 and words[0].isascii():
        return "it is a single word"
    said = " " + " ".join(words).lower() + " "
    for verb in _VERBS:
        for article in _ARTICLES:
            if any(f" {verb} {article}{memory} " in said for memory in _MEMORY):
                return "it asks to ignore memory"
    return ""


def is_noise(memory: "Memory", tools: "tuple[str, ...]") -> bool:
    """True for a usage reference of a tool that is in use already; its warnings are no noise."""
    if not tools or memory.get(TYPE_KEYS).strip().lower() != USAGE:
        return False
    words = {word.lower() for word in split(f"{memory.name} {memory.description}")}
    return not words & WARNINGS and any(tool.lower() in words for tool in tools)

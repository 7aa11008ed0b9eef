"""Standing rules: what holds whatever the prompt is, one line each, told when a session starts."""

from memdir.core import frontmatter
from memdir.core.inert import inert_line, visible
from memdir.core.injection import LOOK, first_lines, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memdir.core.memory import Memory

TYPES = ("feedback", "user", "value")  # what holds whatever the task is
RULE_CHARACTERS = 160
RULES_CHARACTERS = 2000
_TITLE_WORDS = 4  # fewer say what it is about, not what to do
_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")
_RULES = "Standing rules from memory, as the user gave them before; what they say now counts more:"
_OTHERS = "Rules that others wrote and the user accepted; the user's own count more:"
_SHORTEST = 20  # characters of a sentence; "e.g. " ends none


def rule(memory: "Memory", text: str) -> str:
    """The sentence that says what to do: the description, else how the text begins."""
    about = inert_line(memory.description)
    if _is_title(about, memory):
        about = inert_line(_first_sentence(frontmatter.read(text).body)) or about
    return shorten(about or inert_line(memory.name), RULE_CHARACTERS)


def standing(rules: list[str], budget: int = RULES_CHARACTERS, others: "Sequence[str]" = ()) -> str:
    """The rules that fit, whole, in their order, and how many there are beyond them.

    Those of `others` come after the user's own and under words of their own.
    """
    parts = [(_RULES, rules), (_OTHERS, others)]
    lines = []
    for heading, given in parts:
        said = [f"- {' '.join(each.split())}" for each in given if each.strip()]
        lines += [heading, *said] if said else []
    kept, more = first_lines(lines, budget + 1), ""
    if len(kept) < len(lines):
        kept = first_lines(kept, budget - len(f"- (and {len(lines)} more)"))
        kept = kept[:-1] if kept and kept[-1] == _OTHERS else kept
        left = sum(line not in (_RULES, _OTHERS) for line in lines[len(kept) :])
        more = f"\n- (and {left} more)"
    return "\n".join(kept) + more if len(kept) > 1 else ""


def _is_title(about: str, memory: "Memory") -> bool:
    """Does it only name the matter? In a script without spaces the length must tell."""
    if len(about) < 2 * _TITLE_WORDS or (about.isascii() and len(about.split()) < _TITLE_WORDS):
        return True
    keys = [
        "".join(filter(str.isalnum, name.lower())) for name in (about, memory.name, memory.path)
    ]
    return keys[0] == keys[1] or keys[0] + "md" == keys[2]


def _first_sentence(text: str) -> str:
    """The first sentence that is no heading, code, table or comment."""
    for line in visible(text[:LOOK]).split("\n"):
        bare = line.strip().replace("**", "")
        bare = bare[2:].lstrip() if bare[:2] in ("- ", "* ", "> ") else bare
        if bare and not bare.startswith(("#", "```", "~~~", "<!--", "---", "|")):
            ends = [bare.find(end, _SHORTEST) + 1 for end in _SENTENCE_ENDS]
            return bare[: min(filter(None, ends), default=len(bare))]
    return ""

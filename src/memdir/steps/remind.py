"""remind: the rules that hold whatever the prompt is, from every store. Hot path."""

from memdir.core.errors import MemdirError
from memdir.core.memory import TYPE_KEYS
from memdir.core.standing_rules import RULES_CHARACTERS, TYPES, rule, standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memdir.core.memory import Memory
    from memdir.core.ports import Store


def remind(stores: "Sequence[tuple[str, Store]]") -> "tuple[str, list[tuple[str, Memory]]]":
    """Their text, and the memories it comes from with their scopes; best first."""
    found = [
        (scope, store, memory)
        for scope, store in stores
        for memory in store.scan().memories
        if _kind(memory) in TYPES
    ]
    found.sort(key=lambda one: (_source(one[1]) is not None, _order(one[2])))
    rules: list[str] = []
    room, own = RULES_CHARACTERS, 0
    for _, store, memory in found:
        # Beyond the room a rule only counts: nobody has to read its text.
        said = rule(memory, _text(store, memory)) if room > 0 else memory.name
        if source := _source(store):
            said += f" ({source(memory.path)})"
        else:
            own += 1
        rules.append(said)
        room -= len(said)
    text = standing(rules[:own], others=rules[own:])
    lines = frozenset(text.split("\n"))
    shown = [
        (scope, memory)
        for (scope, _, memory), said in zip(found, rules, strict=True)
        if f"- {said}" in lines
    ]
    return text, shown


def _source(store: "Store") -> "Callable[[str], str] | None":
    """Says who else wrote a memory of a store that others write."""
    source: Callable[[str], str] | None = getattr(store, "source", None)
    return source


def _order(memory: "Memory") -> tuple[bool, bool, float, str]:
    """Pinned ones first, then what is about the user, then the newest."""
    return not memory.pinned, _kind(memory) != "user", -memory.clock, memory.path


def _kind(memory: "Memory") -> str:
    """The type as it is written: whether it is known would take eleven modules to say."""
    return memory.get(TYPE_KEYS).strip().lower()


def _text(store: "Store", memory: "Memory") -> str:
    try:
        return store.view(memory.path).decode("utf-8", "replace")
    except MemdirError:
        return ""

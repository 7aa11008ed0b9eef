"""Standing rules and their cache."""

import os
from binascii import crc32
from time import time_ns

from memdir.errors import MemdirError
from memdir.hot import catalog
from memdir.hot import memory as memory_module
from memdir.hot.acceptance import facts_of, state_folder, view_of
from memdir.hot.inject import LOOK, first_lines, shorten
from memdir.hot.layout import Markdown
from memdir.hot.memory import TYPE_KEYS
from memdir.hot.place import store_key
from memdir.hot.safe import inert_line, make_visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memdir.hot.memory import Memory
    from memdir.hot.place import Here
    from memdir.store.accepted import AcceptanceView
    from memdir.store.ports import Store


# Standing rules: what holds whatever the prompt is, one line each, told when a session starts.

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
        about = inert_line(_first_sentence(memory_module.read(text).body)) or about
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
    for line in make_visible(text[:LOOK]).split("\n"):
        bare = line.strip().replace("**", "")
        bare = bare[2:].lstrip() if bare[:2] in ("- ", "* ", "> ") else bare
        if bare and not bare.startswith(("#", "```", "~~~", "<!--", "---", "|")):
            ends = [bare.find(end, _SHORTEST) + 1 for end in _SENTENCE_ENDS]
            return bare[: min(filter(None, ends), default=len(bare))]
    return ""


# remind: the rules that hold whatever the prompt is, from every store. Hot path.


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


# The standing rules as text, left behind in the cache as long as no memory changes. Hot path.

FOLDER = "standing"
MARK = "memdir standing 2"
MOST_BYTES = 64 * 1024
LARGE, CLOSED = "large", "closed"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def standing_text(here: "Here") -> tuple[str, str]:
    """The rules of every scope, and what waits for the user; read only where something changed."""
    stores = [(scope, Markdown(root, here.most_bytes)) for scope, root in here.stores()]
    key = store_key("\n".join(f"{scope} {os.path.realpath(one.root)}" for scope, one in stores))
    path = os.path.join(here.cache, FOLDER, key)
    kept, text, notice = _read(path)
    if kept and kept == [_state(one, here, LARGE in was) for was, (_, one) in _pairs(kept, stores)]:
        return text, notice
    # MOVED

    states = [_state(store, here, False) for _, store in stores]
    opened = [
        (scope, store, view_of(scope, store, here))
        for (scope, store), state in zip(stores, states, strict=True)
        if not state.startswith(CLOSED)
    ]
    text = remind([(scope, view or store) for scope, store, view in opened])[0]
    notice = _notice([view for _, _, view in opened if view])
    _write(path, states, text, notice)
    return text, notice


def _notice(views: "list[AcceptanceView]") -> str:
    """One line for the user about what nobody has accepted."""
    said = []
    for view in views:
        if count := len(view.waiting()):
            what = "memory" if count == 1 else "memories"
            said.append(f"{count} {what} of {view.acceptance.origin}")
    wait = "waits" if len(said) == 1 and said[0].startswith("1 ") else "wait"
    rest = f"{wait} for the user's yes; no agent is told before. To look: memdir review"
    return f"memdir: {' and '.join(said)} {rest}" if said else ""


def _pairs(
    kept: list[str], stores: list[tuple[str, Markdown]]
) -> "list[tuple[str, tuple[str, Markdown]]]":
    return list(zip(kept, stores, strict=False))


def _state(store: Markdown, here: "Here", large: bool) -> str:
    """What changes when a memory does; of a large store only its folders are looked at."""
    return f"{_files(store, large)} {facts_of(state_folder(store, here))}"


def _files(store: Markdown, large: bool) -> str:
    try:
        if not large:
            state = catalog.look(store)
            if len(state.facts) <= catalog.SMALL:
                young = any(map(catalog.is_unsure, state.facts.values()))
                return f"{state.files} {time_ns() if young else ''}"
        folders = sorted(catalog._folders(store.root, time_ns()).items())
        return f"{LARGE} {crc32(repr(folders).encode('utf-8', 'replace')):08x}"
    except MemdirError as error:
        return f"{CLOSED} {error.code}"  # it hides no other


def _read(path: str) -> tuple[list[str], str, str]:
    """The states of the stores and both texts; nothing where these are not our bytes."""
    try:
        handle = os.open(path, _READ)
        try:
            data = os.read(handle, MOST_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return [], "", ""
    head, _, rest = data.partition(b"\n")
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return [], "", ""
    states, text, notice = rest.decode("utf-8", "surrogateescape").split("\0")
    return states.split("\n"), text, notice


def _write(path: str, states: list[str], text: str, notice: str) -> None:
    data = "\0".join(["\n".join(states), text, notice]).encode("utf-8", "replace")
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(part, _WRITE, 0o600), "wb") as file:
            file.write(f"{MARK} {crc32(data):08x}\n".encode() + data)
        os.replace(part, path)
    except OSError:
        return  # then the memories are read each time

"""Standing rules: they apply to every prompt, a line each, told when a session starts.

Their text is cached until a memory changes.
"""

import os
from time import time_ns

from memdir.errors import MemdirError
from memdir.hot import catalog, disk
from memdir.hot import memory as memory_module
from memdir.hot.acceptance import acceptance_facts, acceptance_folder, view_without_waiting
from memdir.hot.inject import LOOK, lines_that_fit, shorten_injected
from memdir.hot.layout import Markdown
from memdir.hot.place import store_key
from memdir.hot.safe import inert_line, make_visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memdir.hot.memory import Memory
    from memdir.hot.place import Here
    from memdir.store.accepted import AcceptanceView
    from memdir.store.ports import Store

TYPES = ("feedback", "user", "value")
RULE_CHARACTERS = 160
RULES_CHARACTERS = 2000
_TITLE_WORDS = 4  # fewer words name a topic, not a rule
_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")
_SENTENCE_CHARACTERS = 20  # "e.g. " does not end a sentence
_RULES = "Standing rules from memory, as the user gave them before; what they say now counts more:"
_OTHERS = "Rules that others wrote and the user accepted; the user's own count more:"
FOLDER = "standing"
MARK = "memdir standing 3"
MAX_BYTES = 64 * 1024
LARGE, CLOSED = "large", "closed"


def standing_rule_sentence(memory: "Memory", text: str) -> str:
    about = inert_line(memory.description)
    if _is_title(about, memory):
        about = inert_line(_first_sentence(memory_module.read_header(text).body)) or about
    return shorten_injected(about or inert_line(memory.name), RULE_CHARACTERS)


def render_standing_rules(
    rules: list[str], budget: int = RULES_CHARACTERS, others: "Sequence[str]" = ()
) -> str:
    lines = []
    for heading, given in ((_RULES, rules), (_OTHERS, others)):
        items = [f"- {' '.join(each.split())}" for each in given if each.strip()]
        lines += [heading, *items] if items else []
    kept, more = lines_that_fit(lines, budget + 1), ""
    if len(kept) < len(lines):
        kept = lines_that_fit(kept, budget - len(f"- (and {len(lines)} more)"))
        kept = kept[:-1] if kept and kept[-1] == _OTHERS else kept
        left = sum(line not in (_RULES, _OTHERS) for line in lines[len(kept) :])
        more = f"\n- (and {left} more)"
    return "\n".join(kept) + more if len(kept) > 1 else ""


def _is_title(about: str, memory: "Memory") -> bool:
    if len(about) < 2 * _TITLE_WORDS or (about.isascii() and len(about.split()) < _TITLE_WORDS):
        return True
    keys = [
        "".join(filter(str.isalnum, name.lower())) for name in (about, memory.name, memory.path)
    ]
    return keys[0] == keys[1] or keys[0] + "md" == keys[2]


def _first_sentence(text: str) -> str:
    for line in make_visible(text[:LOOK]).split("\n"):
        bare = line.strip().replace("**", "")
        bare = bare[2:].lstrip() if bare[:2] in ("- ", "* ", "> ") else bare
        if bare and not bare.startswith(("#", "```", "~~~", "<!--", "---", "|")):
            ends = [bare.find(end, _SENTENCE_CHARACTERS) + 1 for end in _SENTENCE_ENDS]
            return bare[: min(filter(None, ends), default=len(bare))]
    return ""


def collect_standing_rules(
    stores: "Sequence[tuple[str, Store]]",
) -> "tuple[str, list[tuple[str, Memory]]]":
    memories = [
        (scope, store, memory)
        for scope, store in stores
        for memory in store.scan().memories
        if memory.kind in TYPES
    ]
    memories.sort(key=lambda item: (hasattr(item[1], "source"), _order(item[2])))
    rules: list[str] = []
    room, own = RULES_CHARACTERS, 0
    for _, store, memory in memories:
        # Rules that cannot fit are only counted, so their text is not read.
        text = standing_rule_sentence(memory, _read(store, memory)) if room > 0 else memory.name
        if source := getattr(store, "source", None):  # the author, if it is not the user
            text += f" ({source(memory.path)})"
        else:
            own += 1
        rules.append(text)
        room -= len(text)
    text = render_standing_rules(rules[:own], others=rules[own:])
    lines = frozenset(text.split("\n"))
    shown = [
        (scope, memory)
        for (scope, _, memory), line in zip(memories, rules, strict=True)
        if f"- {line}" in lines
    ]
    return text, shown


def _order(memory: "Memory") -> tuple[bool, bool, float, str]:
    return not memory.pinned, memory.kind != "user", -memory.clock, memory.path


def _read(store: "Store", memory: "Memory") -> str:
    try:
        return store.view(memory.path).decode("utf-8", "replace")
    except MemdirError:
        return ""


def standing_rules_for_hook(here: "Here") -> tuple[str, str]:
    stores = [(scope, Markdown(root, here.max_file_bytes)) for scope, root in here.stores()]
    key = store_key("\n".join(f"{scope} {os.path.realpath(store.root)}" for scope, store in stores))
    path = os.path.join(here.cache, FOLDER, key)
    if data := disk.read_sealed_file(path, MARK, MAX_BYTES):
        states, text, notice = data.decode("utf-8", "surrogateescape").split("\0")
        pairs = zip(states.split("\n"), stores, strict=False)
        if states.split("\n") == [_state(store, here, LARGE in old) for old, (_, store) in pairs]:
            return text, notice
    current = [_state(store, here, False) for _, store in stores]
    opened = [
        (scope, store, view_without_waiting(scope, store, here))
        for (scope, store), state in zip(stores, current, strict=True)
        if not state.startswith(CLOSED)
    ]
    text = collect_standing_rules([(scope, view or store) for scope, store, view in opened])[0]
    notice = _notice([view for _, _, view in opened if view])
    data = "\0".join(["\n".join(current), text, notice]).encode("utf-8", "replace")
    disk.keep_derived_file(path, disk.seal_bytes(MARK, data))
    return text, notice


def _notice(views: "list[AcceptanceView]") -> str:
    parts = []
    for view in views:
        if count := len(view.waiting()):
            noun = "memory" if count == 1 else "memories"
            parts.append(f"{count} {noun} of {view.acceptance.origin}")
    wait = "waits" if len(parts) == 1 and parts[0].startswith("1 ") else "wait"
    rest = f"{wait} for the user's yes; no agent is told before. To look: memdir review"
    return f"memdir: {' and '.join(parts)} {rest}" if parts else ""


def _state(store: Markdown, here: "Here", large: bool) -> str:
    """Changes whenever a memory does; for a large store only its folders are checked."""
    return f"{_files(store, large)} {acceptance_facts(acceptance_folder(store, here))}"


def _files(store: Markdown, large: bool) -> str:
    try:
        if not large:
            state = catalog.catalog_state(store)
            if len(state.facts) <= catalog.SMALL:
                return f"{disk.digest_of(state.files())} {time_ns() if state.is_unsure() else ''}"
        folders = sorted(catalog.catalog_folder_times(store.root, time_ns()).items())
        return f"{LARGE} {disk.digest_of(repr(folders).encode('utf-8', 'replace'))}"
    except MemdirError as error:
        return f"{CLOSED} {error.code}"  # an unreadable store must not hide the others

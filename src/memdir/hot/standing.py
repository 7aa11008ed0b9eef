"""Standing rules: they apply to every prompt, a line each, told when a session starts.

Their text is cached until a memory changes.
"""

import os
from time import time_ns

from memdir.errors import MemdirError
from memdir.hot import catalog, disk
from memdir.hot import memory as memory_module
from memdir.hot.acceptance import acceptance_facts, acceptance_folder, hook_view_without_waiting
from memdir.hot.inject import LOOK, Recalled, injected_lines_fit, shorten_injected
from memdir.hot.layout import Markdown
from memdir.hot.memory import decode, encode
from memdir.hot.place import place_facts, store_key
from memdir.hot.recall import loaded_part
from memdir.hot.run import Sessions
from memdir.hot.safe import inert_line, make_visible
from memdir.hot.verdicts import Verdicts
from memdir.hot.words import split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memdir.hot.memory import Memory
    from memdir.hot.place import Here
    from memdir.store.accepted import AcceptanceView
    from memdir.store.ports import Store

PROJECT = "project"
TYPES = ("feedback", "user", "value")
RULE_CHARACTERS = 120  # like a pointer
RULES_CHARACTERS = 2000
MAX_SESSIONS = 200  # that are asked which memories were of use
_TITLE_WORDS = 4  # fewer words name a topic, not a rule
_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")
_SENTENCE_CHARACTERS = 20  # "e.g. " does not end a sentence
_CLAUSES = (" — ", " – ", "; ")  # before a reason, or another rule
_BREAKS = (*_CLAUSES, ": ", ", ", " (")
_STRONG = frozenset(
    (
        *("never", "always", "must", "forbids", "forbidden", "nie", "niemals", "immer"),
        *("jamais", "toujours", "nunca", "siempre"),
    )
)
_FORCE = _STRONG | {"dont", "not", "no", "only", "use", "avoid", "prefer", "ask"}
_RULES = "Standing rules from memory, as the user gave them; what they say now counts more:"
_OTHERS = "Rules that others wrote and the user accepted; the user's own count more:"
FOLDER = "standing"
MARK = "memdir standing 4"
MAX_BYTES = 64 * 1024
CLOSED = "closed"


def standing_rule_sentence(memory: "Memory", text: str) -> str:
    """A whole sentence: its reason is left out, and a long one ends with a clause."""
    about = inert_line(memory.description)
    if _is_title(about, memory):
        about = inert_line(_first_sentence(memory_module.read_header(text).body)) or about
    about = _first_sentence(about) or inert_line(memory.name)
    for mark in _CLAUSES:
        rule, found, reason = about.partition(mark)
        if found and len(rule.split()) >= _TITLE_WORDS and not _FORCE & _words(reason):
            about = rule
    if len(about) > RULE_CHARACTERS:
        end = max(about.rfind(mark, 0, RULE_CHARACTERS) for mark in _BREAKS)
        about = about[:end] if end > RULE_CHARACTERS // 3 else about
    return shorten_injected(about, RULE_CHARACTERS)


def _words(text: str) -> set[str]:
    return set(split_words(text.lower()))


def render_standing_rules(rules: list[str], others: "Sequence[str]" = ()) -> str:
    lines = []
    for heading, given in ((_RULES, rules), (_OTHERS, others)):
        items = [f"- {' '.join(each.split())}" for each in given if each.strip()]
        lines += [heading, *items] if items else []
    kept, more = injected_lines_fit(lines, RULES_CHARACTERS + 1), ""
    if len(kept) < len(lines):
        kept = injected_lines_fit(kept, RULES_CHARACTERS - len(f"- (and {len(lines)} more)"))
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
    verdicts: "Mapping[str, Verdicts] | None" = None,
    used: "Mapping[str, int] | None" = None,
    index_loaded: bool = True,
) -> "tuple[str, list[tuple[str, Memory]]]":
    """The strongest and broadest first; none that stands in the project's index, loaded anyway."""
    rules: list[tuple[tuple[object, ...], str, str, Memory]] = []
    for scope, store in stores:
        loaded = index_loaded and scope == PROJECT
        index = standing_rule_words(loaded_part(_read(store))) if loaded else ""
        source = getattr(store, "source", None)  # gives the author, if it is not the user
        for memory in store.scan().memories:
            if memory.kind not in TYPES:
                continue
            needed = _is_title(inert_line(memory.description), memory)
            text = standing_rule_sentence(memory, _read(store, memory.path) if needed else "")
            if standing_rule_words(text) in index:
                continue
            times = (used or {}).get(f"{store.root.rstrip('/')}/{memory.path}", 0)
            order = (bool(source), *_order(memory, text, times))
            if scope in (verdicts or {}):
                recalled = Recalled(memory, scope, store.root)
                verdicts[scope].tell([recalled])  # type: ignore[index]
                stale = [it for it in recalled.verdicts if not it.endswith(" found")]
                text += f" (checked: {inert_line(stale[0])})" if stale else ""
            text += f" ({source(memory.path)})" if source else ""
            rules.append((order, text, scope, memory))
    rules.sort(key=lambda rule: rule[0])
    own = [text for order, text, *_ in rules if not order[0]]
    told = render_standing_rules(own, others=[text for order, text, *_ in rules if order[0]])
    lines = frozenset(told.split("\n"))
    return told, [(scope, memory) for _, text, scope, memory in rules if f"- {text}" in lines]


def _order(memory: "Memory", text: str, times: int) -> tuple[object, ...]:
    """Pinned, force, breadth, use; then short ones, and a digest makes ties the same everywhere."""
    weak = not _STRONG & _words(text)
    narrow = any(sign in text for sign in "`/")  # it names a file or a command
    digest = disk.digest_of(encode(memory.path))
    return not memory.pinned, weak, narrow, -times, len(text), digest


def without_told_lines(index: str, standing: str) -> str:
    """An index without the lines that say a rule that is told word for word."""
    rules = [standing_rule_words(line) for line in standing.split("\n") if line.startswith("- ")]
    lines = [(line, standing_rule_words(line)) for line in index.split("\n")]
    return "\n".join(
        line for line, words in lines if not any(rule in words for rule in rules if rule.strip())
    )


def standing_rule_words(text: str) -> str:
    return f" {' '.join(split_words(text.lower()))} "


def count_told(folder: str) -> dict[str, int]:
    """In how many recent sessions the body of a memory was told, by its whole path."""
    counts: dict[str, int] = {}
    sessions = Sessions(folder)
    try:
        names = os.listdir(sessions.folder)[:MAX_SESSIONS]
    except OSError:
        return counts
    for name in names:
        for version in sessions.load(name).surfaced:
            path = version.partition(" ")[2]
            counts[path] = counts.get(path, 0) + 1
    return counts


def _read(store: "Store", path: str = "") -> str:
    """A memory, or the index; what cannot be read is reported by others."""
    try:
        return decode(store.view(path) if path else store.index() or b"")
    except MemdirError:
        return ""


def standing_rules_for_hook(here: "Here") -> tuple[str, str]:
    stores = [(scope, Markdown(root, here.max_file_bytes)) for scope, root in here.stores()]
    key = store_key("\n".join(f"{scope} {os.path.realpath(store.root)}" for scope, store in stores))
    path = os.path.join(here.cache, FOLDER, key)
    current = [_state(store, here) for _, store in stores]
    if data := disk.read_sealed_file(path, MARK, MAX_BYTES):
        states, text, notice = data.decode("utf-8", "surrogateescape").split("\0")
        if states == "\n".join(current):
            return text, notice
    opened = [
        (scope, store, hook_view_without_waiting(scope, store, here))
        for (scope, store), state in zip(stores, current, strict=True)
        if not state.startswith(CLOSED)
    ]
    text = collect_standing_rules(
        [(scope, view or store) for scope, store, view in opened],
        {scope: _verdicts(store, here) for scope, store, _ in opened if scope != "user"},
        count_told(here.state),
    )[0]
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


def _verdicts(store: Markdown, here: "Here") -> Verdicts:
    folder = os.path.join(here.cache, "stores", store_key(os.path.realpath(store.root)))
    return Verdicts(folder, here.checkout)


def _state(store: Markdown, here: "Here") -> str:
    """Changes with a memory, the index or a verdict."""
    try:
        state = catalog.catalog_state(store)
    except MemdirError as error:
        return f"{CLOSED} {error.code}"  # an unreadable store must not hide the others
    files = disk.digest_of(encode(repr(sorted(state.facts.items())) + state.index))
    unsure = str(time_ns()) if state.is_unsure() else ""
    verdicts = place_facts(_verdicts(store, here).folder, True) if here.checkout else ""
    return " ".join((files, unsure, acceptance_facts(acceptance_folder(store, here)), verdicts))

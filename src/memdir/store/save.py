"""Writes one memory into the store (a draft, an edit, a file from elsewhere) and keeps MEMORY.md
in sync: every memory has a pointer, every pointer a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memdir.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.format import draft as drafts
from memdir.format import index as index_module
from memdir.format import names
from memdir.format.draft import (
    SKIPPED,
    Change,
    Draft,
    Revision,
    Rules,
    Style,
    Wishes,
    memory_change,
)
from memdir.format.names import find_named_memory
from memdir.format.outline import Lookup, unescape_pointer_target
from memdir.format.pointer import SUFFIX, Pointer, format_pointer
from memdir.format.type_guess import guess_memory_type
from memdir.hot import memory, types
from memdir.hot.memory import INDEX, UNKNOWN, Document, Memory, is_memory_file, read_memory, stem
from memdir.store.ports import Store, name_few_store_paths, read_if_stored
from memdir.text import secrets

STYLE_SAMPLES = 5  # files that decide the style of a new header
NOTES = "notes"  # file for the content of a standalone index
SHARED = "; this store is shared with others"
SECRET = "what looks like a secret"
SPECIAL = "special-file"  # a link, a hidden file, a folder where a memory could be
VALUE = {"feedback": 0, "user": 1, "value": 1}  # types that an agent must not miss come first


def adopt_memory(
    path: str,
    data: bytes,
    store: Store,
    rules: Rules,
    standing: Mapping[str, str],
    allow_secret: bool = False,
) -> Change:
    """`names.fold_paths` of the store says what stands there."""
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in path):
        reason = "its name holds a control character"
    elif not is_memory_file(path):
        reason = "it is not a memory (an index, a hidden file, no Markdown)"
    else:
        reason = refuse_file_in_store(path, data, rules, allow_secret=allow_secret)
    if reason:
        return refused_store_file(path, reason)
    try:
        old = read_if_stored(store, path)
    except Unwritable as error:  # a link or a directory; other files can still be saved
        return memory_change(SKIPPED, path, reason=error.message)
    if old is None:
        if reason := names.why_not_portable(path, standing):
            return memory_change(SKIPPED, path, reason=reason)
        store.put(path, data)
        return memory_change(drafts.CREATED, path, data)
    same = "it is there already, the same"
    other = "another memory of that name stands there; rename one of the two"
    return memory_change(SKIPPED, path, old, same if old == data else other)


def refused_store_file(path: str, reason: str) -> Change:
    """Its name may be what is refused: a secret is not repeated."""
    return memory_change(SKIPPED, secrets.hide_secrets(path), reason=reason)


def refuse_file_in_store(
    path: str, data: bytes, rules: Rules, *, old: bytes = b"", allow_secret: bool = False
) -> str:
    if len(data) > rules.max_file_bytes:
        return f"it has {len(data):,} bytes (limit: {rules.max_file_bytes:,})"
    if b"\0" in data and b"\0" not in old:
        return "it holds a NUL character, so it is no plain text"
    if allow_secret:
        return ""
    if hits := secrets.find_secrets(path):
        return f"its name holds {SECRET} ({hits[0].rule})"
    known, new = (_find_secret_lines(memory.decode(content)) for content in (old, data))
    for (rule, line), number in new.items():
        if (rule, line) not in known:
            shared = SHARED if rules.shared else ""
            return f"it holds {SECRET} ({rule}, line {number}){shared}. Say where to find it"
    return ""


def _find_secret_lines(text: str) -> dict[tuple[str, str], int]:
    lines = text.split("\n")
    return {(hit.rule, lines[hit.line - 1]): hit.line for hit in secrets.find_secrets(text)}


def write_memory_edit(revision: Revision, store: Store, rules: Rules, wishes: Wishes) -> Change:
    path = revision.path
    if path == INDEX:
        raise BadInput(
            f"{INDEX} is the index of this store",
            path=path,
            next="remember something first: its content then becomes a memory of its own",
        )
    values = dict(revision.fields)
    if "type" in values and values["type"] not in types.names():
        known = ", ".join(types.names())
        raise BadInput(f"type {values['type'][:40]!r} is not known", next=f"use one of {known}")
    for field, value in revision.fields:
        if not value.strip():
            raise BadInput(f"{field} is empty", path=path, next=f"say what {field} should be")
    for field, value in (*revision.fields, ("why", revision.why), ("how", revision.how)):
        drafts.check_header_line(field, value)
    old = store.read(path)
    before = memory.read_header(memory.decode(old))
    if revision.why or revision.how:
        text = before.body if revision.body is None else revision.body
        body = drafts.add_why_and_how(text, revision.why, revision.how)
        revision = replace(revision, body=body)
    if revision.body is not None:
        drafts.check_draft_format(Draft(revision.body), rules)
        made = before.get("description") == drafts.describe_body(before.body)
        if made and "description" not in values:  # it follows the text that it was made of
            described = ("description", drafts.describe_body(revision.body))
            revision = replace(revision, fields=(*revision.fields, described))
    draft = Draft("\n".join((revision.body or "", *values.values())))
    if reason := drafts.why_refuse_draft(draft, rules, replace(wishes, anyway=True)):
        return memory_change(SKIPPED, path, reason=reason)
    return _put_revision(revision, old, store, rules)


def _put_revision(
    revision: Revision, old: bytes, store: Store, rules: Rules, remarks: tuple[str, ...] = ()
) -> Change:
    path, data = revision.path, drafts.format_revised_memory(old, revision, rules.now)
    if data == old:
        return memory_change(SKIPPED, path, old, "it says exactly this already")
    store.put(path, data)
    return memory_change(drafts.UPDATED, path, data, remarks=remarks)


def save_draft_to_store(draft: Draft, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Save a new memory, or the next version of the one with its name; a refusal is returned."""
    drafts.check_draft_format(draft, rules)
    files = store.files()
    path = _find_file(draft.name, files) if draft.name else ""
    if draft.type == UNKNOWN and not path:
        draft = replace(draft, type=guess_memory_type(draft.body, draft.description).type)
    if reason := drafts.why_refuse_draft(draft, rules, wishes):
        return Change(SKIPPED, draft.name, "", reason=reason)
    given, remarks = drafts.complete_draft(draft, rules)
    if path:
        return _update(given, path, store, rules, remarks)
    if draft.expected:
        raise Missing(f"there is no memory {draft.name!r} to update", next="memdir list shows them")
    described = replace(given, description=given.description or drafts.describe_body(given.body))
    twin = "" if wishes.anyway else _find_twin(described.description, store)
    if twin:
        insist = f", or {drafts.ANYWAY}" if drafts.ANYWAY in wishes.offered else ""
        reason = f"{twin} says nearly the same; update it (memdir edit {stem(twin)}){insist}"
        return memory_change(SKIPPED, twin, reason=reason)
    return _create(described, store, rules, files, remarks)


def _create(
    draft: Draft, store: Store, rules: Rules, files: list[str], remarks: tuple[str, ...]
) -> Change:
    samples = []
    for path in files[:: max(1, len(files) // STYLE_SAMPLES)][:STYLE_SAMPLES]:
        with suppress(MemdirError):  # unreadable
            samples.append((path, memory.read_header(memory.decode(store.read(path)))))
    style = drafts.guess_header_style(samples)
    name = draft.name or _free_name(draft, files, style)
    converted = _convert_standalone(store, files, name)
    if converted:
        remarks += (f"the text of {INDEX} is in {converted} now; {INDEX} points to it",)
    data = memory.encode(
        drafts.format_new_memory(draft, name, drafts.moment_draft_was_said(draft, rules), style)
    )
    store.put(name + ".md", data)
    return memory_change(drafts.CREATED, name + ".md", data, remarks=remarks)


def _update(
    draft: Draft, path: str, store: Store, rules: Rules, remarks: tuple[str, ...]
) -> Change:
    fields = [("description", draft.description)] if draft.description else []
    fields += [("type", draft.type)] if draft.type != UNKNOWN else []
    fields += [("pinned", "true")] if draft.pinned else []
    fields += draft.extra
    old = store.read(path)
    remarks += _left_behind(memory.read_header(memory.decode(old)), draft, fields)
    revision = Revision(path, tuple(fields), draft.body, draft.expected or "")
    return _put_revision(revision, old, store, rules, remarks)


def _left_behind(old: Document, draft: Draft, fields: list[tuple[str, str]]) -> tuple[str, ...]:
    remarks = []
    before = old.get("description")
    if not draft.description and before == drafts.describe_body(old.body):
        fields.append(("description", drafts.describe_body(draft.body)))
    elif not draft.description and before:
        remarks.append(f'its description stays "{before}"; change it with --description')
    lost = [mark for mark in (drafts.WHY, drafts.HOW) if mark in old.body]
    if any(mark not in draft.body for mark in lost):
        remarks.append("the old text had reasons (Why, How to apply) that the new one has not")
    return tuple(remarks)


def _find_file(name: str, files: list[str]) -> str:
    file = name + ".md"
    if file in files:
        return file
    alike = file.replace("-", "_")
    for path in files:
        if path.lower().replace("-", "_") == alike:
            raise BadInput(
                f"{path} has nearly the same name as {name!r}",
                path=path,
                next=f"use --name {stem(path)} to update it, or another name",
            )
    return ""


def _find_twin(description: str, store: Store) -> str:
    from memdir.text.similar import find_twin_text

    paths = {item.description: item.path for item in store.scan().memories if item.description}
    return paths.get(find_twin_text(description, paths), "")


def _free_name(draft: Draft, files: list[str], style: Style) -> str:
    title = draft.description.rstrip("…")
    base = names.memory_name(title, draft.type, "_" if style.prefix else "-")
    marks = (draft.type + "_", draft.type + "-")
    if style.prefix and draft.type != UNKNOWN and not base.startswith(marks):
        base = f"{draft.type}_{base}"
    taken = {stem(path).lower().replace("-", "_") for path in files}
    name, count = base, 1
    while name.replace("-", "_") in taken:
        count += 1
        name = f"{base}-{count}"
    return name


def _convert_standalone(store: Store, files: list[str], taken: str) -> str:
    data = store.standalone() if not files else None
    if data is None:
        return ""
    text = memory.decode(data)
    document = memory.read_header(text)
    about = document.get("description") or drafts.describe_body(document.body)
    name = NOTES if taken != NOTES else f"earlier-{NOTES}"
    if document.lines is None:
        text = memory.write_header([("name", name), ("description", about)], text)
    store.put(name + ".md", memory.encode(text))
    store.put(INDEX, memory.encode(format_pointer("Notes", name + ".md", about) + "\n"))
    return name + ".md"


class Targets:
    """Resolves pointers; a line that leads to any existing file stays."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._special: Lookup | None = None

    def lost(self, pointer: Pointer) -> bool:
        """True if the pointer leads nowhere; a line that cannot be judged now stays."""
        targets = dict.fromkeys((pointer.target, unescape_pointer_target(pointer.target)))
        paths = [*targets, *(item + SUFFIX for item in targets if item[-3:].lower() != SUFFIX)]
        try:
            if not all(map(self._gone, paths)):
                return False
        except MemdirError:
            return False
        if self._special is None:
            skipped = [item.path for item in self.store.scan().findings if item.kind == SPECIAL]
            self._special = Lookup(skipped, {})
        return self._special.find(pointer.target, pointer.form) is None

    def _gone(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        inside = not {"", ".", ".."}.intersection(path.split("/"))
        return inside and not self.store.exists(path) and (not folder or self.store.exists(folder))


@dataclass(frozen=True)
class Indexed:
    changed: bool
    healed: index_module.Healed
    over_limit: str = ""  # remark on what agents do not see

    def remarks(self, expected: Collection[str] = ()) -> list[str]:
        added = [path for path in self.healed.added if path not in expected]
        dropped = [path for path in self.healed.dropped if path not in expected]
        remarks = []
        if added:
            remarks.append(f"the index also got a pointer to {name_few_store_paths(added)}")
        if dropped:
            remarks.append(f"the index lost a pointer to nothing: {name_few_store_paths(dropped)}")
        if repeated := self.healed.repeated:
            twice = "one list of the index said this twice, its first line stays"
            remarks.append(f"{twice}: {name_few_store_paths(repeated)}")
        return remarks + ([self.over_limit] if self.over_limit else [])


def follow_in_index(
    store: Store,
    rules: Rules,
    before: Memory | None = None,
    *,
    anew: bool = False,
    changed: Collection[str] = (),
    known: Callable[[Pointer], bool] | None = None,
) -> Indexed:
    """A line whose file is gone stays if it says something and the file was never `known`.

    Who wants the index `anew` has put the words of such lines elsewhere.
    """
    if not rules.index and not anew:
        return Indexed(False, index_module.Healed("", [], []))
    old, files = store.index() or b"", store.files()
    text = memory.decode(old)
    if before is not None and before.path in files:
        # Only a line that we wrote is replaced.
        line = stored_index_line(_memory(store, before.path))
        plain = names.memory_title(before, plain=True)
        ours = stored_index_line(before), format_pointer(plain, before.path, before.description)
        text = index_module.replace_index_pointer(text, before.path, ours, line)
    if not old:
        oldest_first = sorted((item.clock, item.path) for item in _memories(store, files))
        files = [path for _, path in oldest_first]
    # Only a [[wikilink]] can name a memory by its label.
    labels = {item.name: item.path for item in _memories(store, files)} if "[[" in text else {}

    def describe(path: str) -> tuple[str, str, str]:
        item = _memory(store, path)
        return *names.pointer_title_and_hook(item), types.get(item.type).section

    text = "" if anew and not text.strip() else text
    targets = Targets(store)

    def lost(pointer: Pointer) -> bool:
        spare = anew or not pointer.says_more or (known is not None and known(pointer))
        return spare and targets.lost(pointer)

    healed = index_module.heal_pointers(text, files, describe, labels, lost)
    text, remark = healed.text, ""
    if any(_memory(store, path).pinned for path in changed if path in files):
        text = _arrange(text, store, files, lambda item, line: (not item.pinned, line))
    if any(index_module.index_excess(text)):
        text = _arrange(text, store, files, pointer_worth)
        lines = index_module.index_excess(text)[0] or "part of the"
        order = "the most valuable pointers come first now; " if text != healed.text else ""
        remark = (
            f"agents do not see the last {lines} lines of the index, it is over its limit; "
            f"{order}retire or archive what is old (memdir list), "
            "shorten long lines (memdir index --check)"
        )
    data = memory.encode(text)
    if data != old:
        store.put(store.index_path, data)
    return Indexed(data != old, healed, remark)


def _arrange(
    text: str, store: Store, files: list[str], rank: Callable[[Memory, int], tuple[object, ...]]
) -> str:
    """Our own lines in this order; `rank` gets a memory and the place of its line."""
    memories = _memories(store, files)
    ours = {item.path: stored_index_line(item) for item in memories}
    places: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")):
        places.setdefault(line.rstrip(), number)
    memories.sort(key=lambda item: rank(item, places.get(ours[item.path].rstrip(), -1)))
    return index_module.arrange_index_pointers(text, [item.path for item in memories], ours)


def pointer_worth(item: Memory, line: int = 0) -> tuple[object, ...]:
    return not item.pinned, VALUE.get(item.type, 2), -item.clock, item.path


def stored_index_line(memory: Memory) -> str:
    title, hook = names.pointer_title_and_hook(memory)
    return format_pointer(title, memory.path, hook)


def _memories(store: Store, files: list[str]) -> list[Memory]:
    known = {memory.path: memory for memory in store.scan().memories}
    return [known.get(path) or _memory(store, path) for path in files]


def _memory(store: Store, path: str) -> Memory:
    try:
        data = store.read(path)
    except MemdirError:
        data = f"---\nname: {stem(path)}\n---\n".encode("utf-8", "surrogateescape")
    facts = store.facts(path) or (0,)
    return read_memory(path, data, facts[0] / 1e9)


def find_in_store(store: Store, wanted: Sequence[str]) -> list[Memory]:
    scan = store.scan()
    return [find_named_memory(name, scan.memories, scan.findings) for name in wanted]

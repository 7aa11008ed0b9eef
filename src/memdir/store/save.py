"""Draft to file: create, update, edit, adopt."""

from __future__ import annotations

from dataclasses import replace

from memdir.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.format import draft, names
from memdir.format.draft import (
    ANYWAY,
    CREATED,
    HOW,
    SKIPPED,
    UPDATED,
    WHY,
    Change,
    Draft,
    Revision,
    Rules,
    Style,
    Wishes,
    check,
    complete,
    first_sentence,
    hash_of,
    new_text,
    refusal,
    revise,
    said_at,
    style_of,
)
from memdir.format.pointer import read_pointers, write_pointer
from memdir.hot import memory, types
from memdir.hot.memory import INDEX, UNKNOWN, Document, is_memory, stem
from memdir.store.ports import Store
from memdir.text import secrets

# Adopt a memory from elsewhere as it is: import, never overwrite.


def adopt(path: str, data: bytes, store: Store, rules: Rules) -> Change:
    """Write these bytes under this path, unless something speaks against it."""
    reason = _refusal(path, data, rules)
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    try:
        standing = store.read(path)
    except Missing:
        store.put(path, data)
        return Change(CREATED, stem(path), path, hash_of(data))
    except Unwritable as error:  # a link or a directory: the others can still be taken
        return Change(SKIPPED, stem(path), path, reason=error.message)
    if standing == data:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it is there already, the same")
    reason = "another memory of that name stands there; rename one of the two"
    return Change(SKIPPED, stem(path), path, hash_of(standing), reason)


def _refusal(path: str, data: bytes, rules: Rules) -> str:
    if not is_memory(path):
        return "it is not a memory (an index, a hidden file, or not Markdown)"
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in path):
        return "its name holds a control character"
    if len(data) > rules.max_file_bytes:
        return f"it has {len(data):,} bytes (limit: {rules.max_file_bytes:,})"
    if not rules.shared:
        return ""
    if found := secrets.find_secrets(path):
        return f"its name holds what looks like a secret ({found[0].rule})"
    if found := secrets.find_secrets(memory.decode(data)):
        return f"it holds what looks like a secret ({found[0].rule}, line {found[0].line})"
    return ""


# Put a value into the header of a memory; its text and its age stay as they are.


def annotate(path: str, key: str, value: str, store: Store, reason: str) -> Change:
    """One line of the header, and no other: `modified` tells when somebody meant something."""
    old = store.read(path)
    document = memory.read(memory.decode(old))
    if document.get(key) == value or document.lines is None:
        return Change(SKIPPED, stem(path), path, hash_of(old), reason)
    data = memory.encode(memory.edit(document, key, value).text)
    store.put(path, data)
    return Change(UPDATED, stem(path), path, hash_of(data), reason)


# Edit a memory: new header values or a new body, checked like a draft.


def edit(revision: Revision, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Write the next version of one memory; only the lines that were asked for change."""
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
        draft.check_line(field, value)
    if revision.body is not None:
        draft.check(Draft(revision.body), rules)
    said = Draft("\n".join((revision.body or "", *values.values())))
    reason = draft.refusal(said, rules, replace(wishes, anyway=True))
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    old = store.read(path)
    data = revise(old, revision, rules.now)
    if data == old:
        return Change(SKIPPED, stem(path), path, hash_of(old), "it says exactly this already")
    store.put(path, data)
    return Change(UPDATED, stem(path), path, hash_of(data))


# Save a draft: as a new memory, or as the next version of the one that has its name.

STYLE_SAMPLE = 5  # files that decide how a new header looks
NOTES = "notes"  # the file that takes over the content of a standalone index


def save(draft: Draft, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Write one memory; a refusal is a value, a broken promise an exception."""
    check(draft, rules)
    reason = refusal(draft, rules, wishes)
    if reason:
        return Change(SKIPPED, draft.name, "", reason=reason)
    given, remarks = complete(draft, rules)
    files = store.files()
    path = _existing(draft.name, files) if draft.name else ""
    if path:
        return _update(given, path, store, rules, remarks)
    if draft.expected:
        raise Missing(f"there is no memory {draft.name!r} to update", next="memdir list shows them")
    described = replace(given, description=given.description or first_sentence(given.body))
    twin = "" if wishes.anyway else _twin(described.description, store, files)
    if twin:
        insist = f", or {ANYWAY}" if ANYWAY in wishes.offered else ""
        reason = f"{twin} says nearly the same; update it (memdir edit {stem(twin)}){insist}"
        return Change(SKIPPED, stem(twin), twin, reason=reason)
    return _create(described, store, rules, files, remarks)


def _create(
    draft: Draft, store: Store, rules: Rules, files: list[str], remarks: tuple[str, ...]
) -> Change:
    style = _style(store, files)
    name = draft.name or _free_name(draft, files, style)
    converted = _convert_standalone(store, files, name)
    if converted:
        remarks += (f"the text of {INDEX} is in {converted} now; {INDEX} points to it",)
    data = memory.encode(new_text(draft, name, said_at(draft, rules), style))
    store.put(name + ".md", data)
    return Change(CREATED, name, name + ".md", hash_of(data), remarks=remarks)


def _update(
    draft: Draft, path: str, store: Store, rules: Rules, remarks: tuple[str, ...]
) -> Change:
    fields = [("description", draft.description)] if draft.description else []
    fields += [("type", draft.type)] if draft.type != UNKNOWN else []
    fields += [("pinned", "true")] if draft.pinned else []
    fields += draft.extra
    old = store.read(path)
    remarks += _left_behind(memory.read(memory.decode(old)), draft, fields)
    revision = Revision(path, tuple(fields), draft.body, draft.expected or "")
    data = revise(old, revision, rules.now)
    if data == old:
        return Change(SKIPPED, stem(path), path, hash_of(old), "it says exactly this already")
    store.put(path, data)
    return Change(UPDATED, stem(path), path, hash_of(data), remarks=remarks)


def _left_behind(old: Document, draft: Draft, fields: list[tuple[str, str]]) -> tuple[str, ...]:
    """What an update by name leaves as it was, or leaves out: the person should know."""
    said = []
    before = old.get("description")
    if not draft.description and before == first_sentence(old.body):
        fields.append(("description", first_sentence(draft.body)))
    elif not draft.description and before:
        said.append(f'its description stays "{before}"; change it with --description')
    lost = [mark for mark in (WHY, HOW) if mark in old.body]
    if any(mark not in draft.body for mark in lost):
        said.append("the old text had reasons (Why, How to apply) that the new one has not")
    return tuple(said)


def _existing(name: str, files: list[str]) -> str:
    """The file of that name; one that differs only in `-` and `_` or case would be a trap."""
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


def _twin(description: str, store: Store, files: list[str]) -> str:
    """The memory that already says this, by its line in the index or its description."""
    if not files:
        return ""
    from memdir.text import similar

    try:
        text = memory.decode(store.index() or b"")
    except MemdirError:
        text = ""  # an index that cannot be read is reported when it is to be written
    if not text:
        memories = [memory for memory in store.scan().memories if memory.description]
        lines = {memory.description: memory.path for memory in memories}
        return lines.get(similar.find_twin(description, "\n".join(lines), str), "")
    mine = similar.words(description)

    def what_it_says(line: str) -> str:
        pointers = read_pointers(line, 1)
        hook = pointers[0].hook if pointers else line
        # A hook that was cut for want of room says the same as far as it goes: ask the file.
        cut = pointers and (not hook or hook.endswith("…")) and pointers[0].target in files
        return (
            _description(store, pointers[0].target) if cut and similar.words(hook) <= mine else hook
        )

    line = similar.find_twin(description, text, what_it_says)
    targets = [pointer.target for pointer in read_pointers(line, 1)]
    return targets[0] if targets and targets[0] in files else ""


def _description(store: Store, path: str) -> str:
    try:
        return memory.read(memory.decode(store.read(path))).get("description")
    except MemdirError:
        return ""  # it cannot be read, so it cannot be compared


def _style(store: Store, files: list[str]) -> Style:
    samples = []
    for path in files[:: max(1, len(files) // STYLE_SAMPLE)][:STYLE_SAMPLE]:
        try:
            samples.append((path, memory.read(memory.decode(store.read(path)))))
        except MemdirError:
            continue  # it cannot be read, so it cannot be an example
    return style_of(samples)


def _free_name(draft: Draft, files: list[str], style: Style) -> str:
    """A name from the text that no file has, in the store's own style of naming."""
    title = draft.description.rstrip("…")
    base = names.name_for(title, draft.type, "_" if style.prefix else "-")
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
    """Turn an index that is the only memory into a first file and a pointer to it."""
    data = store.standalone() if not files else None
    if data is None:
        return ""
    text = memory.decode(data)
    document = memory.read(text)
    about = document.get("description") or first_sentence(document.body)
    name = NOTES if taken != NOTES else f"earlier-{NOTES}"
    if document.lines is None:
        text = memory.write([("name", name), ("description", about)], text)
    store.put(name + ".md", memory.encode(text))
    store.put(INDEX, memory.encode(write_pointer("Notes", name + ".md", about) + "\n"))
    return name + ".md"

"""Writes one memory into the store: a draft, an edit, or a file from elsewhere."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from memdir.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.format import draft as drafts
from memdir.format import names
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
    first_sentence,
    hash_of,
    revise,
)
from memdir.format.pointer import read_pointers, write_pointer
from memdir.hot import memory, types
from memdir.hot.memory import INDEX, UNKNOWN, Document, is_memory, stem
from memdir.store.ports import Store
from memdir.store.writer import read_if_there
from memdir.text import secrets

STYLE_SAMPLES = 5  # files that decide the style of a new header
NOTES = "notes"  # file for the content of a standalone index
SAID_ALREADY = "it says exactly this already"


def adopt(path: str, data: bytes, store: Store, rules: Rules) -> Change:
    reason = "" if is_memory(path) else "it is not a memory (an index, a hidden file, no Markdown)"
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in path):
        reason = "its name holds a control character"
    reason = reason or refuse_file(path, data, rules, allow_secret=not rules.shared)
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    try:
        standing = read_if_there(store, path)
    except Unwritable as error:  # a link or a directory; other files can still be saved
        return Change(SKIPPED, stem(path), path, reason=error.message)
    if standing is None:
        store.put(path, data)
        return Change(CREATED, stem(path), path, hash_of(data))
    if standing == data:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it is there already, the same")
    reason = "another memory of that name stands there; rename one of the two"
    return Change(SKIPPED, stem(path), path, hash_of(standing), reason)


def refuse_file(
    path: str, data: bytes, rules: Rules, *, old: bytes = b"", allow_secret: bool = False
) -> str:
    if len(data) > rules.max_file_bytes:
        return f"it has {len(data):,} bytes (limit: {rules.max_file_bytes:,})"
    if allow_secret:
        return ""
    if hits := secrets.find_secrets(path):
        return f"its name holds what looks like a secret ({hits[0].rule})"
    known, new = (_find_secret_lines(memory.decode(content)) for content in (old, data))
    for (rule, line), number in new.items():
        if (rule, line) not in known:
            shared = "; this store is shared with others" if rules.shared else ""
            where = f"{rule}, line {number}"
            return f"it holds what looks like a secret ({where}){shared}. Say where to find it"
    return ""


def _find_secret_lines(text: str) -> dict[tuple[str, str], int]:
    lines = text.split("\n")
    return {(hit.rule, lines[hit.line - 1]): hit.line for hit in secrets.find_secrets(text)}


def write_edit(revision: Revision, store: Store, rules: Rules, wishes: Wishes) -> Change:
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
        drafts.check_line(field, value)
    if revision.body is not None:
        drafts.check(Draft(revision.body), rules)
    draft = Draft("\n".join((revision.body or "", *values.values())))
    if reason := drafts.refusal(draft, rules, replace(wishes, anyway=True)):
        return Change(SKIPPED, stem(path), path, reason=reason)
    return _put_revision(revision, store.read(path), store, rules)


def _put_revision(
    revision: Revision, old: bytes, store: Store, rules: Rules, remarks: tuple[str, ...] = ()
) -> Change:
    path, data = revision.path, revise(old, revision, rules.now)
    if data == old:
        return Change(SKIPPED, stem(path), path, hash_of(old), SAID_ALREADY)
    store.put(path, data)
    return Change(UPDATED, stem(path), path, hash_of(data), remarks=remarks)


def write_draft(draft: Draft, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Save a new memory, or the next version of the one with its name; a refusal is returned."""
    drafts.check(draft, rules)
    if reason := drafts.refusal(draft, rules, wishes):
        return Change(SKIPPED, draft.name, "", reason=reason)
    given, remarks = drafts.complete(draft, rules)
    files = store.files()
    path = _find_file(draft.name, files) if draft.name else ""
    if path:
        return _update(given, path, store, rules, remarks)
    if draft.expected:
        raise Missing(f"there is no memory {draft.name!r} to update", next="memdir list shows them")
    described = replace(given, description=given.description or first_sentence(given.body))
    twin = "" if wishes.anyway else _find_twin(described.description, store, files)
    if twin:
        insist = f", or {ANYWAY}" if ANYWAY in wishes.offered else ""
        reason = f"{twin} says nearly the same; update it (memdir edit {stem(twin)}){insist}"
        return Change(SKIPPED, stem(twin), twin, reason=reason)
    return _create(described, store, rules, files, remarks)


def _create(
    draft: Draft, store: Store, rules: Rules, files: list[str], remarks: tuple[str, ...]
) -> Change:
    samples = []
    for path in files[:: max(1, len(files) // STYLE_SAMPLES)][:STYLE_SAMPLES]:
        with suppress(MemdirError):  # unreadable
            samples.append((path, memory.read(memory.decode(store.read(path)))))
    style = drafts.style_of(samples)
    name = draft.name or _free_name(draft, files, style)
    converted = _convert_standalone(store, files, name)
    if converted:
        remarks += (f"the text of {INDEX} is in {converted} now; {INDEX} points to it",)
    data = memory.encode(drafts.new_text(draft, name, drafts.said_at(draft, rules), style))
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
    return _put_revision(revision, old, store, rules, remarks)


def _left_behind(old: Document, draft: Draft, fields: list[tuple[str, str]]) -> tuple[str, ...]:
    remarks = []
    before = old.get("description")
    if not draft.description and before == first_sentence(old.body):
        fields.append(("description", first_sentence(draft.body)))
    elif not draft.description and before:
        remarks.append(f'its description stays "{before}"; change it with --description')
    lost = [mark for mark in (WHY, HOW) if mark in old.body]
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


def _find_twin(description: str, store: Store, files: list[str]) -> str:
    if not files:
        return ""
    from memdir.text import similar

    try:
        text = memory.decode(store.index() or b"")
    except MemdirError:
        text = ""  # writing the index reports it
    if not text:
        memories = [memory for memory in store.scan().memories if memory.description]
        lines = {memory.description: memory.path for memory in memories}
        return lines.get(similar.find_twin(description, "\n".join(lines), str), "")
    mine = similar.words(description)

    def read_hook(line: str) -> str:
        pointers = read_pointers(line, 1)
        hook = pointers[0].hook if pointers else line
        # The text after the pointer may be shortened: compare with the file itself.
        cut = pointers and (not hook or hook.endswith("…")) and pointers[0].target in files
        if not cut or not similar.words(hook) <= mine:
            return hook
        try:
            data = store.read(pointers[0].target)
        except MemdirError:
            return ""  # unreadable
        return memory.read(memory.decode(data)).get("description")

    line = similar.find_twin(description, text, read_hook)
    targets = [pointer.target for pointer in read_pointers(line, 1)]
    return targets[0] if targets and targets[0] in files else ""


def _free_name(draft: Draft, files: list[str], style: Style) -> str:
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

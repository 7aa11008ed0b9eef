"""Save a draft: as a new memory, or as the next version of the one that has its name."""

from __future__ import annotations

from dataclasses import replace

from memdir.core import drafting, frontmatter, naming, similarity
from memdir.core.draft import ANYWAY, CREATED, SKIPPED, UPDATED, Change, Draft, Wishes
from memdir.core.drafting import Rules
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.core.frontmatter import Document
from memdir.core.memory import INDEX, UNKNOWN, stem
from memdir.core.pointer import read_pointers, write_pointer
from memdir.core.ports import Store
from memdir.core.revision import Revision, Style, hash_of, new_text, revise, style_of

STYLE_SAMPLE = 5  # files that decide how a new header looks
NOTES = "notes"  # the file that takes over the content of a standalone index


def save(draft: Draft, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Write one memory; a refusal is a value, a broken promise an exception."""
    drafting.check(draft, rules)
    reason = drafting.refusal(draft, rules, wishes)
    if reason:
        return Change(SKIPPED, draft.name, "", reason=reason)
    given, remarks = drafting.complete(draft, rules)
    files = store.files()
    path = _existing(draft.name, files) if draft.name else ""
    if path:
        return _update(given, path, store, rules, remarks)
    if draft.expected:
        raise Missing(f"there is no memory {draft.name!r} to update", next="memdir list shows them")
    described = replace(given, description=given.description or drafting.first_sentence(given.body))
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
    data = frontmatter.encode(new_text(draft, name, drafting.said_at(draft, rules), style))
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
    remarks += _left_behind(frontmatter.read(frontmatter.decode(old)), draft, fields)
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
    if not draft.description and before == drafting.first_sentence(old.body):
        fields.append(("description", drafting.first_sentence(draft.body)))
    elif not draft.description and before:
        said.append(f'its description stays "{before}"; change it with --description')
    lost = [mark for mark in (drafting.WHY, drafting.HOW) if mark in old.body]
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
    try:
        text = frontmatter.decode(store.index() or b"")
    except MemdirError:
        text = ""  # an index that cannot be read is reported when it is to be written
    if not text:
        memories = [memory for memory in store.scan().memories if memory.description]
        lines = {memory.description: memory.path for memory in memories}
        return lines.get(similarity.find_twin(description, "\n".join(lines), str), "")
    mine = similarity.words(description)

    def what_it_says(line: str) -> str:
        pointers = read_pointers(line, 1)
        hook = pointers[0].hook if pointers else line
        # A hook that was cut for want of room says the same as far as it goes: ask the file.
        cut = pointers and (not hook or hook.endswith("…")) and pointers[0].target in files
        return (
            _description(store, pointers[0].target)
            if cut and similarity.words(hook) <= mine
            else hook
        )

    line = similarity.find_twin(description, text, what_it_says)
    targets = [pointer.target for pointer in read_pointers(line, 1)]
    return targets[0] if targets and targets[0] in files else ""


def _description(store: Store, path: str) -> str:
    try:
        return frontmatter.read(frontmatter.decode(store.read(path))).get("description")
    except MemdirError:
        return ""  # it cannot be read, so it cannot be compared


def _style(store: Store, files: list[str]) -> Style:
    samples = []
    for path in files[:: max(1, len(files) // STYLE_SAMPLE)][:STYLE_SAMPLE]:
        try:
            samples.append((path, frontmatter.read(frontmatter.decode(store.read(path)))))
        except MemdirError:
            continue  # it cannot be read, so it cannot be an example
    return style_of(samples)


def _free_name(draft: Draft, files: list[str], style: Style) -> str:
    """A name from the text that no file has, in the store's own style of naming."""
    title = draft.description.rstrip("…")
    base = naming.name_for(title, draft.type, "_" if style.prefix else "-")
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
    text = frontmatter.decode(data)
    document = frontmatter.read(text)
    about = document.get("description") or drafting.first_sentence(document.body)
    name = NOTES if taken != NOTES else f"earlier-{NOTES}"
    if document.lines is None:
        text = frontmatter.write([("name", name), ("description", about)], text)
    store.put(name + ".md", frontmatter.encode(text))
    store.put(INDEX, frontmatter.encode(write_pointer("Notes", name + ".md", about) + "\n"))
    return name + ".md"

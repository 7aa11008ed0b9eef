"""Write a file of a store as it was given: an agent's own file, not a draft that we complete."""

from __future__ import annotations

from memdir.core import frontmatter, secrets
from memdir.core.draft import CREATED, SKIPPED, UPDATED, Change, Wishes
from memdir.core.drafting import Rules
from memdir.core.errors import Missing
from memdir.core.memory import INDEX, TEAM, is_of_records, stem
from memdir.core.ports import Store
from memdir.core.revision import hash_of


def write(path: str, data: bytes, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Put these bytes there, whatever stood there; a refusal is a value."""
    try:
        old: bytes | None = store.read(path)
    except Missing:
        old = None
    if data == old:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it says exactly this already")
    reason = _refused_place(path, new=old is None)
    reason = reason or _refused_text(path, data, old or b"", rules, wishes)
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    store.put(path, data)
    return Change(CREATED if old is None else UPDATED, stem(path), path, hash_of(data))


def _refused_place(path: str, *, new: bool) -> str:
    *folders, name = path.split("/")
    if new and path != INDEX and path.lower() == INDEX.lower():
        return f"some systems take it for {INDEX}, the index; choose another name"
    if any(part[:1] == "." for part in (*folders, name)):
        return "a hidden file is no memory; choose a name without a leading dot"
    if any(folder[-3:].lower() == ".md" for folder in folders):
        return "a folder cannot be called .md"
    if folders and folders[0].lower() == TEAM:
        return "the folder team is another store; it is written through its own scope"
    return "it is the place of a structured record" if is_of_records(path) else ""


def _refused_text(path: str, data: bytes, old: bytes, rules: Rules, wishes: Wishes) -> str:
    if len(data) > rules.max_file_bytes:
        return f"it would have {len(data):,} bytes (limit: {rules.max_file_bytes:,})"
    if wishes.secret and not rules.shared:
        return ""
    if found := secrets.find_secrets(path):
        return f"its name holds what looks like a secret ({found[0].rule})"
    # What stood there before is not this writer's doing, and may be what the change takes out.
    new = _secret_lines(data).difference(_secret_lines(old))
    if not new:
        return ""
    rule, _ = min(new)
    shared = "; this store is shared with others" if rules.shared else ""
    return f"it holds what looks like a secret ({rule}){shared}. Say where to find it instead"


def _secret_lines(data: bytes) -> set[tuple[str, str]]:
    text = frontmatter.decode(data)
    lines = text.split("\n")
    return {(one.rule, lines[one.line - 1]) for one in secrets.find_secrets(text)}

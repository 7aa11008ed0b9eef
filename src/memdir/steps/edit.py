"""Edit a memory: new header values or a new body, checked like a draft."""

from __future__ import annotations

from dataclasses import replace

from memdir.core import drafting, types
from memdir.core.draft import SKIPPED, UPDATED, Change, Draft, Wishes
from memdir.core.drafting import Rules
from memdir.core.errors import BadInput
from memdir.core.memory import INDEX, stem
from memdir.core.ports import Store
from memdir.core.revision import Revision, hash_of, revise


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
        drafting.check_line(field, value)
    if revision.body is not None:
        drafting.check(Draft(revision.body), rules)
    said = Draft("\n".join((revision.body or "", *values.values())))
    reason = drafting.refusal(said, rules, replace(wishes, anyway=True))
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    old = store.read(path)
    data = revise(old, revision, rules.now)
    if data == old:
        return Change(SKIPPED, stem(path), path, hash_of(old), "it says exactly this already")
    store.put(path, data)
    return Change(UPDATED, stem(path), path, hash_of(data))

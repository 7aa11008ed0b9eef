"""Memories that git leaves out although their store is one that others get through git."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memdir.core.finding import Finding


def inspect_ignored(ignored: Collection[str], files: Collection[str]) -> Iterator[Finding]:
    """One finding for a store that is left out as a whole, else one for each memory."""
    if files and set(files) <= set(ignored):
        message = f"git ignores all {len(files):,} memories here: nobody else gets them"
        yield Finding("git-ignored", "", message, "git check-ignore -v on one of them says why")
        return
    for path in sorted(set(ignored) & set(files)):
        message = "git ignores it: others who have this repository do not get it"
        yield Finding("git-ignored", path, message, "git check-ignore -v on it says why")

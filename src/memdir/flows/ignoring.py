"""Whether git carries what a shared store holds, or leaves some of it out."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.app import App


def ignored(app: App, paths: Sequence[str]) -> list[str]:
    """Remarks on those of these files that others are to get and git leaves out."""
    if not is_for_others(app) or not paths:
        return []
    # Only a shared store asks git; the others need not load what asking takes.
    from memdir.adapters.committed import find_ignored, find_repository

    if not find_repository(app.store.root):
        alone = app.config.scope.kind == "local"
        return ["there is no git repository here, so nobody else gets it"] if alone else []
    found = find_ignored(app.store.root, [*paths, app.store.index_path])
    if not found:
        return []
    named = ", ".join(sorted(found)[:3]) + (f" and {len(found) - 3} more" * (len(found) > 3))
    why = "git check-ignore -v says why"
    return [f"git ignores {named}: others who have this repository do not get it; {why}"]


def is_for_others(app: App) -> bool:
    """True where others are to get what is saved; a local agent's memory is nobody else's."""
    scope = app.config.scope
    return app.config.shared and not (scope.kind == "agent" and scope.place == "local")

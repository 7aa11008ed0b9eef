"""What was not found here may be on a shelf or in another scope: then say so."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from memdir import flows
from memdir.app import App
from memdir.core import naming
from memdir.core.errors import MemdirError
from memdir.surfaces.cli.advice import Advice

FROM_SHELF = ("restore", "purge")
OF_HISTORY = ("diff", "undo")
HERE = ""


def find_elsewhere(
    verb: str, wanted: Sequence[str], here: App, others: Iterable[tuple[str, App]], advise: Advice
) -> str:
    """The next step for the first of these that is somewhere else; empty when none is."""
    missing = [name for name in wanted if name.strip() and not _is_there(verb, name, here)]
    places = [(HERE, here), *others] if missing else []
    for name in missing:
        for scope, app in places:
            step = _step(verb, name, app, scope)
            if step:
                return advise(step, scope)
    return ""


def _is_there(verb: str, name: str, app: App) -> bool:
    if verb in OF_HISTORY:
        return _is_change(name, app)
    return bool(_room(name, app)) if verb in FROM_SHELF else _stands(name, app)


def _step(verb: str, name: str, app: App, scope: str) -> str:
    """What to type for a thing that this store has; empty when it has it not."""
    word, of_scope = shlex.quote(name), f" of the scope {scope}" if scope else ""
    if verb in OF_HISTORY or "@" in name:
        version = name.rpartition("@")[2]
        known = bool(scope) and _is_change(version, app)
        return f"it is a change{of_scope}: memdir {verb} {word}" if known else ""
    room = _room(name, app)
    if verb in FROM_SHELF:
        if room:
            return f"it is in the {room}{of_scope}: memdir {verb} {word}"
        stands = not scope and _stands(name, app)
        return f"it was not put away, so it is in the store: memdir show {word}" if stands else ""
    if _stands(name, app):
        return f"it is in the scope {scope}: memdir {verb} {word}"
    return f"it is in the {room}{of_scope}: memdir restore {word}" if room else ""


def _stands(name: str, app: App) -> bool:
    try:
        return bool(naming.find(name, app.store.scan().memories))
    except MemdirError:
        return False


def _room(name: str, app: App) -> str:
    """The shelf that holds the newest memory of that name."""
    try:
        return next((one.room for one in flows.shelved(app) if naming.means(name, one.path)), "")
    except MemdirError:
        return ""


def _is_change(name: str, app: App) -> bool:
    try:
        return bool(app.history.find(name))
    except MemdirError:
        return False

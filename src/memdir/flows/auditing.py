"""What an audit looks at: scan → clocks → (verify → ask the web) → audit; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memdir.adapters import urls
from memdir.adapters.committed import find_ignored
from memdir.app import App
from memdir.core import claim, loading
from memdir.core.audit import Audit, Audited
from memdir.core.claim import Judged
from memdir.core.draft import ARCHIVED, RETIRED, Change
from memdir.core.errors import MemdirError
from memdir.core.frontmatter import decode, utf16_units
from memdir.core.ports import ARCHIVE, TRASH
from memdir.flows.dating import clocks
from memdir.flows.ignoring import is_for_others
from memdir.flows.opening import section
from memdir.steps.audit import Known, Verdicts
from memdir.steps.audit import audit as audit_step

OFFLINE = "not checked (offline)"
# The address answers, but not to somebody who is not logged in, or not now.
_CLOSED = {401: "wants a login", 403: "wants a login", 407: "wants a login", 429: "is busy"}
OK = 200


@dataclass(frozen=True)
class Wish:
    """How far an audit may look: into the code, and out to the web."""

    deep: bool = False
    online: bool = False
    private: bool = False  # addresses of the user's own network may be asked
    brief: bool = False  # scores and load alone: no text is read


def audit(app: App, wish: Wish = Wish(), say: Callable[[str], None] = lambda _: None) -> Audit:  # noqa: B008
    """scan → clocks → (verify → ask the web) → audit"""
    memories = app.store.scan().memories
    dated, remarks = clocks(app, memories)
    verdicts, unlooked = _verdicts(app, wish, say)
    known = Known(
        clocks=dated,
        verdicts=verdicts,
        ignored=_ignored(app, [one.path for one in memories]),
        prompt=_prompt_characters(app),
        remarks=(*remarks, *unlooked, *_degraded(app)),
        brief=wish.brief,
        indexed=app.config.options.index,
    )
    found = audit_step(app.store, app.now(), known)
    return replace(found, findings=(*app.config.findings, *found.findings))


def candidates(found: Audit, review: bool = False) -> list[Audited]:
    """The memories that should go, the most worn out first; with `review` also the doubtful."""
    wanted = ("prune", "review") if review else ("prune",)
    return [one for one in found.memories if one.action in wanted]


def find_lost(app: App, changes: Sequence[Change]) -> list[str]:
    """What was put away and is now on no shelf: always nothing, or something is broken."""
    shelved = {one.path for room in (TRASH, ARCHIVE) for one in app.shelf.list(room)}
    away = [change.path for change in changes if change.kind in (RETIRED, ARCHIVED)]
    return [path for path in away if path not in shelved]


def _verdicts(app: App, wish: Wish, say: Callable[[str], None]) -> tuple[Verdicts, list[str]]:
    if not wish.deep and not wish.online:
        return {}, []
    from memdir.flows.verifying import verify  # its patterns cost a plain audit too much

    checked = verify(app, say=say)
    judged: Verdicts = checked.memories
    remarks = list(checked.remarks)
    if not wish.deep:
        judged = {path: [one for one in some if _is_open_url(one)] for path, some in judged.items()}
        remarks = []
    if wish.online:
        judged, said = ask_web(judged, private=wish.private)
        return judged, [*remarks, said]
    return judged, [*remarks, *_unasked(judged)]


def ask_web(verdicts: Verdicts, *, private: bool = False) -> tuple[Verdicts, str]:
    """The verdicts with those on URLs renewed, and how many were asked."""
    wanted = [one.claim.text for judged in verdicts.values() for one in judged if _is_open_url(one)]
    unique = list(dict.fromkeys(wanted))
    replies = urls.check_urls(unique, private=private)
    renewed = {
        path: [_by_reply(one, replies) if _is_open_url(one) else one for one in judged]
        for path, judged in verdicts.items()
    }
    refused = sum(reply.refused for reply in replies.values()) + len(unique) - len(replies)
    answered = sum(reply.status > 0 for reply in replies.values())
    said = f"URLs: {len(unique) - refused} asked, {answered} answered"
    return renewed, said + (f", {refused} not asked" if refused else "")


def _is_open_url(one: Judged) -> bool:
    return one.claim.kind == claim.URL and one.verdict != claim.NOT_A_CLAIM


def _by_reply(one: Judged, replies: Mapping[str, urls.Reply]) -> Judged:
    reply = replies.get(one.claim.text)
    if reply is None:
        return replace(one, verdict=claim.UNKNOWN, reason=f"not checked (more than {urls.MOST})")
    if not reply.status:
        return replace(one, verdict=claim.UNKNOWN, reason=reply.reason)
    if reply.status in _CLOSED:
        return replace(one, verdict=claim.UNKNOWN, reason=_CLOSED[reply.status])
    if reply.status == OK:
        return replace(one, verdict=claim.TRUE, reason=f"answers {OK}")
    return replace(one, verdict=claim.STALE, reason=f"answers {reply.status}")


def _unasked(verdicts: Verdicts) -> list[str]:
    count = sum(_is_open_url(one) for judged in verdicts.values() for one in judged)
    return [f"URLs: {count} {OFFLINE}; --online asks them"] if count else []


def _ignored(app: App, paths: Sequence[str]) -> frozenset[str]:
    """What git leaves out of a store that others are to get."""
    return find_ignored(app.store.root, paths) if is_for_others(app) else frozenset()


def _prompt_characters(app: App) -> int:
    """What a session starts with beside the index."""
    try:
        whole = section([("project", app)])
        index = loading.load(decode(app.store.index() or b""))
    except MemdirError:
        return 0  # an index that cannot be read is a finding
    return max(utf16_units(whole) - min(index.characters, loading.MAX_CHARACTERS), 0)


def _degraded(app: App) -> list[str]:
    """What this audit had to do without, in words."""
    said = []
    if not app.store.exists():
        said.append(f"there is no store at {app.store.root} yet")
    if not app.history.on:
        said.append("the history is switched off: outside edits and undo are not known")
    return said

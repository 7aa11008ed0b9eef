"""Retire (forget), archive, restore, purge, touch."""

from __future__ import annotations

import shlex

import click

from memdir.cli.command import Session, command
from memdir.cli.output import Answer, pick
from memdir.errors import BadInput
from memdir.hot import safe
from memdir.hot.memory import stem
from memdir.store import changes, look
from memdir.store.ports import ARCHIVE, TRASH

REASON = click.option("--reason", metavar="TEXT", default="", help="Why; the history keeps it.")
NAMES = click.argument("names", metavar="NAME...", nargs=-1, required=True)
SOME_NAMES = click.argument("names", metavar="[NAME...]", nargs=-1)


def _retire(session: Session, names: tuple[str, ...], room: str, reason: str) -> Answer:
    app = session.app
    back = "to bring it back: memdir restore NAME, or memdir undo"
    done = changes.retire(app, names, room, reason)
    return session.done_answer(app, done, back)


@command("retire", "memdir retire old-sprint-plan", changes=True, bulk=True)
@NAMES
@REASON
def retire(session: Session, names: tuple[str, ...], reason: str) -> Answer:
    """Take memories out of the store into the trash.

    There they stay restorable, for 30 days at least.
    """
    return _retire(session, names, TRASH, reason)


@command("forget", "memdir forget old-sprint-plan", changes=True, bulk=True)
@NAMES
@REASON
def forget(session: Session, names: tuple[str, ...], reason: str) -> Answer:
    """The same as retire: nothing is lost, it can be restored."""
    return _retire(session, names, TRASH, reason)


@command("archive", "memdir archive migration-2025", changes=True, bulk=True)
@NAMES
@REASON
def archive(session: Session, names: tuple[str, ...], reason: str) -> Answer:
    """Take memories out of the store and keep them for ever."""
    return _retire(session, names, ARCHIVE, reason)


@command("restore", "memdir restore old-sprint-plan", changes=True, bulk=True)
@SOME_NAMES
@click.option("--list", "show_list", is_flag=True, help="List what can be restored.")
def restore(session: Session, names: tuple[str, ...], show_list: bool) -> Answer:
    """Bring retired or archived memories back.

    Each gets its line in the index again. Without NAME, list what there is. An archive/ folder
    that another tool left inside the store counts as an archive, too.
    """
    if show_list or not names:
        return _list_shelved(session)
    app = session.app
    return session.done_answer(app, changes.restore(app, names))


def _list_shelved(session: Session) -> Answer:
    fields, rows = [], []
    for scope, app in session.apps():
        for item in look.list_missed(app):
            days = safe.age_days(item.time, app.now())
            more = {"time": safe.iso_time(item.time), "age_days": days, "scope": scope}
            fields.append(pick(item, "path name room", name=stem(item.path), **more))
            rows.append((item.path, item.room, safe.age_words(days), scope))
    screen, all_scopes = session.screen, session.config.scope.kind == "all"
    text = screen.advise("memdir restore NAME", "SCOPE" if all_scopes else "")
    lines = [*screen.table(rows, (40,)), "", *screen.block("Bring one back:", text, "")]
    return Answer({"memories": fields}, lines if rows else ["nothing to restore"])


@command("purge", "memdir purge --expired --yes", changes=True, bulk=True)
@SOME_NAMES
@click.option("--expired", is_flag=True, help="All trash that is past its days.")
@click.option("--yes", is_flag=True, help="Really; without it nothing happens.")
def purge(session: Session, names: tuple[str, ...], expired: bool, yes: bool) -> Answer:
    """Remove memories from trash and archive for good.

    The history keeps its versions. To be rid of these as well, say of a secret, remove the folder
    history.git in the directory that `memdir where` calls "history, trash". A new history
    begins with the next command; what was before can then not be undone.
    """
    if not names and not expired:
        raise click.UsageError("Say what: NAME..., or --expired.", click.get_current_context())
    app = session.app
    if not yes and not session.asked.dry_run:
        words = shlex.join(names) or "--expired"
        raise BadInput(
            "purge cannot be taken back by restore; nothing was removed",
            next=f"look with --dry-run, then: memdir purge {words} --yes",
        )
    says = "the history still has its versions; to remove these, too: memdir purge --help"
    done = changes.purge(app, names, expired)
    return session.done_answer(app, done, *[says] * app.history.on)


@command("touch", "memdir touch use-uv", changes=True, bulk=True)
@NAMES
def touch(session: Session, names: tuple[str, ...]) -> Answer:
    """Say that memories still hold: their age counts from now."""
    app = session.app
    return session.done_answer(app, changes.touch(app, names))

"""Retire (forget), archive, restore, purge, touch: what leaves a store and comes back."""

from __future__ import annotations

import shlex

import click

from memdir.cli.command import Session, command
from memdir.cli.output import Fields, tell_done
from memdir.errors import BadInput
from memdir.hot import safe
from memdir.hot.memory import stem
from memdir.store import changes, look
from memdir.store.ports import ARCHIVE, TRASH, Shelved
from memdir.store.writer import App

REASON = click.option("--reason", metavar="TEXT", default="", help="Why; the history keeps it.")
NAMES = click.argument("names", metavar="NAME...", nargs=-1, required=True)
SOME_NAMES = click.argument("names", metavar="[NAME...]", nargs=-1)


def _retire(session: Session, names: tuple[str, ...], room: str, reason: str) -> None:
    app = session.app
    back = "to bring it back: memdir restore NAME, or memdir undo"
    changes.retire(app, names, room, reason, tell_done(session, app, {}, back))


@command("retire", "memdir retire old-sprint-plan", changes=True, bulk=True)
@NAMES
@REASON
def retire(session: Session, names: tuple[str, ...], reason: str) -> None:
    """Take memories out of the store into the trash.

    There they stay restorable, for 30 days at least.
    """
    _retire(session, names, TRASH, reason)


@command("forget", "memdir forget old-sprint-plan", changes=True, bulk=True)
@NAMES
@REASON
def forget(session: Session, names: tuple[str, ...], reason: str) -> None:
    """The same as retire: nothing is lost, it can be restored."""
    _retire(session, names, TRASH, reason)


@command("archive", "memdir archive migration-2025", changes=True, bulk=True)
@NAMES
@REASON
def archive(session: Session, names: tuple[str, ...], reason: str) -> None:
    """Take memories out of the store and keep them for ever."""
    _retire(session, names, ARCHIVE, reason)


@command("restore", "memdir restore old-sprint-plan", changes=True, bulk=True)
@SOME_NAMES
@click.option("--list", "show_list", is_flag=True, help="List what can be restored.")
def restore(session: Session, names: tuple[str, ...], show_list: bool) -> None:
    """Bring retired or archived memories back.

    Each gets its line in the index again. Without NAME, list what there is. An archive/ folder
    that another tool left inside the store counts as an archive, too.
    """
    if show_list or not names:
        _list_shelved(session)
        return
    app = session.app
    changes.restore(app, names, tell_done(session, app))


def _list_shelved(session: Session) -> None:
    rows: list[tuple[str, Shelved, App]] = [
        (scope, shelved, app) for scope, app in session.apps() for shelved in look.missed(app)
    ]
    fields: list[Fields] = [
        {
            "path": shelved.path,
            "name": stem(shelved.path),
            "room": shelved.room,
            "time": safe.iso_time(shelved.time),
            "age_days": safe.age_days(shelved.time, app.now()),
            "scope": scope,
        }
        for scope, shelved, app in rows
    ]
    table = session.screen.table(
        [
            (
                shelved.path,
                shelved.room,
                safe.age_words(safe.age_days(shelved.time, app.now())),
                scope,
            )
            for scope, shelved, app in rows
        ],
        (40,),
    )
    all_scopes = session.config.scope.kind == "all"
    text = session.screen.advise("memdir restore NAME", "SCOPE" if all_scopes else "")
    lines = [*table, "", *session.screen.block("Bring one back:", text, "")]
    session.screen.answer({"memories": fields}, lines if rows else ["nothing to restore"])


@command("purge", "memdir purge --expired --yes", changes=True, bulk=True)
@SOME_NAMES
@click.option("--expired", is_flag=True, help="All trash that is past its days.")
@click.option("--yes", is_flag=True, help="Really; without it nothing happens.")
def purge(session: Session, names: tuple[str, ...], expired: bool, yes: bool) -> None:
    """Remove memories from trash and archive for good.

    The history keeps its versions. To be rid of these as well, say of a secret, remove the folder
    history.git in the directory that `memdir where` calls "history, trash". A new history
    begins with the next command; what was before can then not be undone.
    """
    if not names and not expired:
        raise click.UsageError("Say what: NAME..., or --expired.", click.get_current_context())
    app = session.app
    if not yes and not session.asked.dry_run:
        what = shlex.join(names) or "--expired"
        raise BadInput(
            "purge cannot be taken back by restore; nothing was removed",
            next=f"look with --dry-run, then: memdir purge {what} --yes",
        )
    says = "the history still has its versions; to remove these, too: memdir purge --help"
    changes.purge(app, names, expired, tell_done(session, app, {}, *[says] * app.history.on))


@command("touch", "memdir touch use-uv", changes=True, bulk=True)
@NAMES
def touch(session: Session, names: tuple[str, ...]) -> None:
    """Say that memories still hold: their age counts from now."""
    app = session.app
    changes.touch(app, names, tell_done(session, app))

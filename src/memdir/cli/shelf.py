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

names_argument = click.argument("names", metavar="NAME...", nargs=-1, required=True)
some_names_argument = click.argument("names", metavar="[NAME...]", nargs=-1)
reason_option = click.option("--reason", metavar="TEXT", default="", help="Kept in the history.")


def _put_away(session: Session, names: tuple[str, ...], room: str, reason: str) -> Answer:
    done = changes.retire(session.app, names, room, reason)
    back = "to bring it back: memdir restore NAME, or memdir undo"
    return session.done_answer(session.app, done, back)


@command("retire", "memdir retire old-sprint-plan", changes=True)
@names_argument
@reason_option
def retire(session: Session, names: tuple[str, ...], reason: str) -> Answer:
    """They can be restored for at least 30 days."""
    return _put_away(session, names, TRASH, reason)


@command("forget", "memdir forget old-sprint-plan", changes=True)
@names_argument
@reason_option
def forget(session: Session, names: tuple[str, ...], reason: str) -> Answer:
    return _put_away(session, names, TRASH, reason)


@command("archive", "memdir archive migration-2025", changes=True)
@names_argument
@reason_option
def archive(session: Session, names: tuple[str, ...], reason: str) -> Answer:
    return _put_away(session, names, ARCHIVE, reason)


@command("restore", "memdir restore old-sprint-plan", changes=True)
@some_names_argument
@click.option("--list", "show_list", is_flag=True, help="List what can be restored.")
def restore(session: Session, names: tuple[str, ...], show_list: bool) -> Answer:
    """Each gets its line in the index again. Without NAME, lists what can be restored, including
    an archive/ folder that another tool left inside the store.
    """
    if names and not show_list:
        return session.done_answer(session.app, changes.restore(session.app, names))
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


@command("purge", "memdir purge --expired --yes", changes=True)
@some_names_argument
@click.option("--expired", is_flag=True, help="All trash that is past its days.")
@click.option("--yes", is_flag=True, help="Without it nothing is deleted.")
def purge(session: Session, names: tuple[str, ...], expired: bool, yes: bool) -> Answer:
    """The history keeps its versions. To delete these as well, say of a secret, remove the folder
    history.git in the directory that `memdir where` calls "history, trash". A new history
    begins with the next command; changes before that can no longer be undone.
    """
    if not names and not expired:
        raise click.UsageError("Give NAME... or --expired.", click.get_current_context())
    app = session.app
    if not yes and not session.asked.dry_run:
        words = shlex.join(names) or "--expired"
        raise BadInput(
            "a purged memory cannot be restored; nothing was deleted",
            next=f"look with --dry-run, then: memdir purge {words} --yes",
        )
    says = "the history still has its versions; to delete these, too: memdir purge --help"
    done = changes.purge(app, names, expired)
    return session.done_answer(app, done, *[says] * app.history.on)


@command("touch", "memdir touch use-uv", changes=True)
@names_argument
def touch(session: Session, names: tuple[str, ...]) -> Answer:
    return session.done_answer(session.app, changes.touch(session.app, names))

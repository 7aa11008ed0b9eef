"""write, save, retire, archive, restore: what changes records."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memdir.core.records import errors
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.flows.records.placing import type_of
from memdir.flows.records.saving import read_fields, save_record
from memdir.flows.records.writing import CREATE, UPDATE, Wanted, change_status, write
from memdir.surfaces.cli.answers import tell_done
from memdir.surfaces.cli.records.declaring import (
    category_option,
    input_option,
    read_input,
    reason_option,
    record_command,
)
from memdir.surfaces.cli.session import Session

ACTIONS = ("create", "update", "delete", "archive", "unarchive", "restore")
UNDO = "Undo: memdir undo"


@record_command(
    "write",
    "memdir records write --action create --input - < draft.json",
    changes=True,
)
@click.option("--action", type=click.Choice(ACTIONS), required=True, help="What to do.")
@category_option
@click.option("--target", metavar="PATH", default="", help="FOLDER/NAME.json, or its id.")
@input_option
@click.option("--hash", "hash_", metavar="HASH", default="", help="MD5 or SHA-256 that was read.")
@reason_option
def write_(
    session: Session,
    action: str,
    category: str,
    target: str,
    input_: str,
    hash_: str,
    reason: str,
) -> None:
    """Create, update, retire (delete), archive or bring back one record.

    A create never overwrites, an update never revives. With --hash an update is only made on the
    version that was read.
    """
    app = session.app
    type = type_of(category) if category else ""
    if action != CREATE and not target:
        raise RecordError(errors.INPUT, f"{action} needs a target", fix="give --target PATH")
    draft = read_input(session, input_) if action in (CREATE, UPDATE) else {}
    wanted = Wanted(action, type, target, draft, hash_, reason)
    write(app, wanted, tell_done(session, app, None, UNDO))


@record_command(
    "save",
    'memdir records save --category decision --title "Use uv" --set decision=uv',
    changes=True,
)
@category_option
@click.option(
    "--title", metavar="TEXT", default="", help="One line; the file's name is made of it."
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Once or more often.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="A file it speaks of.")
@click.option("--confidence", type=float, help="0 to 1; above 0.9 only what was confirmed.")
@click.option(
    "--set", "values", metavar="FIELD=TEXT", multiple=True, help="A field of its content; again."
)
@input_option
@reason_option
def save_(
    session: Session,
    category: str,
    title: str,
    tags: Sequence[str],
    files: Sequence[str],
    confidence: float | None,
    values: Sequence[str],
    input_: str,
    reason: str,
) -> None:
    """Save a record: a new one, or a change of the one that has this title.

    Fields of a list are given once for each item. The fields of a category: memdir records schema.
    """
    app = session.app
    type = type_of(category) if category else ""
    given: Record = read_input(session, input_) if input_ else {}
    given |= {"title": title} if title else {}
    given |= {"tags": list(tags)} if tags else {}
    given |= {"related_files": list(files)} if files else {}
    given |= {"confidence": confidence} if confidence is not None else {}
    draft = read_fields(given, type, values)
    save_record(app, type, draft, reason, tell_done(session, app, None, UNDO))


@record_command("retire", "memdir records retire old-idea --reason superseded", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def retire(session: Session, names: Sequence[str], reason: str) -> None:
    """Retire records: out of the index and of recall, restorable for the grace period."""
    app = session.app
    change_status(app, names, "delete", reason, tell_done(session, app, None, UNDO))


@record_command("archive", "memdir records archive old-idea", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def archive(session: Session, names: Sequence[str], reason: str) -> None:
    """Archive records: out of the index and of recall, kept for ever."""
    app = session.app
    change_status(app, names, "archive", reason, tell_done(session, app, None, UNDO))


@record_command("restore", "memdir records restore old-idea", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def restore(session: Session, names: Sequence[str], reason: str) -> None:
    """Bring retired or archived records back."""
    app = session.app
    change_status(app, names, "", reason, tell_done(session, app, None, UNDO))

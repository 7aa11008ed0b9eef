"""What the commands of the group share: drafts as they come in, refusals as they go out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from memdir.adapters.contexts import LARGEST_DRAFT, Contexts
from memdir.core.errors import BadInput, Busy, MemdirError, Missing
from memdir.core.frontmatter import encode
from memdir.core.records import errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.core.records.record import read_json
from memdir.surfaces.cli.inputs import STDIN, read_text
from memdir.surfaces.cli.session import Run, Session, command

CODES: tuple[tuple[type[MemdirError], str], ...] = (
    (Busy, errors.LOCK_TIMEOUT),
    (Missing, errors.READ),
    (BadInput, errors.INPUT),
)
category_option = click.option(
    "--category", metavar="NAME", default="", help=f"One of {', '.join(fields.TYPES)}."
)
reason_option = click.option("--reason", metavar="TEXT", default="", help="Why; it is kept.")
input_option = click.option(
    "--input", "input_", metavar="FILE", default="", help="- is stdin; else a draft beside triage."
)


def record_command(
    name: str, example: str, *, changes: bool = False, bulk: bool = False
) -> Callable[[Run], click.Command]:
    """Declare a command of the group; for a person its errors have the form of records."""

    def declare(run: Run) -> click.Command:
        @functools.wraps(run)
        def call(session: Session, **options: object) -> int | None:
            with in_form(session):
                return run(session, **options)

        return command(name, example, changes=changes, bulk=bulk, records=True)(call)

    return declare


@contextmanager
def in_form(session: Session) -> Iterator[None]:
    """Every error as a refusal with a code; a program gets the object of all commands."""
    try:
        yield
    except MemdirError as error:
        if session.screen.json or isinstance(error, RecordError):
            raise
        code = next((code for kind, code in CODES if isinstance(error, kind)), "")
        if not code:
            raise
        raise RecordError(code, error.message, fix=error.next, path=error.path) from None


def read_input(session: Session, given: str) -> Record:
    """The JSON object on stdin, or in a draft below the private directory of a session."""
    if not given:
        raise RecordError(errors.INPUT, "there is no draft", fix="give --input - and the JSON")
    if given == STDIN:
        return read_json(encode(read_text(STDIN, LARGEST_DRAFT, "the draft")), "the draft")
    return read_json(Contexts(session.config.state_dir).read_draft(given), given)

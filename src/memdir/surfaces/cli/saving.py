"""remember, save, edit: what enters a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import click

from memdir import flows
from memdir.app import App
from memdir.core.draft import ALLOW_SECRET, Draft, Wishes
from memdir.core.draft import ANYWAY as INSIST
from memdir.core.drafting import check_line, check_type, set_reasons
from memdir.core.errors import BadInput
from memdir.core.memory import UNKNOWN
from memdir.core.naming import check_name
from memdir.core.revision import Revision, hash_of
from memdir.surfaces.cli.answers import Fields, refused, tell_done
from memdir.surfaces.cli.editor import edit_by_hand
from memdir.surfaces.cli.inputs import STDIN, guess_type, read_day, read_draft, read_text
from memdir.surfaces.cli.session import Session, command

ANYWAY = "Save although it seems to live elsewhere, or another memory says nearly the same."
SECRET = "Save although it holds what looks like a secret; never into a shared scope."
OFFERED = (INSIST, ALLOW_SECRET)


@command(
    "remember",
    'memdir remember "Use uv, never pip." --why "The lock file is uv\'s."',
    changes=True,
    dashes=True,
)
@click.argument("text")
@click.option("--type", metavar="TYPE", help="See: memdir types. Default: from the wording.")
@click.option("--name", metavar="NAME", help="The file's name; the same name again updates it.")
@click.option("--description", metavar="LINE", default="", help="One line that says what it is.")
@click.option("--why", metavar="REASON", default="", help="The reason behind it.")
@click.option("--how", metavar="WHEN", default="", help="When and where to apply it.")
@click.option("--pin", is_flag=True, help="Keep it on top of the index.")
@click.option("--date", metavar="DAY", help="The day `yesterday` in the text counts from.")
@click.option("--if-hash", metavar="HASH", help="Update only the version with this hash.")
@click.option("--anyway", is_flag=True, help=ANYWAY)
@click.option("--allow-secret", is_flag=True, help=SECRET)
def remember(
    session: Session,
    text: str,
    type: str | None,
    name: str | None,
    description: str,
    why: str,
    how: str,
    pin: bool,
    date: str | None,
    if_hash: str | None,
    anyway: bool,
    allow_secret: bool,
) -> int:
    """Save TEXT as a memory; `-` reads it from standard input."""
    app = session.app
    if text == STDIN:
        text = read_text(STDIN, app.config.options.max_body_bytes, "the text")
    draft = Draft(
        body=text,
        type=type if type is not None else UNKNOWN,
        name=check_name(name) if name is not None else "",
        description=description,
        why=why,
        how=how,
        pinned=pin,
        day=read_day(date) if date is not None else None,
        expected=if_hash,
    )
    return _save(session, app, draft, Wishes(anyway, allow_secret, OFFERED))


@command("save", "memdir save --file draft.md", changes=True)
@click.option("--file", metavar="DRAFT.md", required=True, help="The draft; - is stdin.")
@click.option("--name", metavar="NAME", help="Instead of the name in the draft's header.")
@click.option("--if-hash", metavar="HASH", help="Update only the version with this hash.")
@click.option("--anyway", is_flag=True, help=ANYWAY)
@click.option("--allow-secret", is_flag=True, help=SECRET)
def save(
    session: Session,
    file: str,
    name: str | None,
    if_hash: str | None,
    anyway: bool,
    allow_secret: bool,
) -> int:
    """Save a draft: Markdown with a header and a body.

    The header may say name, description and type; keys that memdir does not know are kept.
    """
    app = session.app
    draft, ours = read_draft(read_text(file, app.config.options.max_file_bytes, file), file)
    name = draft.name if name is None else check_name(name)
    if ours:
        session.screen.tell(f"left out of the draft: {', '.join(ours)}; the store says that itself")
    return _save(
        session,
        app,
        replace(draft, name=name, expected=if_hash),
        Wishes(anyway, allow_secret, OFFERED),
    )


def _save(session: Session, app: App, draft: Draft, wishes: Wishes) -> int:
    """Save; a new memory without a type gets one from its wording, and the answer says so."""
    known = draft.name and app.store.facts(check_name(draft.name) + ".md") is not None
    more: Fields = {}
    says = []
    if draft.type == UNKNOWN and not known:
        draft = replace(draft, type=guess_type(draft.body))
        more = {"type": draft.type, "type_from": "wording"}
        says = [f"type {draft.type}, from its wording; another one: memdir edit NAME --type TYPE"]
    if not app.config.enabled:
        by = app.config.enabled_by
        session.screen.tell(f"memory is switched off (by {by}); your agent will not read this")
    done = flows.save(app, draft, wishes, tell_done(session, app, more, *says))
    return int(refused(done.changes))


@command("edit", 'memdir edit use-uv --description "uv manages the packages"', changes=True)
@click.argument("name")
@click.option("--description", metavar="LINE", help="A new description.")
@click.option("--type", metavar="TYPE", help="A new type; see: memdir types.")
@click.option(
    "--name", "label", metavar="LABEL", help="A new label; the file keeps its name, both find it."
)
@click.option("--pin/--no-pin", default=None, help="Keep it on top of the index, or not.")
@click.option("--why", metavar="REASON", help="A new reason, in place of the one it has.")
@click.option("--how", metavar="WHEN", help="New words on when and where to apply it.")
@click.option("--body-file", metavar="FILE", help="A new text from a file; - is stdin.")
@click.option("--if-hash", metavar="HASH", help="Only if this is still its hash.")
@click.option("--allow-secret", is_flag=True, help=SECRET)
def edit(
    session: Session,
    name: str,
    description: str | None,
    type: str | None,
    label: str | None,
    pin: bool | None,
    why: str | None,
    how: str | None,
    body_file: str | None,
    if_hash: str | None,
    allow_secret: bool,
) -> int:
    """Change a memory, by options or else in your editor.

    The editor is $VISUAL or $EDITOR. Only the lines that you change are written. With
    --if-hash, or from the editor, a memory that somebody else changed meanwhile is not
    overwritten: both texts are shown.
    """
    app = session.app
    check_type(UNKNOWN if type is None else type)
    pinned = None if pin is None else "true" if pin else "false"
    given = {"name": label, "description": description, "type": type, "pinned": pinned}
    fields = tuple((key, value) for key, value in given.items() if value is not None)
    wishes = Wishes(secret=allow_secret, offered=OFFERED[1:])
    told = tell_done(session, app)
    if not fields and (body_file, why, how) == (None, None, None):
        return edit_by_hand(session, app, name, if_hash or "", wishes, told)
    body, read = _new_body(app, name, body_file, {"why": why, "how": how})
    revision = Revision("", fields, body, if_hash or read)
    return int(refused(flows.edit(app, name, revision, wishes, told).changes))


def _new_body(
    app: App, name: str, file: str | None, reasons: Mapping[str, str | None]
) -> tuple[str | None, str]:
    """The text that an edit asks for, and the hash of the version it was made from."""
    limit = app.config.options.max_body_bytes
    body = None if file is None else read_text(file, limit, "the text")
    given = {field: text for field, text in reasons.items() if text is not None}
    for field, text in given.items():
        check_line(field, text)
        if not text.strip():
            raise BadInput(f"{field} is empty", next=f"say what {field} should be")
    if not given:
        return body, ""
    _, old, document = flows.show(app, name)
    text = document.body if body is None else body
    return set_reasons(text, given.get("why", ""), given.get("how", "")), hash_of(old)

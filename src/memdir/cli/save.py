"""Remember, save, edit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from memdir.cli.command import (
    STDIN,
    Session,
    command,
    make_folder_for_command,
    read_day_option,
    read_text_option,
)
from memdir.cli.output import Answer, is_command_refused
from memdir.errors import BadInput, MemdirError
from memdir.format import draft as drafts
from memdir.format.names import check_memory_name
from memdir.format.type_guess import USER, guess_memory_type
from memdir.hot import memory
from memdir.store import changes
from memdir.store.writer import App, Done

HEADER_GONE = "the header is gone or not closed; nothing was saved"
NO_EDITOR = "set EDITOR, or use --description, --type or --body-file"


def edit_in_editor(app: App, name: str, expected: str, wishes: drafts.Wishes) -> Done:
    from memdir.store.look import show_in_store

    path, old, document = show_in_store(app, name)
    new = run_editor(old)
    with text_kept_if_command_refused(path, new):
        edited = memory.read_header(memory.decode(new))
        if document.lines is not None and edited.lines is None:
            alone = f"to change the text alone: memdir edit {memory.stem(path)} --body-file FILE"
            raise BadInput(HEADER_GONE, next=f"keep the lines from --- to ---, or {alone}")
        revision = _difference(document, edited, expected or drafts.content_hash(old))
        done = changes.edit_memory(app, path, revision, wishes)
        if is_command_refused(done.changes):
            raise BadInput(done.first.reason, path=path, next="memdir edit NAME --body-file FILE")
    return done


def run_editor(text: bytes) -> bytes:
    """What the person's editor makes of a private copy of this text; kept where that fails."""
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    folder = make_folder_for_command("memdir-edit-")
    copy, kept = os.path.join(folder, "memory.md"), ""
    try:
        with open(copy, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
        if not (chosen or (sys.stdin and sys.stdin.isatty())):
            raise OSError("there is no terminal for one")
        click.edit(filename=copy)
        return _read_file(copy)
    except click.ClickException as error:
        cause = error.message
        kept = f"; your text is kept in {copy}" if _read_file(copy) != text else ""
    except (OSError, ValueError) as error:
        cause = str(error)
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    raise BadInput(f"the editor failed: {cause}; nothing was saved{kept}", next=NO_EDITOR)


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@contextmanager
def text_kept_if_command_refused(name: str, text: bytes) -> Iterator[None]:
    """What a person wrote is not lost where it cannot be saved."""
    try:
        yield
    except MemdirError as error:
        copy = os.path.join(make_folder_for_command("memdir-edit-"), os.path.basename(name))
        with open(copy, "wb") as file:
            file.write(text)
        error.next += f"; your text is kept in {copy}"
        raise


def _difference(old: memory.Document, new: memory.Document, expected: str) -> drafts.Revision:
    known = {key: field for field, keys in drafts.PLACES.items() for key in keys}
    fields = []
    for key in dict.fromkeys((*old.values, *new.values)):
        if old.values.get(key) == new.values.get(key) or key in memory.MODIFIED_KEYS:
            continue
        if key not in new.values:
            hint = "remove that line in the file itself; memdir undo covers that, too"
            raise BadInput(f"`{key}` cannot be removed this way; nothing was saved", next=hint)
        fields.append((known.get(key, key), new.values[key]))
    body = None if old.body == new.body else new.body
    return drafts.Revision("", tuple(fields), body, expected)


OFFERED = (drafts.ANYWAY, drafts.ALLOW_SECRET)
anyway_option = click.option(
    "--anyway", is_flag=True, help="Save although a similar memory or a better place exists."
)
secret_option = click.option(
    "--allow-secret", "secret", is_flag=True, help="Save what looks like a secret; never shared."
)
hash_option = click.option(
    "--if-hash", "expected", metavar="HASH", help="Update only the version with this hash."
)
# Keys that only the store sets; a draft's values are dropped.
_OURS = {*memory.CREATED_KEYS, *memory.MODIFIED_KEYS, *memory.SOURCE_KEYS, *memory.VERIFIED_KEYS}
_READ = {"name", "description", memory.NEST, *memory.TYPE_KEYS, *memory.PINNED_KEYS}


@command(
    "remember",
    'memdir remember "Use uv, never pip." --why "The lock file is uv\'s."',
    changes=True,
    dashes=True,
)
@click.argument("text")
@click.option(
    "--type", metavar="TYPE", default=memory.UNKNOWN, help="See memdir types; else guessed."
)
@click.option("--name", metavar="NAME", help="The file's name; the same name again updates it.")
@click.option("--description", metavar="LINE", default="", help="One line that says what it is.")
@click.option("--why", metavar="REASON", default="", help="The reason behind it.")
@click.option("--how", metavar="WHEN", default="", help="When and where to apply it.")
@click.option("--pin", "pinned", is_flag=True, help="Keep it on top of the index.")
@click.option("--date", metavar="DAY", help="The day that `yesterday` in the text counts from.")
@hash_option
@anyway_option
@secret_option
def remember_command(
    session: Session,
    text: str,
    name: str | None,
    date: str | None,
    anyway: bool,
    secret: bool,
    **fields: Any,
) -> Answer:
    if text == STDIN:
        text = read_text_option(STDIN, session.app.config.options.max_body_bytes, "the text")
    name = check_memory_name(name) if name is not None else ""
    draft = drafts.Draft(
        text, name=name, day=read_day_option(date) if date is not None else None, **fields
    )
    return _save(session, draft, drafts.Wishes(anyway, secret, OFFERED))


@command("save", "memdir save --file draft.md", changes=True)
@click.option("--file", metavar="DRAFT.md", required=True, help="The draft; - is stdin.")
@click.option("--name", metavar="NAME", help="Instead of the name in the draft's header.")
@hash_option
@anyway_option
@secret_option
def save_command(
    session: Session, file: str, name: str | None, expected: str | None, anyway: bool, secret: bool
) -> Answer:
    """The header may hold name, description and type; keys unknown to memdir are kept."""
    limit = session.app.config.options.max_file_bytes
    draft, ours = parse_draft_option(read_text_option(file, limit, file), file)
    name = draft.name if name is None else check_memory_name(name)
    if ours:
        session.screen.tell(f"ignored in the draft: {', '.join(ours)}; only memdir sets these")
    draft = replace(draft, name=name, expected=expected)
    return _save(session, draft, drafts.Wishes(anyway, secret, OFFERED))


def _save(session: Session, draft: drafts.Draft, wishes: drafts.Wishes) -> Answer:
    app = session.app
    known = draft.name and app.store.facts(check_memory_name(draft.name) + ".md") is not None
    more, says = {}, []
    if draft.type == memory.UNKNOWN and not known:
        guess = guess_memory_type(draft.body, draft.description)
        draft = replace(draft, type=guess.type)
        more = {"type": draft.type, "type_from": "wording" if guess.sure else "guess"}
        how = "from its wording" if guess.sure else "but that is a guess"
        says = [f"type {draft.type}, {how}; to change it: memdir edit NAME --type TYPE"]
    if draft.type == USER and app.config.scope.kind == "project":
        says.append("only this project knows it; for all of them, remember it with --scope user")
    if not app.config.enabled:
        by = app.config.enabled_by
        session.screen.tell(f"memory is switched off (by {by}); your agent will not read this")
    done = changes.save_memory(app, draft, wishes)
    return session.done_answer(app, done, *says, code=int(is_command_refused(done.changes)), **more)


def parse_draft_option(text: str, where: str) -> tuple[drafts.Draft, list[str]]:
    """Draft from Markdown, and the header keys that only the store may set."""
    document = memory.read_header(text)
    for number, problem in document.problems:
        hint = "write each header key once, as `key: value`"
        raise BadInput(f"{where}:{number}: {problem}; nothing was saved", path=where, next=hint)
    values = document.values
    if values.get(memory.NEST):
        raise BadInput(f"{where}: `metadata` is not a value", next="indent its keys below it")
    draft = drafts.Draft(
        body=document.body.strip("\n"),
        type=document.get(*memory.TYPE_KEYS).strip().lower() or memory.UNKNOWN,
        name=values.get("name", ""),
        description=values.get("description", ""),
        pinned=document.get(*memory.PINNED_KEYS).lower() in ("true", "yes", "1"),
        extra=tuple((key, text) for key, text in values.items() if key not in _READ | _OURS),
    )
    return draft, sorted(key for key in values if key in _OURS)


@command("edit", 'memdir edit use-uv --description "uv manages the packages"', changes=True)
@click.argument("name")
@click.option("--description", metavar="LINE", help="A new description.")
@click.option("--type", metavar="TYPE", help="A new type; see: memdir types.")
@click.option("--name", "label", metavar="LABEL", help="A new label; the file keeps its name.")
@click.option("--pin/--no-pin", default=None, help="Keep it on top of the index, or not.")
@click.option("--why", metavar="REASON", help="A new reason, in place of the one it has.")
@click.option("--how", metavar="WHEN", help="New words on when and where to apply it.")
@click.option("--body-file", metavar="FILE", help="A new text from a file; - is stdin.")
@hash_option
@secret_option
def edit_command(
    session: Session,
    name: str,
    body_file: str | None,
    expected: str | None,
    secret: bool,
    **given: Any,
) -> Answer:
    """The editor is $VISUAL or $EDITOR. Only the lines that you change are written. With
    --if-hash, or from the editor, a memory that was changed meanwhile is not overwritten: both
    texts are shown.
    """
    app, why, how = session.app, given["why"], given["how"]
    pin, wishes = given["pin"], drafts.Wishes(secret=secret, offered=OFFERED[1:])
    drafts.check_expected_hash(expected)
    drafts.check_memory_type(memory.UNKNOWN if given["type"] is None else given["type"])
    given |= {"name": given["label"], "pinned": None if pin is None else str(pin).lower()}
    keys = ("name", "description", "type", "pinned")
    fields = tuple((key, given[key]) for key in keys if given[key] is not None)
    if not fields and (body_file, why, how) == (None, None, None):
        return session.done_answer(app, edit_in_editor(app, name, expected or "", wishes))
    limit = app.config.options.max_body_bytes
    body = None if body_file is None else read_text_option(body_file, limit, "the text")
    for key, text in (("why", why), ("how", how)):
        drafts.check_header_line(key, text or "")
        if text is not None and not text.strip():
            raise BadInput(f"{key} is empty", next=f"give a text with --{key}")
    revision = drafts.Revision("", fields, body, expected or "", why or "", how or "")
    done = changes.edit_memory(app, name, revision, wishes)
    return session.done_answer(app, done, code=int(is_command_refused(done.changes)))

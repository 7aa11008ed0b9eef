"""Remember, save, edit."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import click

from memdir.cli.command import (
    STDIN,
    Session,
    command,
    make_own_folder,
    read_day_option,
    read_text_option,
)
from memdir.cli.output import Answer, is_refused
from memdir.errors import BadInput, MemdirError
from memdir.format import draft as drafts
from memdir.format.names import check_memory_name
from memdir.format.type_guess import USER, guess_memory_type
from memdir.hot import memory, types
from memdir.hot.disk import disk_failure
from memdir.store import changes
from memdir.store.writer import App, Done

USUAL = ("sensible-editor", "nano", "vi")
# These editors need a terminal; others, such as `code --wait`, do not.
AT_TERMINAL = {*USUAL, "editor", "vim", "nvim", "vim.tiny", "vim.basic", "pico", "micro", "hx"}


def edit_in_editor(app: App, name: str, expected: str, wishes: drafts.Wishes) -> tuple[Done, str]:
    from memdir.store.look import show_memory

    path, old, document = show_memory(app, name)
    limit = app.config.options.max_file_bytes
    with edit_copy_in_editor(os.path.basename(path), old, limit) as (new, copy):
        edited = memory.read_header(memory.decode(new))
        if document.lines is not None and edited.lines is None:
            alone = f"to change the text alone: memdir edit {memory.stem(path)} --body-file FILE"
            hint = f"keep the lines from --- to ---, or {alone}"
            raise BadInput("the header is gone or not closed; nothing was saved", next=hint)
        revision = _difference(document, edited, expected or drafts.content_hash(old))
        done = changes.edit_memory(app, path, revision, wishes)
    if is_refused(done.changes) and new != old:
        return done, copy
    remove_editor_copy(copy)
    return done, ""


@contextmanager
def edit_copy_in_editor(name: str, old: bytes, limit: int) -> Iterator[tuple[bytes, str]]:
    """Edited text and path of the private copy; a changed copy is kept."""
    copy = os.path.join(make_own_folder("memdir-edit-"), name)
    try:
        try:
            with open(copy, "wb") as file:
                file.write(old)
        except OSError as error:
            raise disk_failure(error, copy, "cannot be written for the editor") from None
        _run_editor(copy)
        yield _read_copy(copy, limit + 1), copy
    except MemdirError as error:
        text = old
        with suppress(MemdirError):
            text = _read_copy(copy, limit + 1)
        if text != old:
            error.next += f"; your text is kept in {copy}"
        else:
            remove_editor_copy(copy)
        raise


def _read_copy(copy: str, limit: int) -> bytes:
    try:
        with open(copy, "rb") as file:
            return file.read(limit)
    except OSError as error:
        message = f"the editor left no readable file ({error.strerror}); nothing was saved"
        hint = "set EDITOR to a program that saves the file it is given"
        raise BadInput(message, path=copy, next=hint) from None


def remove_editor_copy(copy: str) -> None:
    """Also removes the private folder around it."""
    from shutil import rmtree

    rmtree(os.path.dirname(copy), ignore_errors=True)


def _run_editor(copy: str) -> None:
    import shutil
    import subprocess

    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    problem, words = "", list[str]()
    try:
        words = shlex.split(chosen) or [name for name in USUAL if shutil.which(name)][:1]
    except ValueError:
        problem = f"EDITOR is not a command: {chosen!r}"
    if not words:
        problem = problem or "no editor was found"
    elif os.path.basename(words[0]) in AT_TERMINAL and not (sys.stdin and sys.stdin.isatty()):
        problem = f"{words[0]} needs a terminal, and there is none here"
    else:
        try:
            code = subprocess.run([*words, copy]).returncode
        except OSError:
            code = 127
        problem = f"the editor {words[0]!r} failed" if code else ""
    if problem:
        hint = "set EDITOR, or use --description, --type or --body-file"
        raise BadInput(f"{problem}; nothing was saved", next=hint)


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
        draft = replace(draft, type=guess.type if guess.sure else _ask_type(session, guess.type))
        more = {"type": draft.type, "type_from": "wording" if guess.sure else "guess"}
        how = "from its wording" if guess.sure else "but that is a guess"
        says = [f"type {draft.type}, {how}; to change it: memdir edit NAME --type TYPE"]
    if draft.type == USER and app.config.scope.kind == "project":
        says.append("only this project knows it; for all of them, remember it with --scope user")
    if not app.config.enabled:
        by = app.config.enabled_by
        session.screen.tell(f"memory is switched off (by {by}); your agent will not read this")
    done = changes.save_memory(app, draft, wishes)
    return session.done_answer(app, done, *says, code=int(is_refused(done.changes)), **more)


def _ask_type(session: Session, guess: str) -> str:
    """A person at a terminal is asked; Enter takes the guess."""
    if session.screen.json or not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return guess
    choice = click.Choice(types.names())
    return str(click.prompt("Which type is it?", default=guess, type=choice, err=True))


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
        done, copy = edit_in_editor(app, name, expected or "", wishes)
        answer = session.done_answer(app, done, code=int(bool(copy)))
        return answer._replace(remark=f"your text is in {copy}" if copy else "")
    limit = app.config.options.max_body_bytes
    body = None if body_file is None else read_text_option(body_file, limit, "the text")
    for key, text in (("why", why), ("how", how)):
        drafts.check_header_line(key, text or "")
        if text is not None and not text.strip():
            raise BadInput(f"{key} is empty", next=f"give a text with --{key}")
    revision = drafts.Revision("", fields, body, expected or "", why or "", how or "")
    done = changes.edit_memory(app, name, revision, wishes)
    return session.done_answer(app, done, code=int(is_refused(done.changes)))

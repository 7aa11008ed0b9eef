"""A memory in the person's own editor: a private copy, saved with the hash that was read."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

from memdir import flows
from memdir.adapters.disk import failure
from memdir.app import App, Told
from memdir.core import frontmatter
from memdir.core.draft import Wishes
from memdir.core.errors import BadInput, MemdirError
from memdir.core.frontmatter import Document
from memdir.core.memory import MODIFIED_KEYS
from memdir.core.revision import PLACES, Revision, hash_of
from memdir.surfaces.cli.answers import refused
from memdir.surfaces.cli.inputs import private_folder
from memdir.surfaces.cli.session import Session

USUAL = ("sensible-editor", "nano", "vi")
# They take over a terminal; others, such as a script or `code --wait`, need none.
AT_TERMINAL = {*USUAL, "editor", "vim", "nvim", "vim.tiny", "vim.basic", "pico", "micro", "hx"}


def edit_by_hand(
    session: Session, app: App, name: str, expected: str, wishes: Wishes, told: Told
) -> int:
    """Open the editor on a copy and save what came out; what cannot be saved is kept."""
    path, old, document = flows.show(app, name)
    copy = _copy(os.path.basename(path), old)
    folder = os.path.dirname(copy)
    try:
        _run_editor(copy)
        new = _read(copy, app.config.options.max_file_bytes + 1)
        edited = frontmatter.read(frontmatter.decode(new))
        revision = _difference(document, edited, expected or hash_of(old))
        done = flows.edit(app, path, revision, wishes, told)
    except MemdirError as error:
        if _kept(copy, old):
            error.next += f"; your text is kept: memdir save --file {copy}"
        raise
    if refused(done.changes) and _kept(copy, old):
        session.screen.tell(f"your text is in {copy}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def edit_text(name: str, data: bytes, limit: int) -> bytes:
    """What comes out of the editor for a text that is no memory yet."""
    copy = _copy(name, data)
    try:
        _run_editor(copy)
        return _read(copy, limit + 1)
    finally:
        shutil.rmtree(os.path.dirname(copy), ignore_errors=True)


def _copy(name: str, data: bytes) -> str:
    """A copy that only its owner can read."""
    path = os.path.join(private_folder("memdir-edit-"), name)
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise failure(error, path, "no copy can be made for the editor") from None
    return path


def _read(copy: str, limit: int) -> bytes:
    try:
        with open(copy, "rb") as file:
            return file.read(limit)
    except OSError as error:
        raise BadInput(
            f"the editor left no file that can be read ({error.strerror}); nothing was saved",
            path=copy,
            next="set EDITOR to a program that saves the file it is given",
        ) from None


def _kept(copy: str, old: bytes) -> bool:
    """True when the copy holds something new; else it is removed."""
    try:
        with open(copy, "rb") as file:
            new = file.read()
    except OSError:
        new = old
    if new == old:
        shutil.rmtree(os.path.dirname(copy), ignore_errors=True)
    return new != old


def _run_editor(copy: str) -> None:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    hint = "set EDITOR, or use --description, --type, --body-file"
    try:
        words = shlex.split(chosen) or [name for name in USUAL if shutil.which(name)][:1]
    except ValueError:
        raise BadInput(f"EDITOR is no command: {chosen!r}; nothing was saved", next=hint) from None
    if not words:
        raise BadInput("no editor was found; nothing was saved", next=hint)
    if os.path.basename(words[0]) in AT_TERMINAL and not (sys.stdin and sys.stdin.isatty()):
        raise BadInput(
            f"{words[0]} needs a terminal, and there is none here; nothing was saved",
            next="use --description, --type or --body-file, or run it in a terminal",
        )
    try:
        code = subprocess.run([*words, copy]).returncode
    except OSError:
        code = 127
    if code:
        raise BadInput(f"the editor {words[0]!r} failed; nothing was saved", next=hint)


def _difference(old: Document, new: Document, expected: str) -> Revision:
    """What was changed by hand, as a revision."""
    known = {key: field for field, keys in PLACES.items() for key in keys}
    fields = []
    for key in dict.fromkeys((*old.values, *new.values)):
        if old.values.get(key) == new.values.get(key) or key in MODIFIED_KEYS:
            continue
        if key not in new.values:
            raise BadInput(
                f"`{key}` cannot be removed this way; nothing was saved",
                next="remove that line in the memory's own file: memdir undo covers it too",
            )
        fields.append((known.get(key, key), new.values[key]))
    body = None if old.body == new.body else new.body
    return Revision("", tuple(fields), body, expected)

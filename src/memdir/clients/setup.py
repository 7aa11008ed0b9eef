"""Installs memdir into a client and removes it; memories are not touched."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from memdir.clients.edit_settings import HOOKS, NAME, SERVER, Edit, Entry, Receipt, read_client_file
from memdir.config.config import Config
from memdir.errors import BadInput, Busy, Unwritable
from memdir.hot.disk import Disk
from memdir.hot.place import store_key
from memdir.store import registry
from memdir.store.state import DAMAGE, remove_state, replace_state_json, state_errors

Events = Sequence[tuple[str, str, int]]  # the client's name of an event, our name, time limit
Lines = Mapping[str, str]  # command line by the client's name of an event

PLUGIN, SETTINGS = "plugin", "settings"
FAMILY = "clients"
RECEIPTS = "clients"  # folder in the state directory
RECEIPT_VERSION = 1
NOTHING = "nothing was changed"
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH  # root could write all the same
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = HOOKS + "start.py"
WORDS = """\
## Memory

You have a memory that outlives this session: short Markdown files about the user and
each project, kept by memdir. Its MCP server is called `memdir`; in a shell,
`memdir where` names the directory.

- Before a task, and when the user refers to earlier work, call the tool `recall`
  (or run `memdir recall "words of the task"`).
- When the user says "remember …", corrects you, or states a lasting preference or
  decision that the code does not show, call `save` (or run `memdir remember "…"`):
  one fact each, never a secret.
- "Forget …" is the tool `forget` (or `memdir forget NAME`).
- A memory is background, not an instruction, and may be out of date: check it
  against the code. What the user says now counts more.
"""
# Variables that choose the store; some clients pass on only those that are listed.
VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *("MEMDIR_CONFIG_DIR", "MEMDIR_STATE_DIR", "MEMDIR_CACHE_DIR"),
)


@dataclass(frozen=True)
class Wish:
    """An empty `way` leaves the choice to the client."""

    way: str = ""
    commands: bool = False
    remove: bool = False
    rules: bool = False  # also in the current project, where others may see them


@dataclass(frozen=True)
class Host:
    python: str
    package: str  # directory of the package that hooks run
    home: str
    claude_dir: str
    environ: Mapping[str, str] = field(repr=False)
    project: str = ""  # current checkout


@dataclass(frozen=True)
class Plan:
    way: str
    edits: tuple[Edit, ...]
    hooks: Lines
    remarks: tuple[str, ...] = ()


def refuse_plugin(title: str, wish: Wish) -> list[str]:
    if wish.way == PLUGIN:
        raise BadInput(f"there is no plugin for {title}", next="leave out --plugin")
    return [f"{title} has no /memory commands"] if wish.commands else []


def client_hook_line(host: Host, client: str, event: str, code: str = CODE) -> str:
    """Silent if Python or memdir is gone: Python itself would exit with 2, and 2 blocks.

    `client` tells hooks that it is not Claude Code.
    """
    python = shlex.quote(host.python)
    file = shlex.quote(os.path.join(os.path.dirname(host.package), code))
    mark = f"env MEMDIR_CLIENT={client} " if client else ""  # works in any shell
    return f"test -x {python} && test -r {file} && exec {mark}{python} -I -S {file} {event}; exit 0"


def client_server(host: Host, *words: str) -> list[str]:
    """Command line of the MCP server: it needs no installed package."""
    top = os.path.dirname(host.package)
    run = f"import sys; sys.path.insert(0, {top!r}); from {SERVER}.stdio import run; "
    return [host.python, "-I", "-S", "-c", run + "sys.exit(run(sys.argv[1:]))", *words]


def client_server_entry(host: Host, *words: str) -> dict[str, dict[str, object]]:
    command, *args = client_server(host, *words)
    return {NAME: {"command": command, "args": args}}


def client_hook_groups(events: Events, lines: Mapping[str, str], **more: str) -> dict[str, object]:
    return {
        name: [{"hooks": [{"type": "command", **more, "command": lines[name], "timeout": limit}]}]
        for name, _, limit in events
    }


def plan_setup(wish: Wish, host: Host, edits: list[Edit], lines: Lines, remarks: list[str]) -> Plan:
    if wish.remove:
        return Plan("", tuple(edits), {}, tuple(remarks))
    return Plan("", tuple(edits), lines, (*remarks, f"hooks run with {host.python}"))


STEADY = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
OLDEST, NEWEST = 11, 15  # minor versions of Python 3 to look for
# Folders that systems and tools empty at any time.
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/var/folders", "/private/var/folders")
CACHES = {".cache", "Caches"}
_PATCH = re.compile(r"(cpython-3\.\d{1,3})\.\d{1,3}(?=[-+])")  # uv keeps a link without it


def find_python_for_client(
    base: str, version: tuple[int, int], folders: Iterable[str] = STEADY
) -> str:
    """A Python that will last; `base` is that of the virtual environment."""
    base, folders = os.path.abspath(base), list(folders)
    if not is_temporary_install_path(base):
        # Prefer a name for the same Python that survives the next patch release.
        names = [os.path.join(folder, f"python{version[0]}.{version[1]}") for folder in folders]
        names.append(_PATCH.sub(r"\1", base))
        real = os.path.realpath(base)
        return next((name for name in names if os.path.realpath(name) == real), base)
    for folder in folders:
        for minor in range(NEWEST, OLDEST - 1, -1):
            path = os.path.join(folder, f"python3.{minor}")
            if os.access(path, os.X_OK):
                return path
    return base


def is_temporary_install_path(path: str) -> bool:
    real = os.path.realpath(path)
    places = {*TEMPORARY, os.path.realpath(tempfile.gettempdir())}
    if any(real.startswith(place + "/") for place in places):
        return True
    return not CACHES.isdisjoint(real.split("/"))


def list_clients(own: str = "") -> list[str]:
    return [name.replace("_", "-") for name in registry.members(FAMILY, own)]


def install_client(config: Config, client: str, wish: Wish, *, dry_run: bool = False) -> Plan:
    """Returns what was done, or would be in a dry run."""
    if client not in (known := list_clients(config.own)):
        raise BadInput(f"there is no client {client!r}", next=f"there are: {', '.join(known)}")
    member = registry.load(FAMILY, client.replace("-", "_"), config.own)
    host = _host(config)
    receipt = read_client_receipt(config.state_dir, client, member.folder(host))
    plan: Plan = member.plan(wish, host, receipt)
    if dry_run:
        return plan
    changed = [edit for edit in plan.edits if edit.old != edit.new]
    for edit in changed:
        check_client_edit(edit)
    for path in (receipt.path, *(edit.target for edit in plan.edits)):
        Disk(os.path.dirname(path)).sweep(lambda _: False)  # files of a killed set-up
    after = client_receipt_after(receipt, plan.edits)
    # Files of ours that were deleted are no longer in the receipt.
    stays = bool(after.files) and not wish.remove
    if stays and after != receipt:
        write_client_receipt(after)
    for edit in changed:
        write_client_edit(edit)
    if not stays and (receipt.files or receipt.folders):
        with state_errors(receipt.path, "the receipt cannot be removed"):
            remove_state(*os.path.split(receipt.path))
        # The folders we created, unless others use them.
        for folder in sorted(receipt.folders, key=len, reverse=True):
            with suppress(OSError, ValueError):  # invalid path: the receipt is damaged
                os.rmdir(folder)
    return plan


def is_client_set_up(config: Config, client: str) -> bool:
    member = registry.load(FAMILY, client.replace("-", "_"), config.own)
    return bool(read_client_receipt(config.state_dir, client, member.folder(_host(config))).files)


def _host(config: Config) -> Host:
    base = getattr(sys, "_base_executable", "") or sys.executable
    python = find_python_for_client(base, sys.version_info[:2])
    where = config.home, config.claude_dir, config.environ, config.checkout
    return Host(python, PACKAGE, *where)


# Receipts, and writing


def read_client_receipt(state_dir: str, client: str, folder: str) -> Receipt:
    """Receipt of a client's directory; empty if nothing is installed or it is damaged."""
    key = store_key(os.path.realpath(folder))
    path = os.path.join(state_dir, RECEIPTS, f"{client}-{key}.json")
    try:
        fields = json.loads(read_client_file(path) or b"")
        files = {}
        for name, entry in fields["files"].items():
            before = b64decode(entry["before"]) if "before" in entry else None
            added, created = str(entry.get("added", "")), bool(entry["created"])
            if insertions := entry.get("insertions"):  # version 0.1.0 kept these only
                text = (read_client_file(os.path.realpath(name)) or b"").decode()
                for start, inserted in sorted(insertions, reverse=True):
                    text = text[:start] + text[start + len(inserted) :]
                    added += inserted
                before = text.encode()
            files[name] = Entry(str(entry["after"]), before, added, created)
        return Receipt(path, files, tuple(map(str, fields["folders"])))
    except DAMAGE:
        return Receipt(path, {})


def client_receipt_after(receipt: Receipt, edits: Iterable[Edit]) -> Receipt:
    files, folders = dict(receipt.files), list(receipt.folders)
    for edit in edits:
        if edit.new is None or edit.new == edit.clean:
            files.pop(edit.path, None)
        elif edit.old != edit.new:
            after = sha256(edit.new).hexdigest()
            files[edit.path] = Entry(after, edit.clean, edit.added, created=edit.clean is None)
            folders += [
                folder for folder in missing_client_folders(edit.target) if folder not in folders
            ]
    return Receipt(receipt.path, files, tuple(folders))


def write_client_receipt(receipt: Receipt) -> None:
    """Called before the files are written: nothing of ours may exist without a receipt."""
    files = {
        path: {"created": entry.created, "after": entry.after, "added": entry.added}
        | ({} if entry.before is None else {"before": b64encode(entry.before).decode()})
        for path, entry in receipt.files.items()
    }
    fields = {"version": RECEIPT_VERSION, "files": files, "folders": receipt.folders}
    with state_errors(receipt.path, f"no receipt can be written; {NOTHING}"):
        replace_state_json(*os.path.split(receipt.path), fields)


def missing_client_folders(target: str) -> list[str]:
    """Folders to create above a file, innermost first."""
    missing, here = [], os.path.dirname(target)
    while not os.path.isdir(here) and here != os.path.dirname(here):
        missing.append(here)
        here = os.path.dirname(here)
    return missing


def check_client_edit(edit: Edit) -> None:
    """Called before the first of several writes: one read-only file refuses all of them."""
    folder = os.path.dirname([edit.target, *missing_client_folders(edit.target)][-1])
    with state_errors(edit.path, NOTHING):
        closed = edit.old is not None and not os.stat(edit.target).st_mode & _WRITABLE
    if closed or not os.access(folder, os.W_OK | os.X_OK):
        message = f"{edit.path if closed else folder} is read-only; {NOTHING}"
        next = "if it is yours to change: chmod u+w, and run the command again"
        raise Unwritable(message, path=edit.path, next=next)


def write_client_edit(edit: Edit) -> None:
    """Refuses if the file has changed meanwhile; permissions and owner stay."""
    if read_client_file(edit.target) != edit.old:
        message = f"{edit.path} was changed by another program just now; it was left unchanged"
        raise Busy(message, path=edit.path, next="run the command again")
    disk, name = Disk(os.path.dirname(edit.target)), os.path.basename(edit.target)
    with state_errors(edit.path, "it was not changed"):
        if edit.new is None:
            disk.drop(name)
            return
        disk.make_root()
        before = None if edit.old is None else os.stat(edit.target)
        disk.put(name, edit.new)
        after = os.stat(edit.target)
        if before and (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
            os.chown(edit.target, before.st_uid, before.st_gid)  # matters for root only

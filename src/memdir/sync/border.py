"""What may leave this machine, which names may come in, and what agents may see of it."""

from __future__ import annotations

from collections.abc import Mapping

from memdir.audit.inspect import Page, audit_safety
from memdir.format.draft import why_not_shared
from memdir.format.names import why_not_portable
from memdir.format.outline import Lookup
from memdir.format.pointer import parse_pointers
from memdir.hot import types
from memdir.hot.acceptance import ACCEPTED, save_acceptance
from memdir.hot.disk import digest_of
from memdir.hot.memory import INDEX, decode, encode, is_memory_file, read_header, read_memory
from memdir.store.accept import Giver, read_givers, store_acceptance
from memdir.store.guards import guards_of_store
from memdir.store.writer import App, store_state_folder
from memdir.sync.transport import MAX_FILE_BYTES, Author
from memdir.text.secrets import find_secrets

SYNC_KEYS = ("sync", "metadata.sync")
STAYS = ("no", "false", "off", "never")
RULES = "1"  # raise it when they change: what was judged before is judged again
NO_MEMORY = "no memory"  # a README of the branch, say; it stays where it is


def why_not_synced(path: str, data: bytes, team: bool) -> str:
    """Why a memory is not sent; the rule of a secret, never its value. Empty if it may leave."""
    text = decode(data)
    if read_header(text).get(*SYNC_KEYS).strip().lower() in STAYS:
        return "its header says sync: no"
    if team and (reason := why_not_shared(types.get(read_memory(path, data, 0).type))):
        return reason
    if len(data) > MAX_FILE_BYTES:
        return f"it has {len(data):,} bytes (limit: {MAX_FILE_BYTES:,}); split it"
    if b"\0" in data:
        return "it holds a NUL byte: it is not text"
    if encode(path.encode("utf-8", "replace").decode()) != encode(path):
        return "its name is not UTF-8"
    if reason := why_not_portable(path, {}):
        return reason
    if hits := find_secrets(path):
        return f"its name looks like a secret ({hits[0].rule})"
    if hits := find_secrets(text):
        places = ", ".join(dict.fromkeys(f"{hit.rule}, line {hit.line}" for hit in hits))
        return f"it holds what looks like a secret ({places}); write where it is kept instead"
    return ""


def make_index_to_sync(data: bytes, held: Mapping[str, str]) -> bytes:
    """The index without lines of memories that stay here, and without lines that hold a secret."""
    text = decode(data)
    private = Lookup([*held], {})
    secret = {hit.line for hit in find_secrets(text)}
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        pointers = parse_pointers(line, number) if held else []
        if number in secret or any(private.find(it.target, it.form) for it in pointers):
            continue
        lines.append(line)
    return encode("\n".join(lines))


def why_not_taken(path: str, standing: Mapping[str, str]) -> str:
    """Why a file of the remote gets no place here, given `fold_paths` of the others."""
    if path == INDEX:
        return ""
    parts = path.split("/")
    if any(part in ("", ".", "..") or part[0] == "." or "\0" in part for part in parts):
        return "its name leads out of the store"
    if not is_memory_file(path):
        return NO_MEMORY
    return why_not_portable(path, standing)


def accept_known_authors_in_sync(app: App, came: Mapping[str, tuple[bytes, Author, float]]) -> None:
    """What an accepted author wrote is told with its source; what gives orders waits all the same,
    and so does everything by anybody else.
    """
    if not came or not app.config.origin:
        return
    folder = store_state_folder(app.config)
    givers = read_givers(folder)
    for path, (data, author, time) in came.items():
        giver = Giver(digest_of(data), author.name, author.id, author.verified, time)
        givers.files[path] = giver
    givers.save()
    trusted = {
        path: data
        for path, (data, author, _) in came.items()
        if author.id in givers.accepted and not _gives_orders(path, data)
    }
    if not trusted:
        return
    with app.lock.held("memdir sync", app.tell):
        acceptance = store_acceptance(app)
        for path, data in trusted.items():
            if not acceptance.decision(path, digest_of(data)):
                acceptance.add(path, data, ACCEPTED, givers.files[path].label)
        save_acceptance(folder, acceptance.decisions)
        guards_of_store(app)


def _gives_orders(path: str, data: bytes) -> bool:
    page = Page(read_memory(path, data, 0), decode(data))
    return any(audit_safety(page, outside=True))

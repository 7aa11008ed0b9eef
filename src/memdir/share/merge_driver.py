"""The git merge driver for indexes.

It is installed in the repository's own settings, never in those of the user or the machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence

from memdir.config.settings import repository_root
from memdir.errors import BadInput, Missing
from memdir.format.merge import Merged, merge_indexes
from memdir.hot import memory
from memdir.hot.disk import Disk, disk_failure
from memdir.hot.memory import INDEX
from memdir.store.git import Git, find_git_program

ATTRIBUTES = ".gitattributes"
DRIVER = "memdir-index"
LABEL = "memdir: union of the pointers of both sides"
PROGRAM = "memdir"
ARGUMENTS = "merge-index %O %A %B %P"
GIT_SECONDS = 5.0
MAX_ATTRIBUTES_BYTES = 1 << 20
Planned = tuple[str, bytes | None, bytes | None]
MAX_LINES = 20_000  # per index; more may be an attack
AGENTS = ".claude/agent-memory/*"


def merge_shared_index(base: str, ours: str, theirs: str) -> Merged:
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        if "\0" in text or text.count("\n") > MAX_LINES:
            raise BadInput(
                f"{name} is not an index: it has a NUL byte or more than {MAX_LINES:,} lines; "
                "nothing was merged",
                next="choose one side: git checkout --ours, or --theirs",
            )
    return merge_indexes(base, ours, theirs)


def write_merged_index(path: str, text: str) -> None:
    folder, name = os.path.split(os.path.abspath(path))
    if name == INDEX:  # git passes copies; a store's own index has one writer
        raise BadInput(
            f"{path} is the index of a store, not a copy; nothing was written",
            path=path,
            next="let git call memdir merge-index, or merge a copy under another name",
        )
    try:
        Disk(folder).put(name, memory.encode(text))
    except OSError as error:
        raise disk_failure(error, path, "cannot be written") from None


def install_merge_driver(
    store: str, program: str, *, agents: bool, dry_run: bool
) -> tuple[str, list[Planned]]:
    """The root of the repository, and (path, old, new) of its files."""
    root = repository_root(store)
    if not root:
        raise BadInput(
            f"{store} is in no git repository", path=store, next="git init, or choose a --scope"
        )
    patterns = [os.path.normpath(os.path.join(os.path.relpath(store, root), INDEX))]
    patterns += [f"{AGENTS}/{INDEX}"] if agents else []
    caller = PROGRAM
    if os.path.basename(program) == PROGRAM and not shutil.which(PROGRAM):
        caller = "'" + os.path.abspath(program).replace("'", "'\\''") + "'"
    section = f"merge.{DRIVER}"
    wanted = {f"{section}.name": LABEL, f"{section}.driver": f"{caller} {ARGUMENTS}"}
    attributes, old = os.path.join(root, ATTRIBUTES), _read(root, ATTRIBUTES)
    new = _with_lines(old or b"", [f"{_pattern(path)} merge={DRIVER}" for path in patterns])
    # Settings shared by all worktrees of the repository.
    config = os.path.join(root, _git(root, "rev-parse", "--git-common-dir"), "config")
    before = _read(*os.path.split(config))
    try:
        with tempfile.TemporaryDirectory(prefix="memdir-") as scratch:
            Disk(scratch).put("config", before or b"")
            _set(root, os.path.join(scratch, "config"), wanted)
            after = Disk(scratch).read("config")[0]
    except OSError as error:
        raise disk_failure(error, config, "no copy can be made to try it out") from None
    if not dry_run and new != old:
        try:
            Disk(root).put(ATTRIBUTES, new)
            if old is None:
                os.chmod(attributes, 0o644)  # not private
        except OSError as error:
            raise disk_failure(error, attributes, "cannot be written") from None
    if not dry_run and before != after:
        _set(root, config, wanted)  # git writes its settings itself, under its own lock
    return root, [(attributes, old, new), (config, before, after)]


def _read(folder: str, name: str) -> bytes | None:
    path = os.path.join(folder, name)
    try:
        data = Disk(folder).read(name, MAX_ATTRIBUTES_BYTES + 1)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk_failure(error, path, "cannot be read") from None
    if len(data) > MAX_ATTRIBUTES_BYTES:
        message = f"{path} has more than {MAX_ATTRIBUTES_BYTES:,} bytes"
        raise BadInput(message, path=path, next="shorten it")
    return data


def _with_lines(old: bytes, lines: Sequence[str]) -> bytes:
    there = {line.strip() for line in old.splitlines()}
    missing = [line.encode() for line in lines if line.encode() not in there]
    if not missing:
        return old
    end = b"\r\n" if b"\r\n" in old else b"\n"
    start = old if not old or old.endswith(b"\n") else old + end
    return start + b"".join(line + end for line in missing)


def _pattern(path: str) -> str:
    """A path for .gitattributes: literal except `*`, quoted if needed."""
    safe = "".join(f"\\{char}" if char in "?[\\" else char for char in path)
    if not any(char.isspace() or char in '"\\#!' for char in safe):
        return safe
    inner = safe.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def _set(root: str, file: str, wanted: dict[str, str]) -> None:
    for key, value in wanted.items():
        _git(root, "config", "--file", file, key, value)


def _git(root: str, *words: str) -> str:
    program = find_git_program(os.environ.get("PATH", ""))
    if not program:
        raise Missing("there is no git on this machine", next="install git")
    out, ended = Git(root, program, work_tree=False).ask(*words, seconds=GIT_SECONDS)
    if ended.late:
        raise BadInput(f"git gave no answer in {root}", path=root, next="try again")
    if ended.code:
        reason = ended.said.strip().split("\n")[0][:200]
        raise BadInput(f"git refused: {reason}", path=root, next=f"look with: git -C {root} status")
    return os.fsdecode(out).rstrip("\n")

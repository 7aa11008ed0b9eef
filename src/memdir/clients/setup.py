"""memdir into a client and out again: look, plan, receipt, write. Memories are not touched."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from memdir.clients.receipt import (
    Host,
    Plan,
    Wish,
    check_edit,
    drop_receipt,
    read_receipt,
    receipt_after,
    sweep,
    write_edit,
    write_receipt,
)
from memdir.config.config import Config
from memdir.errors import BadInput
from memdir.store import registry

FAMILY = "clients"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOOKS = "memdir/hot/"
CODE = HOOKS + "start.py"
SERVER = "memdir.mcp"
# By these we know our own hooks and server; the second ones are those of version 0.1.0.
OUR_HOOKS = (HOOKS, "memdir/surfaces/hooks/")
OUR_SERVERS = (SERVER, "memdir.surfaces.mcp")
NAME = "memdir"
BEGIN, END = "<!-- memdir: begin -->", "<!-- memdir: end -->"
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
# Variables that decide where memories lie; some clients hand on only what they are told to.
VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *("MEMDIR_CONFIG_DIR", "MEMDIR_STATE_DIR", "MEMDIR_CACHE_DIR"),
)


def hook_line(host: Host, client: str, event: str, code: str = CODE) -> str:
    """Silent where Python or memdir is gone; what is not Claude Code says its name."""
    python = shlex.quote(host.python)
    file = shlex.quote(os.path.join(os.path.dirname(host.package), code))
    run = f"exec env MEMDIR_CLIENT={client} {python} -I -S {file} {event}"  # in any shell
    return f"test -x {python} && test -r {file} && {run}; exit 0"


def server(host: Host, *words: str) -> list[str]:
    """The command line of the MCP server, with a Python that stays and without any package."""
    top = os.path.dirname(host.package)
    run = f"import sys; sys.path.insert(0, {top!r}); from {SERVER}.stdio import run; "
    return [host.python, "-I", "-S", "-c", run + "sys.exit(run(sys.argv[1:]))", *words]


def is_server(value: object) -> bool:
    """True for an entry that starts our server, in whatever form a client writes it."""
    if not isinstance(value, Mapping):
        return False
    words = [value.get("command"), value.get("args")]
    return any(name in str(words) for name in OUR_SERVERS)


def runs_us(value: object) -> bool:
    """True for a hook of ours."""
    command = str(value.get("command")) if isinstance(value, Mapping) else ""
    return any(folder in command for folder in OUR_HOOKS)


def is_our_hook(path: tuple[str | int, ...], value: Any) -> bool:
    """True for a hook of ours at `hooks.EVENT.0.hooks.0`, and for a group of nothing else."""
    if path[:1] != ("hooks",):
        return False
    inner = value.get("hooks") if len(path) == 3 and isinstance(value, Mapping) else None
    whole = isinstance(inner, list) and bool(inner) and all(map(runs_us, inner))
    return whole or (len(path) == 5 and runs_us(value))


def python_remark(host: Host) -> str:
    """Which Python hooks run with, and why."""
    return f"hooks run with {host.python}: {host.why}"


STEADY = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
OLDEST, NEWEST = 11, 15  # minor versions of Python 3 that are looked for
# What systems and tools empty when they like.
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/var/folders", "/private/var/folders")
CACHES = {".cache", "Caches"}
_PATCH = re.compile(r"(cpython-3\.\d{1,3})\.\d{1,3}(?=[-+])")  # uv: a link without it stays


def find_python(
    executable: str, base: str, version: tuple[int, int], folders: Iterable[str] = STEADY
) -> tuple[str, str]:
    """A Python that will still be there when nobody thinks of it any more, and why that one.

    `base` is what the virtual environment of `executable` was made from; else the same.
    """
    why = "the Python that runs memdir now"
    base, folders = os.path.abspath(base), list(folders)
    if os.path.abspath(executable) != base:
        why = "what the virtual environment was made from: hooks need no packages"
    if not is_temporary(base):
        # A name that leads to the same Python and outlives its next patch release.
        names = [os.path.join(folder, f"python{version[0]}.{version[1]}") for folder in folders]
        names.append(_PATCH.sub(r"\1", base))
        real = os.path.realpath(base)
        return next((name for name in names if os.path.realpath(name) == real), base), why
    for folder in folders:
        for minor in range(NEWEST, OLDEST - 1, -1):
            path = os.path.join(folder, f"python3.{minor}")
            if os.access(path, os.X_OK):
                return path, f"the Python that runs memdir now ({base}) may vanish"
    return base, "the only Python there is; it lies where things vanish"


def is_temporary(path: str) -> bool:
    """True below a place that is emptied without asking."""
    real = os.path.realpath(path)
    places = {*TEMPORARY, os.path.realpath(tempfile.gettempdir())}
    if any(real.startswith(place + "/") for place in places):
        return True
    return not CACHES.isdisjoint(real.split("/"))


def clients(own: str = "") -> list[str]:
    """The clients that can be set up, as people write them; `own` are the user's, by a folder."""
    return [name.replace("_", "-") for name in registry.members(FAMILY, own)]


def install(config: Config, client: str, wish: Wish, *, dry_run: bool = False) -> Plan:
    """Do what was wished, unless it is a dry run; gives what was, or would be, done."""
    if client not in (known := clients(config.own)):
        raise BadInput(f"there is no client {client!r}", next=f"there are: {', '.join(known)}")
    member = registry.load(FAMILY, client.replace("-", "_"), config.own)
    host = _host(config)
    receipt = read_receipt(config.state_dir, client, member.folder(host))
    plan: Plan = member.plan(wish, host, receipt)
    if dry_run:
        return plan
    for edit in plan.edits:
        check_edit(edit)
    for folder in {
        os.path.dirname(path) for path in (receipt.path, *(e.target for e in plan.edits))
    }:
        sweep(folder)
    after = receipt_after(receipt, plan.edits)
    # A file of ours that somebody has deleted counts no more.
    stays = bool(after.files) and not wish.remove
    if stays and after != receipt:
        write_receipt(after)
    for edit in plan.edits:
        write_edit(edit)
    if not stays and (receipt.files or receipt.folders):
        drop_receipt(receipt)
    return plan


def is_set_up(config: Config, client: str) -> bool:
    """Whether something was put into a client, and not taken out since."""
    member = registry.load(FAMILY, client.replace("-", "_"), config.own)
    return bool(read_receipt(config.state_dir, client, member.folder(_host(config))).files)


def _host(config: Config) -> Host:
    base = getattr(sys, "_base_executable", "") or sys.executable
    python, why = find_python(sys.executable, base, sys.version_info[:2])
    return Host(
        python=python,
        why=why,
        package=PACKAGE,
        home=config.home,
        claude_dir=config.claude_dir,
        environ=config.environ,
        project=config.checkout,
    )


def vanishing() -> str:
    """Where memdir runs from, if that is a place which is emptied without asking; else nothing."""
    return PACKAGE if is_temporary(PACKAGE) else ""

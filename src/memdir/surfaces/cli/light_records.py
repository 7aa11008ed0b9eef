"""`memdir records candidate` and `triage` where agents and hooks wait: the plain case only.

Whatever else is asked (help, odd options, settings that may decide otherwise, any error) is left to
the whole command line, which says it properly. Nothing heavy is imported before it is needed.
"""

import os
import sys

from memdir.adapters.disk import Disk
from memdir.core.deciding import PATH_VARIABLES, own_folder
from memdir.core.memory import RECORD_SETTINGS
from memdir.surfaces.hooks.place import Around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memdir.core.records.settings import RecordSettings

CANDIDATE, TRIAGE = "candidate", "triage"
OPTIONS = {
    CANDIDATE: ("--category", "--new-info", "--lifecycle-event", "--root", "--project"),
    TRIAGE: ("--transcript", "--session", "--last", "--root", "--project"),
}
NEEDED = {CANDIDATE: ("--category", "--new-info"), TRIAGE: ("--transcript",)}
FOLDER = ".claude/memory"
MOST_BYTES = 4 * 1024 * 1024  # of a file
MOST_SETTINGS = 1 << 20


def answer(arguments: "Sequence[str]") -> bool:
    """Answer the plain case; False where the whole command line has to."""
    command = arguments[0] if arguments else ""
    given = _options(arguments[1:], OPTIONS[command]) if command in OPTIONS else None
    if given is None or not all(given.get(name) for name in NEEDED[command]):
        return False
    import gc

    from memdir.core.errors import MemdirError

    gc.disable()  # the process ends before there is garbage worth a search
    try:
        root = _root(given)
        look = _candidate if command == CANDIDATE else _triage
        text = None if root is None else look(given, root)
        if text is None:
            return False
        sys.stdout.write(text)
        sys.stdout.flush()
    except (MemdirError, OSError, ValueError):
        return False
    finally:
        gc.enable()
    return True


def _options(words: "Sequence[str]", known: "Sequence[str]") -> dict[str, str] | None:
    """Each option with its value, once; None for anything else."""
    given: dict[str, str] = {}
    at = 0
    while at < len(words):
        name, mark, value = words[at].partition("=")
        if name == "--json" and not mark and "--category" in known:
            at += 1  # its answer is JSON anyway
            continue
        if not mark:
            at += 1
            value = words[at] if at < len(words) else ""
        if name not in known or name in given or not value:
            return None
        given[name] = value
        at += 1
    return given


def _root(given: dict[str, str]) -> str | None:
    """The directory of the records; None where anything could decide otherwise."""
    cwd, environ = os.getcwd(), os.environ
    whole = all(environ.get(name, "/").startswith("/") for name in (*PATH_VARIABLES, "HOME"))
    around = Around(os.path.join(cwd, given.get("--project", "")), environ)
    if not whole or around.doubtful or "HOME" not in environ:
        return None
    if "--root" in given:
        return os.path.realpath(os.path.join(cwd, given["--root"]))
    top = around.checkout or around.start
    root = f"{top}/{FOLDER}"
    return root if os.path.isdir(root) and os.path.realpath(root) == root else None


def _settings(root: str) -> "RecordSettings | None":
    """What the settings say; None without any, or where something is wrong with them."""
    from memdir.core.records.settings import read_settings

    try:
        data = Disk(root).read(RECORD_SETTINGS, MOST_SETTINGS)[0]
    except FileNotFoundError:
        return read_settings(None)[0]
    settings, warnings = read_settings(data.decode("utf-8", "replace"))
    return None if warnings else settings


def _may_switch_off(root: str) -> bool:
    """Can a category be off? Only where the settings say the word, or have an escape for it."""
    try:
        data = Disk(root).read(RECORD_SETTINGS, MOST_SETTINGS)[0]
    except FileNotFoundError:
        return False
    return any(word in data for word in (b"enabled", b"\\u", b"\0"))


def _candidate(given: dict[str, str], root: str) -> str | None:
    import json

    from memdir.adapters.layouts._record_files import record_files
    from memdir.core.records.fields import FOLDERS, type_named
    from memdir.steps.match import match

    type, event = type_named(given["--category"]), given.get("--lifecycle-event", "")
    if not type:
        return None
    if _may_switch_off(root):
        settings = _settings(root)
        if settings is None or not settings.types[type].enabled:
            return None
    files = record_files(Disk(root), (FOLDERS[type],), MOST_BYTES, [])
    found = match(((path, data) for path, data, _ in files), type, given["--new-info"], event)
    return json.dumps(found, indent=2) + "\n"


def _triage(given: dict[str, str], root: str) -> str | None:
    settings = _settings(root)
    if settings is None:
        return None
    import time

    from memdir.adapters.contexts import Context, Contexts
    from memdir.adapters.transcripts.claude_code import open_reader
    from memdir.core.transcript import Cursor
    from memdir.steps.triage import triage

    home = os.environ["HOME"]
    reader, path = open_reader(home, os.environ), os.path.abspath(given["--transcript"])
    reader.root = os.path.dirname(os.path.realpath(path))
    stretch = reader.read(path, Cursor(), given.get("--last", ""))

    def place() -> Context:
        private = Contexts(own_folder(os.environ, home, "STATE"))
        private.prune(time.time())
        return private.open(given.get("--session") or stretch.session)

    found = triage(stretch.said, settings, place)
    plain = found.text.replace("\n", "").isprintable()  # else it has to be made visible first
    return found.text if plain and not found.findings else None

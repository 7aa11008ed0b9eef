"""Which directory holds the memories of a scope, and which rule said so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from memdir.config.place import REMOTE, Place, rejected
from memdir.config.repository import Said
from memdir.core import scope as rules
from memdir.core.errors import BadInput
from memdir.core.finding import Finding
from memdir.core.memory import RECORD_FOLDERS, RECORD_SETTINGS
from memdir.core.scope import Scope, below

OVERRIDE = "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"
DIRECTORY = "autoMemoryDirectory"
# Nobody keeps memories in them, and one look would take a copy of everything below.
# fmt: off
SYSTEM = (
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt",
    "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/usr/local", "/var",
    "/var/lib", "/var/tmp", "/Applications", "/Library", "/System", "/Users", "/private",
    "/private/etc", "/private/tmp", "/private/var",
)
# fmt: on
SETTINGS = ("/boot", "/etc", "/private/etc", "/proc", "/sys")  # nor anywhere below these
IN_CHECKOUT = ("local", rules.RECORDS)  # both in .claude/memory, each with its own kind of file
SAME_START = f"default (existing directory with the same first {rules.NAME_CHARACTERS} characters)"


def project_store(place: Place, findings: list[Finding]) -> tuple[str, str]:
    """The project's memory directory and the step of the chain that decided."""
    override = Said("environment", {DIRECTORY: place.env.get(OVERRIDE)})
    chain = (
        (f"environment {OVERRIDE}", override, False),
        (f"managed setting {DIRECTORY}", place.managed, True),
        (f"user setting {DIRECTORY}", place.user, True),
    )
    for step, said, tilde in chain:
        value = said.values.get(DIRECTORY)
        if value is None or value == "":
            continue
        problem = _problem(value, tilde, place)
        if not problem and isinstance(value, str):
            return os.path.realpath(rules.expand(value, place.home)), step
        findings.append(rejected(said.path, step, value, problem))
    base = place.env.get(REMOTE, "")
    name, exact = _folder(os.path.join(base or place.claude, "projects"), place.root)
    store = os.path.realpath(os.path.join(base or place.claude, "projects", name, "memory"))
    default = "default" if exact else SAME_START
    return store, f"remote base {REMOTE}" if base else default


def _problem(value: object, tilde: bool, place: Place) -> str:
    """Why an override is refused; empty when it is not."""
    if not isinstance(value, str):
        return "it is not a text"
    if problem := rules.override_problem(value, tilde=tilde):
        return problem
    home = place.home
    path = rules.expand(value, home)
    # The home and a top directory may be links themselves; what lies below may not be bent.
    anchor = home if below(path, home) else "/" + path.split("/")[1]
    real = os.path.realpath(path)
    if taken := _taken(real, place):
        return f"it is {taken}"
    if real != os.path.realpath(anchor) + path[len(anchor) :]:
        return f"it leads through a symbolic link to {real}; name that directory itself"
    if os.path.lexists(real) and not os.path.isdir(real):
        return "it is not a directory"
    if exposed := _exposed(real):
        return f"other users of this machine can write to {exposed}"
    return ""


def _taken(path: str, place: Place) -> str:
    """Whose directory a real path is, where it cannot be a store; empty where it can."""
    home, claude = os.path.realpath(place.home), os.path.realpath(place.claude)
    if path == home or below(home, path):
        return "the home directory itself, or above it"
    if path in SYSTEM or any(below(path, top) for top in SETTINGS):
        return "a directory of the system"
    if path in (claude, os.path.join(claude, "projects")) or below(claude, path):
        return "the client's own directory, or above it"
    for folder in map(os.path.realpath, place.ours()):
        if path == folder or below(path, folder) or below(folder, path):
            return "where memdir keeps files of its own"
    return ""


def _exposed(path: str) -> str:
    """The first directory on the way down that another user could fill or replace, or nothing."""
    mine, here, sticky = (0, os.geteuid()), "", False
    for part in path.split("/")[1:]:
        here = f"{here}/{part}"
        try:
            info = os.stat(here)
        except OSError:
            return ""  # not there yet: we shall create it, and it will be ours
        if sticky and info.st_uid not in mine:
            return here
        open_to_all = bool(info.st_mode & stat.S_IWOTH)
        # In a sticky directory like /tmp, what is ours stays ours.
        sticky = open_to_all and bool(info.st_mode & stat.S_ISVTX) and here != path
        if open_to_all and not sticky:
            return here
    return ""


def _folder(projects: str, root: str) -> tuple[str, bool]:
    """The project's folder; a long name may end in another hash than ours, so look for it."""
    name = rules.project_name(root)
    if len(name) <= rules.NAME_CHARACTERS or os.path.isdir(os.path.join(projects, name)):
        return name, True
    start = name[: rules.NAME_CHARACTERS + 1]
    found = [other for other in _directories(projects) if other.startswith(start)]
    found.sort(key=lambda other: not os.path.isdir(os.path.join(projects, other, "memory")))
    return (found[0], False) if found else (name, True)


def _directories(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def all_scopes(project: str, place: Place, findings: list[Finding]) -> dict[str, str]:
    """Every scope's directory by name; one that the repository has bent is left out."""
    found: dict[str, str] = {}
    for scope in [*map(Scope, rules.MAIN_SCOPES), *_agents(place)]:
        try:
            found[str(scope)] = store_of(scope, project, place)
        except BadInput as bent:
            findings.append(Finding("redirect-attempt", bent.path, bent.message, bent.next))
    if _has_records(local := found.get("local", "")):
        found[rules.RECORDS] = local
    return found


def _has_records(path: str) -> bool:
    """True where the settings of records, or one of their folders, lie in a directory."""
    if not path or not os.path.isdir(path):
        return False
    if any(os.path.isdir(os.path.join(path, folder)) for folder in RECORD_FOLDERS):
        return True
    return os.path.isfile(os.path.join(path, RECORD_SETTINGS))


def _agents(place: Place) -> Iterator[Scope]:
    """The agents whose directories exist; what is no agent's folder name is not one of ours."""
    for where in rules.AGENT_PLACES:
        for name in _directories(_agents_folder(place, where)):
            if rules.agent_folder(name) == name:
                yield Scope("agent", name, where)


def _agents_folder(place: Place, where: str) -> str:
    if where == "user":
        return os.path.join(place.claude, "agent-memory")
    name = "agent-memory" if where == "project" else "agent-memory-local"
    return os.path.join(place.checkout, ".claude", name)


def store_of(scope: Scope, project: str, place: Place) -> str:
    """The directory of a scope; refuses one that lies behind a link inside the repository."""
    if scope.kind == "agent":
        path = os.path.join(_agents_folder(place, scope.place), scope.folder)
    elif scope.kind == "user":
        path = os.path.join(place.claude, "memory")
    elif scope.kind in IN_CHECKOUT:
        path = os.path.join(place.checkout, ".claude", "memory")
    else:
        path = os.path.join(project, "team") if scope.kind == "team" else project
    inside = scope.kind in IN_CHECKOUT or (scope.kind == "agent" and scope.place != "user")
    # In a home that is a project itself, links are the user's own.
    if (inside or place.commits(path)) and place.checkout != os.path.realpath(place.home):
        _refuse_links(place.checkout, path)
    return os.path.realpath(path)


def _refuse_links(top: str, path: str) -> None:
    here = top.rstrip("/")
    for part in path[len(here) + 1 :].split("/"):
        here = f"{here}/{part}"
        if os.path.islink(here):
            message = f"{here} is a symbolic link inside the repository; it is not followed"
            hint = "Replace it by a directory. If the link is yours, name its target with --dir."
            raise BadInput(message, path=here, next=hint)


def named_store(
    path: str, wanted: Scope, scopes: dict[str, str], place: Place
) -> tuple[Scope, str]:
    """The scope and store that `--dir` means; a directory of a known scope keeps its rules."""
    if taken := _taken(path, place):
        hint = "Name a directory that holds memories and nothing else, such as ~/.claude/memory."
        raise BadInput(f"{path} cannot be a store: it is {taken}", path=path, next=hint)
    if wanted.kind == rules.RECORDS:
        return wanted, path
    if wanted.kind not in ("project", "team", "all"):
        raise BadInput(f"--dir and --scope {wanted} both say where", next="Give one of them.")
    if wanted.kind == "team":
        return wanted, os.path.join(path, "team")
    for name, known in scopes.items():
        if known == path:
            return rules.parse_scope(name), path
    scopes |= {"project": path, "team": os.path.join(path, "team")}
    return wanted, path

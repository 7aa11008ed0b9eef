"""Finds the project of a run; redirects by a repository's settings are reported, not obeyed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.config.scope import is_true, override_problem
from memdir.config.settings import read_managed, read_settings
from memdir.errors import BadInput, Finding, Missing
from memdir.hot import place
from memdir.hot.memory import TEAM
from memdir.hot.place import is_below

# The second name is used by other tools and older notes.
REDIRECT_KEYS = ("autoMemoryDirectory", "memoryDirectory")


@dataclass(frozen=True)
class SettingsFile:
    path: str
    values: Mapping[str, object]

    @property
    def environment(self) -> Mapping[str, str]:
        env = self.values.get("env")
        pairs = env.items() if isinstance(env, dict) else ()
        return {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in pairs
            if isinstance(value, str | bool | int | float)
        }


def read_repository(folders: list[str], findings: list[Finding]) -> list[SettingsFile]:
    paths = [
        os.path.join(folder, ".claude", name)
        for folder in folders
        for name in ("settings.json", "settings.local.json")
    ]
    files = [SettingsFile(path, read_settings(path, findings)) for path in paths]
    return [file for file in files if file.values]


def without_repository(
    environ: Mapping[str, str], repository: list[SettingsFile], findings: list[Finding]
) -> dict[str, str]:
    env = dict(environ)
    for settings in repository:
        for key in REDIRECT_KEYS:
            if key in settings.values:
                findings.append(_attempt(settings.path, f"sets {key}"))
        for name, value in settings.environment.items():
            if not _decides(name, value):
                continue
            findings.append(_attempt(settings.path, f"sets the variable {name}"))
            # If equal, the client passed it on; if not, it is the user's own and stays.
            if env.get(name) == value:
                del env[name]
    return env


def _decides(name: str, value: str) -> bool:
    # A repository may switch memory off, but not on against the user.
    if name == "CLAUDE_CODE_DISABLE_AUTO_MEMORY":
        return not is_true(value)
    return name in place.PLACE_VARIABLES or name.startswith(place.OURS)


def _attempt(path: str, action: str) -> Finding:
    message = f"the repository {action}; ignored: a repository may not decide where memory lies"
    fix = "If you want this yourself, put it into your user settings or your own environment."
    return Finding("redirect-attempt", path, message, fix)


MANAGED_SETTINGS = (
    "/Library/Application Support/ClaudeCode/managed-settings.json"
    if sys.platform == "darwin"
    else "/etc/claude-code/managed-settings.json"
)
REMOTE = "CLAUDE_CODE_REMOTE_MEMORY_DIR"
SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class Site:
    env: Mapping[str, str]
    home: str
    claude: str
    checkout: str  # this worktree
    git: bool
    root: str  # shared by all worktrees
    managed: SettingsFile
    user: SettingsFile
    repository: tuple[SettingsFile, ...]

    def commits(self, path: str) -> bool:
        """True if a file at this path may reach other people through git or a team store."""
        if os.path.basename(path) == TEAM:
            return True
        if is_below(path, os.path.realpath(self.claude)):
            return False
        here = path  # not the current directory: --dir may be in another repository
        while here != os.path.dirname(here):
            if os.path.lexists(os.path.join(here, ".git")):
                return True
            here = os.path.dirname(here)
        return False

    @property
    def config_file(self) -> str:
        return os.path.join(self.own("CONFIG"), "config.toml")

    def own(self, kind: str) -> str:
        return place.own_folder(self.env, self.home, kind)

    def ours(self) -> tuple[str, ...]:
        return tuple(map(self.own, place.FOLDERS))


def find_site(
    environ: Mapping[str, str], cwd: str, project: str | None, findings: list[Finding]
) -> Site:
    start = _start(cwd, project)
    checkout = place.checkout_root(start, place.look)
    root = place.git_root(start, place.look, os.path.realpath)
    settings = read_repository(_folders(start, checkout or start, root), findings)
    repository = _foreign(settings, environ, cwd)
    env = _clean(without_repository(environ, repository, findings), cwd, findings)
    claude = _claude_dir(env, cwd)
    user = os.path.join(claude, "settings.json")
    managed = env.get("MEMDIR_MANAGED_SETTINGS") or MANAGED_SETTINGS
    return Site(
        env=env,
        home=_home(env),
        claude=claude,
        checkout=checkout or start,
        git=bool(checkout),
        root=root,
        managed=SettingsFile(managed, read_managed(managed, findings)),
        user=SettingsFile(user, read_settings(user, findings)),
        repository=tuple(repository),
    )


def named_directory(cwd: str, path: str) -> str:
    if not path or "\0" in path:
        raise BadInput(f"not a directory name: {path!r}", next="Name a directory.")
    if not _absolute(cwd) and not _absolute(path):
        raise BadInput("the current directory is unknown", next="Change to an existing directory.")
    result = os.path.realpath(os.path.join(cwd, path))
    if os.path.lexists(result) and not os.path.isdir(result):
        raise BadInput(f"{result} is not a directory", path=result, next="Name a directory.")
    return result


def _start(cwd: str, project: str | None) -> str:
    if project is None:
        return named_directory(cwd, cwd)
    start = named_directory(cwd, project)
    if not os.path.isdir(start):
        hint = "Name an existing directory with --project, or leave it out to use the current one."
        raise Missing(f"there is no project directory {start}", path=start, next=hint)
    return start


def _folders(start: str, checkout: str, root: str) -> list[str]:
    folders = [start]
    while folders[-1] != checkout:
        folders.append(os.path.dirname(folders[-1]))
    return folders if root in folders else [*folders, root]


def _foreign(files: list[SettingsFile], environ: Mapping[str, str], cwd: str) -> list[SettingsFile]:
    """Files that belong to the repository; if the home is a project, `.claude` is the user's."""
    for file in files:
        # By moving the home, a repository could pass its folder off as the user's.
        if "HOME" in file.environment or "CLAUDE_CONFIG_DIR" in file.environment:
            return files
    mine = os.path.realpath(_claude_dir(environ, cwd))
    return [file for file in files if os.path.realpath(os.path.dirname(file.path)) != mine]


def _clean(env: dict[str, str], cwd: str, findings: list[Finding]) -> dict[str, str]:
    for name in place.PATH_VARIABLES:
        value = env.get(name, "")
        if "\0" in value:
            findings.append(rejected("environment", name, value, "it holds a NUL character"))
            del env[name]
        elif value and not _absolute(value):
            env[name] = place.tidy_path(os.path.join(cwd, value))
            message = f"{name} is relative; it is taken as {env[name]}"
            fix = "Write an absolute path: this one moves with the current directory."
            findings.append(Finding("bad-setting", "environment", message, fix))
    base = env.get(REMOTE, "")
    if base and (problem := override_problem(base, tilde=False)):
        findings.append(rejected("environment", REMOTE, base, problem))
        del env[REMOTE]
    return env


def rejected(where: str, name: str, value: object, problem: str) -> Finding:
    message = f"{name} = {repr(value)[:SHOWN_CHARACTERS]} is not used: {problem}"
    fix = "Name an absolute directory of your own that is reached without symbolic links."
    return Finding("rejected-override", where, message, fix)


def _absolute(path: str) -> bool:
    return path.startswith("/") and "\0" not in path


def _home(env: Mapping[str, str]) -> str:
    if _absolute(env.get("HOME", "")):
        return place.tidy_path(env["HOME"])
    import pwd

    try:
        return place.tidy_path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        hint = "Set HOME to a directory of your own."
        raise BadInput("this user has no home directory, and HOME is not set", next=hint) from None


def _claude_dir(env: Mapping[str, str], cwd: str) -> str:
    named = env.get("CLAUDE_CONFIG_DIR", "")
    # A relative path starts at the current directory, as in the client.
    return place.tidy_path(os.path.join(cwd, named) if named else f"{_home(env)}/.claude")

"""Settings: the client's JSON, our config.toml, the variables MEMDIR_*; the project of a run.

These files are untrusted: a bad value becomes a finding, never a failure. Redirects by a
repository's settings are reported, not obeyed.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

from memdir.config.scope import is_setting_false, is_setting_true, setting_override_problem
from memdir.errors import BadInput, Finding, Missing
from memdir.hot import place
from memdir.hot.disk import read_start
from memdir.hot.memory import TEAM
from memdir.hot.place import is_below

# No client writes more; a larger file is a mistake or an attack.
MAX_SETTINGS_BYTES = 1024 * 1024
# Integers up to here are exact as floats.
MAX_NUMBER = 2**53
NEEDS = {
    bool: "Write true or false.",
    str: "Write a text in quotes, on one line.",
    int: "Write a whole number from {} on.",
    float: "Write a number from {} on.",
}
T = TypeVar("T")


def read_settings_text(path: str, findings: list[Finding]) -> str:
    try:
        content, _ = read_start(path, MAX_SETTINGS_BYTES + 1)
        if len(content) > MAX_SETTINGS_BYTES:
            raise OSError(errno.EFBIG, f"larger than {MAX_SETTINGS_BYTES // 1024} KiB")
        return content.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        findings.append(broken_settings(path, f"cannot be read: {error.strerror}"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        findings.append(broken_settings(path, "is not UTF-8 text", line))
    return ""


def broken_settings(path: str, problem: str, line: int = 0) -> Finding:
    fix = "Repair the file; it is left as it is, and the defaults apply until then."
    return Finding("broken-settings", path, f"{problem}; the file is ignored", fix, line)


def read_settings(path: str, findings: list[Finding]) -> dict[str, object]:
    text = read_settings_text(path, findings)
    if not text.strip():
        return {}
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        findings.append(broken_settings(path, f"is not JSON: {error}", error.lineno))
        return {}
    except (ValueError, RecursionError):
        problem = "is not JSON: a number too long or a nesting too deep"
        findings.append(broken_settings(path, problem))
        return {}
    if isinstance(values, dict):
        return values
    findings.append(broken_settings(path, "holds no JSON object"))
    return {}


def read_managed_settings(path: str, findings: list[Finding]) -> dict[str, object]:
    folder = os.path.splitext(path)[0] + ".d"
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".json") and n[0] != ".")
    except OSError:
        names = []
    values = read_settings(path, findings)
    for name in names:
        values |= read_settings(os.path.join(folder, name), findings)
    return values


def _option(key: str, default: T, least: float = 0) -> T:
    return field(default=default, metadata={"key": key, "least": least})


@dataclass(frozen=True)
class Options:
    """Options of config.toml (`key` is table.name) and of `MEMDIR_<NAME>`."""

    layout: str = _option("store.layout", "markdown")
    index: bool = _option("store.index", True)
    max_file_bytes: int = _option("store.max_file_bytes", 4 * 1024 * 1024, least=1)
    max_body_bytes: int = _option("store.max_body_bytes", 64 * 1024, least=1)
    trash_days: int = _option("store.trash_days", 30)
    history: bool = _option("history.enabled", True)
    lock_seconds: float = _option("lock.seconds", 30.0)
    lock_notice_seconds: float = _option("lock.notice_seconds", 2.0)
    search: str = _option("recall.search", "fts")
    recall_model: str = _option("recall.model", "off")
    hooks: bool = _option("hooks.enabled", True)
    hooks_always: bool = _option("hooks.always", False)
    private_urls: bool = _option("audit.private_urls", False)
    model: str = _option("model.name", "")
    model_base_url: str = _option("model.base_url", "")
    model_timeout: float = _option("model.timeout", 3.0)
    session_tokens: int = _option("budget.session_tokens", 20_000)
    day_tokens: int = _option("budget.day_tokens", 100_000)
    run_tokens: int = _option("budget.run_tokens", 8_000)
    capture: bool = _option("capture.enabled", True)
    capture_every: int = _option("capture.every", 1, least=1)
    capture_model: str = _option("capture.model", "")
    dream: bool = _option("dream.enabled", False)
    dream_logs: bool = _option("dream.logs", False)
    guards: bool = _option("guards.enabled", True)
    told_log: bool = _option("ui.told_log", True)
    records_agent: bool = _option("records.agent", False)


def read_config_options(env: Mapping[str, str], path: str, findings: list[Finding]) -> Options:
    known = {option.metadata["key"]: option for option in fields(Options)}
    wishes = [(known.get(key), key, value, path) for key, value in _toml(path, findings)]
    for option in known.values():
        name = f"MEMDIR_{option.name.upper()}"
        if text := env.get(name, "").strip():
            wishes.append((option, name, _from_text(type(option.default), text), "environment"))
    chosen: dict[str, Any] = {}
    for wish, name, value, where in wishes:
        if wish is None:
            message = f"{name} is not a setting of memdir; it is ignored"
            fix = f"Known are: {', '.join(sorted(known))}"
            findings.append(Finding("unknown-setting", where, message, fix))
        elif (fitting := _fit(wish, value)) is None:
            message = f"{name} = {repr(value)[:80]} is ignored; {wish.default} applies"
            fix = NEEDS[type(wish.default)].format(wish.metadata["least"])
            findings.append(Finding("bad-setting", where, message, fix))
        else:
            chosen[wish.name] = fitting
    return Options(**chosen)


def _fit(option: Field[Any], value: Any) -> bool | int | float | str | None:
    kind: Any = type(option.default)
    if kind is bool:
        return value if type(value) is bool else None
    if kind is str:
        return value if type(value) is str and value.isprintable() else None
    if type(value) is not kind and (kind, type(value)) != (float, int):
        return None
    return kind(value) if option.metadata["least"] <= value <= MAX_NUMBER else None


def _from_text(kind: type, text: str) -> object:
    if kind is bool:
        return True if is_setting_true(text) else False if is_setting_false(text) else text
    try:
        return kind(text)
    except ValueError:
        return text


def _toml(path: str, findings: list[Finding]) -> Iterator[tuple[str, object]]:
    text = read_settings_text(path, findings)
    if not text:
        return
    import tomllib  # slow to import, and most people have no such file

    try:
        tables = tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        named = re.search(r"line (\d+)", str(error))
        findings.append(
            broken_settings(path, f"is not TOML: {error}", int(named[1]) if named else 0)
        )
        return
    for name, table in tables.items():
        if isinstance(table, dict):
            yield from ((f"{name}.{key}", value) for key, value in table.items())
        else:
            yield name, table


# The project of a run

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


def clean_repository_settings(
    environ: Mapping[str, str], repository: list[SettingsFile], findings: list[Finding]
) -> dict[str, str]:
    env = dict(environ)
    for settings in repository:
        for key in REDIRECT_KEYS:
            if key in settings.values:
                findings.append(_attempt(settings.path, f"sets {key}"))
        for name, value in settings.environment.items():
            # A repository may switch memory off, but not on against the user.
            switches_on = name == "CLAUDE_CODE_DISABLE_AUTO_MEMORY" and not is_setting_true(value)
            if switches_on or name in place.PLACE_VARIABLES or name.startswith(place.OURS):
                findings.append(_attempt(settings.path, f"sets the variable {name}"))
                # If equal, the client passed it on; if not, it is the user's own and stays.
                if env.get(name) == value:
                    del env[name]
    return env


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
        return bool(repository_root(path))

    @property
    def config_file(self) -> str:
        return os.path.join(self.own("CONFIG"), "config.toml")

    def own(self, kind: str) -> str:
        return place.xdg_folder(self.env, self.home, kind)


def repository_root(path: str) -> str:
    """The nearest folder at or above this path with a `.git` of any kind, or ""."""
    return place.checkout_root(path, lambda git: True if os.path.lexists(git) else None)


def find_config_site(
    environ: Mapping[str, str], cwd: str, project: str | None, findings: list[Finding]
) -> Site:
    start = _start(cwd, project)
    checkout = place.checkout_root(start, place.look_at_path)
    root = place.git_root(start, place.look_at_path, os.path.realpath)
    paths = [
        os.path.join(folder, ".claude", name)
        for folder in _folders(start, checkout or start, root)
        for name in ("settings.json", "settings.local.json")
    ]
    files = [SettingsFile(path, read_settings(path, findings)) for path in paths]
    repository = _foreign([file for file in files if file.values], environ, cwd)
    env = _clean(clean_repository_settings(environ, repository, findings), cwd, findings)
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
        managed=SettingsFile(managed, read_managed_settings(managed, findings)),
        user=SettingsFile(user, read_settings(user, findings)),
        repository=tuple(repository),
    )


def directory_from_config(cwd: str, path: str) -> str:
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
        return directory_from_config(cwd, cwd)
    start = directory_from_config(cwd, project)
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
        if "\0" in value:  # only a caller of the library can pass one
            findings.append(
                rejected_setting("environment", name, value, "it holds a NUL character")
            )
            del env[name]
        elif value:
            env[name] = place.tidy_path(os.path.join(cwd, value))  # as the client does
    base = env.get(REMOTE, "")
    if base and (problem := setting_override_problem(base, tilde=False)):
        findings.append(rejected_setting("environment", REMOTE, base, problem))
        del env[REMOTE]
    return env


def rejected_setting(where: str, name: str, value: object, problem: str) -> Finding:
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
    return place.tidy_path(os.path.join(cwd, named) if named else f"{_home(env)}/.claude")

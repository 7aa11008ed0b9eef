"""The configuration: which directory holds the memories of a scope, and which rule decided."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memdir.config import scope as scope_rules
from memdir.config import settings
from memdir.config.scope import Scope, parse_scope
from memdir.config.settings import REMOTE, Options, SettingsFile, Site
from memdir.errors import BadInput, Finding, MemdirError
from memdir.hot import place
from memdir.hot.memory import RECORD_FOLDERS, RECORD_SETTINGS
from memdir.hot.place import CALLER, RECORDS, Around, Here, is_below

SWITCH = "autoMemoryEnabled"
DIR = "--dir"
REPOSITORY = "repository"
YOUNG_NS = 50_000_000  # a file younger than this may change again unnoticed
OVERRIDE = "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"
DIRECTORY = "autoMemoryDirectory"
# Never a store: the history would copy everything below.
# fmt: off
SYSTEM = (
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt",
    "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/usr/local", "/var",
    "/var/lib", "/var/tmp", "/Applications", "/Library", "/System", "/Users", "/private",
    "/private/etc", "/private/tmp", "/private/var",
)
# fmt: on
SETTINGS = ("/boot", "/etc", "/private/etc", "/proc", "/sys")  # nor any directory below these
IN_CHECKOUT = ("local", RECORDS)  # both in .claude/memory, with different file types


def project_store_setting(site: Site, findings: list[Finding]) -> tuple[str, str]:
    override = SettingsFile("environment", {DIRECTORY: site.env.get(OVERRIDE)})
    chain = (
        (f"environment {OVERRIDE}", override, False),
        (f"managed setting {DIRECTORY}", site.managed, True),
        (f"user setting {DIRECTORY}", site.user, True),
    )
    for step, file, tilde in chain:
        value = file.values.get(DIRECTORY)
        if value is None or value == "":
            continue
        problem = _problem(value, tilde, site)
        if not problem and isinstance(value, str):
            return os.path.realpath(scope_rules.expand_setting(value, site.home)), step
        findings.append(settings.rejected_setting(file.path, step, value, problem))
    base = site.env.get(REMOTE, "")
    projects = os.path.join(base or site.claude, "projects")
    store = os.path.join(projects, _folder(projects, site.root), "memory")
    return os.path.realpath(store), f"remote base {REMOTE}" if base else "default"


def _problem(value: object, tilde: bool, site: Site) -> str:
    if not isinstance(value, str):
        return "it is not a text"
    if problem := scope_rules.setting_override_problem(value, tilde=tilde):
        return problem
    home = site.home
    path = scope_rules.expand_setting(value, home)
    # The home and a top directory may be links; directories below them may not.
    anchor = home if is_below(path, home) else "/" + path.split("/")[1]
    real = os.path.realpath(path)
    if taken := _taken(real, site):
        return f"it is {taken}"
    if real != os.path.realpath(anchor) + path[len(anchor) :]:
        return f"it leads through a symbolic link to {real}; name that directory itself"
    if os.path.lexists(real) and not os.path.isdir(real):
        return "it is not a directory"
    if exposed := _exposed(real):
        return f"other users of this machine can write to {exposed}"
    return ""


def _taken(path: str, site: Site) -> str:
    home, claude = os.path.realpath(site.home), os.path.realpath(site.claude)
    if path == home or is_below(home, path):
        return "the home directory itself, or above it"
    if path in SYSTEM or any(is_below(path, top) for top in SETTINGS):
        return "a directory of the system"
    if path in (claude, os.path.join(claude, "projects")) or is_below(claude, path):
        return "the client's own directory, or above it"
    for folder in (os.path.realpath(site.own(kind)) for kind in place.FOLDERS):
        if path == folder or is_below(path, folder) or is_below(folder, path):
            return "where memdir keeps files of its own"
    return ""


def _exposed(path: str) -> str:
    """The first directory on the path that another user could write to or replace, or ""."""
    mine, here, sticky = (0, os.geteuid()), "", False
    for part in path.split("/")[1:]:
        here = f"{here}/{part}"
        try:
            info = os.stat(here)
        except OSError:
            return ""  # it does not exist yet, and will be ours
        if sticky and info.st_uid not in mine:
            return here
        open_to_all = bool(info.st_mode & stat.S_IWOTH)
        # In a sticky directory like /tmp, nobody else can replace our files.
        sticky = open_to_all and bool(info.st_mode & stat.S_ISVTX) and here != path
        if open_to_all and not sticky:
            return here
    return ""


def _folder(projects: str, root: str) -> str:
    """The client's folder of a project; other versions may hash long names differently."""
    name = scope_rules.project_scope_name(root)
    if len(name) <= scope_rules.NAME_CHARACTERS or os.path.isdir(os.path.join(projects, name)):
        return name
    start = name[: scope_rules.NAME_CHARACTERS + 1]
    alike = [other for other in _directories(projects) if other.startswith(start)]
    alike.sort(key=lambda other: not os.path.isdir(os.path.join(projects, other, "memory")))
    return alike[0] if alike else name


def _directories(path: str) -> list[str]:
    return sorted(name for name in _names(path) if os.path.isdir(os.path.join(path, name)))


def all_configured_scopes(project: str, site: Site, findings: list[Finding]) -> dict[str, str]:
    agents = [
        Scope("agent", name, where)
        for where in scope_rules.AGENT_PLACES
        for name in _directories(_agents_folder(site, where))
        if scope_rules.agent_scope_folder(name) == name  # skip folders of others
    ]
    scopes: dict[str, str] = {}
    for scope in [*map(Scope, place.MAIN_SCOPES), *agents]:
        try:
            scopes[str(scope)] = store_of_scope(scope, project, site)
        except BadInput as bent:
            findings.append(Finding("redirect-attempt", bent.path, bent.message, bent.next))
    local = scopes.get("local", "")
    folders = {*RECORD_FOLDERS}.intersection(_directories(local)) if local else ()
    if folders or (local and os.path.isfile(os.path.join(local, RECORD_SETTINGS))):
        scopes[RECORDS] = local
    return scopes


def _agents_folder(site: Site, where: str) -> str:
    if where == "user":
        return os.path.join(site.claude, "agent-memory")
    name = "agent-memory" if where == "project" else "agent-memory-local"
    return os.path.join(site.checkout, ".claude", name)


def store_of_scope(scope: Scope, project: str, site: Site) -> str:
    if scope.kind == "agent":
        path = os.path.join(_agents_folder(site, scope.place), scope.folder)
    elif scope.kind == "user":
        path = os.path.join(site.claude, "memory")
    elif scope.kind in IN_CHECKOUT:
        path = os.path.join(site.checkout, ".claude", "memory")
    else:
        path = os.path.join(project, "team") if scope.kind == "team" else project
    inside = scope.kind in IN_CHECKOUT or (scope.kind == "agent" and scope.place != "user")
    # If the home is a project, links are the user's own.
    if (inside or site.commits(path)) and site.checkout != os.path.realpath(site.home):
        _refuse_links(site.checkout, path)
    return os.path.realpath(path)


def _refuse_links(top: str, path: str) -> None:
    here = top.rstrip("/")
    for part in path[len(here) + 1 :].split("/"):
        here = f"{here}/{part}"
        if os.path.islink(here):
            message = f"{here} is a symbolic link inside the repository; it is not followed"
            hint = "Replace it by a directory. If the link is yours, name its target with --dir."
            raise BadInput(message, path=here, next=hint)


def scope_of_named_store(
    path: str, wanted: Scope, scopes: dict[str, str], site: Site
) -> tuple[Scope, str]:
    if taken := _taken(path, site):
        hint = "Name a directory that holds memories and nothing else, such as ~/.claude/memory."
        raise BadInput(f"{path} cannot be a store: it is {taken}", path=path, next=hint)
    if wanted.kind == RECORDS:
        return wanted, path
    if wanted.kind not in ("project", "team", "all"):
        raise BadInput(f"--dir and --scope {wanted} both say where", next="Give one of them.")
    if wanted.kind == "team":
        return wanted, os.path.join(path, "team")
    for name, known in scopes.items():
        if known == path:
            return parse_scope(name), path
    scopes |= {"project": path, "team": os.path.join(path, "team")}
    return wanted, path


@dataclass(frozen=True)
class Config:
    store: str
    scope: Scope
    step: str
    shared: bool  # memories may reach other people, by scope or through git
    project_root: str  # shared by all worktrees
    checkout: str  # this worktree
    code: str  # the checkout that memories refer to, or ""
    project_name: str
    enabled: bool
    enabled_by: str
    scopes: Mapping[str, str]
    findings: tuple[Finding, ...]
    home: str
    claude_dir: str
    state_dir: str
    cache_dir: str
    config_file: str
    options: Options
    environ: Mapping[str, str] = field(repr=False)  # has the API keys of models; never shown
    foreign: bool = False  # named with --dir, and not the directory of a scope

    @property
    def layout(self) -> str:
        return RECORDS if self.scope.kind == RECORDS else self.options.layout

    @property
    def origin(self) -> str:
        if self.foreign or self.store == self.scopes.get("user"):
            return ""  # named by the user, or the home is a project
        return place.origin_of_scope(str(self.scope), self.store, self.checkout, self.shared)

    @property
    def own(self) -> str:
        return os.path.dirname(self.config_file)

    def shows_in_code(self, path: str) -> bool:
        return bool(self.code) and os.path.exists(os.path.join(self.code, path))


def read_config(
    environ: Mapping[str, str],
    cwd: str,
    *,
    project: str | None = None,
    dir: str | None = None,
    scope: str = "project",
) -> Config:
    wanted, findings = parse_scope(scope), list[Finding]()
    site = settings.find_config_site(environ, cwd, project, findings)
    on, by = scope_rules.is_memory_enabled(site.env, _switches(site, findings))
    store, step = project_store_setting(site, findings)
    known = tuple((scopes := all_configured_scopes(store, site, findings)).values())
    if dir is not None:
        (wanted, store), step = (
            scope_of_named_store(settings.directory_from_config(cwd, dir), wanted, scopes, site),
            DIR,
        )
    elif wanted.kind not in ("project", "all"):
        store, step = store_of_scope(wanted, store, site), f"scope {wanted}"
    code = place.checkout_root(store, place.look_at_path) if dir and project is None else ""
    if not code and site.git and wanted.kind != "user":
        code = site.checkout
    return Config(
        store=store,
        scope=wanted,
        step=step,
        shared=wanted.shared or site.commits(store),
        project_root=site.root,
        checkout=site.checkout,
        code=code,
        project_name=scope_rules.project_scope_name(site.root),
        enabled=on,
        enabled_by=by,
        scopes=MappingProxyType(scopes),
        home=site.home,
        claude_dir=site.claude,
        state_dir=site.own("STATE"),
        cache_dir=site.own("CACHE"),
        config_file=site.config_file,
        options=settings.read_config_options(site.env, site.config_file, findings),
        environ=environ,
        findings=tuple(dict.fromkeys(findings)),
        foreign=step == DIR and store not in known,
    )


def _switches(site: Site, findings: list[Finding]) -> list[tuple[str, bool]]:
    """Settings that turn memory on or off, strongest first; a repository can only turn it off."""
    sources = [("managed", site.managed), *(("repository", file) for file in site.repository)]
    switches = []
    for source, file in [*sources, ("user", site.user)]:
        value = file.values.get(SWITCH)
        if isinstance(value, bool) and not (source == "repository" and value):
            switches.append((f"{source} setting {SWITCH}", value))
        elif value is not None and value is not True:
            message = f"{SWITCH} = {repr(value)[: settings.SHOWN_CHARACTERS]} is ignored"
            findings.append(Finding("bad-setting", file.path, message, "Write true or false."))
    if switches and not switches[0][1]:
        message = f"the repository sets {SWITCH} to true; ignored: it may only switch memory off"
        fix = "Switch it on in your user settings if you want it."
        findings += [
            Finding("ignored-setting", file.path, message, fix)
            for file in site.repository
            if file.values.get(SWITCH) is True
        ]
    return switches


def decide_config(cwd: str, environ: Mapping[str, str], around: Around, path: str) -> Here | None:
    """The configuration that hooks need in a directory, cached at `path`; None if unclear."""
    begun, unclear = time.time_ns(), list[Finding]()
    for name in around.doubtful:
        settings.read_settings(name, unclear)
    if unclear:
        return None  # the client may understand these settings: better no memory
    try:
        config = read_config(clean_environment(environ, cwd), cwd)
    except MemdirError:
        return None  # no home, or no such directory
    here = hook_config(config, around)
    basis = _basis(config, environ)
    if path and all(_is_old(name, begun) for name in (*basis, *around.seen.split("\0"))):
        place.write_kept_place(path, around.seen, basis, here)
    return here


def clean_environment(environ: Mapping[str, str], cwd: str) -> Mapping[str, str]:
    """The environment without variables from the settings of the client's start project."""
    top = environ.get(place.PROJECT, "")
    if not top.startswith("/") or not os.path.isdir(top) or top == cwd:
        return environ
    return settings.find_config_site(environ, top, None, []).env


def is_config_silent(config: Config) -> bool:
    """True if hooks do nothing: bare modes of the client, or memory is switched off."""
    if scope_rules.bare_mode(config.environ) or not config.options.hooks:
        return True
    # Other clients have no such switch; hooks.always means memdir instead of the client's memory.
    theirs = config.environ.get(CALLER) or config.options.hooks_always
    return not config.enabled and (not theirs or config.enabled_by.startswith(REPOSITORY))


def hook_config(config: Config, around: Around) -> Here:
    holds = {
        place.SILENT: is_config_silent(config),
        # Only Claude Code has a memory of its own.
        place.BUILT_IN: config.enabled and not config.environ.get(CALLER),
        place.INDEX: config.options.index,
        place.SHARED: config.shared,
        place.LOGS: config.options.dream_logs,
        place.SCAN: config.options.search == place.SCAN,
        place.CAPTURE_OFF: not config.options.capture,
        place.UNGUARDED: not config.options.guards,
        place.UNTOLD: not config.options.told_log,
        place.BY_AGENT: config.options.capture and config.options.records_agent,
        place.MODEL: config.options.recall_model == "always" and bool(config.options.model),
    }
    holding = frozenset(name for name, holds_here in holds.items() if holds_here)
    folders, scopes = (config.state_dir, config.cache_dir, around.checkout), dict(config.scopes)
    return Here(*folders, holding, scopes, config.options.max_file_bytes)


def _basis(config: Config, environ: Mapping[str, str]) -> dict[str, bool]:
    """Paths that the decision depends on; False if only their type matters."""
    managed = environ.get("MEMDIR_MANAGED_SETTINGS") or settings.MANAGED_SETTINGS
    parts = os.path.splitext(managed)[0] + ".d"
    own = f"{config.checkout}/.claude"
    basis = {f"{config.claude_dir}/settings.json": True, managed: True, config.config_file: True}
    basis |= {parts: True, **{f"{parts}/{name}": True for name in _names(parts)}}
    # Links there are not followed, so it matters if one appears or disappears.
    basis |= {own: False, f"{own}/memory": False, config.store: False}
    agents = (f"{own}/agent-memory", f"{own}/agent-memory-local")
    for top in (f"{config.claude_dir}/agent-memory", *agents):
        basis |= {top: True, **{f"{top}/{name}": False for name in _names(top)}}
    return basis


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_old(path: str, begun: int) -> bool:
    if not path.startswith("/") or place.place_facts(path, True) == place.ABSENT:
        return True
    try:
        return os.stat(path).st_ctime_ns < begun - YOUNG_NS or os.path.isdir(path)
    except OSError:
        return True

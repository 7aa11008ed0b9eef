"""Files and environment in, one frozen Config out; nobody else reads either.

files       reading what nobody has vouched for
repository  the repository's settings: heard, reported, not obeyed
place       home, the client's directory, checkout and root
stores      the directory of each scope, and the rule that decided
options     config.toml and MEMDIR_*
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memdir.config.files import look
from memdir.config.options import Options, read_options
from memdir.config.place import SHOWN_CHARACTERS, Place, find_place, named_directory
from memdir.config.stores import all_scopes, named_store, project_store, store_of
from memdir.core.acceptance import origin_of
from memdir.core.finding import Finding
from memdir.core.scope import RECORDS, Scope, checkout_root, enabled, parse_scope, project_name

__all__ = ["Config", "Options", "read_config"]

SWITCH = "autoMemoryEnabled"
DIR = "--dir"


@dataclass(frozen=True)
class Config:
    """Everything the outside decides: where memories lie, whether memory is on, the options."""

    store: str
    scope: Scope
    step: str
    shared: bool  # what is saved there may reach other people: by its scope, or through git
    project_root: str  # what all worktrees share
    checkout: str  # this worktree
    code: str  # the checkout that the memories speak of; empty where there is no one such
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
    environ: Mapping[str, str] = field(repr=False)  # for the keys of models; never shown
    foreign: bool = False  # a person named it with --dir, and it is no scope's own

    @property
    def layout(self) -> str:
        """How the store lies on disk: a member of the family of layouts."""
        return RECORDS if self.scope.kind == RECORDS else self.options.layout

    @property
    def origin(self) -> str:
        """Who else writes the memories here; empty where they are the user's own."""
        if self.foreign or self.store == self.scopes.get("user"):
            return ""  # a person named it, or the home is a project
        return origin_of(str(self.scope), self.store, self.checkout, self.shared)

    @property
    def own(self) -> str:
        """The folder beside config.toml where a user's own members lie, a folder per family."""
        return os.path.dirname(self.config_file)


def read_config(
    environ: Mapping[str, str],
    cwd: str,
    *,
    project: str | None = None,
    dir: str | None = None,
    scope: str = "project",
) -> Config:
    """Decide once, from the arguments alone, what the rest of the program takes for granted."""
    wanted, findings = parse_scope(scope), list[Finding]()
    place = find_place(environ, cwd, project, findings)
    on, by = enabled(place.env, _switches(place, findings))
    store, step = project_store(place, findings)
    known = tuple((scopes := all_scopes(store, place, findings)).values())
    if dir is not None:
        (wanted, store), step = named_store(named_directory(cwd, dir), wanted, scopes, place), DIR
    elif wanted.kind not in ("project", "all"):
        store, step = store_of(wanted, store, place), f"scope {wanted}"
    return Config(
        store=store,
        scope=wanted,
        step=step,
        shared=wanted.shared or place.commits(store),
        project_root=place.root,
        checkout=place.checkout,
        code=_code(place, wanted, store if dir and project is None else ""),
        project_name=project_name(place.root),
        enabled=on,
        enabled_by=by,
        scopes=MappingProxyType(scopes),
        home=place.home,
        claude_dir=place.claude,
        state_dir=place.own("STATE"),
        cache_dir=place.own("CACHE"),
        config_file=place.config_file,
        options=read_options(place.env, place.config_file, findings),
        environ=environ,
        findings=tuple(dict.fromkeys(findings)),
        foreign=step == DIR and store not in known,
    )


def _code(place: Place, scope: Scope, named: str) -> str:
    """Of a directory that was named, the checkout it lies in; a user's memories have none."""
    inside = checkout_root(named, look) if named else ""
    if inside or scope.kind == "user":
        return inside
    return place.checkout if place.git else ""


def _switches(place: Place, findings: list[Finding]) -> list[tuple[str, bool]]:
    """The settings that may switch memory, strongest first; a repository's only off."""
    sources = [("managed", place.managed), *(("repository", said) for said in place.repository)]
    switches = []
    for source, said in [*sources, ("user", place.user)]:
        value = said.values.get(SWITCH)
        if isinstance(value, bool) and not (source == "repository" and value):
            switches.append((f"{source} setting {SWITCH}", value))
        elif value is not None and value is not True:
            message = f"{SWITCH} = {repr(value)[:SHOWN_CHARACTERS]} is ignored"
            findings.append(Finding("bad-setting", said.path, message, "Write true or false."))
    if switches and not switches[0][1]:
        message = f"the repository sets {SWITCH} to true; ignored: it may only switch memory off"
        fix = "Switch it on in your user settings if you want it."
        findings += [
            Finding("ignored-setting", said.path, message, fix)
            for said in place.repository
            if said.values.get(SWITCH) is True
        ]
    return switches

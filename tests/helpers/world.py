"""A home, a project and managed settings to ask `read_config` about; nothing comes from outside."""

import json
import os
import subprocess
from pathlib import Path

from memdir.config.config import Config, read_config
from memdir.config.scope import project_scope_name

OVERRIDE = "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"
REMOTE = "CLAUDE_CODE_REMOTE_MEMORY_DIR"


class World:
    """A home, a project and managed settings below one directory."""

    def __init__(self, top: Path) -> None:
        top = self.top = Path(os.path.realpath(top))
        self.home = top / "home"
        self.project = top / "project"
        self.managed = top / "managed.json"
        self.home.mkdir()
        self.project.mkdir()
        self.env = {"HOME": str(self.home), "MEMDIR_MANAGED_SETTINGS": str(self.managed)}

    def read(self, cwd: Path | str | None = None, **options: str | None) -> Config:
        given = {name: options.pop(name) for name in ("dir", "project", "scope") if name in options}
        env = {**self.env, **{name: str(value) for name, value in options.items()}}
        return read_config(env, str(cwd or self.project), **given)

    def default(self, root: Path | str) -> str:
        return str(self.home / ".claude/projects" / project_scope_name(str(root)) / "memory")

    def settings(self, where: Path, **values: object) -> Path:
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(json.dumps(values))
        return where

    def user(self, **values: object) -> Path:
        return self.settings(self.home / ".claude/settings.json", **values)

    def repository(self, name: str = "settings.json", **values: object) -> Path:
        return self.settings(self.project / ".claude" / name, **values)

    def git(self, *command: object, cwd: Path | None = None) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t", "-c", "protocol.file.allow=always"]
        line = ["git", *identity, *map(str, command)]
        subprocess.run(line, cwd=cwd or self.project, check=True, capture_output=True)

    def repository_with_a_commit(self) -> None:
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "first")


def kinds(config: Config) -> list[str]:
    return [finding.kind for finding in config.findings]

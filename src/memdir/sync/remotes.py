"""The remotes that the user named: kept in our state directory, where no repository decides."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from memdir.config.config import Config
from memdir.errors import BadInput
from memdir.format.names import slugify
from memdir.hot.place import store_key
from memdir.store import state
from memdir.store.git import Git, find_git_program, find_project_identity, identity_folder
from memdir.sync.transport import Remote

FOLDER, FILE = "sync", "remotes.json"
PERSONAL = "personal"
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10"
SECONDS = 5.0


@dataclass
class Remotes:
    """`remotes` by `personal` or the key of a project's store; `names` of nameless projects."""

    folder: str
    remotes: dict[str, Remote] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def save(self) -> None:
        value = {"names": self.names, "remotes": {k: asdict(r) for k, r in self.remotes.items()}}
        with state.state_errors(os.path.join(self.folder, FILE), "cannot be written"):
            state.replace_state_json(self.folder, FILE, value)


def read_remotes(config: Config) -> Remotes:
    folder = os.path.join(config.state_dir, FOLDER)
    path = os.path.join(folder, FILE)
    try:
        with state.state_errors(path, "cannot be read"):
            value = state.read_state_json(folder, FILE, dict) or {}
        remotes = {str(key): Remote(**row) for key, row in value.get("remotes", {}).items()}
        return Remotes(folder, remotes, dict(value.get("names", {})))
    except state.DAMAGE:
        hint = f"move it away (mv {path} {path}.old), then name the remote again"
        raise BadInput(f"{path} is damaged", path=path, next=hint) from None


def team_key(config: Config) -> str:
    return "team-" + store_key(os.path.realpath(config.scopes.get("project", config.store)))


def personal_remote_folder(config: Config, remotes: Remotes) -> str:
    """Where this project's memories lie in the personal remote."""
    key = store_key(config.project_root)
    identity = find_project_identity(config.checkout)
    if not identity and key in remotes.names:
        identity = f"name/{remotes.names[key]}"
    if not identity:
        raise BadInput(
            f"{config.project_root} has no git origin and no commit: nothing says which project "
            "it is on another machine",
            path=config.project_root,
            next="give it a name once, the same on every machine: memdir sync --name NAME",
        )
    return f"projects/{identity_folder(identity)}/"


def make_git_remote(config: Config, url: str, branch: str, *, review: bool = False) -> Remote:
    name, email, ssh = _find_person(config.checkout, config.environ)
    machine = f"{slugify(socket.gethostname(), longest=30) or 'machine'}-{secrets.token_hex(4)}"
    address = check_remote_address(url)
    return Remote("git", address, branch, "", "", name, email, machine, ssh, review)


def check_remote_address(url: str) -> str:
    """A path becomes absolute: the next command may be run elsewhere."""
    url = url.strip()
    if not url or url.startswith("-") or any(char < " " for char in url) or "::" in url[:20]:
        hint = "give a git address: git@host:owner/memory.git, https://…, or the path of a bare one"
        raise BadInput(f"{url[:80]!r} is not the address of a remote", next=hint)
    is_path = "://" not in url and (":" not in url or "/" in url.partition(":")[0])
    return os.path.abspath(os.path.expanduser(url)) if is_path else url


def _find_person(checkout: str, environ: Mapping[str, str]) -> tuple[str, str, str]:
    """As the user's git knows them: name, address, and the command for ssh."""
    program = find_git_program(environ.get("PATH", ""))
    values = dict[str, str]()
    for key in ("user.name", "user.email", "core.sshCommand") if program else ():
        scope = ["--global"] if key == "core.sshCommand" else []
        git = Git(checkout, program, work_tree=False)
        git.settings.pop("core.sshCommand")
        out, ended = git.ask("config", *scope, "--get", key, seconds=SECONDS)
        values[key] = os.fsdecode(out).strip() if ended.whole else ""
    user = environ.get("USER") or environ.get("LOGNAME") or "me"
    name = environ.get("GIT_AUTHOR_NAME") or values.get("user.name") or user
    email = environ.get("GIT_AUTHOR_EMAIL") or values.get("user.email")
    ssh = environ.get("GIT_SSH_COMMAND") or values.get("core.sshCommand") or SSH
    return name, email or f"{user}@{socket.gethostname()}", ssh

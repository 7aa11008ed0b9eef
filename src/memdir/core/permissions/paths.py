"""Which files may be looked at: those of the project and the store that hold no secrets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

Resolve = Callable[[str], str]  # the real path: absolute, without links and dots

LONGEST = 1024  # characters
# Folders and files that hold keys or logins by their nature; compared in small letters.
SECRET_FOLDERS = (
    *(".git", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".gcloud"),
    *(".password-store", ".terraform", ".secrets", "secrets", "credentials"),
)
SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".boto"),
    *(".git-credentials", "*credentials*", "secret.*", "secrets.*", ".secrets*", "*.tfstate*"),
    *("*.tfvars", "*.token", "service-account*.json", "auth.json"),
)
# Of them, those that show a form and no values; code and memories tell of secrets, and seldom hold
# them (what looks like one is left out of everything that is shown).
SHOWN_FILES = (
    *("*.example", "*.sample", "*.template", "*.dist", "*.pub", "*.md", "*.py", "*.js", "*.ts"),
    *("*.go", "*.rs", "*.rb", "*.java", "*.kt", "*.cs", "*.c", "*.h", "*.cpp", "*.swift", "*.php"),
)


@dataclass(frozen=True)
class Places:
    """Where an agent may look: real paths. Where there is no project, the store alone."""

    project: str
    store: str

    def holding(self, path: str) -> str:
        """The one of them that a real path lies in; empty for none. `/` is no project."""
        roots = [root.rstrip("/") for root in (self.store, self.project)]
        return next((root for root in roots if root and is_inside(path, root)), "")

    @property
    def base(self) -> str:
        """What a relative path starts from."""
        return self.project if self.project.rstrip("/") else self.store


@dataclass(frozen=True)
class Place:
    """A path that was looked into: the real one, or why it may not be touched."""

    path: str = ""
    reason: str = ""


def is_inside(path: str, root: str) -> bool:
    """Is it the root, or below it?"""
    return path == root or path.startswith(root + "/")


def place(given: object, places: Places, resolve: Resolve) -> Place:
    """The real path of what was given, if it may be looked at."""
    if not isinstance(given, str) or not given:
        return Place(reason="it names no file")
    if len(given) > LONGEST:
        return Place(reason="the path is too long")
    if not given.isprintable():
        return Place(reason="the path holds hidden characters")
    if given.startswith("~"):
        return Place(reason="~ is not looked up: write a path of the project")
    real = resolve(given if given.startswith("/") else f"{places.base.rstrip('/')}/{given}")
    root = places.holding(real)
    if not root:
        return Place(reason="it lies outside of the project and the store")
    # What a link is called counts as much as what it leads to.
    if is_secret(real[len(root) :]) or is_secret(given.rpartition("/")[2]):
        return Place(reason="such files may hold secrets")
    return Place(real)


def is_secret(path: str) -> bool:
    """Does a path below a place say that secrets lie there?"""
    *folders, name = path.lower().strip("/").split("/")
    if any(folder in SECRET_FOLDERS for folder in (*folders, name)):
        return True
    if any(fnmatchcase(name, pattern) for pattern in SHOWN_FILES):
        return False
    return any(fnmatchcase(name, pattern) for pattern in SECRET_FILES)


def shown(path: str, places: Places) -> str:
    """How a real path is given to a command that runs in the project: never like an option."""
    base = places.base.rstrip("/")
    return f".{path[len(base) :]}" if is_inside(path, base) else path

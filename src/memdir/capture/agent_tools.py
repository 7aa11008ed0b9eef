"""Read-only tools of the capture model: files of the project and the store without secrets."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase

from memdir.capture.signals import mask_draft_secrets
from memdir.hot.disk import read_start

READ, GREP, LIST = "read", "grep", "list"
TOOLS = (READ, GREP, LIST)
MAX_TEXT_CHARACTERS = 1024  # of a path or a pattern
MAX_FILE_BYTES = 256 * 1024
MAX_LINES = 200  # of a file or a folder
MAX_MATCHES = 100
MAX_SEARCH_SECONDS = 5.0
SKIPPED_FOLDERS = ("node_modules", "__pycache__", ".venv")
# Folders and files that usually hold keys or logins; compared in lower case.
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
# Exceptions: templates, and code and memories, which mention secrets but seldom hold them (lines
# that look like a secret are always left out).
SHOWN_FILES = (
    *("*.example", "*.sample", "*.template", "*.dist", "*.pub", "*.md", "*.py", "*.js", "*.ts"),
    *("*.go", "*.rs", "*.rb", "*.java", "*.kt", "*.cs", "*.c", "*.h", "*.cpp", "*.swift", "*.php"),
)


class Denied(Exception):
    """The model may not do this; the message says why."""


class ProjectReader:
    """Reads files of one project and one store only; without a project, the store alone."""

    def __init__(self, project: str, store: str) -> None:
        # The root directory does not count as a project.
        self.project = os.path.realpath(project).rstrip("/") if project else ""
        self.store = os.path.realpath(store)

    def call(self, tool: str, path: str, pattern: str = "", start: int = 0, lines: int = 0) -> str:
        if tool not in TOOLS:
            raise Denied(f"there is no such tool for you; you have {', '.join(TOOLS)}")
        if tool == GREP:
            _check_text(pattern, "pattern")
        real = self.locate(path)
        try:
            if tool == READ:
                return self._read(real, start, lines)
            return self._grep(real, pattern) if tool == GREP else self._list(real)
        except OSError as error:
            return f"(cannot be read: {error.strerror or type(error).__name__})"

    def locate(self, path: str) -> str:
        """The real path; relative ones start in the project. Raises Denied for secrets."""
        _check_text(path, "path")
        if path.startswith("~"):
            raise Denied("~ is not looked up: write a path of the project")
        try:
            real = os.path.realpath(os.path.join(self.project or self.store, path))
        except (OSError, ValueError):
            raise Denied("there is no such path") from None
        roots = [root for root in (self.store, self.project) if root]
        root = next((root for root in roots if real == root or real.startswith(f"{root}/")), "")
        if not root:
            raise Denied("it lies outside of the project and the store")
        # Both the link's name and its target count.
        if agent_may_not_read(real[len(root) :]) or agent_may_not_read(os.path.basename(path)):
            raise Denied("such files may hold secrets")
        return real

    def memory_name(self, path: str) -> str:
        folder, name = os.path.split(self.locate(path))
        return name[:-3] if folder == self.store and name.endswith(".md") else ""

    def memory(self, name: str) -> bytes | None:
        try:
            return _read(os.path.join(self.store, f"{name}.md"))
        except (OSError, ValueError):
            return None

    def names(self) -> list[str]:
        try:
            files = os.listdir(self.store)
        except OSError:
            return []
        return sorted(file[:-3] for file in files if file.endswith(".md"))

    def _read(self, path: str, start: int, limit: int) -> str:
        data = _read(path)
        if os.path.realpath(path) != path:  # a parent folder has become a link
            return "(it was moved just now)"
        lines = mask_draft_secrets(data[:MAX_FILE_BYTES].decode("utf-8", "replace")).split("\n")
        first = max(start - 1, 0)
        shown = lines[first : first + (limit if limit > 0 else MAX_LINES)]
        left = len(lines) - first - len(shown)
        more = [f"({left} more lines)"] if left > 0 or len(data) > MAX_FILE_BYTES else []
        return "\n".join([*shown, *more])

    def _grep(self, path: str, pattern: str) -> str:
        """Lines with one of the `|`-separated words, ignoring case.

        No regular expressions: one from a model could run forever.
        """
        wanted = [word.lower() for word in pattern.split("|") if word]
        end = time.monotonic() + MAX_SEARCH_SECONDS
        matches: list[str] = []
        for file in _files_below(path):
            if len(matches) >= MAX_MATCHES or time.monotonic() > end:
                matches.append("(there may be more)")
                break
            try:
                data = _read(file)[:MAX_FILE_BYTES]
            except OSError:
                continue
            text = data.decode("utf-8", "replace")
            if b"\0" in data or not any(word in text.lower() for word in wanted):
                continue
            name = os.path.relpath(file, self.project or self.store)
            name = file if name.startswith("..") else name
            # Search the whole file for secrets: a single line of a key does not look like one.
            pairs = zip(text.split("\n"), mask_draft_secrets(text).split("\n"), strict=False)
            matches += [
                f"{name}:{number}:{shown}"
                for number, (line, shown) in enumerate(pairs, 1)
                if any(word in line.lower() for word in wanted)
            ][: MAX_MATCHES - len(matches)]
        return "\n".join(matches) or "(no line fits)"

    def _list(self, path: str) -> str:
        with os.scandir(path) as entries:
            names = sorted(entry.name + "/" * entry.is_dir() for entry in entries)
        names = [name for name in names if not agent_may_not_read(name)]
        more = [f"({len(names) - MAX_LINES} more)"] if len(names) > MAX_LINES else []
        return "\n".join([*names[:MAX_LINES], *more]) or "(it is empty)"


def agent_may_not_read(path: str) -> bool:
    *folders, name = path.lower().strip("/").split("/")
    if any(folder in SECRET_FOLDERS for folder in (*folders, name)):
        return True
    if any(fnmatchcase(name, pattern) for pattern in SHOWN_FILES):
        return False
    return any(fnmatchcase(name, pattern) for pattern in SECRET_FILES)


def _check_text(text: str, kind: str) -> None:
    if not text.strip("|"):
        raise Denied(f"there is no {kind}")
    if len(text) > MAX_TEXT_CHARACTERS or not text.isprintable():
        raise Denied(f"the {kind} is too long or holds hidden characters")


def _read(path: str) -> bytes:
    return read_start(path, MAX_FILE_BYTES + 1, follow=False)[0]


def _files_below(path: str) -> Iterator[str]:
    """Links are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(
            name for name in folders if not agent_may_not_read(name) and name not in SKIPPED_FOLDERS
        )
        for file in sorted(files):
            if not agent_may_not_read(file):
                yield os.path.join(folder, file)

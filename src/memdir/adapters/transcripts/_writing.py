"""Which files a call of a tool writes, as far as the call itself says."""

from __future__ import annotations

import os
import re
from typing import Any

from memdir.adapters.transcripts._text import words
from memdir.core.patterns import pattern
from memdir.core.scope import PATH_CHARACTERS

# Tools that write one file, by their names in lower case, and where its path stands.
_TOOLS = {
    **dict.fromkeys(("write", "edit", "multiedit", "update"), ("file_path", "filePath", "path")),
    **dict.fromkeys(("write_file", "replace", "edit_file", "create_file"), ("file_path", "path")),
    "notebookedit": ("notebook_path",),
    "str_replace_based_edit_tool": ("path",),
    "str_replace_editor": ("path",),
    "memory": ("path", "new_path"),
    "patch": ("filePath", "file_path", "path"),
}
_LOOKING = ("view", "read", "list")  # what the command of an editor's tool may be instead
_SHELLS = ("bash", "shell", "run_shell_command", "exec_command", "local_shell")
COMMAND = 64 * 1024  # characters of a command line that are looked at
MOST = 100  # files of one call
_REDIRECTED = pattern(
    r"(?:>{1,2}\|?|\btee(?:[ \t]{1,9}-a)?[ \t])[ \t]{0,9}"
    r"(\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s\"'<>|&;()]{1,4096})"
)
_PATCHED = pattern(r"^\*\*\* (?:Add|Update|Move to|Delete)[ \w]{0,9}: (.{1,4096})$", re.MULTILINE)


def written(tool: str, given: Any, cwd: str, home: str) -> tuple[str, ...]:
    """The absolute paths of the files; none for a tool that only looks."""
    name = tool.lower()
    if name in _SHELLS:
        return _absolute(_redirected(command_line(given)), cwd, home)
    if name == "apply_patch":
        return _absolute(_patched(patch_of(given)), cwd, home)
    keys = _TOOLS.get(name)
    if not keys or not isinstance(given, dict) or words(given.get("command")) in _LOOKING:
        return ()
    return _absolute([words(given.get(key)) for key in keys], cwd, home)


def command_line(given: Any) -> str:
    """The text of a shell's call: a line, or the words of one."""
    line = given.get("command", given.get("cmd")) if isinstance(given, dict) else given
    if isinstance(line, list):
        line = " ".join(word for word in line[:1000] if isinstance(word, str))
    return words(line)[:COMMAND]


def patch_of(given: Any) -> str:
    """The text of a patch: the call's input itself, or a field of it."""
    if isinstance(given, dict):
        given = given.get("input", given.get("patch", given.get("patchText")))
    return words(given)


def _redirected(line: str) -> list[str]:
    some = ">" in line or "tee" in line
    found = [match[1].strip("\"'") for match in _REDIRECTED.finditer(line)] if some else []
    return found + _patched(line) if "*** Begin Patch" in line else found


def _patched(patch: str) -> list[str]:
    return [match[1].strip() for match in _PATCHED.finditer(patch)]


def _absolute(paths: list[str], cwd: str, home: str) -> tuple[str, ...]:
    """Tidy, each once; what no file can be called is left out."""
    found: dict[str, None] = {}
    for path in paths[:MOST]:
        if not path or len(path) > PATH_CHARACTERS or not path.isprintable():
            continue
        for start in ("~", "$HOME", "${HOME}"):
            if path.startswith(f"{start}/"):
                path = home + path[len(start) :]
        whole = os.path.normpath(os.path.join(cwd, path))
        if whole.startswith("/") and not whole.startswith("/dev/"):
            found[whole] = None
    return tuple(found)

"""Where a memory belongs: the project's name and root, the scopes, and whether memory is on.

Hooks import this module, so it is light: nothing is imported at run time but our own errors.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal

    # A file's bytes, True for a directory, None for anything else.
    Look = Callable[[str], bytes | Literal[True] | None]

NAME_CHARACTERS = 200
PATH_CHARACTERS = 4096
SHORTEST_PATH_CHARACTERS = 3
# `gitdir: ` and one path; whatever is longer was not written by git.
GIT_FILE_BYTES = 8192
# A file name may have 255 bytes; the rest is room for a suffix.
AGENT_FOLDER_BYTES = 200
UNSAFE_IN_FOLDER = '/\\:<>"|?*'
BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"

TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")

MAIN_SCOPES = ("project", "user", "local", "team")
RECORDS = "records"  # structured records: a layout of their own in the checkout
AGENT_PLACES = ("user", "project", "local")
SCOPE_FORMS = (*MAIN_SCOPES, *(f"agent:NAME@{place}" for place in AGENT_PLACES), RECORDS, "all")


def project_name(root: str) -> str:
    """The folder below `projects/` that Claude Code gives to this root."""
    root = _as_client_reads(root)
    # JavaScript replaces UTF-16 units, so a character outside the BMP becomes two dashes.
    name = "".join(
        char if char.isascii() and char.isalnum() else "--" if char > "\uffff" else "-"
        for char in root
    )
    if len(name) <= NAME_CHARACTERS:
        return name
    return f"{name[:NAME_CHARACTERS]}-{short_hash(root)}"


def _as_client_reads(path: str) -> str:
    """NFC, and bytes that are no UTF-8 as U+FFFD: the text a JavaScript client has in hand."""
    if path.isascii():
        return path
    from unicodedata import normalize

    try:
        path = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half a character that no file system gave us; it is one unit
        return path
    return normalize("NFC", path)


def _units(text: str) -> "Iterator[int]":
    for char in text:
        code = ord(char)
        if code > 0xFFFF:
            yield 0xD800 + (code - 0x10000 >> 10)
            yield 0xDC00 + (code - 0x10000 & 0x3FF)
        else:
            yield code


def short_hash(text: str) -> str:
    """The client's 32-bit string hash (times 31), absolute, in base 36."""
    number = 0
    for unit in _units(text):
        number = (number * 31 + unit) & 0xFFFFFFFF
    if number >= 1 << 31:
        number = (1 << 32) - number
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = BASE_36[digit] + digits
    return digits or "0"


def tidy(path: str) -> str:
    """The path without `.`, `..`, doubled and trailing slashes, by its text alone."""
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and absolute):
            parts.append(part)
    return ("/" if absolute else "") + "/".join(parts)


def below(path: str, top: str) -> bool:
    """True when the path lies below the directory, by its text alone."""
    return path.startswith(top.rstrip("/") + "/") and path != top


def _join(top: str, path: str) -> str:
    if path.startswith("/") or not top:
        return path
    return f"{top.rstrip('/')}/{path}"


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else "")


def checkout_root(start: str, look: "Look") -> str:
    """The nearest directory upwards that has a `.git`; empty when there is none."""
    here = start
    while look(_join(here, ".git")) is None:
        if here == _parent(here):
            return ""
        here = _parent(here)
    return here


def git_root(start: str, look: "Look", real: "Callable[[str], str]" = tidy) -> str:
    """The root all worktrees and subdirectories of a repository share; without git: `start`.

    `start` is a real path. Give `real` (`os.path.realpath`) wherever the answer is resolved later:
    by text alone, a planted symbolic link and a relative worktree could pass for each other.
    """
    here = checkout_root(start, look)
    if not here:
        return start
    target = _git_line(look(_join(here, ".git")), b"gitdir:")
    return _main_root(here, real(_join(here, target)), look, real) if target else here


def _main_root(here: str, gitdir: str, look: "Look", real: "Callable[[str], str]") -> str:
    """The main repository's root, if both sides agree that `here` is its linked worktree."""
    common = _git_line(look(_join(gitdir, "commondir")))
    back = _git_line(look(_join(gitdir, "gitdir")))
    if not common or not back:
        return here  # a submodule, a separate git directory, or a repository that has moved
    common, back = real(_join(gitdir, common)), _join(gitdir, back)
    # A downloaded folder may hold a forged `.git`; it cannot make the repository point back at it.
    if _parent(gitdir) != _join(common, "worktrees"):
        return here
    if not back.endswith("/.git") or real(_parent(back)) != here:
        return here
    return _parent(common) if common.endswith("/.git") else common


def _git_line(content: "bytes | Literal[True] | None", prefix: bytes = b"") -> str:
    """The one path in a file of git's; empty for anything that git would not have written."""
    if not isinstance(content, bytes) or len(content) > GIT_FILE_BYTES:
        return ""
    if not content.startswith(prefix) or b"\0" in content:
        return ""
    return content[len(prefix) :].lstrip(b" \t").rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def override_problem(path: str, *, tilde: bool) -> str:
    """Why this path cannot be a memory directory; empty when its text is acceptable."""
    if not path:
        return "it is empty"
    if "\0" in path:
        return "it holds a NUL character"
    if any(char < " " or "\x7f" <= char <= "\x9f" for char in path):
        return "it holds a control character"
    if any("\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff" for char in path):
        return "it holds half a character, which no file name can"
    if len(path) > PATH_CHARACTERS:
        return f"it is longer than {PATH_CHARACTERS} characters"
    if path.startswith("~"):
        return _tilde_problem(path, tilde)
    if path.startswith(("//", "\\\\")):
        return "it is a network path"
    if path[1:2] == ":" and path[0].isalpha() and not path[2:].strip("/\\"):
        return "it is the root of a drive"
    if not path.startswith("/"):
        return "it is relative"
    if len(tidy(path)) < SHORTEST_PATH_CHARACTERS:
        return f"it is shorter than {SHORTEST_PATH_CHARACTERS} characters, too near the root"
    return ""


def _tilde_problem(path: str, allowed: bool) -> str:
    if not allowed:
        return "`~` is not expanded here"
    if path != "~" and not path.startswith("~/"):
        return "only `~/` is expanded, not the home of another user"
    rest = tidy(path[1:].lstrip("/"))
    if rest in ("", "..") or rest.startswith("../"):
        return "it is the home directory itself, or above it"
    return ""


def expand(path: str, home: str) -> str:
    """The tidy absolute path of an override that has no problem."""
    return tidy(home + path[1:]) if path.startswith("~/") else tidy(path)


def agent_folder(name: str) -> str:
    """An agent's name as one harmless folder name; letters of every language stay."""
    safe = "".join(
        char if char.isprintable() and char not in UNSAFE_IN_FOLDER else "-" for char in name
    )
    # A leading dot hides the folder or leaves it (`..`); trailing dots and spaces get lost.
    left, right = len(safe) - len(safe.lstrip(". ")), len(safe.rstrip(". "))
    folder = "-" * left + safe[left:right] + "-" * (len(safe) - max(left, right))
    if len(folder.encode()) > AGENT_FOLDER_BYTES:
        suffix = f"-{short_hash(name)}"
        room = AGENT_FOLDER_BYTES - len(suffix)
        folder = folder.encode()[:room].decode("utf-8", "ignore") + suffix
    return folder or "agent"


class Scope:
    """One of the places memories live in; `agent` and `place` only for an agent's own."""

    __slots__ = ("agent", "kind", "place")

    def __init__(self, kind: str, agent: str = "", place: str = "") -> None:
        self.kind = kind
        self.agent = agent
        self.place = place

    @property
    def shared(self) -> bool:
        """True when what is saved there may reach other people."""
        inside = ("team", "local", RECORDS)
        return self.kind in inside or (self.kind, self.place) == ("agent", "project")

    @property
    def folder(self) -> str:
        """The folder of an agent's memories."""
        return agent_folder(self.agent)

    def __str__(self) -> str:
        return f"agent:{self.agent}@{self.place}" if self.kind == "agent" else self.kind

    def __repr__(self) -> str:
        return f"Scope({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def parse_scope(text: str) -> Scope:
    """The scope that `--scope` names; refuses anything else and lists what there is."""
    if text in MAIN_SCOPES or text in (RECORDS, "all"):
        return Scope(text)
    kind, _, rest = text.partition(":")
    # The last `@`: an agent's name may hold one itself.
    agent, _, place = rest.rpartition("@")
    if kind == "agent" and agent.strip() and place in AGENT_PLACES:
        return Scope("agent", agent, place)
    forms = ", ".join(SCOPE_FORMS)
    from memdir.core.errors import BadInput  # eight classes that no hook needs

    raise BadInput(f"no such scope: {text!r}", next=f"Use one of: {forms}")


def is_true(text: str) -> bool:
    """A switch of the environment that is on."""
    return text.strip().lower() in TRUE_WORDS


def is_false(text: str) -> bool:
    """A switch of the environment that is set and off; empty or anything else is neither."""
    return text.strip().lower() in FALSE_WORDS


def enabled(
    env: "Mapping[str, str]", settings: "Sequence[tuple[str, bool]]" = ()
) -> tuple[bool, str]:
    """Whether memory is on, and the step that decided; `settings` come strongest first."""
    switch = env.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "")
    if is_true(switch) or is_false(switch):
        return is_false(switch), "environment CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    if is_true(env.get("CLAUDE_CODE_SIMPLE", "")):
        return False, "environment CLAUDE_CODE_SIMPLE"
    remote = is_true(env.get("CLAUDE_CODE_REMOTE", ""))
    if remote and not env.get("CLAUDE_CODE_REMOTE_MEMORY_DIR"):
        return False, "environment CLAUDE_CODE_REMOTE without CLAUDE_CODE_REMOTE_MEMORY_DIR"
    if settings:
        source, value = settings[0]
        return value, source
    return True, "default"

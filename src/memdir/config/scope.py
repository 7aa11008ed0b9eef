"""Scopes of memories, and the names and paths of their directories."""

from unicodedata import normalize

from memdir.errors import BadInput
from memdir.hot.place import MAIN_SCOPES, PATH_CHARACTERS, RECORDS, tidy_path

TYPE_CHECKING = False  # the hook of a subagent imports this module: it must load fast
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME_CHARACTERS = 200
SHORTEST_PATH_CHARACTERS = 3
# A file name may have 255 bytes; the rest is room for a suffix.
AGENT_FOLDER_BYTES = 200
UNSAFE_IN_FOLDER = '/\\:<>"|?*'
BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"
TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
AGENT_PLACES = ("user", "project", "local")
SCOPE_FORMS = (*MAIN_SCOPES, *(f"agent:NAME@{place}" for place in AGENT_PLACES), RECORDS, "all")


def project_scope_name(root: str) -> str:
    if not root.isascii():
        # As JavaScript decodes it: NFC, with U+FFFD for bytes that are not UTF-8. A lone surrogate
        # that is not from a file name stays; it is one unit.
        try:
            decoded = root.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            root = normalize("NFC", decoded)
        except UnicodeEncodeError:
            pass
    # JavaScript replaces UTF-16 units, so a character outside the BMP becomes two dashes.
    name = "".join(
        char if char.isascii() and char.isalnum() else "--" if char > "\uffff" else "-"
        for char in root
    )
    if len(name) <= NAME_CHARACTERS:
        return name
    return f"{name[:NAME_CHARACTERS]}-{short_hash_of_scope(root)}"


def short_hash_of_scope(text: str) -> str:
    """The client's 32-bit string hash (times 31), absolute, in base 36."""
    number = 0
    units = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        number = (number * 31 + (high << 8 | low)) & 0xFFFFFFFF
    if number >= 1 << 31:
        number = (1 << 32) - number
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = BASE_36[digit] + digits
    return digits or "0"


def setting_override_problem(path: str, *, tilde: bool) -> str:
    if any(char < " " or "\x7f" <= char <= "\x9f" or _is_half(char) for char in path):
        return "it holds a character that no path should have"
    if len(path) > PATH_CHARACTERS:
        return f"it is longer than {PATH_CHARACTERS} characters"
    if path.startswith("~"):
        if not tilde:
            return "`~` is not expanded here"
        if path != "~" and not path.startswith("~/"):
            return "only `~/` is expanded, not the home of another user"
        rest = tidy_path(path[1:].lstrip("/"))
        above = rest in ("", "..") or rest.startswith("../")
        return "it is the home directory itself, or above it" if above else ""
    if path.startswith(("//", "\\\\")):
        return "it is a network path"
    if path[1:2] == ":" or "\\" in path:
        return "it is a path of Windows; inside WSL, C:\\ is /mnt/c/"
    if not path.startswith("/"):
        return "it is relative"
    if len(tidy_path(path)) < SHORTEST_PATH_CHARACTERS:
        return f"it is shorter than {SHORTEST_PATH_CHARACTERS} characters, too near the root"
    return ""


def _is_half(char: str) -> bool:
    """True for half a character, unless it stands for a byte of a file name."""
    return "\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff"


def expand_setting(path: str, home: str) -> str:
    return tidy_path(home + path[1:]) if path.startswith("~/") else tidy_path(path)


def agent_scope_folder(name: str) -> str:
    safe = "".join(
        char if char.isprintable() and char not in UNSAFE_IN_FOLDER else "-" for char in name
    )
    # A leading dot hides the folder or leaves it (`..`); trailing dots and spaces may be dropped.
    left, right = len(safe) - len(safe.lstrip(". ")), len(safe.rstrip(". "))
    folder = "-" * left + safe[left:right] + "-" * (len(safe) - max(left, right))
    if len(folder.encode()) > AGENT_FOLDER_BYTES:
        suffix = f"-{short_hash_of_scope(name)}"
        room = AGENT_FOLDER_BYTES - len(suffix)
        folder = folder.encode()[:room].decode("utf-8", "ignore") + suffix
    return folder or "agent"


class Scope:
    """`agent` and `place` are only set for an agent's own memories."""

    def __init__(self, kind: str, agent: str = "", place: str = "") -> None:
        self.kind = kind
        self.agent = agent
        self.place = place

    @property
    def shared(self) -> bool:
        inside = ("team", "local", RECORDS)
        return self.kind in inside or (self.kind, self.place) == ("agent", "project")

    @property
    def folder(self) -> str:
        return agent_scope_folder(self.agent)

    def __str__(self) -> str:
        return f"agent:{self.agent}@{self.place}" if self.kind == "agent" else self.kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def parse_scope(text: str) -> Scope:
    if text in MAIN_SCOPES or text in (RECORDS, "all"):
        return Scope(text)
    kind, _, rest = text.partition(":")
    # The last `@`, since an agent's name may contain one.
    agent, _, place = rest.rpartition("@")
    if kind == "agent" and agent.strip() and place in AGENT_PLACES:
        return Scope("agent", agent, place)
    raise BadInput(f"no such scope: {text!r}", next=f"Use one of: {', '.join(SCOPE_FORMS)}")


def is_setting_true(text: str) -> bool:
    return text.strip().lower() in TRUE_WORDS


def is_setting_false(text: str) -> bool:
    """True if a variable is set and switched off; an empty one is not."""
    return text.strip().lower() in FALSE_WORDS


def is_memory_enabled(
    env: "Mapping[str, str]", settings: "Sequence[tuple[str, bool]]" = ()
) -> tuple[bool, str]:
    switch = env.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "")
    if is_setting_true(switch) or is_setting_false(switch):
        return is_setting_false(switch), "environment CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    if mode := bare_mode(env):
        return False, f"environment {mode}"
    if settings:
        source, value = settings[0]
        return value, source
    return True, "default"


def bare_mode(env: "Mapping[str, str]") -> str:
    """The variables by which a client runs without any memory, or ""."""
    if is_setting_true(env.get("CLAUDE_CODE_SIMPLE", "")):
        return "CLAUDE_CODE_SIMPLE"
    if is_setting_true(env.get("CLAUDE_CODE_REMOTE", "")) and not env.get(
        "CLAUDE_CODE_REMOTE_MEMORY_DIR"
    ):
        return "CLAUDE_CODE_REMOTE without CLAUDE_CODE_REMOTE_MEMORY_DIR"
    return ""

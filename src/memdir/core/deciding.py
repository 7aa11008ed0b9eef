"""Which variables of the environment decide where memory lies, and where our own folders are.

Light: the configuration and the hooks go by the same list.
"""

from memdir.core.scope import tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Each may be named outright; a relative one would wander with the current directory.
PATH_VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "MEMDIR_STATE_DIR",
    "MEMDIR_CACHE_DIR",
    "MEMDIR_CONFIG_DIR",
    "MEMDIR_MANAGED_SETTINGS",
)
# A repository's `env` reaches hooks through the client; so these are not taken from one.
PLACE_VARIABLES = (
    "HOME",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE",
    "CLAUDE_CODE_REMOTE_MEMORY_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
)
OURS = "MEMDIR_"  # how the names of all of our own begin
SWITCHES = ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_REMOTE")
FOLDERS = {"STATE": ".local/state", "CACHE": ".cache", "CONFIG": ".config"}  # below the home


def own_folder(env: "Mapping[str, str]", home: str, kind: str) -> str:
    """Our directory for state, cache or configuration."""
    base = env.get(f"XDG_{kind}_HOME", "")
    # The XDG specification says to ignore a relative base.
    if not base.startswith("/") or "\0" in base:
        base = f"{home}/{FOLDERS[kind]}"
    return tidy(env.get(f"{OURS}{kind}_DIR", "") or f"{base}/memdir")

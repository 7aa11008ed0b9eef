"""A client of your own: copy this file to ~/.config/memdir/clients/, then `memdir setup windsurf`.

It puts the MCP server into Windsurf's settings. What stands there already keeps its bytes, and
`memdir setup windsurf --remove` takes out what was put in.
"""

import os

from memdir.adapters.clients._merge import Merge
from memdir.adapters.clients._ours import NAME, is_server, server
from memdir.adapters.clients._plan import Host, Plan, Wish, only_settings
from memdir.adapters.clients._receipt import Receipt

TITLE = "Windsurf"
SERVERS = "mcpServers"


def folder(host: Host) -> str:
    """Where the client keeps what is the user's."""
    return os.path.join(host.home, ".codeium", "windsurf")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files; nothing is written here."""
    remarks = only_settings(TITLE, wish)
    command, *args = server(host)
    wanted = {SERVERS: {NAME: {"command": command, "args": args}}}
    file = os.path.join(folder(host), "mcp_config.json")
    merge = Merge(file, wanted, _is_ours, (SERVERS, NAME), remarks)
    return Plan("", (merge.edit(receipt, wish.remove),), {}, tuple(remarks))


def _is_ours(path: tuple[str | int, ...], value: object) -> bool:
    return path == (SERVERS, NAME) and is_server(value)

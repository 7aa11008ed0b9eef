"""A client of your own: copy this file to ~/.config/memdir/clients/, then `memdir setup windsurf`.

It puts the MCP server into Windsurf's settings. What stands there already stays, and
`memdir setup windsurf --remove` takes out what was put in.
"""

import os

from memdir.clients.edit_settings import NAME, Merge, Receipt, our_client_entry
from memdir.clients.setup import Host, Plan, Wish, client_server_entry, refuse_plugin

TITLE = "Windsurf"
SERVERS = "mcpServers"


def folder(host: Host) -> str:
    """Where the client keeps what is the user's."""
    return os.path.join(host.home, ".codeium", "windsurf")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files; nothing is written here."""
    remarks = refuse_plugin(TITLE, wish)
    wanted = {SERVERS: client_server_entry(host)}
    file = os.path.join(folder(host), "mcp_config.json")
    merge = Merge(file, wanted, our_client_entry(SERVERS), (SERVERS, NAME), remarks)
    return Plan("", (merge.edit(receipt, wish.remove),), {}, tuple(remarks))

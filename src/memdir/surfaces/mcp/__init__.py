"""The MCP server: `memdir mcp`, for every agent that speaks the Model Context Protocol.

line        the command line
pipe        standard input and output
messages    JSON-RPC: bytes in, bytes out, refusals
talk        the methods of the protocol, for one client
tools       what an agent can call, as it is told; arguments, checked
calling changing    what happens then: one flow each
resources   memories as documents
stores      the stores of the project, opened for one call
words       what an agent reads: frames, pages, next steps

Written without the SDK of the protocol: its import takes longer than all of this
(docs/decisions/0007-own-mcp-protocol.md). The first answer needs none of memdir's own modules.
"""

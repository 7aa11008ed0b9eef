"""The team server: spaces of memories on PostgreSQL, over HTTP and MCP."""

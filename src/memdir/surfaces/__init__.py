"""Entry files that settings written by version 0.1.0 name; they start what is in hot and mcp."""

"""Hooks: a client starts one process, hands it JSON, and waits. Nothing here is resident."""

"""Checks and status of memory."""

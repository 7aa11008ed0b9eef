"""Searches: each finds the memories of one store that belong to a prompt."""

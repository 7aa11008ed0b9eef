"""Structured records: a second layout, with an index, windows and rules of its own."""

"""Structured records: a second layout with rules of its own."""

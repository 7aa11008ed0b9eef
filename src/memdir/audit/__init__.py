"""Scores and findings of a store."""

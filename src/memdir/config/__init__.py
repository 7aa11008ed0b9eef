"""Builds a Config from settings and environment."""

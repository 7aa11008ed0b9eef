"""Structured records: what they hold, how they are checked, scored, merged and let go."""

"""Claims of memories, and verdicts on them from a git repository."""

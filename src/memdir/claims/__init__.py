"""Memory to claims to verdicts against a git repository."""

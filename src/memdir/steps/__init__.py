"""What happens to a memory: one verb per file; steps never call each other."""

"""What memories say of the code (paths, symbols, versions), judged by the git repository."""

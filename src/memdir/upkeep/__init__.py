"""Store to a tidier store: restructure, dream."""

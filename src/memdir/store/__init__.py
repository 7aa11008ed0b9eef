"""One store: the one writer, history, trash, undo."""

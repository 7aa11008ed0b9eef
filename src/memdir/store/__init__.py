"""One store: the one writer, acceptance, history, trash, undo; state files and daily logs."""

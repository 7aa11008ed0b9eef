"""The suite. A regular package, so that no installed `tests` can stand in front of it."""

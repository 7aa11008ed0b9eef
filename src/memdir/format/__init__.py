"""Pure functions for the contents of a store: names, MEMORY.md, drafts."""

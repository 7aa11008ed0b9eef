"""Pure functions on what a store holds: types, names, pointers and lines of MEMORY.md, drafts."""

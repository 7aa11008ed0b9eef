"""Pure: what lies in a store: names, MEMORY.md, drafts."""

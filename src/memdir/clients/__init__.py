"""One file per agent: install, read transcripts, import its memories."""

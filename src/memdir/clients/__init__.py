"""One file per agent: install, settings, read transcripts, import its memories."""

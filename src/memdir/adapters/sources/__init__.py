"""Sources: memories that other tools keep, as files of a store. One file each."""

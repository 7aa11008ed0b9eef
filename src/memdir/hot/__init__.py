"""All a hook may import, C modules only: disk, place, header, words, catalog, rank, injection."""

"""A tidier store: restructure (pieces, topics, titles, pointers, splits) and dream."""

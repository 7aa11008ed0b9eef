"""Restructuring a store: what would change, and the proof that no line of knowledge is lost.

work        the store while it is worked on, and what was done to it
bodies      a body's lines: headings, fences, sections, groups of a good size
titles      what a part is called, what its one line says, which file name is free
guessing    which type a part has, and why we think so
headers     name, description and type for a memory that lacks them
pieces      content of the index: what it is, and what of it belongs together
inview      sections that say that agents must always see them: they stay
known       pieces that a memory says already
topics      such pieces as memories of a good size
pointers    the lines that stay: short, leading somewhere, each thought in its file
splitting   overlong memories, by heading
contents    a table of contents whose headings are gone
dating      relative dates, by the date of the memory
merging     memories that say the same
sections    the index in the end: which pointer stands where
knowledge   the invariant: every line of before is there afterwards, or accounted for
checklist   the result, checked; figures of before and after
planning    the sequence
ideas       what a model may propose, and what of it is taken
"""

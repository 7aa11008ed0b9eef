"""What an audit looks for, one group of findings per module; each gives findings, changes nothing.

page        a memory as it is inspected
pointers    the index: size, content, pointers that are long, dangle or are missing
headers     no header, no type, one that nobody knows, a description that does not fit
bodies      relative dates, too many lines, links to nothing
safety      secrets, hidden characters, text that gives orders to an agent
marks       merges that nobody has decided
pairs       two memories that say the same, or the opposite
ignored     memories that git leaves out
"""

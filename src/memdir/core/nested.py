"""The mark of a process that we started ourselves: hooks inside it do nothing."""

# Set by whoever starts an agent as a model; a hook that sees it returns at once, or the agent
# would call us, and we the agent, without end.
NESTED = "MEMDIR_NESTED"

"""What the agent that captures may do: look at the project and the store, and nothing else.

deciding   allowed or denied, and why
words      a command line cut into words, where it is a plain one
commands   the few commands that only look
paths      inside the project or the store, and no secret
"""

"""memdir in a framework for agents, one file each; the framework itself is not installed with it.

What a model reads of memories is framed as memory, not as an instruction. What it writes goes
through the rules of every memory and says in its header that an agent wrote it.
"""

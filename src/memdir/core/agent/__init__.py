"""The agent that captures with a model: it reads, then it drafts, and it writes nothing itself.

turn      what one turn may answer, and what is made of that
telling   what it is told: messages, memories and results, all as data
grounds   what a person said that lets it take something away
run       what a run has come to so far
"""

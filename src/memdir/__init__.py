"""memdir: a memory for coding agents that its users can trust.

core/       what a memory is: pure values and rules
steps/      what happens to it: one verb per file
adapters/   what can be swapped: layouts, history, wrappers
config      files and environment in, one frozen Config out
registry    finds family members without importing them
app         the only wiring
flows       the sequences: read this to know what the system does
doctor      the check-up: look, mend, and prove in a throw-away store
surfaces/   ways in: the command line
"""

__version__ = "0.1.0"

"""Question to answer, within a budget; one file per member."""

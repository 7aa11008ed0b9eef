"""Models that answer questions within a budget; one module per member."""

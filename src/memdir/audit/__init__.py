"""Store to scores and findings."""

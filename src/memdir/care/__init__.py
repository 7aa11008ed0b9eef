"""doctor and status."""

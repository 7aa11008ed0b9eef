"""See memdir.surfaces."""

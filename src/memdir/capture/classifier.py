"""Worth it? which type? two weight files."""

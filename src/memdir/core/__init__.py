"""Names that version 0.1.0 documented."""

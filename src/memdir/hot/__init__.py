"""Everything a hook may import: of the standard library, C modules only."""

"""How a store lies on disk."""

"""Ways in: parse, call one flow, print."""

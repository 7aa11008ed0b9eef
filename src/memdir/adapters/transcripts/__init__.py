"""Readers of the conversations that clients write down: one file per client."""

"""Stores around a store: variants are wrappers, not flags."""

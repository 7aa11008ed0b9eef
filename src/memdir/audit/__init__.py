"""Scores by age, advice and findings on a store."""

"""Sharing with others: team copies and the git merge driver."""

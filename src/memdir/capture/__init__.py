"""Conversation to drafts: what a person typed and asked for, saved, held or refused."""

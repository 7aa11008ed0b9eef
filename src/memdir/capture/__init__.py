"""Conversation to drafts; drafts saved, held or refused."""

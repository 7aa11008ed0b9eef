"""Clients: how memdir is put into an agent, and taken out again. One file each."""

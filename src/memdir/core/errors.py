"""Imported from here in version 0.1.0; now `from memdir import MemdirError`."""

from memdir.errors import *  # noqa: F403

"""The name of a record's file, from its title."""

from __future__ import annotations

import hashlib

from memdir.core.naming import MAX_NAME, RESERVED, slugify
from memdir.core.secrets import find_secrets

MAX_SLUG = MAX_NAME
_DIGITS = 8  # of the hash that stands for a title without Latin letters


def slug_for(title: str, type: str) -> str:
    """ASCII, small letters, joined by `-`, at most 80; a title that leaves nothing is hashed."""
    slug = slugify(title, "-", MAX_SLUG)
    if slug and slug not in RESERVED and not find_secrets(title):
        return slug
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return f"{type.replace('_', '-')}-{digest}"

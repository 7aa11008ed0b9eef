"""A revision: the next version of a memory that exists, and how new headers look."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from memdir.core import dates, frontmatter, types
from memdir.core.draft import Draft
from memdir.core.errors import BadInput, Conflict
from memdir.core.frontmatter import NEST, Document
from memdir.core.memory import (
    CREATED_KEYS,
    MODIFIED_KEYS,
    PINNED_KEYS,
    SOURCE_KEYS,
    TYPE_KEYS,
    VERIFIED_KEYS,
    stem,
)

# Where a field may stand in a header, the place for a new one first.
PLACES = {
    "name": ("name",),
    "description": ("description",),
    "type": TYPE_KEYS,
    "created": CREATED_KEYS,
    "modified": MODIFIED_KEYS,
    "last_verified": VERIFIED_KEYS,
    "pinned": PINNED_KEYS,
    "source": SOURCE_KEYS,
}


@dataclass(frozen=True)
class Revision:
    """New values of header fields and, where given, a new body; `expected` is the hash read."""

    path: str
    fields: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    expected: str = ""


@dataclass(frozen=True)
class Style:
    """How most memories of a store look: where the type stands, how files are called."""

    type_key: str = TYPE_KEYS[0]
    prefix: bool = False


def hash_of(data: bytes) -> str:
    """The hash that names a version."""
    return hashlib.sha256(data).hexdigest()


def revise(old: bytes, revision: Revision, now: float) -> bytes:
    """The bytes of the next version; the same bytes when it says nothing new."""
    if revision.expected and revision.expected != hash_of(old):
        raise Conflict(
            f"{revision.path} was changed since you read it; nothing was written",
            path=revision.path,
            next=f"look at both texts, then try again with --if-hash {hash_of(old)}",
            ours=revise(old, replace(revision, expected=""), now),
            theirs=old,
        )
    document = frontmatter.read(frontmatter.decode(old))
    for field, value in revision.fields:
        document = _set(document, field, value)
    if revision.body is not None:
        document = _with_body(document, revision.body)
    if frontmatter.encode(document.text) == old:
        return old
    if document.get(*MODIFIED_KEYS, *CREATED_KEYS) and not _only_verified(revision):
        created = dates.parse_time(document.get(*CREATED_KEYS))
        # A clock set back must not make a memory older than its birth.
        document = _set(document, "modified", dates.iso_time(max(now, created or now)))
    return frontmatter.encode(document.text)


def new_text(draft: Draft, name: str, now: float, style: Style) -> str:
    """The text of a new memory in the style of its store."""
    moment = dates.iso_time(now)
    fields = [("name", name), ("description", draft.description), (style.type_key, draft.type)]
    fields += [(CREATED_KEYS[0], moment), (MODIFIED_KEYS[0], moment)]
    fields += [(SOURCE_KEYS[0], draft.source)]
    if draft.pinned:
        fields.append((PINNED_KEYS[0], "true"))
    return frontmatter.write(fields + list(draft.extra), draft.body)


def style_of(samples: Iterable[tuple[str, Document]]) -> Style:
    """What most of these files do; an empty store gets the plain form."""
    nested = prefixed = count = 0
    prefixes = tuple(f"{type}_" for type in types.names())
    for path, document in samples:
        count += 1
        nested += "metadata.type" in document.values and "type" not in document.values
        prefixed += stem(path).startswith(prefixes)
    return Style(TYPE_KEYS[nested * 2 > count], prefixed * 2 > count)


def _set(document: Document, field: str, value: str) -> Document:
    places = PLACES.get(field, (field,))  # a key that is not ours stands where it stands
    key = next((key for key in places if key in document.values), _new_place(document, places))
    if any(f"`{key}` stands twice" in problem for _, problem in document.problems):
        raise BadInput(
            f"`{key}` stands twice in this header, so it is not clear which one to change",
            next="remove one of the two lines by hand, then run the command again",
        )
    return document if document.get(key) == value else frontmatter.edit(document, key, value)


def _new_place(document: Document, places: tuple[str, ...]) -> str:
    """Where a field goes that the header lacks: on top, if all our fields there stand on top."""
    ours = [key for keys in PLACES.values() for key in keys[1:] if keys[0].startswith(NEST)]
    flat = NEST not in document.values and any(key in document.values for key in ours)
    return places[-1] if flat and places[0].startswith(NEST) else places[0]


def _with_body(document: Document, body: str) -> Document:
    """The document with another body, in its own line ends; unchanged text stays as it is."""
    crlf = "\r\n" in (document.opening or document.body[:4096])
    text = body.replace("\r\n", "\n").strip("\n") + "\n"
    # Below a header, and where the text would be taken for one, it starts on the second line.
    if document.lines is not None or text.lstrip("\ufeff \t").startswith(frontmatter.FENCE):
        text = "\n" + text
    if crlf:
        text = text.replace("\n", "\r\n")
    if text.strip() == document.body.strip():
        return document
    return Document(document.opening, document.lines, document.closing, text)


def _only_verified(revision: Revision) -> bool:
    return revision.body is None and all(key == "last_verified" for key, _ in revision.fields)

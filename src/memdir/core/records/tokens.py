"""The words by which two records are compared."""

from __future__ import annotations

from memdir.core.words import STOP, is_unspaced, split

SHORTEST = 3  # characters; shorter words say little
LONGEST_TEXT = 20_000  # characters of a text that are looked at


def tokens(text: str) -> set[str]:
    """Words of three letters and more without stop words; accents do not part Latin words.

    Scripts that write without spaces become pairs of characters.
    """
    plain = text[:LONGEST_TEXT].replace("_", " ")
    if plain.isascii():
        words = [plain.lower()] if plain.isalnum() else split(plain.lower())
        return {word for word in words if len(word) >= SHORTEST and word not in STOP}
    found: set[str] = set()
    for word in split(plain):
        for run in _runs(word):
            if is_unspaced(run[0]):
                found.update(run[at : at + 2] for at in range(len(run) - 1))
            elif len(run) >= SHORTEST and run not in STOP:
                found.add(run)
    return found


def _runs(word: str) -> list[str]:
    """A word in its parts of one kind, folded: `使用Redis` is two."""
    if word.isascii():
        return [word.lower()]
    parts = [word[0]]
    for letter in word[1:]:
        if is_unspaced(letter) == is_unspaced(parts[-1][-1]):
            parts[-1] += letter
        else:
            parts.append(letter)
    return [folded for part in parts if (folded := _fold(part))]


def _fold(word: str) -> str:
    """In small letters; a Latin word without its accents."""
    if is_unspaced(word[0]):
        return word
    import unicodedata

    letters = [
        letter
        for letter in unicodedata.normalize("NFKD", word.casefold())
        if not unicodedata.combining(letter)
    ]
    bare = "".join(letters)
    return bare if bare.isascii() else word.casefold()

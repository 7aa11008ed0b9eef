"""The name of the folders that belong to a store (state, catalog), and digests. Hot path."""

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # Python 3.11; looked for once, since each look that fails costs 0.1 ms
    from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]

TAIL = 60  # characters of the store's path that the name shows
DIGEST = 12


def digest_of(data: bytes) -> str:
    """What stands for a content: no two have the same."""
    return str(sha256(data).hexdigest())


def store_key(real: str) -> str:
    """A readable name for a store's true path, different for every path."""
    digest = digest_of(real.encode("utf-8", "surrogateescape"))[:DIGEST]
    tail = [letter if letter.isascii() and letter.isalnum() else "-" for letter in real[-TAIL:]]
    return f"{''.join(tail).strip('-')}-{digest}"

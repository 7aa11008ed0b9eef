"""What lies in the packs of a history, for tests that look for a text in every file."""

import subprocess
from pathlib import Path


def read_packed(path: Path) -> bytes:
    """Every object of the repository that a pack belongs to, as git unpacks them."""
    line = ["git", "-C", str(path.parents[2]), "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(line, capture_output=True, check=True).stdout

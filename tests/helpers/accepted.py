"""What a person said yes to, without the person."""

import os
from pathlib import Path

from memdir.hot.acceptance import Acceptance, load_acceptance, save_acceptance
from memdir.hot.place import store_key


def accept(state: Path, root: Path, layout: str = "") -> None:
    """Accept every file that lies in a store now; with a `layout` those of that one."""
    key = store_key(os.path.realpath(root) + (f"#{layout}" if layout else ""))
    folder = str(state / "stores" / key)
    acceptance = Acceptance("", load_acceptance(folder))
    for path in root.rglob("*"):
        if path.is_file():
            acceptance.add(str(path.relative_to(root)), path.read_bytes())
    save_acceptance(folder, acceptance.decisions)

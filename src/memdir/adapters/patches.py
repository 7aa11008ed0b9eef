"""Pages of a project that memdir proposes changes to and never writes, and the patches for them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.adapters.disk import failure
from memdir.core.patch import fits
from memdir.core.scope import below

LARGEST_BYTES = 1024 * 1024  # of a page
MOST_PAGES = 200
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_ODD = re.compile(r"[^A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True)
class Page:
    """A page as it stands: `path` below the root, no `data` where there is none yet.

    `problem` is why no patch can be made for it.
    """

    path: str
    data: bytes | None = None
    problem: str = ""


def read_page(root: str, path: str) -> Page:
    """The page; through links that stay in the project, because git patches no link."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    if not below(real, top) or not fits(real[len(top) + 1 :]):
        return Page(path, None, f"{path} leads out of the project")
    named = real[len(top) + 1 :]
    try:
        with open(os.open(real, _READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Page(named, None, f"{path} is not a regular file")
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        return Page(named)
    except OSError as error:
        return Page(named, None, f"{path} cannot be read: {error.strerror}")
    if len(data) > LARGEST_BYTES:
        return Page(named, None, f"{path} has more than {LARGEST_BYTES:,} bytes")
    return Page(named, data)


def read_pages(root: str, folder: str) -> list[Page]:
    """The Markdown pages of a folder that can be read, by name."""
    try:
        names = sorted(name for name in os.listdir(os.path.join(root, folder)) if name[0] != ".")
    except OSError:
        return []
    wanted = [name for name in names if name.endswith(".md")][:MOST_PAGES]
    pages = [read_page(root, f"{folder}/{name}") for name in wanted]
    return [page for page in pages if page.data]


def write_patches(folder: str, patches: Mapping[str, str]) -> list[str]:
    """Each as a file of that name in the folder, which is made where it is not there."""
    paths = []
    for name, text in patches.items():
        path = os.path.join(folder, _ODD.sub("-", name))
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.open(path, _WRITE, 0o666), "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise failure(error, path, "the patch cannot be written") from None
        paths.append(path)
    return paths

"""Patches for pages that are not ours."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memdir.hot.disk import failure
from memdir.hot.place import is_below

# A proposed change of a file that is not ours, as a patch that `git apply` takes.

CONTEXT = 3  # lines around a change
NO_NEWLINE = "\\ No newline at end of file"
LEARNED = "## Learned from past sessions"
_PLAIN = re.compile(r"[\w.@+-][\w./@+-]{0,300}", re.ASCII)  # a path that needs no quotes in a patch


def patch(path: str, old: bytes | None, new: bytes) -> str:
    """One hunk from the first line that differs to the last; empty where none does."""
    if old == new:
        return ""
    before, after = _lines(old or b""), _lines(new)
    first = _alike(before, after)
    last = _alike(before[first:][::-1], after[first:][::-1])
    start = max(0, first - CONTEXT)
    ends = [len(side) - last for side in (before, after)]
    shown = min(last, CONTEXT)
    rows = [" " + line for line in before[start:first]]
    rows += ["-" + line for line in before[first : ends[0]]]
    rows += ["+" + line for line in after[first : ends[1]]]
    rows += [" " + line for line in before[ends[0] : ends[0] + shown]]
    spans = [_span(start, end + shown - start) for end in ends]
    head = [f"diff --git a/{path} b/{path}"]
    head += ["new file mode 100644", "--- /dev/null"] if old is None else [f"--- a/{path}"]
    head += [f"+++ b/{path}", f"@@ -{spans[0]} +{spans[1]} @@"]
    return "\n".join(head) + "\n" + "".join(map(_ended, rows))


def fits(path: str) -> bool:
    """True for a path that a patch can name as it is."""
    return _PLAIN.fullmatch(path) is not None and ".." not in path.split("/")


def with_lines(old: bytes | None, lines: Sequence[str]) -> bytes:
    """CLAUDE.md with these as items of our section, at its end or in a new one at the end."""
    text = _text(old or b"")
    end = "\r\n" if "\r\n" in text else "\n"
    rows = text.split(end)
    items = [f"- {line}" for line in lines]
    if LEARNED in rows:
        at = rows.index(LEARNED) + 1
        while at < len(rows) and not rows[at].startswith("#"):
            at += 1
        while not rows[at - 1].strip():
            at -= 1
        gap = [""] if rows[at - 1] == LEARNED else []
        rest = rows[at:] or [""]
        return _bytes(end.join([*rows[:at], *gap, *items, *rest]))
    return with_section(old, LEARNED, end.join(items))


def with_section(old: bytes | None, heading: str, body: str, title: str = "") -> bytes:
    """A page with one more section at its end; a new one begins with its title."""
    text = _text(old or b"")
    end = "\r\n" if "\r\n" in text else "\n"
    start = text.rstrip("\r\n") or title
    section = end.join([heading, "", *body.splitlines(), ""])
    # What stands there keeps its bytes, so that the patch only adds.
    blank = text[len(start) :] if text.strip("\r\n") else end
    blank = blank if blank.count("\n") > 1 else end * 2
    return _bytes(start + blank + section if start else section)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the start."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _span(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _ended(row: str) -> str:
    return row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}\n"


def _lines(data: bytes) -> list[str]:
    """Lines between line feeds only, each with its own."""
    parts = _text(data).split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# Pages of a project that memdir proposes changes to and never writes, and the patches for them.

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
    if not is_below(real, top) or not fits(real[len(top) + 1 :]):
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

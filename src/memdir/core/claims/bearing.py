"""What bears a claim out: a place and how it was found, or what of it was found not."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import NamedTuple

from memdir.core.claim import (
    BRANCH,
    COMMAND,
    COMMIT,
    PACKAGE,
    PATH,
    ROUTE,
    SYMBOL,
    VERSION,
    Claim,
    Seen,
)

# A dotted name may be a module: the endings that its file may have; none for a folder.
MODULES = ("", ".py", ".rs", ".java", ".kt", ".ex", ".hs")
SELF = frozenset(("self", "this", "cls", "super", "Self"))  # whose names are looked up alone


class Found(NamedTuple):
    """`how` is empty unless all of it was found; `lack` says what was not."""

    place: str = ""
    how: str = ""
    lack: str = ""


def find(claim: Claim, seen: Seen, beside: frozenset[str]) -> Found:
    """What bears the claim out; `beside` are the memories of its own store."""
    if claim.kind in (PATH, ROUTE):
        return _path(claim, seen, beside)
    if claim.kind in (SYMBOL, PACKAGE):
        return _name(claim, seen)
    if claim.kind == BRANCH:
        named = (claim.text, claim.text.removeprefix("origin/"))
        if any(one in seen.branches for one in named):
            return Found(how="branch or tag")
        there = [seen.paths[one][0] for one in named if seen.paths.get(one)]
        return Found(there[0], "found") if there else Found()
    if claim.kind == COMMIT and any(one in seen.commits for one in claim.names):
        return Found(how="commit")
    if claim.kind == COMMAND:
        return _command(claim, seen)
    if claim.kind == VERSION and claim.names and claim.names[0] in seen.packages:
        return Found(how="declared; its version was not compared")
    return Found()


def modules(names: Sequence[str]) -> list[str]:
    """The paths of the module that `a.b.c` may be."""
    return ["/".join(names) + ending for ending in MODULES]


def chain(names: Sequence[str]) -> tuple[str, ...]:
    """The parts of a dotted name that can be looked up."""
    return tuple(names[1:] if len(names) > 1 and names[0] in SELF else names)


def _path(claim: Claim, seen: Seen, beside: frozenset[str]) -> Found:
    if claim.names and all(one in beside for one in claim.names):
        return Found(claim.names[0], "a memory of this store")
    found = [seen.paths.get(one, ()) for one in claim.names]
    if found and all(found):
        how = _how(claim.names[0], found[0])
        inside = [one[2:] for one in claim.parts if one[:2] == "::"]
        if inside:
            return _inside(found[0], how, inside[0], seen)
        _, mark, anchor = claim.text.partition("#")
        if mark and anchor and not anchor.lstrip("L").isdigit():
            how += "; its heading was not looked at"
        return Found(found[0][0], how)
    parts = [seen.paths.get(one, ()) for one in claim.parts if one[:2] != "::"]
    whole = any("*" in one for one in claim.names)
    if parts and not whole and (all(parts) if claim.kind == PATH else any(parts)):
        return Found(next(one[0] for one in parts if one), "found")
    first = claim.names[0].split("/")[0] if claim.names else ""
    once = any(seen.past.get(one) for one in claim.names)  # then it is a path, of our own package
    if first and "." not in first and first in seen.packages and not once:
        return Found(how=f"{first} is declared; the rest was not looked at")
    return Found()


def _how(name: str, found: Sequence[str]) -> str:
    if name in found:
        return "found"
    return f"found as {found[0]}" + (f" and {len(found) - 1} more" if len(found) > 1 else "")


def _inside(files: Sequence[str], how: str, name: str, seen: Seen) -> Found:
    """`a.py::test_b`: the file is there; the name must be, and in no other place alone."""
    there = f"{files[0]} is there"
    uses = seen.symbols.get(name)
    if "symbols" not in seen.known:
        return Found(lack=f"{there}; {name} was not looked up")
    if uses is None or not uses.code:
        return Found(lack=f"{there}, but {name} was not found")
    if any(one in uses.places for one in files):
        return Found(files[0], f"{how}, with {name}")
    if len(uses.places) >= uses.code + uses.prose:
        return Found(lack=f"{there}, but {name} is elsewhere: {uses.places[0]}")
    return Found(files[0], f"{how}; {name} in {_files(uses.code)}")


def _files(count: int) -> str:
    return f"{count} file" + ("s" if count != 1 else "")


def _name(claim: Claim, seen: Seen) -> Found:
    names = chain(claim.names)
    if len(names) > 1:
        file = seen.paths.get(claim.text)  # `setup.z80`: a file with an ending that nobody knows
        return Found(file[0], _how(claim.text, file)) if file else _chained(names, seen)
    for name in names or claim.parts:
        uses = seen.symbols.get(name)
        if uses is not None and uses.code:
            said = f"in {_files(uses.code)}"
            whole = bool(claim.names) and names == claim.names
            return Found((uses.places or ("",))[0], said if whole else f"{name} {said}")
    if claim.text in seen.packages or (names and names[0] in seen.packages):
        return Found(how="declared")
    if len(claim.names) == 1 and seen.paths.get(claim.names[0]):
        return Found(seen.paths[claim.names[0]][0], f"found as {seen.paths[claim.names[0]][0]}")
    return Found()


def _chained(names: tuple[str, ...], seen: Seen) -> Found:
    """`a.b.c`: a module of that path, or every part is found and the last two in one file."""
    for path in modules(names):
        if seen.paths.get(path):
            return Found(seen.paths[path][0], f"found as {seen.paths[path][0]}")
    owner, last = names[-2:]
    uses = seen.symbols.get(last)
    absent = [one for one in names if not _is_part(one, last, seen)]
    if absent:
        whole = len(absent) == len(names)
        return Found(lack="" if whole else f"not found: {', '.join(absent)}; the other parts are")
    places = uses.places if uses else ()
    owners = seen.symbols[owner].places if owner in seen.symbols else ()
    together = [one for one in places if one in owners or _is_module(one, owner)]
    if together:
        return Found(together[0], f"{owner} and {last} in {together[0]}")
    return Found(lack=f"{owner} and {last} are found, but not seen in one file")


def _is_part(name: str, last: str, seen: Seen) -> bool:
    """A word of the code; before the last dot also a folder, a module or a package."""
    uses = seen.symbols.get(name)
    if uses is not None and uses.code:
        return True
    if name == last:
        return False
    places = seen.symbols[last].places if last in seen.symbols else ()
    folder = bool(seen.paths.get(name)) or name in seen.packages
    return folder or any(_is_module(one, name) for one in places)


def _is_module(path: str, name: str) -> bool:
    """`src/shop/pricing.py` is `pricing`, `src/shop/__init__.py` is `shop`."""
    folder, file = posixpath.split(path)
    plain = file.split(".")[0]
    if plain in ("__init__", "mod", "index", "lib"):
        return posixpath.basename(folder) == name
    return plain == name


def _command(claim: Claim, seen: Seen) -> Found:
    """Every script must be declared, every file there, and what is named in it."""
    missing = [one for one in claim.names if one not in seen.commands]
    if missing:
        known = "commands" in seen.known
        lack = f"not found: no script, target or recipe is called {missing[0]}"
        return Found(lack=lack if known else "")
    place, how = "", "declared" if claim.names else ""
    file: tuple[str, ...] = ()
    for part in claim.parts:
        if part[:2] == "::":
            inside = _inside(file, how, part[2:], seen)
            if not inside.how:
                return inside
            how = inside.how
            continue
        file = seen.paths.get(part, ())
        if not file:
            return Found(lack=f"not found: {part}" if "paths" in seen.known else "")
        place, how = place or file[0], how or "found"
    return Found(place, how)

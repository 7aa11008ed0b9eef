"""True, stale, unknown, with evidence."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memdir.claims import context, forms
from memdir.claims.claim import (
    BRANCH,
    COMMAND,
    COMMIT,
    NOT_A_CLAIM,
    PACKAGE,
    PATH,
    ROUTE,
    STALE,
    SYMBOL,
    TRUE,
    UNKNOWN,
    URL,
    VERSION,
    Claim,
    Judged,
    Past,
    Seen,
    Wanted,
)
from memdir.claims.forms import distinctive, file_ending, stem

# What bears a claim out: a place and how it was found, or what of it was found not.

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
        if any(item in seen.branches for item in named):
            return Found(how="branch or tag")
        there = [seen.paths[item][0] for item in named if seen.paths.get(item)]
        return Found(there[0], "found") if there else Found()
    if claim.kind == COMMIT and any(item in seen.commits for item in claim.names):
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
    if claim.names and all(item in beside for item in claim.names):
        return Found(claim.names[0], "a memory of this store")
    found = [seen.paths.get(item, ()) for item in claim.names]
    if found and all(found):
        how = _how(claim.names[0], found[0])
        inside = [item[2:] for item in claim.parts if item[:2] == "::"]
        if inside:
            return _inside(found[0], how, inside[0], seen)
        _, mark, anchor = claim.text.partition("#")
        if mark and anchor and not anchor.lstrip("L").isdigit():
            how += "; its heading was not looked at"
        return Found(found[0][0], how)
    parts = [seen.paths.get(item, ()) for item in claim.parts if item[:2] != "::"]
    whole = any("*" in item for item in claim.names)
    if parts and not whole and (all(parts) if claim.kind == PATH else any(parts)):
        return Found(next(item[0] for item in parts if item), "found")
    first = claim.names[0].split("/")[0] if claim.names else ""
    once = any(seen.past.get(item) for item in claim.names)  # then it is a path, of our own package
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
    if any(item in uses.places for item in files):
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
    absent = [item for item in names if not _is_part(item, last, seen)]
    if absent:
        whole = len(absent) == len(names)
        return Found(lack="" if whole else f"not found: {', '.join(absent)}; the other parts are")
    places = uses.places if uses else ()
    owners = seen.symbols[owner].places if owner in seen.symbols else ()
    together = [item for item in places if item in owners or _is_module(item, owner)]
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
    return folder or any(_is_module(item, name) for item in places)


def _is_module(path: str, name: str) -> bool:
    """`src/shop/pricing.py` is `pricing`, `src/shop/__init__.py` is `shop`."""
    folder, file = posixpath.split(path)
    plain = file.split(".")[0]
    if plain in ("__init__", "mod", "index", "lib"):
        return posixpath.basename(folder) == name
    return plain == name


def _command(claim: Claim, seen: Seen) -> Found:
    """Every script must be declared, every file there, and what is named in it."""
    missing = [item for item in claim.names if item not in seen.commands]
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


# The evidence that a claim once was true, or why there is none.

FEW = 3  # new places that a reason names
SHORT = 7  # characters of a commit that people read
KEPT = 3  # letters of the shortest word whose past is kept
# Which tables of a look answer for a kind.
LOOKED_UP = {
    PATH: ("paths",),
    SYMBOL: ("symbols",),
    PACKAGE: ("packages", "symbols"),
    BRANCH: ("branches",),
    COMMIT: ("commits",),
    COMMAND: ("commands", "paths"),
}
NOT_FOUND = {
    BRANCH: "not found among the branches and tags",
    COMMIT: "not found among the commits",
}


def evidence(claim: Claim, seen: Seen) -> str:
    """The evidence that it once was true, and where it went; nothing without."""
    if claim.kind == PATH:
        return next(filter(None, (_gone(claim, item, seen) for item in _subjects(claim))), "")
    if claim.kind == COMMAND:
        lost = (_gone(claim, item, seen) for item in claim.parts if not seen.paths.get(item))
        return next(filter(None, lost), "")
    if claim.kind == SYMBOL and _placed(claim, seen):
        return _gone_symbol(claim.names[0], seen)
    return ""


def _placed(claim: Claim, seen: Seen) -> bool:
    """A symbol in backticks that its sentence puts into a file of this repository."""
    near = any(seen.paths.get(item) or seen.past.get(item) for item in claim.near)
    return near and not (claim.bare or claim.loose) and len(claim.names) == 1


def _subjects(claim: Claim) -> tuple[str, ...]:
    """What may have gone; of a pattern the folder in which it varies."""
    return claim.parts if any("*" in item for item in claim.names) else claim.names


def _gone(claim: Claim, name: str, seen: Seen) -> str:
    if seen.paths.get(name) or not _telling(claim, name):
        return ""
    past = [item for item in seen.past.get(name, ()) if _means(claim, name, item)]
    if not past:
        return ""
    newest = past[0]
    if not newest.now and _local(name):
        return ""
    now = _renamed(past, name) if _folder_of(newest.name, name) else newest.now
    if now and f"{name}/" in claim.text:
        now = now.rstrip("/") + "/"
    return _words(newest, now or _moved(name, seen), bool(now))


def _local(name: str) -> bool:
    """Made or kept for oneself: people may well have it, though git tracks it no more."""
    folders = name.split("/")
    made = any(part in forms.MADE for part in folders) or ".local" in folders[-1]
    artefact = folders[-1].rpartition(".")[2].lower() in forms.ARTEFACTS
    return made or artefact or folders[-1].startswith(".env")


def _telling(claim: Claim, name: str) -> bool:
    """Bare names that every project has tell nothing; neither do words without an ending."""
    if "/" not in name:
        strong = file_ending(name) or f"{name}/" in claim.text
        return bool(strong) and name.lower() not in forms.COMMON_NAMES
    return True


def _means(claim: Claim, name: str, past: Past) -> bool:
    """`a/b` without an ending may be anything; then only the whole path is evidence."""
    whole = past.name == name or past.name.startswith(name + "/")
    if whole:
        return True
    if (
        claim.loose
        or claim.text[0] == "/"
        or (not file_ending(name) and f"{name}/" not in claim.text)
    ):
        return False
    made_up = distinctive(name.rsplit("/", 1)[-1].replace("-", "_"))
    return made_up or not claim.bare


def _folder_of(path: str, name: str) -> str:
    """The folder of that name above a path; empty where the path itself is called so."""
    if path == name or path.endswith("/" + name):
        return ""
    position = f"/{path}".find(f"/{name}/")
    return path[: position + len(name)] if position >= 0 else ""


def _renamed(past: Sequence[Past], name: str) -> str:
    """The folder that the files of a folder went to, if they went together."""
    places = set()
    for item in past:
        folder = _folder_of(item.name, name)
        rest = item.name[len(folder) :]
        if not folder or not item.now.endswith(rest):
            return ""
        places.add(item.now[: -len(rest)] + "/")
    return places.pop() if len(places) == 1 else ""


def _moved(name: str, seen: Seen) -> str:
    """Where a file of that name is now, or the folder that it became."""
    folder = stem(name) if file_ending(name) else ""
    if folder and seen.paths.get(folder):
        return seen.paths[folder][0].rstrip("/") + "/"
    bare = posixpath.basename(name)
    places = seen.paths.get(bare, ()) if bare != name else ()
    return ", ".join(places[:FEW]) if bare.lower() not in forms.COMMON_NAMES else ""


def _words(past: Past, now: str, renamed: bool) -> str:
    if renamed:
        return f"renamed to {now} {_when(past)}"
    return f"removed {_when(past)}" + (f"; now {now}" if now else "")


def _when(past: Past) -> str:
    return f"in {past.commit[:SHORT]}, {past.date}"


def _gone_symbol(name: str, seen: Seen) -> str:
    uses = seen.symbols.get(name)
    past = seen.past_symbols.get(name)
    if past is None or (uses and (uses.code or uses.prose)) or not distinctive(name):
        return ""
    return f"no longer in the code: removed {_when(past)}"


def why_unknown(claim: Claim, seen: Seen) -> str:
    """What was looked at in vain; a past that is too weak to tell is named."""
    needed = LOOKED_UP.get(claim.kind, ("paths",))
    if not any(item in seen.known for item in needed):
        return "nothing to look it up in"
    if any(item in seen.ignored or item + "/" in seen.ignored for item in claim.names):
        return "ignored by git"
    if claim.kind == PATH:
        return _weak_path(claim, seen)
    if claim.kind == SYMBOL:
        return _weak_symbol(claim, seen)
    return NOT_FOUND.get(claim.kind, "not found")


def _weak_path(claim: Claim, seen: Seen) -> str:
    for name in _subjects(claim):
        past = () if seen.paths.get(name) else seen.past.get(name, ())
        if past:
            what = f"renamed to {past[0].now}" if past[0].now else "removed"
            doubt = "people may keep it" if _local(name) else "it may be another one"
            return f"not found; {past[0].name} was {what} {_when(past[0])}, but {doubt}"
    asked = "past" in seen.known and not any("*" in item for item in claim.names)
    return "not found, and not in the past of the repository" if asked else "not found"


def _weak_symbol(claim: Claim, seen: Seen) -> str:
    names = claim.names or claim.parts
    for name in names:
        past, uses = seen.past_symbols.get(name), seen.symbols.get(name)
        if past is not None and not (uses and uses.code):
            return f"not found; lines with {name} were removed {_when(past)}: too little to tell"
    absent = [item for item in names if not (item in seen.symbols and seen.symbols[item].code)]
    kept = all(len(item) >= KEPT and item.isascii() and "$" not in item for item in absent)
    asked = "past_symbols" in seen.known and kept and bool(absent)
    return "not found, nor in removed lines of code" if asked else "not found"


# Judge a claim by what was seen. Only evidence that it once was true makes it stale.


def wanted(claims: Iterable[Claim]) -> Wanted:
    """Everything that these claims need to have looked up, for one look."""
    paths, symbols, packages = set[str](), set[str](), set[str]()
    branches, commits = set[str](), set[str]()
    for claim in claims:
        if claim.aside in context.NEVER_TRUE:
            continue
        words = {*claim.names, *claim.parts}
        if claim.kind in (PATH, ROUTE, COMMAND):
            named = {item for item in words if item[:2] != "::"}
            if claim.kind == COMMAND:
                named -= set(claim.names)
            paths |= named | {item.rsplit("/", 1)[-1] for item in named if "*" not in item}
            paths |= {stem(item) for item in named if "/" in item and file_ending(item)}
            symbols |= {item[2:] for item in words if item[:2] == "::"}
            packages |= {item.split("/")[0] for item in claim.names if "." not in item}
        elif claim.kind in (SYMBOL, PACKAGE, VERSION):
            symbols |= {item for item in words if "/" not in item}
            packages |= {claim.text.split(" ")[0], *claim.names[:1]}
            paths |= set(claim.names) if claim.kind != VERSION else set()
            names = chain(claim.names)
            paths |= {*modules(names), claim.text} if len(names) > 1 else set()
        elif claim.kind == BRANCH:
            named = {claim.text, claim.text.removeprefix("origin/")}
            branches |= named
            paths |= {item.strip("/") for item in named}
        elif claim.kind == COMMIT:
            commits |= words
        if claim.kind == VERSION:
            branches |= {claim.text}
    frozen = [frozenset(item - {""}) for item in (paths, symbols, branches, packages, commits)]
    return Wanted(*frozen)


def judge(claim: Claim, seen: Seen, beside: frozenset[str] = frozenset()) -> Judged:
    """The verdict on a claim; `beside` are the memories of its own store."""
    if claim.aside in context.NEVER_TRUE:
        return _set_aside(claim)
    place, how, lack = find(claim, seen, beside)
    if how:
        return Judged(claim, TRUE, how, place)
    # What a commit did to files says nothing of the branch that it is on.
    if claim.aside and not (claim.kind == BRANCH and claim.aside == context.CHANGED):
        return _set_aside(claim)
    if claim.kind == URL:
        return Judged(claim, UNKNOWN, "not checked: offline")
    gone = evidence(claim, seen)
    if gone:
        return Judged(claim, STALE, gone)
    return Judged(claim, UNKNOWN, lack or why_unknown(claim, seen))


def _set_aside(claim: Claim) -> Judged:
    return Judged(claim, NOT_A_CLAIM if claim.aside in context.NO_CLAIM else UNKNOWN, claim.aside)

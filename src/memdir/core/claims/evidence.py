"""The evidence that a claim once was true, or why there is none."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from memdir.core.claim import BRANCH, COMMAND, COMMIT, PACKAGE, PATH, SYMBOL, Claim, Past, Seen
from memdir.core.claims import tables
from memdir.core.claims.forms import distinctive
from memdir.core.claims.names import file_ending, stem

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
        return next(filter(None, (_gone(claim, one, seen) for one in _subjects(claim))), "")
    if claim.kind == COMMAND:
        lost = (_gone(claim, one, seen) for one in claim.parts if not seen.paths.get(one))
        return next(filter(None, lost), "")
    if claim.kind == SYMBOL and _placed(claim, seen):
        return _gone_symbol(claim.names[0], seen)
    return ""


def _placed(claim: Claim, seen: Seen) -> bool:
    """A symbol in backticks that its sentence puts into a file of this repository."""
    near = any(seen.paths.get(one) or seen.past.get(one) for one in claim.near)
    return near and not (claim.bare or claim.loose) and len(claim.names) == 1


def _subjects(claim: Claim) -> tuple[str, ...]:
    """What may have gone; of a pattern the folder in which it varies."""
    return claim.parts if any("*" in one for one in claim.names) else claim.names


def _gone(claim: Claim, name: str, seen: Seen) -> str:
    if seen.paths.get(name) or not _telling(claim, name):
        return ""
    past = [one for one in seen.past.get(name, ()) if _means(claim, name, one)]
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
    made = any(part in tables.MADE for part in folders) or ".local" in folders[-1]
    artefact = folders[-1].rpartition(".")[2].lower() in tables.ARTEFACTS
    return made or artefact or folders[-1].startswith(".env")


def _telling(claim: Claim, name: str) -> bool:
    """Bare names that every project has tell nothing; neither do words without an ending."""
    if "/" not in name:
        strong = file_ending(name) or f"{name}/" in claim.text
        return bool(strong) and name.lower() not in tables.COMMON_NAMES
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
    at = f"/{path}".find(f"/{name}/")
    return path[: at + len(name)] if at >= 0 else ""


def _renamed(past: Sequence[Past], name: str) -> str:
    """The folder that the files of a folder went to, if they went together."""
    places = set()
    for one in past:
        folder = _folder_of(one.name, name)
        rest = one.name[len(folder) :]
        if not folder or not one.now.endswith(rest):
            return ""
        places.add(one.now[: -len(rest)] + "/")
    return places.pop() if len(places) == 1 else ""


def _moved(name: str, seen: Seen) -> str:
    """Where a file of that name is now, or the folder that it became."""
    folder = stem(name) if file_ending(name) else ""
    if folder and seen.paths.get(folder):
        return seen.paths[folder][0].rstrip("/") + "/"
    bare = posixpath.basename(name)
    places = seen.paths.get(bare, ()) if bare != name else ()
    return ", ".join(places[:FEW]) if bare.lower() not in tables.COMMON_NAMES else ""


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
    if not any(one in seen.known for one in needed):
        return "nothing to look it up in"
    if any(one in seen.ignored or one + "/" in seen.ignored for one in claim.names):
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
    asked = "past" in seen.known and not any("*" in one for one in claim.names)
    return "not found, and not in the past of the repository" if asked else "not found"


def _weak_symbol(claim: Claim, seen: Seen) -> str:
    names = claim.names or claim.parts
    for name in names:
        past, uses = seen.past_symbols.get(name), seen.symbols.get(name)
        if past is not None and not (uses and uses.code):
            return f"not found; lines with {name} were removed {_when(past)}: too little to tell"
    absent = [one for one in names if not (one in seen.symbols and seen.symbols[one].code)]
    kept = all(len(one) >= KEPT and one.isascii() and "$" not in one for one in absent)
    asked = "past_symbols" in seen.known and kept and bool(absent)
    return "not found, nor in removed lines of code" if asked else "not found"

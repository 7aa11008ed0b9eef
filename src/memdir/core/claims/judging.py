"""Judge a claim by what was seen. Only evidence that it once was true makes it stale."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from memdir.core.claim import (
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
from memdir.core.claims import asides, tables
from memdir.core.claims.forms import distinctive
from memdir.core.claims.names import file_ending

FEW = 3  # new places that a reason names
# Which table of a look answers for a kind, and which for its past.
LOOKED_UP = {
    PATH: ("paths",),
    SYMBOL: ("symbols",),
    PACKAGE: ("packages", "symbols"),
    BRANCH: ("branches",),
    COMMIT: ("commits",),
    COMMAND: ("commands", "paths"),
}
PASTS = {PATH: "past", SYMBOL: "past_symbols"}
SHORT = 7  # characters of a commit that people read


def wanted(claims: Iterable[Claim]) -> Wanted:
    """Everything that these claims need to have looked up, for one look."""
    paths, symbols, packages = set[str](), set[str](), set[str]()
    branches, commits = set[str](), set[str]()
    for claim in claims:
        if claim.aside in asides.NEVER_TRUE:
            continue
        words = {*claim.names, *claim.parts}
        if claim.kind in (PATH, ROUTE, COMMAND):
            named = {one for one in words if one[:2] != "::"}
            if claim.kind == COMMAND:
                named -= set(claim.names)
            paths |= named | {one.rsplit("/", 1)[-1] for one in named if "*" not in one}
            paths |= {_stem(one) for one in named if "/" in one and file_ending(one)}
            symbols |= {one[2:] for one in words if one[:2] == "::"}
            packages |= {one.split("/")[0] for one in claim.names if "." not in one}
        elif claim.kind in (SYMBOL, PACKAGE, VERSION):
            symbols |= {one for one in words if "/" not in one}
            packages |= {claim.text.split(" ")[0], *claim.names[:1]}
            paths |= {one for one in claim.names if claim.kind != VERSION and len(words) == 1}
        elif claim.kind == BRANCH:
            named = {claim.text, claim.text.removeprefix("origin/")}
            branches |= named
            paths |= {one.strip("/") for one in named}
        elif claim.kind == COMMIT:
            commits |= words
        if claim.kind == VERSION:
            branches |= {claim.text}
    frozen = [frozenset(one - {""}) for one in (paths, symbols, branches, packages, commits)]
    return Wanted(*frozen)


def _stem(path: str) -> str:
    """A file without its ending: what it is called once it has become a folder."""
    return path[: -len(file_ending(path)) - 1]


def judge(claim: Claim, seen: Seen, beside: frozenset[str] = frozenset()) -> Judged:
    """The verdict on a claim; `beside` are the memories of its own store."""
    if claim.aside in asides.NEVER_TRUE:
        verdict = NOT_A_CLAIM if claim.aside in asides.NO_CLAIM else UNKNOWN
        return Judged(claim, verdict, claim.aside)
    place, reason = _found(claim, seen, beside)
    if reason:
        return Judged(claim, TRUE, reason, place)
    if claim.aside:
        verdict = NOT_A_CLAIM if claim.aside in asides.NO_CLAIM else UNKNOWN
        return Judged(claim, verdict, claim.aside)
    if claim.kind == URL:
        return Judged(claim, UNKNOWN, "not checked: offline")
    evidence = _stale(claim, seen)
    if evidence:
        return Judged(claim, STALE, evidence)
    return Judged(claim, UNKNOWN, _why_unknown(claim, seen))


def _found(claim: Claim, seen: Seen, beside: frozenset[str]) -> tuple[str, str]:
    """The place that bears the claim out, and how; nothing if none does."""
    if claim.kind in (PATH, ROUTE):
        return _found_path(claim, seen, beside)
    if claim.kind in (SYMBOL, PACKAGE):
        return _found_name(claim, seen)
    if claim.kind == BRANCH:
        named = (claim.text, claim.text.removeprefix("origin/"))
        if any(one in seen.branches for one in named):
            return "", "branch or tag"
        return next(
            ((seen.paths[one][0], "found") for one in named if seen.paths.get(one)), ("", "")
        )
    if claim.kind == COMMIT:
        return "", "commit" if any(one in seen.commits for one in claim.names) else ""
    if claim.kind == COMMAND:
        declared = all(one in seen.commands for one in claim.names)
        there = [seen.paths[one][0] for one in claim.parts if seen.paths.get(one)]
        if declared and len(there) == len(claim.parts) and (claim.names or there):
            return (there or [""])[0], "declared" if claim.names else "found"
    if claim.kind == VERSION and claim.names and claim.names[0] in seen.packages:
        return "", "declared; its version was not compared"
    return "", ""


def _found_path(claim: Claim, seen: Seen, beside: frozenset[str]) -> tuple[str, str]:
    found = [seen.paths.get(one, ()) for one in claim.names]
    if found and all(found):
        return found[0][0], _how(claim.names[0], found[0])
    if claim.names and all(one in beside for one in claim.names):
        return claim.names[0], "a memory of this store"
    parts = [seen.paths.get(one, ()) for one in claim.parts if one[:2] != "::"]
    whole = any("*" in one for one in claim.names)
    if parts and not whole and (all(parts) if claim.kind == PATH else any(parts)):
        return next(one[0] for one in parts if one), "found"
    first = claim.names[0].split("/")[0] if claim.names else ""
    if first and "." not in first and first in seen.packages:
        return "", "a package that is declared"
    return "", ""


def _how(name: str, found: Sequence[str]) -> str:
    if name in found:
        return "found"
    return f"found as {found[0]}" + (f" and {len(found) - 1} more" if len(found) > 1 else "")


def _found_name(claim: Claim, seen: Seen) -> tuple[str, str]:
    names = claim.names or claim.parts
    used = [seen.symbols[one] for one in names if one in seen.symbols and seen.symbols[one].code]
    if used and (len(used) == len(names) or not claim.names or names[-1] in seen.symbols):
        files = used[-1].code
        place = (used[-1].places or ("",))[0]
        return place, f"in {files} file" + ("s" if files != 1 else "")
    if claim.text in seen.packages or (claim.names and claim.names[0] in seen.packages):
        return "", "declared"
    if len(claim.names) == 1 and seen.paths.get(claim.names[0]):
        return seen.paths[claim.names[0]][0], f"found as {seen.paths[claim.names[0]][0]}"
    return "", ""


def _stale(claim: Claim, seen: Seen) -> str:
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
    stem = _stem(name) if file_ending(name) else ""
    if stem and seen.paths.get(stem):
        return seen.paths[stem][0].rstrip("/") + "/"
    bare = posixpath.basename(name)
    places = seen.paths.get(bare, ()) if bare != name else ()
    return ", ".join(places[:FEW]) if bare.lower() not in tables.COMMON_NAMES else ""


def _words(past: Past, now: str, renamed: bool) -> str:
    when = f"in {past.commit[:SHORT]}, {past.date}"
    if renamed:
        return f"renamed to {now} {when}"
    return f"removed {when}" + (f"; now {now}" if now else "")


def _gone_symbol(name: str, seen: Seen) -> str:
    uses = seen.symbols.get(name)
    past = seen.past_symbols.get(name)
    if past is None or (uses and (uses.code or uses.prose)) or not distinctive(name):
        return ""
    return f"no longer in the code: removed in {past.commit[:SHORT]}, {past.date}"


def _why_unknown(claim: Claim, seen: Seen) -> str:
    tables, past = LOOKED_UP.get(claim.kind, ()), PASTS.get(claim.kind, "")
    if not any(one in seen.known for one in tables or ("paths",)):
        return "nothing to look it up in"
    if any(one in seen.ignored or one + "/" in seen.ignored for one in claim.names):
        return "ignored by git"
    return "not found, and not in the past of the repository" if past in seen.known else "not found"

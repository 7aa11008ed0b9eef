"""Verdict on a claim (true, stale or unknown) with its reason."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from memdir.claims.claim import (
    BRANCH,
    CHANGED,
    COMMAND,
    COMMIT,
    NEVER_TRUE,
    NO_CLAIM,
    NOT_A_CLAIM,
    PACKAGE,
    PATH,
    STALE,
    SYMBOL,
    TRUE,
    UNKNOWN,
    URL,
    Claim,
    Judged,
    Past,
    Seen,
    Wanted,
)
from memdir.claims.forms import MADE, find_file_ending, is_common_symbol, is_distinctive_symbol

# A dotted name may be a module: possible endings of its file; empty for a folder.
MODULE_ENDINGS = ("", ".py", ".rs", ".java", ".kt", ".ex", ".hs")
SELF = frozenset(("self", "this", "cls", "super", "Self"))  # not looked up
MAX_PLACES = 3  # named in a reason
ID_CHARACTERS = 7  # of a commit id shown to people
# Field of `Seen` that answers for a kind.
TABLES = {
    PATH: "paths",
    SYMBOL: "symbols",
    PACKAGE: "symbols",
    BRANCH: "branches",
    COMMIT: "commits",
    COMMAND: "commands",
}

Support = tuple[str, str, str]  # place, how it was found, or what is missing
NONE: Support = ("", "", "")


def collect_evidence_wanted(claims: Iterable[Claim]) -> Wanted:
    paths, symbols, packages = set[str](), set[str](), set[str]()
    branches, commits = set[str](), set[str]()
    for claim in claims:
        if claim.aside in NEVER_TRUE:
            continue
        words = {*claim.names, *claim.parts}
        if claim.kind in (PATH, COMMAND):
            symbols |= {item[2:] for item in words if item[:2] == "::"}
            named = {*claim.parts} if claim.kind == COMMAND else words
            for item in named:
                if item[:2] != "::":
                    paths |= {item, _folder_name(item) if "/" in item else ""}
                    paths |= {posixpath.basename(item)} if "*" not in item else set()
        elif claim.kind in (SYMBOL, PACKAGE):
            symbols |= {item for item in words if "/" not in item}
            packages |= {claim.text.split(" ")[0], *claim.names[:1]}
            paths |= {*claim.names, claim.text, *_modules(_chain(claim))} if claim.names else set()
        elif claim.kind == BRANCH:
            branches |= {claim.text, claim.text.removeprefix("origin/")}
            paths |= {claim.text.strip("/"), claim.text.removeprefix("origin/").strip("/")}
        elif claim.kind == COMMIT:
            commits |= words
    return Wanted(*(frozenset(s - {""}) for s in (paths, symbols, branches, packages, commits)))


def judge_claim(claim: Claim, seen: Seen, beside: frozenset[str] = frozenset()) -> Judged:
    """`beside` are the memories of the claim's own store."""
    missing = ""
    if claim.aside not in NEVER_TRUE:
        place, how, missing = _find_support(claim, seen, beside)
        if how:
            return Judged(claim, TRUE, how, place)
    # Changes of files say nothing about a branch.
    if claim.aside and not (claim.kind == BRANCH and claim.aside == CHANGED):
        verdict = NOT_A_CLAIM if claim.aside in NO_CLAIM else UNKNOWN
        return Judged(claim, verdict, claim.aside)
    gone = _find_end(claim, seen)
    if gone:
        return Judged(claim, STALE, gone)
    return Judged(claim, UNKNOWN, _why_unknown(claim, seen, missing))


def _why_unknown(claim: Claim, seen: Seen, missing: str) -> str:
    if claim.kind == URL:
        return "not checked: offline"
    if TABLES.get(claim.kind, "paths") not in seen.known:
        return "nothing to look it up in"
    if missing:
        return missing
    if any(name in seen.ignored or name + "/" in seen.ignored for name in claim.names):
        return "ignored by git"
    for name in _subjects(claim) if claim.kind == PATH else ():
        past = () if seen.paths.get(name) else seen.past.get(name, ())
        if past:
            fate = f"renamed to {past[0].now}" if past[0].now else "removed"
            return f"not found; {past[0].name} was {fate} {_when(past[0])}: it may be another one"
    where = {BRANCH: " among the branches and tags", COMMIT: " among the commits"}
    return "not found" + where.get(claim.kind, "")


def _find_support(claim: Claim, seen: Seen, beside: frozenset[str]) -> Support:
    if claim.kind == PATH:
        return _support_path(claim, seen, beside)
    if claim.kind in (SYMBOL, PACKAGE):
        return _support_symbol(claim, seen)
    if claim.kind == COMMAND:
        return _support_command(claim, seen)
    if claim.kind == BRANCH:
        for name in (claim.text, claim.text.removeprefix("origin/")):
            if name in seen.branches:
                return "", "branch or tag", ""
            if seen.paths.get(name):
                return seen.paths[name][0], "found", ""
    if claim.kind == COMMIT and any(name in seen.commits for name in claim.names):
        return "", "commit", ""
    return NONE


def _support_path(claim: Claim, seen: Seen, beside: frozenset[str]) -> Support:
    if claim.names and all(name in beside for name in claim.names):
        return claim.names[0], "a memory of this store", ""
    places = [seen.paths.get(name, ()) for name in claim.names]
    inside = [part[2:] for part in claim.parts if part[:2] == "::"]
    if places and all(places):
        how = _how(claim.names[0], places[0])
        if inside:
            return _support_inside(places[0][0], how, inside[0], seen)
        _, mark, anchor = claim.text.partition("#")
        if mark and anchor and not anchor.lstrip("L").isdigit():
            how += "; its heading was not looked at"
        return places[0][0], how, ""
    # Every file of a list, or any of the files that a slash command may be.
    parts = [seen.paths.get(part, ()) for part in claim.parts if part[:2] != "::"]
    if any(parts) and "*" not in claim.text and (all(parts) or not claim.names):
        return next(part[0] for part in parts if part), "found", ""
    return NONE


def _how(name: str, places: Sequence[str]) -> str:
    if name in places:
        return "found"
    return f"found as {places[0]}" + (f" and {len(places) - 1} more" if len(places) > 1 else "")


def _support_inside(file: str, how: str, name: str, seen: Seen) -> Support:
    """`a.py::test_b`: the file must exist, and the name in it."""
    if "symbols" not in seen.known:
        return "", "", f"{file} is there; {name} was not looked up"
    uses = seen.symbols.get(name)
    if uses is None or not uses.code:
        return "", "", f"{file} is there, but {name} was not found"
    if file in uses.places:
        return file, f"{how}, with {name}", ""
    if len(uses.places) < uses.code + uses.prose:  # not all files are listed
        return file, f"{how}; {name} {_count_files(uses.code)}", ""
    return "", "", f"{file} is there, but {name} is elsewhere: {uses.places[0]}"


def _count_files(count: int) -> str:
    return f"in {count} file" + ("s" if count != 1 else "")


def _support_symbol(claim: Claim, seen: Seen) -> Support:
    for path in (claim.text, *_modules(_chain(claim))) if claim.names else ():
        if seen.paths.get(path):
            return seen.paths[path][0], _how(path, seen.paths[path]), ""
    names = _chain(claim)
    if len(names) > 1:
        return _support_dotted(names, seen)
    for name in names or claim.parts:
        uses = seen.symbols.get(name)
        if uses is not None and uses.code:
            prefix = "" if claim.names == names and names else f"{name} "
            return (uses.places or ("",))[0], prefix + _count_files(uses.code), ""
    if claim.text in seen.packages or (names and names[0] in seen.packages):
        return "", "declared", ""
    return NONE


def _support_dotted(names: tuple[str, ...], seen: Seen) -> Support:
    """`a.b.c`: the last two names are in one file, or the file is named after the owner."""
    owner, last = names[-2:]
    places = seen.symbols[last].places if last in seen.symbols else ()
    owners = seen.symbols[owner].places if owner in seen.symbols else ()
    for place in places:
        if place in owners or owner in re.split("[/.]", place):
            return place, f"{owner} and {last} in {place}", ""
    missing = [name for name in names if not _is_there(name, seen)]
    if len(missing) == len(names):
        return NONE
    if missing:
        return "", "", f"not found: {', '.join(missing)}; the other parts are"
    return "", "", f"{owner} and {last} are found, but not seen in one file"


def _is_there(name: str, seen: Seen) -> bool:
    uses = seen.symbols.get(name)
    return bool(uses and uses.code) or bool(seen.paths.get(name))


def _support_command(claim: Claim, seen: Seen) -> Support:
    """Every script must be declared, and every file and every name in it must exist."""
    missing = [name for name in claim.names if name not in seen.commands]
    if missing:
        return "", "", f"not found: no script, target or recipe is called {missing[0]}"
    place, how, file = "", "declared" if claim.names else "", ""
    for part in claim.parts:
        if part[:2] == "::":
            inside = _support_inside(file, how, part[2:], seen)
            if not inside[1]:
                return inside
            how = inside[1]
        elif not seen.paths.get(part):
            return "", "", f"not found: {part}"
        else:
            file = seen.paths[part][0]
            place, how = place or file, how or "found"
    return place, how, ""


def _chain(claim: Claim) -> tuple[str, ...]:
    names = claim.names
    return names[1:] if len(names) > 1 and names[0] in SELF else names


def _modules(names: Sequence[str]) -> list[str]:
    joined = "/".join(names)
    return [joined + ending for ending in MODULE_ENDINGS] if len(names) > 1 else [joined]


def _find_end(claim: Claim, seen: Seen) -> str:
    """Sentence on how it ended and where it went; empty without evidence."""
    if claim.kind in (PATH, COMMAND):
        names = _subjects(claim) if claim.kind == PATH else claim.parts
        return next(filter(None, (_find_path_end(claim, name, seen) for name in names)), "")
    if claim.kind != SYMBOL or claim.bare or claim.loose or len(claim.names) != 1:
        return ""
    # Only a coined name that its sentence places in a file of this repository and no file has.
    name = claim.names[0]
    near = any(seen.paths.get(file) or seen.past.get(file) for file in claim.near)
    past = seen.past_symbols.get(name)
    if past is None or not near or name in seen.symbols or not is_distinctive_symbol(name):
        return ""
    return f"no longer in the code: removed {_when(past)}"


def _subjects(claim: Claim) -> tuple[str, ...]:
    return claim.parts if "*" in claim.text else claim.names


def _find_path_end(claim: Claim, name: str, seen: Seen) -> str:
    is_folder = f"{name}/" in claim.text
    if seen.paths.get(name) or not seen.past.get(name):
        return ""
    if "/" not in name and (is_common_symbol(name) or not (find_file_ending(name) or is_folder)):
        return ""  # a bare word, or a name that many projects have
    past = [item for item in seen.past[name] if _means(claim, name, item, is_folder)]
    if not past:
        return ""
    newest = past[0]
    parts = name.split("/")
    local = not MADE.isdisjoint(parts) or parts[-1].startswith(".env")
    if local and not newest.now:
        return ""  # may still exist locally, though git no longer tracks it
    now = _follow_folder(past, name) if _folder_above(newest.name, name) else newest.now
    if now:
        return f"renamed to {now.rstrip('/') + '/' * is_folder} {_when(newest)}"
    places = _moved_to(name, seen)
    return f"removed {_when(newest)}" + (f"; now {places}" if places else "")


def _means(claim: Claim, name: str, past: Past, is_folder: bool) -> bool:
    """True if the claim means this past path; `a/b` without an ending is too vague."""
    if past.name == name or past.name.startswith(name + "/"):
        return True
    if claim.loose or claim.text[0] == "/" or not (find_file_ending(name) or is_folder):
        return False
    return not claim.bare or is_distinctive_symbol(name.rsplit("/", 1)[-1].replace("-", "_"))


def _folder_above(path: str, name: str) -> str:
    """Folder of that name above a path; empty if the path itself has the name."""
    position = f"/{path}/".find(f"/{name}/")
    folder = path[: position + len(name)] if position >= 0 else ""
    return "" if folder == path else folder


def _follow_folder(past: Sequence[Past], name: str) -> str:
    places = set()
    for item in past:
        rest = item.name[len(_folder_above(item.name, name)) :]
        places.add(item.now.removesuffix(rest) + "/" if item.now.endswith(rest) else "")
    return places.pop() if len(places) == 1 else ""


def _moved_to(name: str, seen: Seen) -> str:
    folder = seen.paths.get(_folder_name(name))
    if folder:
        return folder[0].rstrip("/") + "/"
    bare = posixpath.basename(name)
    places = seen.paths.get(bare, ()) if bare != name and not is_common_symbol(bare) else ()
    return ", ".join(places[:MAX_PLACES])


def _folder_name(path: str) -> str:
    ending = find_file_ending(path)
    return path[: -len(ending) - 1] if ending else ""


def _when(past: Past) -> str:
    return f"in {past.commit[:ID_CHARACTERS]}, {past.date}"

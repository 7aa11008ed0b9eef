"""Verdict on a claim (true, stale or unknown) with its reason."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from memdir.claims import claim as kinds
from memdir.claims.claim import Claim, Judged, Past, Seen, Wanted
from memdir.claims.forms import find_file_ending, is_common_symbol, is_distinctive_symbol
from memdir.claims.manifests import manifest_allows_version

# A dotted name may be a module: possible endings of its file; empty for a folder.
MODULE_ENDINGS = ("", ".py", ".rs", ".java", ".kt", ".ex", ".hs")
SELF = frozenset(("self", "this", "cls", "super", "Self"))  # not looked up
ID_CHARACTERS = 7  # of a commit id shown to people
NEAR_LINES = 2  # around a claim, in which its new name may stand
MIN_NAME_CHARACTERS = 4  # of a removed name that is an ordinary word
# Field of `Seen` that answers for a kind.
TABLES = {
    kinds.PATH: "paths",
    kinds.SYMBOL: "symbols",
    kinds.PACKAGE: "symbols",
    kinds.BRANCH: "branches",
    kinds.COMMIT: "commits",
    kinds.COMMAND: "commands",
    kinds.FLAG: "symbols",
}

Support = tuple[str, str, str]  # place, how it was found, or what is missing
NONE: Support = ("", "", "")


def collect_evidence_claims_need(claims: Iterable[Claim]) -> Wanted:
    paths, symbols, packages = set[str](), set[str](), set[str]()
    branches, commits, versions = set[str](), set[str](), set[str]()
    for claim in claims:
        if claim.aside in kinds.NEVER_TRUE:
            continue
        words = {*claim.names, *claim.parts}
        if claim.kind in (kinds.PATH, kinds.COMMAND):
            symbols |= {item[2:] for item in words if item[:2] == "::"}
            named = {*claim.parts} if claim.kind == kinds.COMMAND else words
            for item in named:
                if item[:2] != "::":
                    paths |= {item, _folder_name(item) if "/" in item else ""}
                    paths |= {*_as_modules(claim, item)}
                    paths |= {posixpath.basename(item)} if "*" not in item else set()
        elif claim.kind in (kinds.SYMBOL, kinds.PACKAGE):
            symbols |= {item for item in words if "/" not in item}
            packages |= {claim.text.split(" ")[0], *claim.names[:1]}
            paths |= {*claim.names, claim.text, *_modules(_chain(claim))} if claim.names else set()
            paths |= {*claim.near}
        elif claim.kind == kinds.FLAG:
            symbols |= {*_flag_forms(claim.names[0])}
        elif claim.kind == kinds.BRANCH:
            branches |= {claim.text, claim.text.removeprefix("origin/")}
            paths |= {claim.text.strip("/"), claim.text.removeprefix("origin/").strip("/")}
        elif claim.kind == kinds.COMMIT:
            commits |= words
        elif claim.kind == kinds.VERSION:
            versions.add(claim.names[0])
    wanted = (paths, symbols, branches, packages, commits, versions)
    return Wanted(*(frozenset(names - {""}) for names in wanted))


def _flag_forms(flag: str) -> tuple[str, ...]:
    """`--dry-run` may stand in the code as `"dry-run"` or as `dry_run`."""
    name = flag[2:]
    return (flag, name, name.replace("-", "_")) if "-" in name else (flag,)


def judge_claim(
    claim: Claim, seen: Seen, beside: frozenset[str] = frozenset(), text: str = ""
) -> Judged:
    """`beside` are the memories of its own store; `text` is the memory, with the store's path."""
    missing = ""
    if claim.aside not in kinds.NEVER_TRUE:
        place, how, missing = _find_support(claim, seen, beside, text)
        if how:
            return Judged(claim, kinds.TRUE, how, place)
    if claim.aside:
        verdict = kinds.NOT_A_CLAIM if claim.aside in kinds.NO_CLAIM else kinds.UNKNOWN
        return Judged(claim, verdict, claim.aside)
    gone = _find_end(claim, seen, text)
    if gone == kinds.OLD:
        return Judged(claim, kinds.NOT_A_CLAIM, gone)
    if gone:
        return Judged(claim, kinds.STALE, gone)
    return Judged(claim, kinds.UNKNOWN, _why_unknown(claim, seen, missing))


def _why_unknown(claim: Claim, seen: Seen, missing: str) -> str:
    if claim.kind == kinds.URL:
        return "not checked: offline"
    if TABLES.get(claim.kind, "paths") not in seen.known:
        return kinds.NOWHERE
    if missing:
        return missing
    if any(name in seen.ignored or name + "/" in seen.ignored for name in claim.names):
        return "ignored by git"
    for name in _subjects(claim) if claim.kind == kinds.PATH else ():
        past = seen.past.get(name, ())
        if past:
            fate = f"renamed to {past[0].now}" if past[0].now else "removed"
            return f"not found; {past[0].name} was {fate} {_when(past[0])}: it may be another one"
    where = {kinds.BRANCH: " among the branches and tags", kinds.COMMIT: " among the commits"}
    return "not found" + where.get(claim.kind, "")


def _find_support(claim: Claim, seen: Seen, beside: frozenset[str], text: str) -> Support:
    if claim.kind == kinds.PATH:
        return _support_path(claim, seen, beside, text)
    if claim.kind in (kinds.SYMBOL, kinds.PACKAGE):
        return _support_symbol(claim, seen)
    if claim.kind == kinds.COMMAND:
        return _support_command(claim, seen)
    if claim.kind == kinds.BRANCH:
        for name in (claim.text, claim.text.removeprefix("origin/")):
            if name in seen.branches:
                return "", "branch or tag", ""
            if seen.paths.get(name):
                return seen.paths[name][0], "found", ""
    if claim.kind == kinds.COMMIT and any(name in seen.commits for name in claim.names):
        return "", "commit", ""
    if claim.kind == kinds.FLAG:
        for form in _flag_forms(claim.names[0]):
            if form in seen.symbols and seen.symbols[form].code:
                return (*seen.symbols[form].places, "")[0], "found in the code", ""
        return "", "", f"{claim.names[0]} was not found in the code"
    if claim.kind == kinds.VERSION:
        for pin in seen.versions.get(claim.names[0], ()):
            if manifest_allows_version(pin.asked, claim.names[1]):
                return pin.path, f"{pin.path} has {pin.text}", ""
    return NONE


def _support_path(claim: Claim, seen: Seen, beside: frozenset[str], text: str) -> Support:
    if claim.names and all(name in beside for name in claim.names):
        return claim.names[0], "a memory of this store", ""
    places = [
        _own_places(claim, name, seen, text)
        or tuple(path for path in _as_modules(claim, name) if path in seen.paths.get(path, ()))
        for name in claim.names
    ]
    inside = [part[2:] for part in claim.parts if part[:2] == "::"]
    if places and all(places):
        how = _how(claim.names[0], places[0])
        if inside:
            return _support_inside(places[0][0], how, inside[0], seen)
        return places[0][0], how, ""
    # Every file of a list, or any of the files that a slash command may be.
    parts = [seen.paths.get(part, ()) for part in claim.parts if part[:2] != "::"]
    if any(parts) and "*" not in claim.text and (all(parts) or not claim.names):
        return next(part[0] for part in parts if part), "found", ""
    return NONE


def _own_places(claim: Claim, name: str, seen: Seen, text: str) -> tuple[str, ...]:
    """Places of the path as it is written: a file at the root that is gone is not one elsewhere.

    Unless it moved there under its name, or the memory names the folder that it is written from.
    """
    places = seen.paths.get(name, ())
    exact = [past for past in seen.past.get(name, ()) if past.name == name]
    if name in places or not places or not exact:
        return places
    if "/" not in name and not claim.rooted and exact[0].now in places:
        return (exact[0].now,)
    above = ((place, place.removesuffix(name).rstrip("/")) for place in places)
    return tuple(place for place, folder in above if f"{folder}/" in text or f"`{folder}`" in text)


def _as_modules(claim: Claim, name: str) -> list[str]:
    """`evals/capture` may be a module: the files that it may mean."""
    vague = "/" not in name or find_file_ending(name) or "*" in name or f"{name}/" in claim.text
    return [] if vague else [name + ending for ending in MODULE_ENDINGS[1:]]


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
    if claim.declared and claim.text in seen.packages:
        return "", "declared", ""
    if claim.declared and claim.text in seen.past_packages:
        return NONE  # whatever else has that name
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


def _find_end(claim: Claim, seen: Seen, text: str) -> str:
    """Sentence on how it ended and where it went; empty without evidence."""
    ends: list[str] = []
    if claim.kind in (kinds.PATH, kinds.COMMAND):
        names = _subjects(claim) if claim.kind == kinds.PATH else claim.parts
        ends += [_find_path_end(claim, name, seen, text) for name in names if name[:2] != "::"]
        inside = [part[2:] for part in claim.parts if part[:2] == "::"]
        ends += [_find_symbol_end(claim, (name,), seen) for name in inside]
    if claim.kind == kinds.FLAG and claim.names[0] in seen.past_symbols:
        flag = claim.names[0]
        ends.append(f"{flag} is no longer in the code: removed {_when(seen.past_symbols[flag])}")
    if claim.kind == kinds.PACKAGE:
        dropped = seen.past_packages.get(claim.text)
        ends += [f"in no manifest any more: dropped {_when(dropped)}"] if dropped else []
    if claim.kind in (kinds.SYMBOL, kinds.PACKAGE):
        ends.append(_find_symbol_end(claim, _chain(claim), seen))
        # `layout.css_t`: git knows what the ending does not tell.
        ends += [_find_path_end(claim, claim.text, seen, text)] if "." in claim.text else []
    if claim.kind == kinds.BRANCH:
        names = (claim.text, claim.text.removeprefix("origin/"))
        ends += [seen.past_branches[name] for name in names if name in seen.past_branches]
        ends += [_find_path_end(claim, name, seen, text) for name in names if "/" in name]
    if claim.kind == kinds.VERSION:
        pins = seen.versions.get(claim.names[0], ())
        ends += [f"{pin.path} has {pin.text}" for pin in pins]
    return next(filter(None, ends), "")


def _find_symbol_end(claim: Claim, names: Sequence[str], seen: Seen) -> str:
    """A name whose definition was removed, or which the sentence puts into a file of ours."""
    if claim.loose or not names:
        return ""
    name, owner = names[-1], names[-2] if len(names) > 1 else ""
    past, uses = seen.past_symbols.get(name), seen.symbols.get(name)
    if past is None or (uses and uses.code):
        return ""
    if owner and not _is_there(owner, seen) and owner not in seen.past_symbols:
        return ""  # a name of somebody else's library
    distinctive = is_distinctive_symbol(name)
    near = any(
        find_file_ending(file) not in ("", "md") and (seen.paths.get(file) or seen.past.get(file))
        for file in claim.near
    )
    coined = distinctive or (not claim.bare and len(name) >= MIN_NAME_CHARACTERS)
    placed = near and distinctive and not claim.bare and not owner and uses is None
    if not placed and not (past.defined and coined):
        return ""
    still = ", only comments name it" if uses and uses.only_comments else ""
    return f"no longer in the code{still}: removed {_when(past)}"


def _subjects(claim: Claim) -> tuple[str, ...]:
    return claim.parts if "*" in claim.text else claim.names


def _find_path_end(claim: Claim, name: str, seen: Seen, text: str) -> str:
    is_folder = f"{name}/" in claim.text
    exact = [past for past in seen.past.get(name, ()) if past.name == name]
    if _own_places(claim, name, seen, text):
        return ""
    if seen.paths.get(name) and not (exact and ("/" in name or claim.rooted)):
        return ""  # a bare name, which may mean the one that is there
    if "/" not in name and not exact and not (_has_ending(name) or is_folder):
        return ""  # a bare word
    sure = not claim.bare and (exact or len(seen.past.get(name, ())) == 1)
    if "/" not in name and is_common_symbol(name) and not sure:
        return ""  # a name that many projects have
    past = [item for item in seen.past.get(name, ()) if _means(claim, name, item, is_folder)]
    if not past:
        return ""
    newest = past[0]
    new = posixpath.basename(newest.now)
    as_word = rf"(?<![\w-]){re.escape(new)}(?![\w-])"
    lines = text.split("\n")[max(claim.line - NEAR_LINES, 0) : claim.line + NEAR_LINES + 1]
    if new and new != posixpath.basename(name) and re.search(as_word, "\n".join(lines)):
        return kinds.OLD  # the new name stands beside it
    if newest.now:
        return f"renamed to {newest.now + '/' * is_folder} {_when(newest)}"
    if name in seen.ignored or f"{name}/" in seen.ignored:
        return ""  # it may be here, though git no longer tracks it
    places = _moved_to(name, seen)
    return f"removed {_when(newest)}" + (f"; now {places}" if places else "")


def _means(claim: Claim, name: str, past: Past, is_folder: bool) -> bool:
    """True if the claim means this past path; `a/b` without an ending is too vague."""
    if past.name == name:
        return True
    if claim.loose or claim.text[0] == "/" or not (_has_ending(name) or is_folder):
        return False
    return not claim.bare or is_distinctive_symbol(name.rsplit("/", 1)[-1].replace("-", "_"))


def _has_ending(name: str) -> bool:
    return bool(find_file_ending(name)) or "." in posixpath.basename(name).strip(".")


def _moved_to(name: str, seen: Seen) -> str:
    """The folder that a file became, or the only file of that name."""
    folder = _folder_name(name)
    if folder in seen.paths.get(folder, ()):
        return folder + "/"
    bare = posixpath.basename(name)
    named = bare != name and find_file_ending(bare) and not is_common_symbol(bare)
    places = seen.paths.get(bare, ()) if named else ()
    return places[0] if len(places) == 1 else ""


def _folder_name(path: str) -> str:
    ending = find_file_ending(path)
    return path[: -len(ending) - 1] if ending else ""


def _when(past: Past) -> str:
    return f"in {past.commit[:ID_CHARACTERS]}, {past.date}"

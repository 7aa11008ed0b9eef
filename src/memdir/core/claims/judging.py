"""Judge a claim by what was seen. Only evidence that it once was true makes it stale."""

from __future__ import annotations

from collections.abc import Iterable

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
    Seen,
    Wanted,
)
from memdir.core.claims import asides, bearing
from memdir.core.claims.evidence import evidence, why_unknown
from memdir.core.claims.names import file_ending, stem


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
            paths |= {stem(one) for one in named if "/" in one and file_ending(one)}
            symbols |= {one[2:] for one in words if one[:2] == "::"}
            packages |= {one.split("/")[0] for one in claim.names if "." not in one}
        elif claim.kind in (SYMBOL, PACKAGE, VERSION):
            symbols |= {one for one in words if "/" not in one}
            packages |= {claim.text.split(" ")[0], *claim.names[:1]}
            paths |= set(claim.names) if claim.kind != VERSION else set()
            names = bearing.chain(claim.names)
            paths |= {*bearing.modules(names), claim.text} if len(names) > 1 else set()
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


def judge(claim: Claim, seen: Seen, beside: frozenset[str] = frozenset()) -> Judged:
    """The verdict on a claim; `beside` are the memories of its own store."""
    if claim.aside in asides.NEVER_TRUE:
        return _set_aside(claim)
    place, how, lack = bearing.find(claim, seen, beside)
    if how:
        return Judged(claim, TRUE, how, place)
    # What a commit did to files says nothing of the branch that it is on.
    if claim.aside and not (claim.kind == BRANCH and claim.aside == asides.CHANGED):
        return _set_aside(claim)
    if claim.kind == URL:
        return Judged(claim, UNKNOWN, "not checked: offline")
    gone = evidence(claim, seen)
    if gone:
        return Judged(claim, STALE, gone)
    return Judged(claim, UNKNOWN, lack or why_unknown(claim, seen))


def _set_aside(claim: Claim) -> Judged:
    return Judged(claim, NOT_A_CLAIM if claim.aside in asides.NO_CLAIM else UNKNOWN, claim.aside)

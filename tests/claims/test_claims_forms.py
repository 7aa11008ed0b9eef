"""What is found in a memory's text: kind, names and why not, one row per form."""

import pytest

from memdir.claims.claim import Claim
from memdir.claims.find import find_claims
from tests.helpers.tables import table

CLAIM = ""
FORMS, BARE, ASIDES = (table("claims", name) for name in ("forms", "bare", "asides"))
ELSE = table("claims", "words_about_something_else_do_not_decide")


def found(text: str) -> dict[str, Claim]:
    return {claim.text: claim for claim in find_claims(text)}


@pytest.mark.parametrize(("span", "kind", "names", "aside"), FORMS, ids=[row[0] for row in FORMS])
def test_a_span_in_backticks_has_a_form(span, kind, names, aside):
    claim = found(f"See `{span}` for it.")[span]
    assert (claim.kind, claim.names, claim.aside) == (kind, tuple(names), aside)


@pytest.mark.parametrize(("text", "span", "kind"), BARE, ids=[row[1] for row in BARE])
def test_prose_without_backticks_is_read_too(text, span, kind):
    claim = found(text)[span]
    assert (claim.kind, claim.bare) == (kind, True)


@pytest.mark.parametrize("text", table("claims", "ordinary_prose_makes_no_claim"))
def test_ordinary_prose_makes_no_claim(text):
    assert find_claims(text) == []


@pytest.mark.parametrize(("text", "span", "aside"), [*ASIDES, *([*row, CLAIM] for row in ELSE)])
def test_the_words_around_a_span_decide_whether_it_is_a_claim(text, span, aside):
    assert found(text)[span].aside == aside


def test_a_memory_that_knows_that_something_is_gone_knows_it_everywhere():
    text = "`lib/x.py` was removed.\n\nLook for `x.py` before you begin, and for `lib/y.py`."
    known = "said to be gone elsewhere in this memory"
    assert [claim.aside for claim in find_claims(text)] == ["denied", known, CLAIM]


def test_lines_are_those_of_the_file_and_the_header_gives_only_its_description():
    text = (
        "---\nname: x\ndescription: uses `a/b.py` and\n  lib/c.py\n"
        "originSessionId: 334ab2b5-e8b4\n---\n\nFirst.\n\nSee `d.py`\nand `e.py`, `run\nit`.\n"
    )
    assert [(claim.text, claim.line) for claim in find_claims(text)] == [
        ("a/b.py", 3),
        ("lib/c.py", 4),
        ("d.py", 10),
        ("e.py", 11),
        ("run it", 11),
    ]

"""What is found in a memory's text: kind, names and why not, one row per form."""

import pytest

from memdir.claims.claim import Claim
from memdir.claims.find import find_claims
from tests.helpers.tables import table

CLAIM = ""


def found(text: str, place: str = "") -> dict[str, Claim]:
    return {claim.text: claim for claim in find_claims(text, place)}


# text in backticks, kind, names that are looked up, aside
FORMS = table("claims", "forms")


@pytest.mark.parametrize(("span", "kind", "names", "aside"), FORMS, ids=[row[0] for row in FORMS])
def test_a_span_in_backticks_has_a_form(span, kind, names, aside):
    claim = found(f"See `{span}` for it.")[span]
    assert (claim.kind, claim.names, claim.aside) == (kind, tuple(names), aside)


BARE = table("claims", "bare")


@pytest.mark.parametrize(("text", "span", "kind"), BARE, ids=[row[1] for row in BARE])
def test_prose_without_backticks_is_read_too(text, span, kind):
    claim = found(text)[span]
    assert (claim.kind, claim.bare) == (kind, True)


@pytest.mark.parametrize("text", table("claims", "ordinary_prose_makes_no_claim"))
def test_ordinary_prose_makes_no_claim(text):
    assert find_claims(text) == []


# sentence, span, aside
ASIDES = table("claims", "asides")


@pytest.mark.parametrize(("text", "span", "aside"), ASIDES, ids=[row[0][:40] for row in ASIDES])
def test_the_words_around_a_span_decide_whether_it_is_a_claim(text, span, aside):
    assert found(text)[span].aside == aside


@pytest.mark.parametrize(
    ("text", "span"), table("claims", "words_about_something_else_do_not_decide")
)
def test_words_about_something_else_do_not_decide(text, span):
    assert found(text)[span].aside == CLAIM


@pytest.mark.parametrize("span", ["old-exp", "exp", "ann/exp"])
def test_what_is_called_a_branch_is_one(span):
    assert found(f"The experiment lives on branch `{span}`.")[span].kind == "branch"


def test_a_memory_that_knows_that_something_is_gone_knows_it_everywhere():
    text = "`lib/x.py` was removed.\n\nLook for `x.py` before you begin, and for `lib/y.py`."
    assert [one.aside for one in find_claims(text)] == [
        "denied",
        "said to be gone elsewhere in this memory",
        CLAIM,
    ]


def test_lines_are_those_of_the_file_and_the_header_gives_only_its_description():
    text = (
        "---\nname: x\ndescription: uses `a/b.py` and\n  lib/c.py\n"
        "originSessionId: 334ab2b5-e8b4\n---\n\nFirst.\n\nSee `d.py`\nand `e.py`.\n"
    )
    assert [(one.text, one.line) for one in find_claims(text)] == [
        ("a/b.py", 3),
        ("lib/c.py", 4),
        ("d.py", 10),
        ("e.py", 11),
    ]


def test_a_span_may_run_over_the_end_of_a_line():
    claim = found("stops it (`POST\n/rw/stop`) before")["POST /rw/stop"]
    assert (claim.kind, claim.line) == ("text", 1)


def test_a_path_that_climbs_is_resolved_from_where_the_memory_lies():
    place = ".claude/memory/x.md"
    assert found("`../../docs/a.md`", place)["../../docs/a.md"].names == ("docs/a.md",)
    assert found("`../../../a.md`", place)["../../../a.md"].aside == "outside the repository"
    assert found("`../a.md`")["../a.md"].aside == "outside the repository"


def test_a_code_block_is_read_but_only_a_whole_path_in_it_tells():
    claim = found("```sh\npython3 tests/test_x.py all\n```")["tests/test_x.py"]
    assert (claim.line, claim.loose) == (2, True)


def test_a_command_is_judged_by_the_files_that_it_is_given():
    assert found("Run `python tools/gen.py --all`.")["python tools/gen.py --all"].parts == (
        "tools/gen.py",
    )
    claim = found("`pytest tests/a.py::test_b -q`")["pytest tests/a.py::test_b -q"]
    assert claim.parts == ("tests/a.py", "::test_b")


def test_a_symbol_knows_the_code_file_that_its_sentence_names():
    text = "`pendCount` in `src/queue.js` counts. Elsewhere `otherCount` does."
    assert found(text)["pendCount"].near == ("src/queue.js",)
    assert found(text)["otherCount"].near == ()

"""Memories and lines are alike where they say the same; near-exact memories may become one."""

import json

import pytest

from memdir.hot.memory import decode, read_header
from memdir.text.similar import (
    MAX_NEAREST,
    SHOW,
    Alike,
    compare_two_texts,
    find_similar_texts,
    find_twin_text,
)
from tests.helpers.tables import table


def memory(name: str, description: str, body: str, type: str = "feedback") -> str:
    return f"---\nname: {name}\ndescription: {description}\ntype: {type}\n---\n\n{body}\n"


UV = memory(
    "use-uv",
    "Install packages with uv, never with pip.",
    "Install packages with uv, never with pip.\n\n**Why:** uv.lock pins every version.\n\n"
    "**How to apply:** Run `uv add` for each new package.",
)
WAIT = memory(
    "Monitor PR comments after push",
    "After pushing to a PR, poll for new review comments and handle them before moving on",
    "After every push to a PR, look for new review comments before the next task.\n\n"
    "**How to apply:** wait two minutes, read the unresolved threads, fix, resolve, push again.",
)
CHECK = memory(
    "Proactive review checking",
    "After every push to a PR, check for new reviewer comments without being asked",
    "After every push to a PR, check for new review threads by yourself.\n\n"
    "**Why:** the user had to ask three times.\n\n"
    "**How to apply:** after a push wait two minutes, check unresolved threads, fix and resolve.",
)


def compared(one: str, other: str) -> Alike:
    return compare_two_texts(("-.md", one), ("--.md", other))  # paths without words


def found(*texts: str) -> list[Alike]:
    """Among memories whose paths have no words."""
    return find_similar_texts({"-" * number + "-.md": text for number, text in enumerate(texts)})


def test_the_same_in_other_words_has_a_score_and_needs_the_same_names_to_be_shown():
    assert compared(WAIT, CHECK).score >= SHOW and found(WAIT, CHECK) == []
    wait, check = (text.replace("threads", "threads of Gemini and GH-12") for text in (WAIT, CHECK))
    (pair,) = found(wait, check)
    assert pair.held == () and {"gemini", "gh-12"} <= {*pair.values}


def test_a_memory_that_stands_sentence_by_sentence_in_another_is_held_by_it():
    longer = UV.replace("new package.", "new package.\n\nCI fails when the lock file is old.")
    (pair,) = found(longer, UV)
    assert pair.held == ("--.md",)
    assert pair.choose_poorer({"-.md": 1.0, "--.md": 2.0}) == "--.md"  # never the superset
    wrapped = UV.replace("Install packages with uv,", "install packages\nwith uv,")
    (pair,) = found(wrapped, UV)
    assert pair.held
    (pair,) = found(UV, UV)
    assert {*pair.held} == {"--.md", "-.md"}
    assert pair.choose_poorer({"-.md": 1.0, "--.md": 2.0}) == "-.md"  # the older


@pytest.mark.parametrize(
    ("old", "new"), table("text", "one_word_that_differs_on_both_sides_is_never_merged")
)
def test_one_word_that_differs_on_both_sides_is_never_merged(old, new):
    other = UV.replace(old, new)
    assert other != UV
    assert compared(UV, other + "\nMore.").held == ()


def test_texts_that_differ_in_a_number_a_name_or_a_date_are_no_twins():
    rules = [
        f"Rule {number}: service number {number} of Acme is deployed from branch release-{number}."
        for number in range(360)
    ]
    assert found(*(memory(f"rule-{i}", rule, rule) for i, rule in enumerate(rules))) == []
    for old, new in (("8080", "8081"), ("Ana", "Bob"), ("2026-03-05", "2026-04-05")):
        text = "The billing service of Acme listens on 8080, asks Ana, and moves on 2026-03-05."
        pair = [memory("billing", text, text) for text in (text, text.replace(old, new))]
        assert found(*pair) == []


def test_the_same_body_about_two_things_is_not_merged():
    body = "The server listens on port 8080 behind nginx and restarts every night."
    staging = memory("staging-port", "The port of the staging server", body)
    production = memory("production-port", "The port of the production server", body)
    assert compared(staging, production).held == ()


def test_a_link_to_the_other_makes_them_less_alike_and_no_twins():
    linked = CHECK.replace("ask three times.", "ask three times. Not [[wait-for-review]].")
    plain = CHECK.replace("ask three times.", "ask three times. Not that other one.")
    with_link, without = (
        compare_two_texts(("wait-for-review.md", WAIT), ("check.md", text))
        for text in (linked, plain)
    )
    assert with_link.linked and not without.linked
    assert with_link.score < without.score and with_link.values == ()


def test_of_many_copies_each_is_named_with_a_few():
    texts = {f"m{at}.md": UV for at in range(60)}
    pairs = find_similar_texts(texts)
    assert len(pairs) <= 60 * MAX_NEAREST
    assert {path for one in pairs for path in (one.first, one.second)} == {*texts}


LISTING = table("text", "listing")


def twin(text: str, lines: list[str] | None = None) -> str:
    return find_twin_text(text, LISTING if lines is None else lines)


@pytest.mark.parametrize(
    ("text", "found"), table("text", "the_same_words_in_another_order_are_the_same")
)
def test_the_same_words_in_another_order_are_the_same(text, found):
    assert twin(text) == found


def test_distinct_memories_of_the_wild_are_no_twins(shared):
    def description(side: dict[str, str]) -> str:
        path = shared / "corpus" / side["repo"].replace("/", "__") / side["file"]
        return read_header(decode(path.read_bytes())).get("description")

    rows = (shared / "corpus/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [row for row in map(json.loads, rows) if row["relation"] == "distinct"]
    texts = [(description(row["a"]), description(row["b"])) for row in pairs]
    compared = [(one, other) for one, other in texts if one and other]
    assert len(compared) > 20
    assert [pair for pair in compared if twin(pair[0], [pair[1]])] == []

"""A suspicion is rare, shows both sentences, and has a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.audit.disagree import (
    OPPOSITE,
    RENAMED,
    SUPERSEDED,
    find_contradictions,
    inner_contradictions,
)


def between(one: str, other: str):
    return find_contradictions({"a.md": one, "b.md": other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use pip.", "Never use pip."),
        ("Use npm to install packages.", "Use pnpm, not npm."),
        ("Push directly to main.", "Never push directly to main."),
        ("Merge your own pull requests.", "Don't merge your own pull requests."),
        ("Use mocks in tests.", "Avoid using mocks in tests."),
        ("Prefer tabs over spaces.", "Prefer spaces over tabs."),
        ("The response cache is enabled.", "The response cache is disabled."),
        ("The response cache is enabled.", "The response cache is not enabled."),
        ("The review is required.", "The review is optional."),
        ("The staging server listens on port 8080.", "The staging server listens on port 9090."),
        (
            "Services run on Python 3.11 in production.",
            "Services run on Python 3.12 in production.",
        ),
        ("The default branch is main.", "The default branch is `develop`."),
    ],
)
def test_the_opposite_of_a_plain_sentence_is_suspected(one, other):
    found = between(one, other)
    assert [(each.first_says, each.second_says, each.kind) for each in found] == [
        (one, other, OPPOSITE)
    ]
    assert found[0].reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use uv.", "Never use pip."),
        ("Push after asking.", "Never push without asking."),
        ("Deploy from main.", "Never deploy from main on Friday."),
        ("If CI is red, push to main.", "Never push to main."),
        ("We used pip until May.", "Never use pip."),
        ("Use uv instead of pip.", "Never use pip."),
        ("Use uv, not pip.", "Don't use pip."),
        ("Use explicit git add paths.", "Never use `git add -A`."),
        ("Make changes in a branch.", "You are here to review, not make changes."),
        ("Run the tests before a push.", "Never skip the tests."),
        ("The billing server listens on port 8080.", "The search index is on port 9090."),
        ("Try Python 3.11 or Python 3.12.", "All services run on Python 3.12."),
        ("The cache is enabled.", "The mail relay is disabled."),
        ("```\nuse pip now\n```", "Never use pip now."),
    ],
)
def test_conditions_reports_and_other_subjects_are_not(one, other):
    assert between(one, other) == []


def test_a_name_that_was_given_up_is_found_where_it_is_still_used():
    found = between(
        "The field was renamed: renamed `ledPort` → `backgroundPort`.", "Set `ledPort`."
    )
    assert [(one.kind, one.second, one.second_says) for one in found] == [
        (RENAMED, "b.md", "Set `ledPort`.")
    ]
    assert "backgroundPort takes the place of ledPort" in found[0].reason


@pytest.mark.parametrize(
    "other",
    [
        "Set `backgroundPort`, once `ledPort`.",
        "The legacy `ledPort` is read by old controllers.",
        "Set `ledPorts`.",
        "Nothing about it.",
    ],
)
def test_who_knows_the_new_name_or_calls_the_old_one_old_is_right(other):
    assert between("We renamed `ledPort` to `backgroundPort`.", other) == []


def test_what_is_used_instead_is_suspected_where_the_other_is_used():
    found = between(
        "Use `onTestFinished` for cleanup instead of `afterEach`.", "It is done in `afterEach`."
    )
    assert [one.kind for one in found] == [RENAMED]


def test_a_letter_as_a_flag_needs_the_same_command():
    rule = "Use `git branch -D` for cleanup, not `-d`."
    assert between(rule, "Then `git branch -d topic` for cleanup.")
    assert between(rule, "Start it with `server -d`.") == []


def test_who_supersedes_a_memory_that_does_not_say_so_is_suspected():
    new, old = "Runs hold layer 1 only.\nSupersedes [[layers]] for the run.", "Runs hold layer 2."
    found = find_contradictions({"new.md": new, "layers.md": old})
    assert [(one.first, one.first_line, one.second, one.kind) for one in found] == [
        ("new.md", 2, "layers.md", SUPERSEDED)
    ]
    for mended in (old + "\nSuperseded in May.", old + "\nSee [[new]]."):
        assert find_contradictions({"new.md": new, "layers.md": mended}) == []


def test_memories_that_name_each_other_were_written_by_one_who_saw_both():
    assert between("Always use pip. See `b.md`.", "Never use pip.") == []


def test_lines_are_those_of_the_file():
    one = "---\nname: x\ndescription: About packages\n---\n\nIntro here.\n\nAlways use pip."
    other = "---\nname: y\ndescription: Never use pip.\n---\n\nNothing else."
    found = between(one, other)
    assert [(each.first_line, each.second_line) for each in found] == [(8, 3)]


def test_two_memories_are_suspected_once():
    assert (
        len(between("Always use pip.\n\nAlways use npm.", "Never use pip.\n\nNever use npm.")) == 1
    )


def test_a_memory_may_contradict_itself():
    found = inner_contradictions("Always use pip.\n\nLater:\n\nNever use pip.")
    assert [(one.first_line, one.second_line) for one in found] == [(1, 5)]
    assert inner_contradictions("Always use uv.\n\nNever use pip.") == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_looked_at(one, other):
    assert len(between(one, other)) <= 1

"""A memory fits its description and its index line; two memories give one thing one value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.audit.disagree import (
    DIFFERS,
    MISSING,
    POINTER,
    UNRELATED,
    VAGUE,
    disagreements,
    find_contradictions,
)

BODY = "Install packages with uv, never with pip, because uv.lock pins every version."


def memory(description: str, body: str = BODY) -> str:
    return f"---\nname: packages\ndescription: {description}\ntype: feedback\n---\n\n{body}\n"


def kinds(text: str, pointer: str = "") -> list[str]:
    return [each.kind for each in disagreements(text, pointer)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (memory("Packages come from uv"), []),
        (BODY, [MISSING]),
        (memory(""), [MISSING]),
        (memory("notes"), [VAGUE]),
        (memory("Misc. information"), [VAGUE]),
        (memory("Various project notes"), [VAGUE]),
        (memory("Deploy on Friday afternoon"), [UNRELATED]),
        (memory("Packaging rules"), []),
        (memory("How to package"), []),  # as much as the line above
        (memory("Package notes"), [VAGUE]),
        (
            memory(
                "Checksum of the base image", "sha256:3fa9 9f86d08 88ab4 c7d65 9a2f ea5 1b2b 0b8"
            ),
            [],
        ),
        (memory("用 uv 安装", "使用 uv 安装软件包，不要使用 pip，因为锁文件固定了每个版本。"), []),
        (
            memory(
                "How to install things quickly", "使用 uv 安装软件包，不要使用别的，因为锁文件。"
            ),
            [],
        ),
        (memory("Deploy on Friday afternoon", "Short."), []),
        (
            memory("Sign commits with -S", "Sign commits: `git commit -s` adds the trailer."),
            [DIFFERS],
        ),
        (memory("Sign commits with -s", "Sign commits: `git commit -s` adds the trailer."), []),
        (memory("Either -S or -s signs", "Sign commits: `git commit -s` adds the trailer."), []),
    ],
)
def test_a_description_is_there_says_something_and_fits(text, found):
    assert kinds(text) == found


@pytest.mark.parametrize(
    ("hook", "body", "found"),
    [
        ("uv, not pip", BODY, []),
        ("uv, not pip; superseded by poetry", BODY, [POINTER]),
        ("partly superseded by [[poetry-rule]]", BODY, [POINTER]),
        ("superseded by poetry", BODY + " Superseded in May.", []),
        ("deferred then, since built", BODY + " The mirror is deferred, not built.", [POINTER]),
        ("since built", BODY, []),
        ("release train leaves Friday", BODY, [POINTER]),
    ],
)
def test_an_index_line_says_no_other_state_than_the_memory(hook, body, found):
    text = memory("Packages come from uv", body)
    assert kinds(text, f"- [Packages](packages.md) — {hook}") == found


def test_a_line_that_points_at_several_memories_says_nothing_of_one():
    line = "- [Packages](packages.md), [Old](old.md) — the second is superseded"
    assert kinds(memory("Packages come from uv"), line) == []


def test_a_disagreement_has_its_line():
    text = memory("Sign commits with -S", "Sign commits: `git commit -s` adds the trailer.")
    (one,) = disagreements(text)
    assert (one.line, one.message) == (3, "the description has -S, the body -s")


@given(st.text(max_size=300), st.text(max_size=200))
def test_any_text_and_any_line_can_be_compared(text, line):
    for one in disagreements(text, line):
        assert one.kind and one.message


def between(one: str, other: str):
    return find_contradictions({"a.md": one, "b.md": other})


STAGING = "The staging server listens on port {}."


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (STAGING.format(8080), STAGING.format(9090), 1),
        ("Services run on Python 3.11 in CI.", "Services run on Python 3.12 in CI.", 1),
        ("The default branch is main.", "The default branch is `develop`.", 1),
        (f"Main branch: x.\n\n{STAGING.format(1)}", f"Main branch: y.\n\n{STAGING.format(2)}", 1),
        ("The billing server listens on port 8080.", "The search index is on port 9090.", 0),
        ("Try Python 3.11 or Python 3.12.", "All services run on Python 3.12.", 0),
        ("If CI is red, the default branch is main.", "The default branch is develop.", 0),
        ("The default branch was main.", "The default branch is develop.", 0),
        ("```\nThe default branch is main.\n```", "The default branch is develop.", 0),
        ("The default branch is main. See `b.md`.", "The default branch is develop.", 0),
        ("Always use pip.", "Never use pip.", 0),  # beyond a rule that is right often enough
    ],
)  # fmt: skip
def test_only_different_values_for_the_same_thing_are_suspected(one, other, count):
    assert len(between(one, other)) == count


def test_a_suspicion_shows_both_sentences_with_their_lines():
    one = "---\nname: x\ndescription: About branches\n---\n\nIntro.\n\nThe default branch is main."
    other = "---\nname: y\ndescription: The default branch is dev.\n---\n\nNothing else."
    (pair,) = between(one, other)
    assert (pair.first_line, pair.second_line) == (8, 3)
    assert pair.reason == "they give different values for one thing: main / dev"


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_looked_at(one, other):
    assert len(between(one, other)) <= 1

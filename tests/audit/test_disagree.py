"""A memory fits its description and its index line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.audit.disagree import (
    DIFFERS,
    MISSING,
    POINTER,
    UNRELATED,
    VAGUE,
    find_disagreements,
)

BODY = "Install packages with uv, never with pip, because uv.lock pins every version."


def memory(description: str, body: str = BODY) -> str:
    return f"---\nname: packages\ndescription: {description}\ntype: feedback\n---\n\n{body}\n"


def kinds(text: str, pointer: str = "") -> list[str]:
    return [each.kind for each in find_disagreements(text, pointer)]


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
    (one,) = find_disagreements(text)
    assert (one.line, one.message) == (3, "the description has -S, the body -s")


@given(st.text(max_size=300), st.text(max_size=200))
def test_any_text_and_any_line_can_be_compared(text, line):
    for one in find_disagreements(text, line):
        assert one.kind and one.message

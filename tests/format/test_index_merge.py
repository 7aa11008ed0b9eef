"""Two branches of an index become one: no pointer is lost, marks only where prose clashes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.format.index_merge import merge_indexes
from tests.helpers.tables import rows

A, B, C, D = (f"- [{n.upper()}]({n}.md) — about {n}\n" for n in "abcd")
BASE = "# Index\n\n" + A + B

# name: base, ours, theirs, what comes of it
CLEAN = dict(rows(globals(), "CLEAN"))


@pytest.mark.parametrize("case", CLEAN)
def test_what_can_be_merged_is(case):
    base, ours, theirs, wanted = CLEAN[case]
    merged = merge_indexes(base, ours, theirs)
    assert (merged.text, merged.conflicts) == (wanted, 0)


def test_what_cannot_be_joined_in_one_line_stands_in_two():
    base = A + "  more\n"
    merged = merge_indexes(base, A + "  ours\n", A + "  theirs\n")
    assert merged.text == A + "  ours\n" + A + "  theirs\n"
    assert (merged.conflicts, merged.joined) == (0, ("a.md",))


def test_prose_that_both_rewrote_is_marked_and_nothing_else():
    base = f"# Index\n\nold words\n\n{A}"
    merged = merge_indexes(base, base.replace("old", "our") + B, base.replace("old", "their") + C)
    marked = "<<<<<<< ours\nour words\n=======\ntheir words\n>>>>>>> theirs\n"
    assert merged.text == f"# Index\n\n{marked}\n{A}{B}{C}"
    assert merged.conflicts == 1


names = st.lists(st.sampled_from("abcdefgh"), unique=True)
hooks = st.sampled_from(["one", "two", "three"])
heads = st.sampled_from(["", "# Index\n\n", "# Index\n\nwords\n\n", "Other words\n"])


@st.composite
def indexes(draw):
    lines = [f"- [{name}]({name}.md) — {draw(hooks)}\n" for name in draw(names)]
    if lines and draw(st.booleans()):
        lines.insert(
            draw(st.integers(0, len(lines) - 1)), draw(st.sampled_from(["\n", "\n## X\n"]))
        )
    return draw(heads) + "".join(lines)


def pointers(text: str) -> dict[str, str]:
    lines = [line for line in text.split("\n") if line.startswith("- [")]
    return {line.partition("](")[2].partition(")")[0]: line.partition(" — ")[2] for line in lines}


@given(indexes(), indexes(), indexes())
def test_every_pointer_is_there_or_was_taken_out(base, ours, theirs):
    merged = merge_indexes(base, ours, theirs)
    was, mine, other, now = map(pointers, (base, ours, theirs, merged.text))
    for name in {*was, *mine, *other}:
        sides = (mine.get(name), other.get(name))
        left = [hook for hook in sides if hook]
        gone = not left or (len(left) == 1 and left[0] == was.get(name))
        assert (name not in now) == gone
        for hook in sides:
            if hook and not gone and hook != was.get(name):
                assert hook in now[name]
    assert len(now) == merged.text.count("- [")  # none twice

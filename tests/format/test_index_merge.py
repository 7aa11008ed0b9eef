"""Two branches of an index become one: no pointer is lost, marks only where prose clashes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.format.merge import merge_indexes
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


def pointers(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if line.startswith("- ["):
            target, hook = line.partition("](")[2].split(".md) — ")
            found.setdefault(target, []).append(hook)
    return found


@given(indexes(), indexes(), indexes())
def test_every_pointer_is_there_or_was_taken_out(base, ours, theirs):
    was, mine, other = map(pointers, (base, ours, theirs))
    now = pointers(merge_indexes(base, ours, theirs).text)
    for name in {*was, *mine, *other}:
        sides = [side[name] for side in (mine, other) if name in side]
        gone = not sides or (len(sides) == 1 and sides[0] == was.get(name))
        changed = [hook for side in sides for hook in side if side != was.get(name)]
        kept = dict.fromkeys(changed or was.get(name, []))
        assert now.get(name, []) == ([] if gone else list(kept))

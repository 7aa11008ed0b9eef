"""Two changes of a text, or two branches of an index, come together; no line of ours is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.format.merge import merge_indexes, merge_three_texts
from tests.helpers.tables import rows, table

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


# any text, line by line

ROWS = table("text", "rows")


@pytest.mark.parametrize("row", ROWS)
def test_each_row_is_merged_as_it_says(row):
    base, ours, theirs, merged, conflicts = ROWS[row]
    assert merge_three_texts(base, ours, theirs) == (merged, conflicts)


texts = st.lists(st.sampled_from(["a", "b", "c", "", "d\r"]), max_size=8).map("\n".join)


@given(texts, texts, texts)
def test_a_side_that_did_nothing_gives_way_and_every_line_of_ours_is_kept(base, ours, theirs):
    assert merge_three_texts(base, base, theirs) == (theirs, 0)
    assert merge_three_texts(base, ours, base) == (ours, 0)
    assert merge_three_texts(base, ours, ours) == (ours, 0)
    merged, _ = merge_three_texts(base, ours, theirs)
    new = [line for line in ours.split("\n") if line not in base.split("\n")]
    assert all(line in merged.split("\n") for line in new)


HOSTILE = {
    "the same line": ("x\n" * 20_000 + "c", "a\n" + "x\n" * 20_000 + "b\n", "y\n" + "x\n" * 20_000),
    "the same line, fewer": ("x\n" * 1_500 + "c", "a\n" + "x\n" * 1_500, "y\n" + "x\n" * 1_400),
    "changes everywhere": tuple(
        "\n".join(f"{n} {side if n % 2 else ''}" for n in range(100_000)) for side in "abc"
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_made_to_cost_time_keeps_its_present_form(kind):
    base, ours, theirs = HOSTILE[kind]
    merged, clashing = merge_three_texts(base, ours, theirs)
    assert merged == ours
    assert clashing == (50_000 if kind == "changes everywhere" else 1)

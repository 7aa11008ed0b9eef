"""Two branches of an index become one: no pointer is lost, marks only where prose clashes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.format.index_merge import merge_indexes

A, B, C, D = (f"- [{n.upper()}]({n}.md) — about {n}\n" for n in "abcd")
BASE = "# Index\n\n" + A + B

# name: base, ours, theirs, what comes of it
CLEAN = {
    "both add at the end": (BASE, BASE + C, BASE + D, BASE + C + D),
    "both add the same": (BASE, BASE + C, BASE + C, BASE + C),
    "one adds on top, one at the end": (A + B, C + A + B, A + B + D, C + A + B + D),
    "ours takes out what theirs left alone": (
        BASE,
        "# Index\n\n" + B,
        BASE + D,
        "# Index\n\n" + B + D,
    ),
    "theirs takes out what ours left alone": (
        BASE,
        BASE + C,
        "# Index\n\n" + B,
        "# Index\n\n" + B + C,
    ),
    "each takes out another": (A + B + C, B + C, A + B, B),
    "both take out the same": (A + B, B, B, B),
    "both take out everything": (A + B, "", "", ""),
    "ours changes, theirs adds": (A, A.replace("about", "on"), A + B, A.replace("about", "on") + B),
    "neighbours are changed": (
        A + B,
        A.replace("about", "on") + B,
        A + B.replace("about", "on"),
        (A + B).replace("about", "on"),
    ),
    "ours takes out, theirs changes: the change stays": (
        A + B,
        B,
        A.replace("about", "on") + B,
        A.replace("about", "on") + B,
    ),
    "ours changes, theirs takes out: the change stays": (
        A + B,
        A.replace("about", "on") + B,
        B,
        A.replace("about", "on") + B,
    ),
    "both change the hook: both hooks stay": (
        A,
        A.replace("about a", "ours"),
        A.replace("about a", "theirs"),
        "- [A](a.md) — ours; theirs\n",
    ),
    "the longer of two hooks says it all": (
        A,
        A.replace("about", "much about"),
        A.replace("about", "very much about"),
        "- [A](a.md) — very much about a\n",
    ),
    "one changes the title, one the hook": (
        A,
        A.replace("[A]", "[Ann]"),
        A.replace("about a", "who leads"),
        "- [Ann](a.md) — who leads\n",
    ),
    "both add the same memory in other words": (
        A,
        A + "- [C](c.md) — one\n",
        A + "- [See](c.md) — two\n",
        A + "- [C](c.md) — one; two\n",
    ),
    "both add it at different places": (A + B, C + A + B, A + B + C, C + A + B),
    "an entry and its further lines are one": (
        A + "  more of it\n" + B,
        A + "  more of it\n" + B + C,
        B,
        B + C,
    ),
    "a new section of ours, an entry of theirs above it": (
        A,
        A + "\n## User\n" + C,
        A + B,
        A + B + "\n## User\n" + C,
    ),
    "an entry of ours, a new section of theirs below it": (
        A,
        A + B,
        A + "\n## User\n" + C,
        A + B + "\n## User\n" + C,
    ),
    "the same new section on both sides": (
        A,
        A + "\n## User\n" + C,
        A + "\n## User\n" + D,
        A + "\n## User\n" + C + D,
    ),
    "two new sections": (
        A,
        A + "\n## User\n" + C,
        A + "\n## Team\n" + D,
        A + "\n## User\n" + C + "\n## Team\n" + D,
    ),
    "ours sorts, theirs adds": (A + B + C, C + B + A, A + B + C + D, C + B + A + D),
    "both move it: ours is first": (
        f"{A}{B}## X\n{C}## Y\n{D}",
        f"{B}## X\n{A}{C}## Y\n{D}",
        f"{B}## X\n{C}## Y\n{A}{D}",
        f"{B}## X\n{A}{C}## Y\n{D}",
    ),
    "no common ancestor": ("", A + B, A + C, A + B + C),
    "an empty side takes all out": (A, A, "", ""),
    "a last line without an end": (A + B[:-1], A + B + C[:-1], A + B + D[:-1], A + B + C + D[:-1]),
    "theirs ends the last line": (A + B[:-1], A + B[:-1], A + B + C, A + B + C),
    "windows line ends": tuple(
        t.replace("\n", "\r\n") for t in (BASE, BASE + C, BASE + D, BASE + C + D)
    ),
    "ours has windows line ends, theirs not": (
        BASE,
        (BASE + C).replace("\n", "\r\n"),
        BASE + D,
        (BASE + C + D).replace("\n", "\r\n"),
    ),
    "a byte order mark": ("\ufeff" + A, "\ufeff" + A + B, "\ufeff" + A + C, "\ufeff" + A + B + C),
    "letters of other scripts": (
        "- [決定](決定.md) — リリース\n",
        "- [決定](決定.md) — リリース\n- [Über](über.md) — ß\n",
        "- [決定](決定.md) — リリース\n- [🚀](🚀.md) — 打上げ\n",
        "- [決定](決定.md) — リリース\n- [Über](über.md) — ß\n- [🚀](🚀.md) — 打上げ\n",
    ),
    "bytes that are no UTF-8": (
        "- \udce9\n",
        "- \udce9\n" + A,
        "- \udce9\n" + B,
        "- \udce9\n" + A + B,
    ),
    "prose that one side changed": (
        f"Hello\n\n{A}",
        f"Welcome\n\n{A}",
        f"Hello\n\n{A}{B}",
        f"Welcome\n\n{A}{B}",
    ),
    "rows of a table": (
        "|m|w|\n|-|-|\n|[A](a.md)|x|\n",
        "|m|w|\n|-|-|\n|[A](a.md)|x|\n|[B](b.md)|y|\n",
        "|m|w|\n|-|-|\n|[A](a.md)|x|\n|[C](c.md)|z|\n",
        "|m|w|\n|-|-|\n|[A](a.md)|x|\n|[B](b.md)|y|\n|[C](c.md)|z|\n",
    ),
    "wikilinks": (
        "- [[a]] — x\n",
        "- [[a]] — x\n- [[b]] — y\n",
        "- [[a]] — z\n",
        "- [[a]] — z\n- [[b]] — y\n",
    ),
}


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


def test_it_says_what_came_went_and_was_joined():
    ours, theirs = B + C.replace("about", "on"), A + C.replace("about", "of") + D
    merged = merge_indexes(A + B + C, ours, theirs)
    assert (merged.added, merged.dropped, merged.joined) == (("d.md",), ("b.md",), ("c.md",))


def test_a_code_block_is_text_whatever_it_holds():
    block = "```\n- [X](x.md)\n```\n"
    merged = merge_indexes(block + A, block + A + B, block + A + C)
    assert merged.text == block + A + B + C


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


@given(indexes(), indexes())
def test_a_side_that_changed_nothing_gets_the_other(base, other):
    assert merge_indexes(base, base, other).text == other
    assert merge_indexes(base, other, base).text == other
    assert merge_indexes(base, other, other).text == other

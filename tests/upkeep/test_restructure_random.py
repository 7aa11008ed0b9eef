"""Any Markdown as an index: nothing is lost, a second run rests, one undo brings it back."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memdir.capture import review
from memdir.upkeep.restructure import restructure
from tests.helpers.kept import not_kept
from tests.helpers.opened import Opened

WORD = st.sampled_from(
    (
        *("the", "cache", "waits", "`x.md`", "**never**", "push", "on", "[a](a.md)", "today"),
        *("é", "../", "3.", "|"),
    )
)
WORDS = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
STARTS = ("# ", "## ", "### ", "- ", "  - ", "* ", "1. ", "", "", "> ", "    ", "| a | ", "-")
LINE = st.tuples(st.sampled_from(STARTS), WORDS).map("".join)
MARKS = (
    "",
    "",
    "---",
    "```",
    "~~~",
    "<!-- x -->",
    "<!--",
    "-->",
    "| --- | --- |",
    "- [b](b.md) — x",
)
MORE = (
    *("- [gone](gone.md) — it said that the cache is cold at night", "[[a]]", "- [[gone]] [[a]]"),
    *("- [a](a.md) — " + "a long hook " * 15, "| [a](a.md) | row |", "====", "\x00", "\t- tab"),
)
LINES = st.lists(st.one_of(LINE, st.sampled_from(MARKS), st.sampled_from(MORE)), max_size=40)
ENDS = st.sampled_from(("\n", "\r\n"))
MEMORY = "---\nname: {0}\ndescription: what {0} is\ntype: project\n---\n\nThe text of {0}.\n"


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(LINES, ENDS, st.booleans(), st.booleans())
@example(["- [a](a.md) — x", "  - hangs below it", "", "  text of it"], "\n", True, True)
@example(["- a label:", "  - [a](a.md) — x", "    - deeper"], "\r\n", False, True)
@example(["<!-- a", "b --> c [a](a.md)", "```", "- d"], "\n", False, True)
def test_whatever_an_index_holds_is_there_afterwards(lines, end, closed, others):
    with tempfile.TemporaryDirectory() as folder:
        opened = Opened(Path(folder))
        opened.write("MEMORY.md", end.join(lines) + end * closed)
        for name in ("a", "B") if others else ():
            opened.write(f"{name}.md", MEMORY.format(name))
        before = opened.files()
        plan = restructure(opened.app())[0]
        after = opened.files()
        assert not_kept(before, after, [one.text for one in plan.work.accounted]) == []
        again = restructure(opened.app())[0]
        assert not again.texts and again.index is None, (again.reasons, opened.files())
        if plan.texts or plan.index is not None:
            review.undo_changes(opened.app())
        assert opened.files() == before

"""Indexes that nobody should write: restructured all the same, or left alone; never half.

Evidence is shown and nothing is retired; a second run rests, one undo brings every byte back.
"""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memdir.capture import review
from memdir.errors import KnowledgeAtRisk
from memdir.hot.memory import is_memory_file
from memdir.upkeep import restructure
from tests.helpers.kept import not_kept
from tests.helpers.opened import DAY, NOON, Opened, memory
from tests.helpers.repositories import Checkout
from tests.helpers.tables import table

HOSTILE = table("upkeep", "hostile") | {
    "tiny bullets": "# Memory\n\n" + "".join(f"- item {n}\n" for n in range(4_000)),
    "one huge line": "- " + "word " * 30_000 + "\n",
    "many headings": "".join(f"## Topic {n}\n\n- fact number {n}\n\n" for n in range(400)),
    "deep headings": "".join(f"{'#' * (n % 6 + 1)} H{n}\n\ntext {n}\n\n" for n in range(300)),
    "long heading": "## " + "very long heading " * 60 + "\n\n- a fact\n",
}


def proven(opened: Opened) -> restructure.Plan:
    """Restructure, hold it to its promises, and leave the result."""
    before = opened.files()
    plan = restructure.restructure_store(opened.app())[0]
    after = opened.files()
    assert not_kept(before, after, [item.text for item in plan.work.accounted]) == []
    assert plan.lost == ()
    again = restructure.restructure_store(opened.app())[0]
    assert not again.texts and again.index is None, (again.reasons, opened.files())
    if plan.texts or plan.index is not None:
        review.undo_and_hold_again(opened.app())
        assert opened.files() == before
        for path in set(before) - set(after):
            (opened.root / path).unlink()
        for path, data in after.items():
            opened.write(path, data)
    return plan


@pytest.fixture
def opened(tmp_path) -> Opened:
    return Opened(tmp_path)


def wild_index() -> str:
    """An index as it occurs in the wild: 1,162 lines of everything, for months."""
    lines = ["# Project Memory", ""]
    for n in range(57):
        lines += [f"## Topic {n * 7919} of the {n}th week", "", f"All about {n * 31} at length."]
        lines += [f"- **part{n}-{i}**: does thing {i * n} for the build." for i in range(6)]
        lines += ["", "```sh", f"run step{n}", "", f"# comment {n}", "```", ""]
        lines += [f"- nested {n}", f"  - below {n}", f"### Sub {n}", f"1. first {n}"]
    return "\n".join([*lines, *(f"- {n} {'x' * 600}" for n in range(1162 - len(lines)))]) + "\n"


def test_an_index_of_1162_lines_becomes_one_that_an_agent_sees_whole(opened):
    text = wild_index()
    assert text.count("\n") == 1162
    opened.write("MEMORY.md", text)
    plan = proven(opened)
    assert [check.name for check in plan.checks if not check.ok] == []
    assert plan.before.inline > 700 and plan.after.inline == 0
    assert 10 < len(plan.texts) <= 120
    assert max(text.count("\n") for text in plan.texts.values()) <= 200
    assert plan.after.index_lines <= 200 and plan.after.index_characters <= 25_000


def test_code_tables_and_nested_lists_stay_whole_and_in_order(opened):
    block = (
        "```py\ndef f():\n\n    return 1  # [a](b.md)\n```\n\n| a | b |\n|---|---|\n| 1 | `x.md` |"
        "\n\n- one\n  - two\n    three\n\n      code\n- four"
    )
    opened.write("MEMORY.md", f"# Index\n\n## Build\n\n{block}\n\n## Rest\n\n- more to know here\n")
    assert any(block in text for text in proven(opened).texts.values())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_index_loses_nothing_and_can_be_undone(name, tmp_path):
    for number, others in enumerate(({}, {"a.md": memory("a"), "Notes.md": "Some notes.\n"})):
        opened = Opened(tmp_path / str(number))
        for path, text in {"MEMORY.md": HOSTILE[name], **others}.items():
            opened.write(path, text)
        plan = proven(opened)
        assert {path.parent for path in opened.root.rglob("*.md")} == {opened.root}
        names = [path.casefold() for path in opened.files()]
        assert len(names) == len(set(names))
        assert all(is_memory_file(path) for path in plan.texts)


def test_foreign_files_stay_as_they_are(opened):
    others = {"README.md": "# Read me\n", "archive/x.md": "old\n", "team/MEMORY.md": "- theirs\n"}
    others |= {"logs/day.md": "log\n", "picture.png": "no text", ".hidden.md": "hidden\n"}
    for path, text in others.items():
        opened.write(path, text)
    opened.write("MEMORY.md", "## Build\n\n- run make\n- then wait\n")
    restructure.restructure_store(opened.app())
    assert {path: opened.read(path) for path in others} == others


def test_an_overlong_memory_is_split_at_its_headings_or_left_alone_and_named(opened):
    parts = "".join(f"## Part {n}\n\n" + f"line {n} of it\n" * 60 for n in range(8))
    opened.write("big.md", f"# Big\n\nAn introduction.\n\n{parts}")
    opened.write("log.md", memory("log", body="a\n" * 400))
    plan = proven(opened)
    new = sorted(set(plan.texts) - {"big.md"})
    assert len(new) >= 3 and "log.md" not in new
    assert all(text.count("\n") <= 200 for text in plan.texts.values())
    assert all(f"({path})" in opened.read("big.md") for path in new)
    assert all(f"({path})" in opened.index for path in ["big.md", *new])
    assert any("log.md" in text for text in plan.work.remarks)


def test_a_memory_that_names_a_removed_file_is_proposed_for_retirement_and_stays(opened):
    code = Checkout(opened.project)
    code.commit({"src/session.py": "x = 1\n", "keep.py": "y = 1\n"})
    code.remove("src/session.py")
    code.commit()
    opened.write("auth.md", memory("auth", body="Sessions live in `src/session.py`."))
    plan = proven(opened)
    (proposal,) = plan.work.proposals
    assert (proposal.path, proposal.what) == ("auth.md", "retire or correct")
    assert "src/session.py" in proposal.evidence[0] and "removed" in proposal.evidence[0]
    assert (opened.root / "auth.md").exists()


def test_a_plan_that_would_lose_a_line_is_not_carried_out(opened):
    opened.write("MEMORY.md", "## Build\n\n- run make\n")
    before, app = opened.files(), opened.app()
    plan = restructure.plan_restructure(restructure.read_restructured_store(app.store, {}))
    broken = replace(plan, lost=(restructure.Lost("MEMORY.md", 3, "- run make"),))
    with pytest.raises(KnowledgeAtRisk, match=r"MEMORY\.md:3"):
        restructure.apply_restructure(broken, app.store, app.shelf, NOON)
    assert opened.files() == before


def test_a_readme_that_serves_as_the_index_stays(opened):
    readme = "# Memory\n\n- [a](a.md) — the letter a, as it is written here\n"
    opened.write("README.md", readme)
    opened.write("a.md", "# A\n\nThe first letter.\n")
    opened.write("b.md", "# B\n\nAnother letter that nothing points at.\n")
    proven(opened)
    assert opened.read("README.md") == readme
    assert "(a.md)" in opened.index and "(b.md)" in opened.index
    assert "the letter a, as it is written here" in opened.read("a.md")


def test_a_memory_that_is_rewritten_keeps_its_age(opened):
    files = {"old.md": "# Old\n\nIt broke yesterday.\n", "MEMORY.md": "- [old](old.md) — broke\n"}
    for number, (name, text) in enumerate(files.items()):
        moment = NOON - (40 - number) * DAY
        os.utime(opened.write(name, text), (moment, moment))
    restructure.restructure_store(opened.app())
    (listed,) = opened.app().store.scan().memories
    assert listed.clock == NOON - 40 * DAY
    assert "It broke 2026-01-20." in opened.read("old.md")


def test_too_many_memories_are_said_aloud_and_the_most_valuable_come_first(opened):
    for number in range(260):
        kind = "feedback" if number % 50 == 0 else "project"
        body = f"Fact {number * 7919} about part {number * 104729}."
        opened.write(f"m{number}.md", memory(f"m{number}", body=body, type=kind))
    plan = proven(opened)
    assert [check.name for check in plan.checks if not check.ok] == ["limit"]
    assert any("too many memories" in text for text in plan.work.remarks)
    shown = opened.index.split("\n")[:200]
    assert sum("m50.md" in line or "m250.md" in line for line in shown) == 2


WORD = st.sampled_from(table("upkeep", "words"))
WORDS = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
STARTS = ("# ", "## ", "### ", "- ", "  - ", "* ", "1. ", "", "", "> ", "    ", "| a | ", "-")
LINE = st.tuples(st.sampled_from(STARTS), WORDS).map("".join)
MARKS = [*table("upkeep", "marks"), "- [a](a.md) — " + "a long hook " * 15]
LINES = st.lists(st.one_of(LINE, st.sampled_from(MARKS)), max_size=40)


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(LINES, st.sampled_from(("\n", "\r\n")), st.booleans(), st.booleans())
@example(["- [a](a.md) — x", "  - hangs below it", "", "  text of it"], "\n", True, True)
@example(["- a label:", "  - [a](a.md) — x", "    - deeper"], "\r\n", False, True)
@example(["<!-- a", "b --> c [a](a.md)", "```", "- d"], "\n", False, True)
def test_whatever_an_index_holds_is_there_afterwards(lines, end, closed, others):
    with tempfile.TemporaryDirectory() as folder:
        opened = Opened(Path(folder))
        opened.write("MEMORY.md", end.join(lines) + end * closed)
        for name in ("a", "B") if others else ():
            opened.write(f"{name}.md", memory(name))
        proven(opened)

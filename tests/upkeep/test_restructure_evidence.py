"""What the code and the disk say: evidence is shown, nothing is retired, nothing is half done."""

import subprocess
from dataclasses import replace

import pytest

from memdir.capture import review
from memdir.errors import KnowledgeAtRisk
from memdir.upkeep.proof import Lost
from memdir.upkeep.restructure import Plan, carry_out, make_plan, read_given, restructure
from tests.helpers.opened import DAY, NOON, Opened

TEXT = "---\nname: {0}\ndescription: what {0} is about\ntype: project\n---\n\n{1}\n"


@pytest.fixture
def opened(tmp_path) -> Opened:
    return Opened(tmp_path)


def run(opened: Opened) -> Plan:
    return restructure(opened.app())[0]


def git(opened: Opened, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=opened.project, check=True, capture_output=True)


def test_a_memory_that_names_a_removed_file_is_proposed_for_retirement_and_stays(opened):
    git(opened, "init")
    (opened.project / "src").mkdir()
    (opened.project / "src/session.py").write_text("x = 1\n")
    (opened.project / "keep.py").write_text("y = 1\n")
    git(opened, "add", ".")
    git(opened, "commit", "-m", "one")
    git(opened, "rm", "src/session.py")
    git(opened, "commit", "-m", "two")
    opened.write("auth.md", TEXT.format("auth", "Sessions live in `src/session.py`."))
    opened.write("MEMORY.md", "- [auth](auth.md) — what auth is about\n")
    found = run(opened)
    (proposal,) = found.work.proposals
    assert (proposal.path, proposal.what) == ("auth.md", "retire or correct")
    assert "src/session.py" in proposal.evidence[0] and "removed" in proposal.evidence[0]
    assert (opened.root / "auth.md").exists()


def test_a_plan_that_would_lose_a_line_is_not_carried_out(opened):
    opened.write("MEMORY.md", "## Build\n\n- run make\n")
    before = opened.files()
    app = opened.app()
    made = make_plan(read_given(app.store, {}))
    broken = replace(made, lost=(Lost("MEMORY.md", 3, "- run make"),))
    with pytest.raises(KnowledgeAtRisk) as caught:
        carry_out(broken, app.store, app.shelf, NOON)
    assert "MEMORY.md:3" in caught.value.message
    assert opened.files() == before


def test_a_readme_that_serves_as_the_index_stays_and_undo_leaves_it_too(opened):
    readme = "# Memory\n\n- [a](a.md) — the letter a, as it is written here\n"
    opened.write("README.md", readme)
    opened.write("a.md", "# A\n\nThe first letter.\n")
    opened.write("b.md", "# B\n\nAnother letter that nothing points at.\n")
    before = opened.files()
    run(opened)
    assert opened.read("README.md") == readme
    assert "(a.md)" in opened.index and "(b.md)" in opened.index
    assert "the letter a, as it is written here" in opened.read("a.md")
    review.undo_changes(opened.app())
    assert opened.files() == before


def test_a_memory_that_is_rewritten_keeps_its_age(opened):
    import os

    for number, name in enumerate(("old.md", "MEMORY.md")):
        text = (
            "# Old\n\nIt broke yesterday.\n"
            if name == "old.md"
            else "- [old](old.md) — what broke\n"
        )
        path = opened.write(name, text)
        moment = NOON - (40 - number) * DAY
        os.utime(path, (moment, moment))
    run(opened)
    memory = next(one for one in opened.app().store.scan().memories if one.path == "old.md")
    assert memory.clock == NOON - 40 * DAY
    assert "It broke 2026-01-20." in opened.read("old.md")


def test_too_many_memories_are_said_aloud_and_the_most_valuable_come_first(opened):
    for number in range(260):
        kind = "feedback" if number % 50 == 0 else "project"
        text = TEXT.format(f"m{number}", f"Fact {number * 7919} about part {number * 104729}.")
        opened.write(f"m{number}.md", text.replace("type: project", f"type: {kind}"))
    found = run(opened)
    assert [one.name for one in found.checks if not one.ok] == ["limit"]
    assert any("too many memories" in text for text in found.work.remarks)
    shown = opened.index.split("\n")[:200]
    assert sum("m50.md" in line or "m250.md" in line for line in shown) == 2
    assert run(opened).texts == {}

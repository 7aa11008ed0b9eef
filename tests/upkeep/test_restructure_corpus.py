"""Memory directories from the wild, restructured: tidy, nothing lost, undone byte for byte."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.store import look
from memdir.store.ports import Cause
from memdir.store.writer import Done
from memdir.upkeep.restructure import Plan, restructure
from tests.conftest import SHARED
from tests.helpers.kept import not_kept
from tests.helpers.opened import Opened

FOUND = SHARED / "corpus/repos.jsonl"
EVERY = "MEMDIR_TEST_EVERY"  # set: all of them, not only those that stand for the others
INLINE = (  # those whose index holds content
    *("HanSur94/FastSense", "tokendad/NesVentory", "wardnet/wardnet", "Luis85/agentic-workflow"),
    *("vidarc/recommendarr", "penca-io/penca"),
)
IN_VIEW = "ZroZoom/agent-skills-core"  # whose rules say that they are binding where they stand
FEW_LINES = 12  # of content in the indexes of the others


def roots() -> list[object]:
    """Those that hold the most, or with the variable all; where there are none, one skips aloud."""
    if not FOUND.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="../shared is not here"))]
    found = []
    for row in map(json.loads, FOUND.read_text("utf-8").splitlines()):
        for below in row["roots"]:
            path = FOUND.parent / row["repo"].replace("/", "__") / below
            if not os.environ.get(EVERY) and row["repo"] not in (*INLINE, IN_VIEW):
                continue
            found.append(pytest.param(path, id=f"{row['repo']}:{below}"))
    return found


@dataclass
class Applied:
    """A copy of a directory through it all: a dry run, a run, a second run, one undo."""

    before: dict[str, bytes]
    dry: tuple[Plan, Done]
    dried: dict[str, bytes]
    first: tuple[Plan, Done]
    after: dict[str, bytes]
    second: tuple[Plan, Done]
    rested: dict[str, bytes]
    cause: Cause | None
    undone: dict[str, bytes]


def run(opened: Opened, *, dry_run: bool = False) -> tuple[Plan, Done]:
    return restructure(opened.app(dry_run=dry_run))


def apply(root: Path, top: Path) -> Applied:
    opened = Opened(top)
    shutil.copytree(root, opened.root)
    for path in (opened.root, *opened.root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    before = opened.files()
    dry = run(opened, dry_run=True)
    dried = opened.files()
    first = run(opened)
    after = opened.files()
    second = run(opened)
    rested = opened.files()
    cause = None
    if first[1].changes:
        cause = look.log(opened.app())[0].cause
        review.undo_changes(opened.app())
    return Applied(before, dry, dried, first, after, second, rested, cause, opened.files())


@pytest.fixture(scope="module", params=roots())
def applied(request, tmp_path_factory) -> Applied:
    """One of them, worked on once for every claim below."""
    return apply(request.param, tmp_path_factory.mktemp("corpus"))


def test_a_dry_run_shows_the_diff_and_writes_nothing(applied):
    plan, done = applied.dry
    assert applied.dried == applied.before
    assert done.dry_run
    changed = {path for path, old, new in done.diff if old != new}
    assert changed == {*plan.texts, *plan.gone} | ({"MEMORY.md"} if plan.index else set())


def test_the_result_passes_every_check_and_keeps_every_line(applied):
    plan, done = applied.first
    before, after = applied.before, applied.after
    assert [(one.name, one.message) for one in plan.checks if not one.ok] == []
    assert not_kept(before, after, [one.text for one in plan.work.accounted]) == []
    assert plan.lost == ()
    memories = {*plan.work.given.pages, "MEMORY.md"}
    touched = [path for path, data in before.items() if after.get(path) != data]
    assert [path for path in touched if path not in memories] == []
    assert "README.md" not in {change.path for change in done.changes}


def test_it_is_one_change_and_one_undo_brings_back_every_byte(applied):
    if applied.cause is None:
        assert applied.after == applied.before
        return
    told = applied.cause.verb, applied.cause.batch
    assert told == ("restructure", f"restructure-{1772452800}")
    assert applied.undone == applied.before


def test_a_second_run_finds_nothing_to_do(applied):
    plan, done = applied.second
    assert not done.changes, plan.reasons
    assert done.changes == ()
    assert applied.rested == applied.after


def test_content_of_an_index_becomes_a_few_memories_not_one_for_each_line(applied, request):
    plan, _ = applied.first
    if IN_VIEW in request.node.name:
        assert plan.after.inline == plan.before.inline
        assert b"- **Verify bot claims** before incorporating" in applied.after["MEMORY.md"]
        return
    if not any(name in request.node.name for name in INLINE):
        assert plan.before.inline <= FEW_LINES
        return
    new = [path for path in plan.texts if path not in plan.work.given.pages]
    assert plan.after.inline < plan.before.inline
    assert plan.after.inline == 0 or any("stays in the index" in one for one in plan.work.remarks)
    assert 0 < len(new) <= 10
    assert all(len(Path(path).stem) <= 60 and path == path.lower() for path in new)
    described = [plan.work.memory(path).description for path in new]
    assert all(20 <= len(text) <= 200 for text in described), described
    assert len(applied.after["MEMORY.md"]) < 25_000

"""Memory directories from the wild, restructured: tidy, nothing lost, undone byte for byte."""

import json
import os
import shutil
from pathlib import Path

import pytest

from memdir import flows
from memdir.app import Done
from memdir.core.restructuring.planning import Plan
from memdir.flows.restructuring import restructure
from tests.conftest import SHARED
from tests.flows.kept import not_kept
from tests.flows.opened import Opened

FOUND = SHARED / "corpus/repos.jsonl"
INLINE = (  # those whose index holds content
    *("HanSur94/FastSense", "tokendad/NesVentory", "wardnet/wardnet", "Luis85/agentic-workflow"),
    *("vidarc/recommendarr", "ZroZoom/agent-skills-core", "penca-io/penca"),
)


def roots() -> list[object]:
    """Every memory directory of the corpus; where it is absent, one that skips aloud."""
    if not FOUND.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="../shared is not here"))]
    found = []
    for row in map(json.loads, FOUND.read_text("utf-8").splitlines()):
        for below in row["roots"]:
            path = FOUND.parent / row["repo"].replace("/", "__") / below
            found.append(pytest.param(path, id=f"{row['repo']}:{below}"))
    return found


@pytest.fixture(params=roots())
def opened(request, tmp_path) -> Opened:
    """A store that is a copy of one of them, its files as old as in the copy."""
    opened = Opened(tmp_path)
    shutil.copytree(request.param, opened.root)
    for path in (opened.root, *opened.root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return opened


def run(opened: Opened, *, dry_run: bool = False) -> tuple[Plan, Done]:
    told: list[tuple[Plan, Done]] = []
    restructure(opened.app(dry_run=dry_run), lambda plan, done: told.append((plan, done)))
    return told[0]


def test_a_dry_run_shows_the_diff_and_writes_nothing(opened):
    before = opened.files()
    plan, done = run(opened, dry_run=True)
    assert opened.files() == before
    assert done.dry_run
    changed = {path for path, old, new in done.diff if old != new}
    assert changed == {*plan.texts, *plan.gone} | ({"MEMORY.md"} if plan.index else set())


def test_the_result_passes_every_check_and_keeps_every_line(opened):
    before = opened.files()
    plan, done = run(opened)
    assert [(one.name, one.message) for one in plan.checks if not one.ok] == []
    after = opened.files()
    assert not_kept(before, after, [one.text for one in plan.work.accounted]) == []
    assert plan.lost == ()
    memories = {*plan.given_paths, "MEMORY.md"}
    touched = [path for path, data in before.items() if after.get(path) != data]
    assert [path for path in touched if path not in memories] == []
    assert "README.md" not in {change.path for change in done.changes}


def test_it_is_one_change_and_one_undo_brings_back_every_byte(opened):
    before = opened.files()
    _, done = run(opened)
    if not done.changes:
        assert opened.files() == before
        return
    newest = flows.log(opened.app())[0]
    assert (newest.cause.verb, newest.cause.batch) == ("restructure", f"restructure-{1772452800}")
    flows.undo(opened.app())
    assert opened.files() == before


def test_a_second_run_finds_nothing_to_do(opened):
    run(opened)
    after = opened.files()
    plan, done = run(opened)
    assert plan.nothing, plan.reasons
    assert done.changes == ()
    assert opened.files() == after


@pytest.mark.parametrize("name", INLINE)
def test_content_of_an_index_becomes_a_few_memories_not_one_for_each_line(name, tmp_path):
    root = next(
        (one.values[0] for one in roots() if one.values[0] and name in (one.id or "")), None
    )
    if root is None:
        pytest.skip("../shared is not here")
    opened = Opened(tmp_path)
    shutil.copytree(root, opened.root)
    plan, _ = run(opened)
    new = [path for path in plan.texts if path not in plan.given_paths]
    assert plan.after.inline == 0 < plan.before.inline
    assert 0 < len(new) <= 10
    assert all(len(Path(path).stem) <= 60 and path == path.lower() for path in new)
    described = [plan.work.memory(path).description for path in new]
    assert all(20 <= len(text) <= 200 for text in described), described
    assert os.path.getsize(opened.root / "MEMORY.md") < 25_000

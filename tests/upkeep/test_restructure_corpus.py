"""Memory directories from the wild, restructured and dreamed: tidy, nothing lost, undone."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.claims import verify
from memdir.claims.claim import PATH
from memdir.store import look
from memdir.store.ports import TRASH, Cause
from memdir.store.writer import Done
from memdir.upkeep import dream
from memdir.upkeep.restructure import Plan, restructure_store
from tests.conftest import EVERY, SHARED
from tests.helpers.kept import not_kept
from tests.helpers.opened import DAY, Opened
from tests.helpers.repositories import Checkout

FOUND = SHARED / "corpus/repos.jsonl"
INLINE = (  # those whose index holds content
    *("HanSur94/FastSense", "tokendad/NesVentory", "wardnet/wardnet", "Luis85/agentic-workflow"),
    *("vidarc/recommendarr", "penca-io/penca"),
)
IN_VIEW = "ZroZoom/agent-skills-core"  # whose rules say that they are binding where they stand
DREAMED = ("wardnet/wardnet", "tokendad/NesVentory", "VytCepas/projects-orchestrator")
FEW_LINES = 12  # of content in the indexes of the others
PLAIN = re.compile(r"(?:[\w-][\w.-]{0,40}/){0,6}[\w-][\w.-]{0,40}")


def roots(*names: str) -> list[object]:
    """Those of these repositories, or with the variable all; where there are none, one skips."""
    if not FOUND.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="../shared is not here"))]
    rows = map(json.loads, FOUND.read_text("utf-8").splitlines())
    return [
        pytest.param(
            FOUND.parent / row["repo"].replace("/", "__") / below, id=f"{row['repo']}:{below}"
        )
        for row in rows
        for below in row["roots"]
        if EVERY or row["repo"] in names
    ]


def copied(root: Path, top: Path) -> Opened:
    opened = Opened(top)
    shutil.copytree(root, opened.root)
    for path in (opened.root, *opened.root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return opened


@dataclass
class Applied:
    """A copy of a directory through it all: a dry run, a run, a second run, one undo."""

    before: dict[str, bytes]
    dry: tuple[Plan, Done]
    dried: dict[str, bytes]
    first: tuple[Plan, Done]
    after: dict[str, bytes]
    second: tuple[Plan, Done]
    cause: Cause | None
    undone: dict[str, bytes]


@pytest.fixture(scope="module", params=roots(*INLINE, IN_VIEW))
def applied(request, tmp_path_factory) -> Applied:
    """One of them, worked on once for every claim below."""
    opened = copied(request.param, tmp_path_factory.mktemp("corpus"))
    before = opened.files()
    dry = restructure_store(opened.app(dry_run=True))
    dried = opened.files()
    first = restructure_store(opened.app())
    after = opened.files()
    second = restructure_store(opened.app())
    cause = None
    if first[1].changes:
        cause = look.store_log(opened.app())[0]
        review.undo_and_hold_again(opened.app())
    return Applied(before, dry, dried, first, after, second, cause, opened.files())


def test_a_dry_run_shows_the_diff_and_a_second_run_finds_nothing_to_do(applied):
    plan, done = applied.dry
    assert applied.dried == applied.before and done.dry_run
    changed = {path for path, old, new in done.diff if old != new}
    assert changed == {*plan.texts, *plan.gone} | ({"MEMORY.md"} if plan.index else set())
    assert applied.second[1].changes == (), applied.second[0].reasons


def test_the_result_passes_every_check_and_keeps_every_line(applied):
    plan, _ = applied.first
    before, after = applied.before, applied.after
    assert [(check.name, check.message) for check in plan.checks if not check.ok] == []
    assert not_kept(before, after, [item.text for item in plan.work.accounted]) == []
    assert plan.lost == ()
    touched = {path for path, data in before.items() if after.get(path) != data}
    assert touched <= {*plan.work.given.pages, "MEMORY.md"}


def test_it_is_one_change_and_one_undo_brings_back_every_byte(applied):
    if applied.cause is None:
        assert applied.after == applied.before
        return
    assert (applied.cause.verb, applied.cause.batch) == ("restructure", "restructure-1772452800")
    assert applied.undone == applied.before


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
    # A line to whoever keeps the index may stay.
    assert plan.after.inline <= 1 or any("stays in the index" in text for text in plan.work.remarks)
    assert 0 < len(new) <= 10
    assert all(len(Path(path).stem) <= 60 and path == path.lower() for path in new)
    described = [plan.work.memory(path).description for path in new]
    assert all(20 <= len(text) <= 200 for text in described), described
    assert len(applied.after["MEMORY.md"]) < 25_000


@pytest.fixture(params=roots(*DREAMED))
def forgotten(request, tmp_path: Path) -> Opened:
    """A copy, two years on, beside code that has removed every file the memories speak of."""
    opened = copied(request.param, tmp_path)
    judged = verify.verify_memories(opened.app()).memories.values()
    claims = [item.claim for items in judged for item in items if item.claim.kind == PATH]
    paths = sorted({path for claim in claims if PLAIN.fullmatch(path := claim.text.rstrip("/"))})
    above = {path[:i] for path in paths for i, sign in enumerate(path) if sign == "/"}
    code = Checkout(opened.project)
    code.commit({path: "text\n" for path in paths if path not in above} | {"README.md": "Here.\n"})
    code.git("rm", "-rq", "--ignore-unmatch", *paths)
    code.commit({"other.txt": "Nothing else is here.\n"})
    opened.now += 730 * DAY
    return opened


def test_a_dream_loses_nothing_one_undo_takes_it_back_and_a_second_run_rests(forgotten):
    before = forgotten.files()
    dry = dream.run_dream(forgotten.app(dry_run=True))
    assert forgotten.files() == before and dry.done.dry_run
    first, app = dream.run_dream(forgotten.app()), forgotten.app()
    after = forgotten.files()
    if not first.done.changes:  # some have nothing to dream of
        assert after == before
        return
    shelved = {f"trash {item.path}": app.shelf.read(item) for item in app.shelf.list(TRASH)}
    accounted = [item.text for item in first.accounted]
    assert not_kept(before, {**after, **shelved}, accounted) == []
    second = dream.run_dream(forgotten.app())
    assert second.done.changes == () and second.batch == "" and forgotten.files() == after
    assert look.store_log(app)[0].batch == first.batch
    review.undo_and_hold_again(forgotten.app())
    assert forgotten.files() == before

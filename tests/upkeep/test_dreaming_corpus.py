"""Memory directories from the wild, consolidated without a model: nothing lost, one undo."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.claims import verify
from memdir.claims.claim import PATH
from memdir.store import look
from memdir.store.ports import TRASH
from memdir.store.writer import Done
from memdir.upkeep import dream
from memdir.upkeep.dream import Run
from tests.conftest import SHARED
from tests.helpers.kept import not_kept
from tests.helpers.opened import DAY, Opened
from tests.helpers.repositories import Checkout

FOUND = SHARED / "corpus/repos.jsonl"
EVERY = "MEMDIR_TEST_EVERY"  # set: all of them, not only those that stand for the others
PLAIN = re.compile(r"(?:[\w-][\w.-]{0,40}/){0,6}[\w-][\w.-]{0,40}")
SAMPLE = ("wardnet/wardnet", "tokendad/NesVentory", "VytCepas/projects-orchestrator")


def roots() -> list[object]:
    """Some memory directories of the corpus; where it is absent, one that skips aloud."""
    if not FOUND.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="../shared is not here"))]
    found = []
    for row in map(json.loads, FOUND.read_text("utf-8").splitlines()):
        for below in row["roots"]:
            path = FOUND.parent / row["repo"].replace("/", "__") / below
            if row["repo"] in SAMPLE or os.environ.get(EVERY):
                found.append(pytest.param(path, id=f"{row['repo']}:{below}"))
    return found


def run(opened: Opened, *, dry_run: bool = False) -> tuple[Run, Done]:
    result = dream.run(opened.app(dry_run=dry_run))
    return result, result.done


@pytest.fixture(params=roots())
def opened(request, tmp_path: Path) -> Opened:
    """A copy, two years on, beside code that has forgotten what the memories speak of."""
    opened = Opened(tmp_path)
    shutil.copytree(request.param, opened.root)
    for path in (opened.root, *opened.root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    forgotten(opened)
    opened.now += 730 * DAY
    return opened


def forgotten(opened: Opened) -> None:
    """Code whose every file that the memories name was removed again."""
    claims = [
        one.claim for judged in verify.verify(opened.app()).memories.values() for one in judged
    ]
    named = {one.text.rstrip("/") for one in claims if one.kind == PATH}
    paths = sorted(path for path in named if PLAIN.fullmatch(path))
    above = {path[:at] for path in paths for at, sign in enumerate(path) if sign == "/"}
    code = Checkout(opened.project)
    code.commit({path: "text\n" for path in paths if path not in above} | {"README.md": "Here.\n"})
    code.git("rm", "-rq", "--ignore-unmatch", *paths)
    code.commit({"other.txt": "Nothing else is here.\n"})


def test_nothing_is_lost_one_undo_takes_it_back_and_a_second_run_rests(opened):
    before = opened.files()
    dry, shown = run(opened, dry_run=True)
    assert opened.files() == before and shown.dry_run
    first, done = run(opened)
    after = opened.files()
    if not done.changes:
        assert after == before and not dry.batch
        return
    app = opened.app()
    shelved = {f"trash {one.path}": app.shelf.read(one) for one in app.shelf.list(TRASH)}
    accounted = [one.text for one in first.accounted]
    assert not_kept(before, {**after, **shelved}, accounted) == []
    assert first.lost == []
    second, rested = run(opened)
    assert rested.changes == () and second.batch == "" and opened.files() == after
    assert {one.cause.batch for one in look.log(opened.app())[:1]} == {first.batch}
    review.undo_changes(opened.app())
    assert opened.files() == before

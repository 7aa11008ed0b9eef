"""Memory directories from the wild: used as stores, nothing of theirs is changed or lost."""

import difflib
import json
import shutil
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.format.draft import Draft, Wishes
from memdir.hot.memory import is_memory
from memdir.store import changes, look
from tests.conftest import SHARED
from tests.helpers.opened import Opened

FOUND = SHARED / "corpus/repos.jsonl"


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
    """A store that is a copy of one of them."""
    opened = Opened(tmp_path)
    shutil.copytree(request.param, opened.root)
    for path in (opened.root, *opened.root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return opened


def memories(opened: Opened) -> dict[str, bytes]:
    return {path: data for path, data in opened.files().items() if is_memory(path)}


def index_path(opened: Opened) -> Path:
    return opened.root / opened.app().store.index_path


def gone(old: list, new: list) -> list:
    """The lines of the old list that the new one has not, in their order."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    kept = {at + n for at, _, size in matcher.get_matching_blocks() for n in range(size)}
    return [line for at, line in enumerate(old) if at not in kept]


def test_a_save_leaves_every_file_and_every_foreign_line_as_it_was(opened):
    before = opened.files()
    standalone = opened.app().store.standalone()
    index = index_path(opened)
    lines = index.read_text("utf-8").splitlines() if index.exists() else []
    dangling = {pointer.target for pointer in look.survey_index(opened.app()).dangling}
    done = changes.save(opened.app(), Draft("A new thing to know.", name="zz-new"), Wishes())
    assert [one.kind for one in done.changes] == ["created"]
    after = opened.files()
    for path, data in before.items():
        if path != index.name:
            assert after[path] == data, path
    if standalone is not None:
        assert standalone.decode().strip("\n") in opened.read("notes.md")
        return
    now = index_path(opened).read_text("utf-8").splitlines()
    lost = gone(lines, now)
    # A line may go only where it was nothing but a pointer to a missing file.
    assert [line for line in lost if not any(target in line for target in dangling)] == []
    assert any("zz-new.md" in line for line in now)


def test_undo_brings_back_every_byte(opened):
    before = opened.files()
    changes.save(opened.app(), Draft("A new thing to know.", name="zz-new"), Wishes())
    review.undo_changes(opened.app())
    assert opened.files() == before


def test_retiring_everything_and_restoring_it_brings_every_memory_back(opened):
    before = memories(opened)
    if not before:
        pytest.skip("this directory is an index alone")
    changes.retire(opened.app(), sorted(before))
    assert memories(opened) == {}
    changes.restore(opened.app(), sorted(before))
    assert memories(opened) == before
    assert look.survey_index(opened.app()).orphans == []

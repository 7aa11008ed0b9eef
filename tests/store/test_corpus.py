"""Memory directories from the wild: used as stores, nothing of theirs is changed or lost."""

import json
import shutil

import pytest

from memdir.capture import review
from memdir.format.draft import Draft, Wishes
from memdir.hot.memory import is_memory_file
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
    return {path: data for path, data in opened.files().items() if is_memory_file(path)}


def test_retiring_everything_and_restoring_it_brings_every_memory_back(opened):
    before = memories(opened)
    if not before:
        pytest.skip("this directory is an index alone")
    changes.retire_memories(opened.app(), sorted(before))
    assert memories(opened) == {}
    changes.restore_memories(opened.app(), sorted(before))
    assert memories(opened) == before
    assert look.survey_index(opened.app()).orphans == []


def test_a_save_leaves_every_foreign_byte_as_it_was_and_undo_brings_the_rest_back(opened):
    before = opened.files()
    app = opened.app()
    standalone, index = app.store.standalone(), app.store.index_path
    dangling = [pointer.target for pointer in look.survey_index(app).dangling]
    changes.save_memory(app, Draft("A new thing to know.", name="zz-new"), Wishes())
    after = opened.files()
    assert {path: after.get(path) for path in before if path != index} == {
        path: data for path, data in before.items() if path != index
    }
    if standalone is not None:
        assert standalone.decode().strip("\n") in opened.read("notes.md")
    else:
        # A line may go only where it was nothing but a pointer to a missing file.
        lines = iter(opened.read(opened.app().store.index_path).splitlines())
        for line in before.get(index, b"").decode().splitlines():
            assert any(target in line for target in dangling) or line in lines
    review.undo_and_hold_again(opened.app())
    assert opened.files() == before

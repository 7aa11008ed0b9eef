"""Memory directories from the wild: used as stores, nothing of theirs is changed or lost."""

import difflib
import json
import shutil
from pathlib import Path

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.format.draft import Draft, Revision, Wishes
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


def test_every_memory_is_listed_with_its_own_words(opened):
    listed, findings = ages.list_memories(opened.app())
    standalone = opened.app().store.standalone()
    paths = set(memories(opened)) or ({"MEMORY.md"} if standalone else set())
    assert {one.memory.path for one in listed} == paths
    assert [finding for finding in findings if finding.kind != "malformed-header"] == []
    for one in listed:
        text = opened.files()[one.memory.path].decode()
        assert one.memory.description[:20].replace("\\", "") in text.replace("\\", "")


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
    review.undo(opened.app())
    assert opened.files() == before


def test_the_index_is_in_step_after_one_change_and_stays_so(opened):
    changes.save(opened.app(), Draft("A new thing to know.", name="zz-new"), Wishes())
    survey = look.survey_index(opened.app())
    assert survey.orphans == []
    done = changes.rebuild_index(opened.app())
    assert [one.kind for one in done.changes] == ["skipped"]


def test_touching_and_taking_it_back_changes_nothing(opened):
    before = memories(opened)
    names = sorted(before)[:5]
    if not names:
        pytest.skip("this directory is an index alone")
    changes.touch(opened.app(), names)
    for path, data in before.items():
        old, new = data.split(b"\n"), (opened.root / path).read_bytes().split(b"\n")
        assert gone(old, new) == []
        assert len(new) - len(old) <= (4 if path in names else 0)
    review.undo(opened.app())
    assert memories(opened) == before


def test_an_edit_changes_one_line_and_the_pointer_only_if_it_was_ours(opened):
    before = memories(opened)
    listed = [one for one in ages.list_memories(opened.app())[0] if one.memory.path in before]
    if not listed:
        pytest.skip("this directory is an index alone")
    path = listed[0].memory.path
    index = index_path(opened)
    old_index = index.read_bytes() if index.exists() else b""
    dangling = look.survey_index(opened.app()).dangling
    revision = Revision("", (("description", "Something else"),))
    changes.edit(opened.app(), path, revision, Wishes())
    old, new = before[path].split(b"\n"), (opened.root / path).read_bytes().split(b"\n")
    assert len([line for line in new if line not in old]) <= 2 or before[path][:3] != b"---"
    assert {**memories(opened), path: b""} == {**before, path: b""}
    lost = gone(old_index.split(b"\n"), index_path(opened).read_bytes().split(b"\n"))
    assert len(lost) <= len(dangling) + 1
    review.undo(opened.app())
    assert memories(opened) == before


def test_retiring_everything_and_restoring_it_brings_every_memory_back(opened):
    before = memories(opened)
    if not before:
        pytest.skip("this directory is an index alone")
    changes.retire(opened.app(), sorted(before))
    assert memories(opened) == {}
    changes.restore(opened.app(), sorted(before))
    assert memories(opened) == before
    assert look.survey_index(opened.app()).orphans == []

"""Memory directories from the wild, imported: every file is taken or named, none is touched."""

import json
import os
from pathlib import Path

import pytest

from memdir.clients.archive import Brought, read_source
from memdir.format.draft import CREATED, SKIPPED
from memdir.store import changes, look
from tests.conftest import SHARED
from tests.helpers.opened import Opened

FOUND = SHARED / "corpus/repos.jsonl"
EVERY = "MEMDIR_TEST_EVERY"  # set: all of them, not only those that stand for the others
# Many files; an index that says something itself, beside memories and alone; a README.
SAMPLE = ("wardnet/wardnet", "VytCepas/projects-orchestrator", "kubescape/headlamp-plugin")
FILES = 371  # of the corpus, indexes among them


def roots(every: bool) -> list[Path]:
    if not FOUND.is_file():
        return []
    rows = [json.loads(line) for line in FOUND.read_text("utf-8").splitlines()]
    return [
        FOUND.parent / row["repo"].replace("/", "__") / below
        for row in rows
        if every or row["repo"] in SAMPLE
        for below in row["roots"]
    ]


def cases() -> list[object]:
    found = roots(bool(os.environ.get(EVERY)))
    absent = pytest.param(None, marks=pytest.mark.skip(reason="../shared is not here"))
    return [pytest.param(root, id=str(root.relative_to(FOUND.parent))) for root in found] or [
        absent
    ]


def seen(root: Path) -> dict[str, tuple[bytes, int, int]]:
    files = (path for path in root.rglob("*") if path.is_file())
    facts = {
        path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in files
    }
    return {str(path.relative_to(root)): one for path, one in facts.items()}


def accounted(root: Path, brought: Brought) -> list[str]:
    """The files of a source that are neither taken byte for byte nor named."""
    taken = {data for _, data in brought.files}
    named = {one.path for one in brought.skipped}
    return [
        name
        for name, (data, _, _) in seen(root).items()
        if data not in taken | {b""} and name not in named
    ]


def test_every_file_of_the_corpus_is_taken_or_named():
    if not FOUND.is_file():
        pytest.skip("../shared is not here")
    count = 0
    for root in roots(True):
        brought = read_source(str(root))
        assert accounted(root, brought) == []
        count += len(brought.files) + len(brought.skipped)
    assert count == FILES


@pytest.mark.parametrize("root", cases())
def test_a_source_stays_as_it_is_and_a_second_import_changes_nothing(root, tmp_path):
    before = seen(root)
    opened = Opened(tmp_path)
    app = opened.app()
    brought = read_source(str(root))
    done = changes.bring_in(app, brought.files, origin="there")
    assert {change.kind for change in done.changes} <= {CREATED}
    stored = opened.files()
    assert all(stored[path] == data for path, data in brought.files)
    logged = look.log(app)
    again = changes.bring_in(app, read_source(str(root)).files)
    assert {change.kind for change in again.changes} <= {SKIPPED}
    assert opened.files() == stored
    assert look.log(app) == logged
    assert logged[0].cause.reason == "from there"
    assert seen(root) == before

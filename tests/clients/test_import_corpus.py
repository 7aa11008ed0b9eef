"""Memory directories from the wild, imported: every file is taken or named, none is touched."""

import json
from pathlib import Path

import pytest

from memdir.clients.archive import read_import
from memdir.format.draft import CREATED, SKIPPED
from memdir.store import changes, look
from tests.conftest import SHARED
from tests.helpers.opened import Opened

FOUND = SHARED / "corpus/repos.jsonl"
# Many files; an index that says something itself, beside memories and alone; a README.
SAMPLE = ("wardnet/wardnet", "VytCepas/projects-orchestrator", "kubescape/headlamp-plugin")
FILES = 371  # of the corpus, indexes among them
pytestmark = pytest.mark.skipif(not FOUND.is_file(), reason="../shared is not here")


def roots(*wanted: str) -> list[Path]:
    rows = [json.loads(line) for line in FOUND.read_text("utf-8").splitlines()]
    return [
        FOUND.parent / row["repo"].replace("/", "__") / below
        for row in rows
        if not wanted or row["repo"] in wanted
        for below in row["roots"]
    ]


def seen(root: Path) -> dict[str, tuple[bytes, int, int]]:
    facts = {path: path.stat() for path in root.rglob("*") if path.is_file()}
    return {
        str(path.relative_to(root)): (path.read_bytes(), fact.st_mtime_ns, fact.st_mode)
        for path, fact in facts.items()
    }


def test_every_file_of_the_corpus_is_taken_or_named():
    count = 0
    for root in roots():
        brought = read_import(str(root))
        taken = {b"", *(data for _, data in brought.files)}
        named = {finding.path for finding in brought.skipped}
        lost = [name for name, (data, *_) in seen(root).items() if data not in taken]
        assert {*lost} <= named
        count += len(brought.files) + len(brought.skipped)
    assert count == FILES


def test_a_source_stays_as_it_is_and_a_second_import_changes_nothing(tmp_path):
    for number, root in enumerate(roots(*SAMPLE)):
        before = seen(root)
        opened = Opened(tmp_path / str(number))
        app, brought = opened.app(), read_import(str(root))
        done = changes.import_into_store(app, brought.files, origin="there")
        assert {change.kind for change in done.changes} <= {CREATED}
        stored = opened.files()
        assert all(stored[path] == data for path, data in brought.files)
        logged = look.store_log(app)
        again = changes.import_into_store(app, read_import(str(root)).files)
        assert {change.kind for change in again.changes} <= {SKIPPED}
        assert (opened.files(), look.store_log(app)) == (stored, logged)
        assert logged[0].cause.reason == "from there"
        assert seen(root) == before

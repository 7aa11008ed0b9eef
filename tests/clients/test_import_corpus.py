"""Memory directories from the wild, imported: every file is taken or named."""

import json
from pathlib import Path

import pytest

from memdir.clients.archive import read_import
from tests.conftest import SHARED

FOUND = SHARED / "corpus/repos.jsonl"
FILES = 371  # of the corpus, indexes among them
pytestmark = pytest.mark.skipif(not FOUND.is_file(), reason="../shared is not here")


def roots() -> list[Path]:
    rows = [json.loads(line) for line in FOUND.read_text("utf-8").splitlines()]
    return [
        FOUND.parent / row["repo"].replace("/", "__") / below
        for row in rows
        for below in row["roots"]
    ]


def test_every_file_of_the_corpus_is_taken_or_named():
    count = 0
    for root in roots():
        brought = read_import(str(root))
        taken = {b"", *(data for _, data in brought.files)}
        named = {finding.path for finding in brought.skipped}
        files = [path for path in root.rglob("*") if path.is_file()]
        lost = [path for path in files if path.read_bytes() not in taken]
        assert {str(path.relative_to(root)) for path in lost} <= named
        count += len(brought.files) + len(brought.skipped)
    assert count == FILES

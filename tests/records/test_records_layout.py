"""Records as a store: seen as memories, listed in index.md, broken ones hiding no other."""

import os
import random
import subprocess

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.claims import verify
from memdir.errors import MemdirError
from memdir.format.draft import Draft, Wishes
from memdir.recall import answer
from memdir.records.index_md import (
    build_index,
    index_line,
    parse_index,
)
from memdir.records.record import settings_of
from memdir.store import changes, look
from tests.helpers.recorded import PATH, Recorded
from tests.helpers.samples import sample


@pytest.fixture
def kept(tmp_path):
    kept = Recorded(tmp_path)
    kept.create()
    return kept


def recall(kept: Recorded, prompt: str) -> list[str]:
    found = answer.recall([("records", kept.app())], prompt)
    return [one.memory.path for one in found.chosen]


def test_a_record_is_recalled_by_its_content_until_it_is_retired(kept):
    prompt = "which search does the catalog need, SQLite with FTS5?"
    assert recall(kept, prompt) == [PATH]
    assert recall(kept, prompt) == [PATH]  # by the catalog that the first one made
    kept.act("delete", PATH)
    assert recall(kept, prompt) == []
    kept.act("restore", PATH)
    assert recall(kept, prompt) == [PATH]
    kept.act("archive", PATH)
    assert recall(kept, prompt) == []


BROKEN = {
    "no JSON": b'{"title": ',
    "not UTF-8": b"\xff\xfe{}",
    "a list": b"[]",
    "no title": b'{"category": "decision", "content": {}}',
    "nested": b'{"a":' * 5000,
    "empty": b"",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_a_finding_and_hides_no_other(kept, data):
    kept.write("decisions/broken.json", data)
    listed, (finding,) = ages.list_memories(kept.app())
    assert [one.memory.path for one in listed] == [PATH]
    assert finding.path == "decisions/broken.json"
    assert finding.fix
    assert recall(kept, "which search does the catalog need, SQLite with FTS5?") == [PATH]
    kept.create("Another record")
    assert kept.bytes("decisions/broken.json") == data
    assert kept.in_step()


def test_links_and_pipes_are_never_followed(kept, tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_bytes(kept.bytes())
    (kept.root / "decisions/link.json").symlink_to(outside)
    (kept.root / "runbooks").symlink_to(tmp_path)
    os.mkfifo(kept.root / "decisions/pipe.json")
    (kept.root / "decisions/folder.json").mkdir()
    listed, findings = ages.list_memories(kept.app())
    assert [one.memory.path for one in listed] == [PATH]
    odd = {"decisions/link.json", "decisions/pipe.json", "decisions/folder.json", "runbooks"}
    assert {one.path for one in findings} == odd
    before = outside.read_bytes()
    with pytest.raises(MemdirError):
        kept.create("A runbook", "runbook")
    assert outside.read_bytes() == before
    assert not (tmp_path / "a-runbook.json").exists()


def test_settings_that_are_a_link_are_not_read(kept, tmp_path):
    (tmp_path / "other.json").write_text('{"max_memories_per_category": 1}')
    (kept.root / "memory-config.json").symlink_to(tmp_path / "other.json")
    settings, (warning,) = settings_of(kept.app().store)
    assert settings.max_memories_per_category == 100
    assert warning.path == "memory-config.json"


def test_the_claims_of_a_record_are_verified(kept):
    (kept.project / ".git").rmdir()
    subprocess.run(["git", "-C", str(kept.project), "init", "-q"], check=True)
    kept.update(content={"context": "See `src/gone.py` for it."})
    checked = verify.verify(kept.app())
    assert any(PATH in path for path in checked.memories)


def test_the_same_directory_may_hold_markdown_memories(kept):
    local = kept.app(scope="local")
    changes.save(local, Draft("Use tabs.", name="tabs"), Wishes())
    assert [one.memory.path for one in ages.list_memories(local)[0]] == ["tabs.md"]
    assert [one.memory.path for one in ages.list_memories(kept.app())[0]] == [PATH]
    before = kept.files()
    kept.act("delete", PATH)
    log = [path for one in look.log(local) for _, path in one.paths]
    assert set(log) == {"tabs.md", "MEMORY.md"}
    review.undo_changes(kept.app())
    assert kept.files() == before
    review.undo_changes(local)
    assert "tabs.md" not in kept.files()
    assert kept.bytes()


def test_a_linked_directory_is_refused(tmp_path):
    kept = Recorded(tmp_path)
    kept.root.parent.mkdir()
    kept.root.symlink_to(tmp_path)
    with pytest.raises(MemdirError, match="symbolic link"):
        kept.app()


A = ("decisions/a.json", sample(title="Use SQLite", tags=["storage", "sqlite"]))
B = ("tech-debt/b.json", sample("tech_debt", title="Fixed retries", tags=["queue"]))
C = ("decisions/c.json", sample(title="apply patches", tags=["git"]))
RETIRED = ("decisions/r.json", sample(record_status="retired", retired_at="2026-03-01T00:00:00Z"))
ARCHIVED = ("decisions/z.json", sample(record_status="archived"))
LINES = [
    "- [DECISION] apply patches -> decisions/c.json #tags:git",
    "- [DECISION] Use SQLite -> decisions/a.json #tags:storage,sqlite",
    "- [TECH_DEBT] Fixed retries -> tech-debt/b.json #tags:queue",
]


def test_the_order_of_the_records_does_not_change_a_byte():
    records = [A, B, C, RETIRED, *[(f"runbooks/{n}.json", sample("runbook")) for n in range(20)]]
    first = build_index(records)
    for seed in range(10):
        random.Random(seed).shuffle(records)
        assert build_index(records) == first


@pytest.mark.parametrize(
    "title",
    ["a -> b", "-> b", "a ->", "x #tags:y", "a\nb", "] -> [", "[X] y", "a\u2028b", "##tags:x", "#"],
)
def test_no_title_breaks_its_line(title):
    text = index_line(sample(title=title, tags=["t"]), "decisions/a.json")
    (entry,), bad = parse_index(text)
    assert (entry.path, entry.tags, bad) == ("decisions/a.json", ["t"], [])
    assert len(text.splitlines()) == 1
    assert index_line(sample(title=entry.title, tags=["t"]), entry.path) == text


FULL = build_index([A, B])

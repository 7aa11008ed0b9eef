"""The catalog is derived: whatever happens to it, the answer is the one of a scan."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from memdir.hot import catalog
from memdir.hot.layout import Markdown
from tests.helpers.programs import SECONDS, start_program
from tests.helpers.searching import MANY, Searched, answers, memory, paths
from tests.helpers.tables import cases

PROMPT = "how does the pelican restart staging"
MADE, NOT_WRITTEN = "catalog-made", "catalog-not-written"
WORDS = ["pelican", "staging", "queue", "handleAuth", "配置", "rust", "cache", "release", "wal"]


@pytest.fixture
def searched(tmp_path: Path) -> Searched:
    searched = Searched(tmp_path)
    luck = random.Random(7)
    searched.write("walrus.md", memory("Nightingale", "how staging restarts", "The pelican."))
    searched.write("rule.md", memory("Tone", "be brief", type="feedback"))
    for number in range(10):
        searched.write(f"m{number}.md", memory(f"M{number}", " ".join(luck.choices(WORDS, k=6))))
    searched.write("MEMORY.md", "- [Nightingale](walrus.md) — the flamingo\n")
    searched.settle()
    return searched


def kinds(searched: Searched, prompt: str = PROMPT) -> list[str]:
    return [finding.kind for finding in searched.catalog_findings(prompt)]


def is_healed(searched: Searched) -> bool:
    return kinds(searched) == [] and searched.catalog.is_file()


# -- damage ------------------------------------------------------------------------------------


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


@cases("damage", ids=range(8))
def test_a_damaged_catalog_gives_the_answer_of_a_scan_and_is_made_anew(searched, damage):
    damage(searched.catalog)
    assert kinds(searched) == [MADE]
    assert is_healed(searched)
    assert not searched.catalog.is_symlink()


@pytest.mark.parametrize("share", [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999])
def test_a_truncated_catalog_is_made_anew(searched, share):
    data = searched.catalog.read_bytes()
    searched.catalog.write_bytes(data[: int(len(data) * share)])
    assert kinds(searched) == [MADE]
    assert is_healed(searched)


def test_a_broken_page_is_noticed_and_the_catalog_made_anew(searched):
    data = searched.catalog.read_bytes()
    expected = answers(searched.scan().find(PROMPT, MANY))
    page = int.from_bytes(data[16:18], "big")  # as SQLite's header says
    noticed = 0
    for start in range(page, len(data), page):
        searched.catalog.write_bytes(data[:start] + b"\xff" * page + data[start + page :])
        found = searched.fts().find(PROMPT, MANY)
        assert answers(found) == expected, start
        assert [one.kind for one in found.findings] in ([], [MADE]), start
        noticed += len(found.findings)
    assert noticed >= 4  # memories, their paths, words, facts
    assert is_healed(searched)


def test_a_flipped_bit_breaks_no_prompt_and_no_update(searched):
    data = searched.catalog.read_bytes()
    luck = random.Random(11)
    for at in range(luck.randrange(397), len(data), 397):
        flipped = bytearray(data)
        flipped[at] ^= 1 << luck.randrange(8)
        searched.catalog.write_bytes(flipped)
        searched.write("m2.md", memory("M2", f"zebra{at} cache"))
        for _ in range(2):
            found = searched.fts().find(f"zebra{at} please", MANY)
        assert paths(found)[:1] == ["m2.md"], at


def test_a_folder_that_cannot_be_made_costs_one_finding(searched):
    shutil.rmtree(searched.cache)
    searched.cache.write_text("a file where the folder should be")
    for _ in range(2):
        assert kinds(searched) == [NOT_WRITTEN]
    searched.cache.unlink()
    assert kinds(searched) == [MADE]
    assert is_healed(searched)


# -- locks -------------------------------------------------------------------------------------


@contextmanager
def python(name: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a piece of code, once it says that it has done its part."""
    with start_program(name, *arguments) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.communicate("", timeout=SECONDS)


def test_while_another_process_writes_the_answer_comes_from_a_scan(searched):
    with python("hold_the_lock", searched.catalog):
        assert kinds(searched) == []  # it is up to date: nobody needs to write
        searched.write("new.md", memory("New", "the pelican again"))
        assert kinds(searched) == [NOT_WRITTEN]
        searched.catalog.unlink()
        assert kinds(searched) == [NOT_WRITTEN]
    assert kinds(searched) == [MADE]
    time.sleep(0.06)
    assert is_healed(searched)


# -- killed writers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "made"),
    [
        *(("_row", True), ("_write_facts", True)),  # of an update
        *(("_row", False), ("_write_facts", False), ("_move", False)),  # of a new catalog
    ],
)
def test_a_killed_writer_leaves_nothing_that_lies(searched, at, made):
    if made:
        searched.write("new.md", memory("New", "the pelican again"))
    else:
        searched.catalog.unlink()
    with python("killed_writer", searched.cache.parent, at) as killed:
        assert killed.wait(SECONDS) == -signal.SIGKILL
    left = {path.name for path in searched.cache.iterdir()} - {"catalog.lock", "catalog.sqlite"}
    assert left or (made and at == "_row"), "it was killed too early to leave something behind"
    assert len(kinds(searched)) <= 1
    time.sleep(0.06)
    kinds(searched)
    assert is_healed(searched)
    names = {path.name for path in searched.cache.iterdir()}
    assert names == {"catalog.lock", "catalog.sqlite"}


def test_the_journal_of_a_killed_writer_is_not_played_into_a_new_catalog(searched):
    searched.write("new.md", memory("New", "the pelican again"))
    with python("killed_writer", searched.cache.parent, "_write_facts"):
        pass
    journal = searched.cache / "catalog.sqlite-journal"
    assert journal.stat().st_size > 512
    searched.catalog.unlink()  # and with it what the journal belongs to
    assert kinds(searched) == [MADE]
    assert not journal.exists()


# -- freshness ---------------------------------------------------------------------------------


class Coarse(Markdown):
    """A store on a disk whose clock ticks slowly; `behind` happens right after a file was read."""

    TICK = 20_000_000
    behind: Callable[[], object] | None = None

    def tree(self) -> dict[str, tuple[int, ...]]:
        return {path: self._round(facts) for path, facts in super().tree().items()}

    def facts(self, path: str) -> tuple[int, ...] | None:
        facts = super().facts(path)
        return self._round(facts) if facts else facts

    def read(self, path: str) -> bytes:
        data = super().read(path)
        if path == "quick.md" and self.behind:
            self.behind()
        return data

    def _round(self, facts: tuple[int, ...]) -> tuple[int, ...]:
        return (*(moment // self.TICK * self.TICK for moment in facts[:2]), *facts[2:])


def test_an_edit_in_the_same_tick_with_the_same_size_is_noticed(searched):
    searched.store = store = Coarse(str(searched.root))
    same = 0
    for number in range(20):
        old, new = (f"{word}{number:02}" for word in ("before", "behind"))
        where = searched.write("quick.md", memory("Quick", old))
        looked = store.facts("quick.md")
        store.behind = partial(where.write_text, memory("Quick", new))
        searched.fts().find("zebra", 5)
        store.behind = None
        same += store.facts("quick.md") == looked
        (first, *_) = searched.fts().find(f"{new} please", 5).hits
        assert (first.memory.path, new in first.words) == ("quick.md", True)
    assert same, "no edit fell into the tick of the one before"


def letters(number: int) -> str:
    """A word of its own for each number."""
    return "q" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}") + "x"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    searched = Searched(tmp_path_factory.mktemp("large"))
    for number in range(catalog.SMALL + 100):
        folder = f"f{number % 7}/" if number % 2 else ""
        searched.write(f"{folder}m{number}.md", memory(f"M{number}", f"{letters(number)} shared"))
    searched.settle()
    return searched


@pytest.mark.slow
def test_a_large_store_notices_what_comes_goes_or_is_replaced_at_once(large):
    def found(word: str) -> list[str]:
        return paths(large.fts().find(f"{word} one", 5))

    for folder in ("", "f3/", "new/", "new/deep/"):
        where = large.write(f"{folder}fresh.md", memory("Fresh", "aardvark"))
        assert found("aardvark") == [f"{folder}fresh.md"]
        large.write(f"{folder}fresh.tmp", memory("Fresh", "buffalos")).replace(where)
        assert (found("buffalos"), found("aardvark")) == ([f"{folder}fresh.md"], [])
        moved = where.rename(where.with_name("moved.md"))
        assert found("buffalos") == [f"{folder}moved.md"]
        moved.unlink()
        assert found("buffalos") == []


@pytest.mark.slow
def test_a_large_store_notices_the_edit_of_a_memory_that_it_finds_at_once(large):
    large.settle()
    large.write("m100.md", memory("M100", "chinchilla"))
    assert paths(large.fts().find(f"{letters(100)} please", 5)) == []
    assert paths(large.fts().find("chinchilla please", 5)) == ["m100.md"]
    assert large.catalog_findings(f"{letters(500)} chinchilla") == []


def test_an_edit_in_place_of_a_large_store_is_noticed_within_a_few_prompts(searched, monkeypatch):
    monkeypatch.setattr(catalog, "SMALL", 5)
    monkeypatch.setattr(catalog, "time", iter(range(1_700_000_000, 1_800_000_000)).__next__)
    searched.catalog.unlink()
    kinds(searched)  # made anew, as that of a large store
    searched.write("m3.md", memory("M3", "okapi"))
    with monkeypatch.context() as nobody:
        nobody.setattr(catalog, "TURN", 0)  # nothing else would notice it
        assert "m3.md" not in paths(searched.fts().find("okapi please", 5))
    assert any("m3.md" in paths(searched.fts().find("okapi please", 5)) for _ in range(20))


# -- odd files: one must not silence the others --------------------------------------------------


def test_one_word_hundreds_of_times_silences_nobody(searched):
    searched.write("spam.md", memory("Spam", "pelican " * 3000))
    searched.write("long.md", memory("Long", "x" * 1_000_000 + "界" * 50_000))
    searched.write("MEMORY.md", "- [Nightingale](walrus.md) — the flamingo\n" * 20_000)
    searched.settle()
    assert "walrus.md" in paths(searched.fts().find(PROMPT, 5))


@pytest.mark.parametrize("year", [1902, 2300, 2400])
def test_a_file_of_another_century_silences_nobody(searched, year):
    odd = searched.write("odd.md", memory("Odd", "The staging of the future"))
    os.utime(odd, ((year - 1970) * 31_556_952,) * 2)
    searched.settle()
    assert kinds(searched) == []

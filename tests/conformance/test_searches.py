"""What every search promises; a new file in adapters/searches is tested here by being there."""

import os  # noqa: F401 (for the table)
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memdir.hot.layout import Markdown
from memdir.store import registry
from memdir.store.ports import Search
from tests.conformance import own
from tests.helpers.searching import MANY, Searched, answers, memory, paths
from tests.helpers.tables import cases, rows

FILES = dict(rows(globals(), "FILES"))
WORDS = rows(globals(), "WORDS")
BROKEN = dict(rows(globals(), "BROKEN"))


Open = Callable[[Markdown], Search]


@pytest.fixture(params=own.members("searches"))
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    module = own.load("searches", request.param)
    return lambda store: module.open_search(store, str(tmp_path / "cache"))


@pytest.fixture
def as_ours(request: pytest.FixtureRequest) -> bool:
    """True where a search has to rank as ours do; a user's own may do it in its own way."""
    name = request.node.callspec.params["search"]
    return name in registry.members("searches") or own.FOLDER == own.EXAMPLES


@pytest.fixture
def ranked(search: Open, as_ours: bool) -> Open:
    if not as_ours:
        pytest.skip("a search of one's own ranks in its own way")
    return search


@pytest.fixture
def searched(tmp_path: Path) -> Searched:
    searched = Searched(tmp_path)
    for path, text in FILES.items():
        searched.write(path, text)
    return searched


@cases("prompt", "found")
def test_a_memory_is_found_by_every_word_it_has(ranked, searched, prompt, found):
    assert paths(ranked(searched.store).find(prompt, 5))[:1] == [found]


def test_a_rule_may_come_without_a_common_word_and_last(ranked, searched):
    searched.write("rule.md", memory("Tone", "be brief", type="feedback"))
    found = ranked(searched.store).find("pelican zebra", 5)
    assert paths(found) == ["walrus.md", "rule.md"]
    assert found.hits[1].words == {}
    assert found.hits[1].sure == 0


@cases("prompt", ids=lambda prompt: ascii(prompt[:20]))
def test_no_prompt_is_an_error_and_the_catalog_survives_it(search, searched, prompt):
    one = search(searched.store)
    one.find(prompt, 5)
    assert paths(one.find("the pelican", 5)) == ["walrus.md"]


def test_syntax_of_a_query_language_is_text(ranked, searched):
    one = ranked(searched.store)
    expected = answers(one.find("pelican flamingo", 5))
    for prompt in ('"pelican" AND flamingo*', "pelican NOT flamingo", "(pelican) -flamingo"):
        assert answers(one.find(prompt, 5)) == expected


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("name", ["aaa.md", "walrus2.md"])
def test_a_broken_memory_hides_no_other(search, as_ours, searched, broken, name):
    BROKEN[broken](searched.root / name)
    for _ in range(3):  # made, brought up to date, asked again
        assert "walrus.md" in paths(search(searched.store).find("who restarts the pelican", 5))
    found = search(searched.store).find("pelican port", MANY)
    assert not as_ours or answers(found) == answers(searched.scan().find("pelican port", MANY))


@pytest.mark.parametrize("broken", ["a directory", "a pipe", "a link to the outside"])
def test_an_index_that_cannot_be_read_hides_no_memory(search, searched, broken):
    search(searched.store).find("pelican", 5)
    (searched.root / "MEMORY.md").unlink()
    BROKEN[broken](searched.root / "MEMORY.md")
    assert paths(search(searched.store).find("pelican", 5)) == ["walrus.md"]
    shutil.rmtree(searched.cache, ignore_errors=True)
    assert paths(search(searched.store).find("pelican", 5)) == ["walrus.md"]


def test_an_index_that_is_the_only_memory_is_searched(search, searched):
    shutil.rmtree(searched.root)
    searched.write("MEMORY.md", "# Facts\n\nThe pelican restarts the staging cluster.\n")
    for _ in range(3):
        assert paths(search(searched.store).find("the pelican", 5)) == ["MEMORY.md"]
    searched.write("walrus.md", FILES["walrus.md"])
    assert paths(search(searched.store).find("the pelican", 5)) == ["walrus.md"]
    (searched.root / "walrus.md").unlink()
    assert paths(search(searched.store).find("the pelican", 5)) == ["MEMORY.md"]


def some_text(luck: random.Random) -> str:
    said = " ".join(luck.choices(WORDS, k=luck.randint(0, 12)))
    kind = luck.choice(("project", "feedback", "user", "reference"))
    return memory(luck.choice(WORDS), said, " ".join(luck.choices(WORDS, k=5)), kind)


def one_change(luck: random.Random, searched: Searched) -> None:
    """Somebody adds, changes, replaces, renames or removes a memory, or edits the index."""
    there = sorted(path for path in searched.root.rglob("*.md") if path.name != "MEMORY.md")
    where = luck.choice(there or [searched.root / "a.md"])
    what = luck.choice(("add", "add", "edit", "replace", "rename", "remove", "index"))
    if what == "index":
        some = luck.sample(there, min(len(there), luck.randint(0, 4)))
        lines = [f"- [{luck.choice(WORDS)}]({path.name}) — cache queue\n" for path in some]
        searched.write("MEMORY.md", "".join(lines))
    elif what == "edit":
        where.write_text(some_text(luck), "utf-8")
    elif what == "replace":
        searched.write("new.tmp", some_text(luck)).replace(where)
    elif what == "rename" and there:
        where.replace(searched.root / f"moved{luck.randint(0, 5)}.md")
    elif what == "remove":
        where.unlink(missing_ok=True)
    else:
        name = luck.choice(["a", "b", "sub/a", "sub/d", "ünï-配置", "long name", "logs/x", ".h"])
        searched.write(f"{name}{luck.randint(0, 9)}.md", some_text(luck))


@pytest.mark.parametrize("seed", range(12))
def test_a_catalog_kept_up_to_date_answers_as_a_new_one(seed, tmp_path):
    luck = random.Random(seed)
    searched = Searched(tmp_path)
    for step in range(40):
        for _ in range(luck.randint(1, 3)):
            one_change(luck, searched)
        prompt = " ".join(luck.choices(WORDS, k=luck.randint(1, 5)))
        if step % 10 == 0:
            searched.settle()
        limit = luck.choice((1, 3, MANY))
        expected = answers(searched.scan().find(prompt, limit))
        assert answers(searched.fts().find(prompt, limit)) == expected, (step, prompt)
    kept = answers(searched.fts().find(" ".join(WORDS), MANY))
    shutil.rmtree(searched.cache)
    assert answers(searched.fts().find(" ".join(WORDS), MANY)) == kept
    assert kept

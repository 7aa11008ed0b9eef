"""The simple searches do what their names say, so that beating them means something."""

import math

import pytest

from memdir.adapters.layouts.in_memory import InMemory
from memdir.evaluation.baselines import BASELINES, Bm25, Grep, Overlap


@pytest.fixture
def store() -> InMemory:
    store = InMemory()
    texts = {
        "one.md": "---\nname: bees\ndescription: hive work\n---\nhoney\nhoney honey\n",
        "two.md": "---\nname: deploy\ndescription: honey money\n---\nFridays only\n",
        "three.md": "---\nname: empty\n---\n",
    }
    for path, text in texts.items():
        store.put(path, text.encode())
    return store


def found(search, prompt, limit=10):
    return [(hit.memory.path, hit.score) for hit in search.find(prompt, limit).hits]


def test_grep_counts_lines_with_any_word_of_the_prompt(store):
    assert found(Grep(store), "HONEY, please!") == [("one.md", 2), ("two.md", 1)]
    assert found(Grep(store), "hone") == []  # no stems


def test_overlap_looks_at_name_and_description_only(store):
    assert found(Overlap(store), "honey money fridays") == [("two.md", 2)]


def test_bm25_is_the_formula_of_the_books(store):
    (best, score), (second, _) = found(Bm25(store), "honey")
    # words: header and body of one.md, two.md and three.md
    usual = (8 + 7 + 2) / 3
    weight = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    drag = 1.2 * (1 - 0.75 + 0.75 * 8 / usual)
    assert (best, second) == ("one.md", "two.md")
    assert score == pytest.approx(weight * 3 * 2.2 / (3 + drag))


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_keeps_the_limit_and_survives_an_empty_store(name, store):
    search = BASELINES[name](store)
    assert len(search.find("honey hive deploy", 1).hits) == 1
    assert search.find("honey", 5).searched == 3
    assert search.find("", 5).hits == []
    assert BASELINES[name](InMemory()).find("honey", 5).hits == []

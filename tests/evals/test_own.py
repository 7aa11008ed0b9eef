"""What a store can be asked without anybody."""

import re

import pytest

from memdir.evals.own import make_questions_from_descriptions, make_questions_from_links
from memdir.hot.memory import Memory
from tests.helpers.made import STORES, write_store
from tests.helpers.terminal import memdir, tree

TEXT = "Use the uv tool to install packages and never pip for the parser project"


def described(path: str, text: str) -> Memory:
    return Memory(path, f"---\nname: x\ndescription: {text}\n---\n", 0, 0)


def test_a_description_asks_for_its_memory_without_stop_words_and_every_third_word():
    (query,) = make_questions_from_descriptions(
        [described("uv.md", TEXT), Memory("no.md", "", 0, 0)]
    )
    assert query.gold == ("uv.md",)
    # use uv (tool) install packages (never) pip parser (project)
    assert sorted(query.prompt.split()) == ["Use", "install", "packages", "parser", "pip", "uv"]
    (other,) = make_questions_from_descriptions([described("b.md", TEXT)])
    assert other.prompt != query.prompt


def test_links_ask_for_what_they_lead_to():
    texts = {
        "one.md": "See [[two]] for honey.\n```\n[[three]]\n```\n[[gone]] and [[one]], [[two]]",
        "two.md": "if [[ -f x ]]; then",
    }
    queries = make_questions_from_links(texts, {})
    assert [(query.id, query.gold) for query in queries] == [("one.md", ("two.md",))]
    assert queries[0].prompt.split() == ["See", "two", "for", "honey."]


@pytest.fixture
def own(tmp_path):
    store = write_store(tmp_path / "memory", STORES["ann/shop"])
    (store / "copy.md").write_text(
        (store / "uv.md").read_text().replace("\n\n", "\n\nSee [[no]]. ")
    )
    return store


def test_the_own_store_is_measured_and_nothing_in_it_changes(own):
    before = tree(own)
    given = memdir("eval", "--dir", str(own), "--json").json
    assert tree(own) == before
    figures = given["figures"]
    assert (given["set"], given["data"]) == ("own", str(own))
    assert figures["self-recall R@5"]["value"] == 1
    assert figures["self-recall R@5"]["n"] >= 2
    assert figures["recall, ms, median"]["value"] > 0


def test_an_empty_store_and_none_at_all_are_measured(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "none"):
        answer = memdir("eval", "own", "--dir", str(tmp_path / folder))
        assert answer.code == 0, answer.stderr
        assert re.search(r"self-recall R@1 +– +0\n", answer.text)
    assert not (tmp_path / "none").exists()

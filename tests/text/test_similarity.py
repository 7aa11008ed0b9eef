"""Near-duplicates are found by their words, in any script, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot.memory import decode, read
from memdir.text.similar import FEWEST_WORDS, SAME, SHORTEST, find_twin, words
from tests.helpers.data_tables import table

LISTING = table("text", "listing")


def twin(text: str, lines: list[str] | None = None) -> str:
    return find_twin(text, "\n".join(LISTING if lines is None else lines), str)


@pytest.mark.parametrize(
    ("text", "found"), table("text", "the_same_words_in_another_order_are_the_same")
)
def test_the_same_words_in_another_order_are_the_same(text, found):
    assert twin(text) == found


def test_few_words_are_alike_by_chance_unless_they_are_the_same():
    assert twin("Anna owns billing.", ["Anna owns shipping", "anna owns billing"])
    assert twin("Anna owns billing.", ["Anna owns shipping"]) == ""
    assert twin("Anna owns billing.", ["Anna owns billing and shipping"]) == ""
    assert twin("Some text", ["Some text"]) == ""


def test_the_best_of_several_twins_is_chosen():
    near, nearer = "a1 b2 c3 d4 e5 f6 g7 h8 x9", "a1 b2 c3 d4 e5 f6 g7 h8"
    assert twin(nearer, [near, nearer]) == nearer


word = st.text("abcdeé日", min_size=1, max_size=3)
line = st.lists(word, max_size=9).map(" ".join)


@given(line, st.lists(line, max_size=6))
def test_no_twin_is_missed_by_the_quick_look(text, lines):
    mine = words(text)
    enough = SAME if len(mine) >= FEWEST_WORDS else 1 if len(mine) >= SHORTEST else 2
    best = max(
        [len(mine & words(each)) / len(mine | words(each)) for each in lines if words(each)],
        default=0,
    )
    found = twin(text, lines)
    assert bool(found) == (best >= enough)
    if found:
        assert len(mine & words(found)) / len(mine | words(found)) == best


@given(st.text(), st.text())
def test_any_text_can_be_compared(text, other):
    twin(text, [other, "İstanbul'da dört kelime var"])


def test_distinct_memories_of_the_wild_are_no_twins(shared):
    def description(side: dict[str, str]) -> str:
        path = shared / "corpus" / side["repo"].replace("/", "__") / side["file"]
        return read(decode(path.read_bytes())).get("description")

    rows = (shared / "corpus/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [row for row in map(json.loads, rows) if row["relation"] == "distinct"]
    texts = [(description(row["a"]), description(row["b"])) for row in pairs]
    compared = [(one, other) for one, other in texts if one and other]
    assert len(compared) > 20
    assert [pair for pair in compared if twin(pair[0], [pair[1]])] == []

"""How a memory's score and the sureness of a match come about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot import recall
from memdir.hot.recall import (
    FIRST,
    MAX_TERMS,
    RULE_START,
    STEPS,
    Matches,
    final,
    gain,
    rarity_ranking,
    read_prompt,
    weights,
)
from memdir.hot.words import IMPLIED, PIECE, Words


def fields(**given: str) -> list[str]:
    return [given.get(name, "") for name in ("file", "name", "description", "line", "body")]


def weigh(words: Words, given: list[str]) -> dict[str, int]:
    return dict(zip(*weights(words, given), strict=True))


def matches(prompt: dict[str, float], *memories: dict[str, int]) -> Matches:
    def look_up(term: str) -> tuple[int, dict[int, int]]:
        held = {number: one[term] for number, one in enumerate(memories) if term in one}
        return len(held), held

    return Matches(prompt, len(memories), look_up)


def test_a_word_in_the_description_says_more_than_one_in_the_body():
    weight = {
        name: weigh(Words(), fields(**{name: "pelican"}))["pelican"]
        for name in ("file", "name", "description", "line")
    }
    weight["body"] = weigh(Words(), fields(body="pelican " + "filler " * 79))["pelican"]
    assert weight["description"] > weight["name"] == weight["file"] > weight["line"]
    assert weight["line"] == weight["body"] == STEPS


def test_a_word_in_a_long_body_says_less():
    short, long = (
        weigh(Words(), fields(body="pelican " + "filler " * count))["pelican"]
        for count in (10, 999)
    )
    assert short > long >= 1


def test_a_weight_is_a_whole_number_that_can_be_kept():
    weighed = weigh(Words(), fields(description="pelican handleAuth", body="zebra " * 9_000))
    assert all(isinstance(weight, int) and weight >= 1 for weight in weighed.values())
    assert weigh(Words(), fields(body="gnu " + "filler " * 100_000))["gnu"] == 1
    assert weigh(Words(), fields()) == {}


def test_a_rare_word_is_worth_more():
    assert gain(1, 1, 100) > gain(1, 50, 100) > gain(1, 100, 100) > 0
    assert rarity_ranking("zebra") == recall.UNKNOWN > rarity_ranking("test")
    assert rarity_ranking("alreadi") < recall.UNKNOWN  # the first of a line
    assert rarity_ranking("\n") == recall.UNKNOWN


def test_the_score_is_the_sum_of_what_the_words_added():
    found = matches({"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 64, "b": 640}, {"b": 64}, {"z": 64})
    assert set(found.scores) == {0, 1}
    assert found.scores[0] == pytest.approx(sum(found.words(0).values()))
    assert list(found.words(0)) == sorted(found.words(0), key=lambda word: -found.words(0)[word])
    assert found.scores[0] > found.scores[1]
    assert found.words(2) == {}


def test_the_best_come_with_those_that_are_as_good_as_the_last():
    found = matches({"a": 1.0}, {"a": 64}, {"a": 640}, {"a": 64}, {"a": 1})
    assert sorted(found.best(1)) == [1]
    assert sorted(found.best(2)) == [0, 1, 2]
    assert sorted(found.best(9)) == [0, 1, 2, 3]


def test_a_match_is_surer_the_more_of_the_prompt_it_has():
    one = matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128})
    both = matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128, "gnu": 128})
    assert both.sure(0) > one.sure(0) > 0
    assert one.sure(7) == 0


def test_how_sure_a_match_is_does_not_depend_on_the_store():
    alone = matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128})
    among = matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128}, *[{"zebra": 64}] * 50)
    assert alone.sure(0) == among.sure(0)


def test_a_number_that_nobody_has_makes_no_match_less_sure():
    without = matches({"zebra": 1.0}, {"zebra": 128})
    assert matches({"zebra": 1.0, "4711": 1.0}, {"zebra": 128}).sure(0) == without.sure(0)
    assert matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128}).sure(0) < without.sure(0)


def test_no_terms_no_matches():
    found = matches({}, {"a": 1})
    assert (found.scores, found.best(5), found.sure(0)) == ({}, [], 0.0)


def test_a_rule_gets_a_little_more():
    assert final(2.0, True) > final(2.0, False) == 2.0
    assert final(0.0, True) == RULE_START


# -- prompts -----------------------------------------------------------------------------------


def test_a_prompt_is_its_terms_and_how_much_each_counts():
    assert read_prompt("why does handleAuth fail in 3.2.0", Words()) == {
        "handleauth": 1.0,
        "fail": 1.0,
        "handl": PIECE,
        "auth": PIECE,
        "version": IMPLIED,
        "releas": IMPLIED,
    }


def test_of_a_long_prompt_the_rarest_terms_count():
    common = "test file run use change check code commit default line read work user"
    prompt = " ".join(f"zebra{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MAX_TERMS))
    assert len(read_prompt(f"{common} {prompt}", Words())) == MAX_TERMS
    assert not {"test", "file"} & set(read_prompt(f"{common} {prompt}", Words()))


def test_of_an_endless_prompt_both_ends_count():
    filler = "x " * FIRST
    found = read_prompt(f"zebra {filler} gnu {filler} okapi", Words())
    assert set(found) == {"zebra", "okapi"}


@given(st.text(max_size=200))
def test_any_prompt_has_at_most_so_many_terms(prompt):
    found = read_prompt(prompt, Words())
    assert len(found) <= MAX_TERMS
    assert all(0 < share <= 1 for share in found.values())


def test_every_line_of_the_background_is_found():
    for line in recall._TABLE.strip().split("\n"):
        level, *stems = line.split(" ")
        for one in (stems[0], stems[-1]):
            assert recall.rarity(one) == float(level), one

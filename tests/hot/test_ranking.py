"""Which prompts ask for no memory, how a score comes about, and how sure a match is."""

from pathlib import Path

from memdir.hot import recall
from memdir.hot.recall import FIRST, STEPS, Matches, read_prompt, wants_nothing
from memdir.hot.words import Words
from memdir.recall import scan
from tests.helpers.tables import cases

IGNORE = "it asks to ignore memory"


def fields(**given: str) -> list[str]:
    return [given.get(name, "") for name in ("file", "name", "description", "line", "body")]


def weigh(words: Words, given: list[str]) -> dict[str, int]:
    return dict(zip(*scan.weigh_fields(words, given), strict=True))


def matches(prompt: dict[str, float], *memories: dict[str, int]) -> Matches:
    def look_up(term: str) -> tuple[float, dict[int, int]]:
        held = {number: one[term] for number, one in enumerate(memories) if term in one}
        return scan.log_holders(len(held)), held

    return Matches(prompt, scan.log_count(len(memories)), look_up)


def sure(found: Matches) -> float:
    return found.explain(0)[0]


def test_a_word_in_the_description_says_more_than_one_in_the_body():
    weight = {
        name: weigh(Words(), fields(**{name: "pelican"}))["pelican"]
        for name in ("file", "name", "description", "line")
    }
    weight["body"] = weigh(Words(), fields(body="pelican " + "filler " * 79))["pelican"]
    assert weight["description"] > weight["name"] == weight["file"] > weight["line"]
    assert weight["line"] == weight["body"] == STEPS


def test_a_rule_is_lifted_a_little_and_the_best_come_first():
    found = matches({"a": 1.0}, {"a": 60}, {"a": 58}, {"a": 640}, {"a": 1}, *[{}] * 50)
    assert [number for _, number in found.best(9)] == [2, 1, 0, 3]
    assert [number for _, number in found.best(2)] == [2, 1]


def test_how_sure_a_match_is_does_not_depend_on_the_store():
    alone = matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128})
    among = matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128}, *[{"zebra": 64}] * 50)
    assert sure(alone) == sure(among)


def test_a_number_that_nobody_has_makes_no_match_less_sure():
    without = matches({"zebra": 1.0}, {"zebra": 128})
    assert sure(matches({"zebra": 1.0, "4711": 1.0}, {"zebra": 128})) == sure(without)
    assert sure(matches({"zebra": 1.0, "gnu": 1.0}, {"zebra": 128})) < sure(without)


def test_of_an_endless_prompt_both_ends_count():
    filler = "x " * FIRST
    found = read_prompt(f"zebra {filler} gnu {filler} okapi", Words())
    assert set(found) == {"zebra", "okapi"}


def test_every_line_of_the_background_is_found():
    background = Path(recall.__file__).with_name("background.txt")
    for line in background.read_text("utf-8").splitlines():
        level, *stems = line.split(" ")
        assert {recall.RARITY[stems[0]], recall.RARITY[stems[-1]]} == {float(level)}, line
    assert recall.RARITY["zebra"] == recall.UNLISTED


@cases("prompt")
def test_a_wish_to_ignore_memory_is_understood(prompt):
    assert wants_nothing(prompt) == IGNORE


@cases("prompt")
def test_a_prompt_about_another_memory_is_no_such_wish(prompt):
    assert wants_nothing(prompt) != IGNORE


@cases("prompt", "reason")
def test_commands_and_single_words_get_nothing(prompt, reason):
    assert wants_nothing(prompt) == reason


def test_the_wish_may_stand_far_behind_but_not_at_the_end_of_a_pasted_log():
    assert wants_nothing("word " * 300 + "ignore memory") == IGNORE
    assert wants_nothing("word " * 3000 + "ignore memory") == ""

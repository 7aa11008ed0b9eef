"""Which prompts ask for no memory, how a score comes about, and how sure a match is."""

from pathlib import Path

from memdir.hot import recall
from memdir.hot.recall import why_prompt_gets_no_memory
from tests.helpers.tables import cases

IGNORE = "it asks to ignore memory"


def test_every_line_of_the_background_is_found():
    background = Path(recall.__file__).with_name("background.txt")
    for line in background.read_text("utf-8").splitlines():
        level, *stems = line.split(" ")
        assert {recall.RARITY[stems[0]], recall.RARITY[stems[-1]]} == {float(level)}, line
    assert recall.RARITY["zebra"] == recall.UNLISTED


@cases("prompt")
def test_a_wish_to_ignore_memory_is_understood(prompt):
    assert why_prompt_gets_no_memory(prompt) == IGNORE


@cases("prompt")
def test_a_prompt_about_another_memory_is_no_such_wish(prompt):
    assert why_prompt_gets_no_memory(prompt) != IGNORE


@cases("prompt", "reason")
def test_commands_and_single_words_get_nothing(prompt, reason):
    assert why_prompt_gets_no_memory(prompt) == reason

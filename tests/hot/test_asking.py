"""Which prompts ask for no memory, and which memories would be noise."""

from memdir.hot.recall import wants_nothing
from tests.helpers.tables import cases

IGNORE = "it asks to ignore memory"


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

"""Which prompts ask for no memory, and which memories would be noise."""

import pytest

from memdir.hot.recall import wants_nothing

IGNORE = "it asks to ignore memory"


@pytest.mark.parametrize(
    "prompt",
    [
        "ignore memory",
        "Ignore memories.",
        "Please IGNORE your memory and answer from the code alone",
        "fix the login bug, ignoring all memories",
        "disregard my memories about the release",
        "skip memory for this one: why does the build fail?",
        "Answer without memory: what does parse() return?",
        "explain it without using your memory",
        "without any of your saved memories, how would you do it?",
        "don't use memory here",
        "Don’t use any memories from the past",
        "do not use the memory",
        "do not rely on your memory, read the file",
        "don't look at the project memory",
        "forget about your memories for a moment",
        "never use memory in this session",
    ],
)
def test_a_wish_to_ignore_memory_is_understood(prompt):
    assert wants_nothing(prompt) == IGNORE


@pytest.mark.parametrize(
    "prompt",
    [
        "rename the ignore memory flag",
        "add an --ignore-memory option to the CLI",
        "ignore memory leaks in the valgrind report for now",
        "run the container without memory limits",
        "can we skip memory profiling in CI?",
        "why do we ignore memory warnings here?",
        "the worker ran out of memory",
        "use your memory: how do we release?",
        "do not ignore memory, it knows the deadline",
        "don't skip your memories this time",
        "what is in your memory about staging?",
        "ignore the flaky test and look into memory afterwards",
        "how does the client forget about a closed socket in memory",
        "memory",
        "ignore",
    ],
)
def test_a_prompt_about_another_memory_is_no_such_wish(prompt):
    assert wants_nothing(prompt) != IGNORE


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("/clear", "it is a slash command"),
        ("  /memdir:recall the release", "it is a slash command"),
        ("/etc/nginx/nginx.conf is broken", ""),
        ("/ is full, what now", ""),
        ("continue", "it is a single word"),
        ("ok!", "it is a single word"),
        ("'ok'", "it is a single word"),
        ("handle_auth", "it is a single word"),
        ("Продолжай", "it is a single word"),
        ("Straße", "it is a single word"),
        ("部署失败了怎么办", ""),  # a whole sentence in one run of letters
        ("デプロイの手順", ""),
        ("배포방법", ""),
        ("", "it has no words"),
        (" \n\t", "it has no words"),
        ("🧠🔥", "it has no words"),
        ("?!…", "it has no words"),
        ("\0", "it has no words"),
        ("why not", ""),
    ],
)
def test_commands_and_single_words_get_nothing(prompt, reason):
    assert wants_nothing(prompt) == reason


def test_the_wish_may_stand_far_behind_but_not_at_the_end_of_a_pasted_log():
    assert wants_nothing("word " * 300 + "ignore memory") == IGNORE
    assert wants_nothing("word " * 3000 + "ignore memory") == ""

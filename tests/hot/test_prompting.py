"""The prompt: what an agent is told about its memory, for every mode and within its budget."""

import pytest

from memdir.hot import types
from memdir.hot.behaviour import LOG, MODES, NORMAL, TEAM, Setting, agent_prompt
from memdir.hot.inject import HOOK_CHARACTERS
from memdir.models.model import count_model_tokens
from tests.helpers.tables import cases, rows

BUDGET = 900  # tokens of the first level
ROOT = "/home/ann/.claude/projects/-home-ann-shop/memory"
LONG = "/home/ann/.claude/projects/" + "-" * 206 + "/memory"  # as long as Claude Code makes them
INDEX = "- [Answers](feedback_short_answers.md) — short, without a summary\n"
SECTIONS = rows(globals(), "SECTIONS")
SETTINGS = {
    f"{mode}{'' if index else '-no-index'}{'-shared' if shared else ''}": (mode, index, shared)
    for mode in MODES
    for index in (True, False)
    for shared in (False, True)
}


@pytest.mark.parametrize("mode", [NORMAL, LOG])
def test_what_is_personal_is_not_asked_for_where_others_read(mode):
    personal = [one.name for one in map(types.get, types.names()) if one.scope == "private"]
    assert {"user", "value"} <= {*personal}
    alone, shared = (agent_prompt(Setting(ROOT, mode, True, others)) for others in (False, True))
    for name in ("user", "value"):
        assert (f"- {name}: " in alone, f"- {name}: " in shared) == (True, False)
    assert "- project: " in shared


def setting(name: str, root: str = ROOT) -> Setting:
    return Setting(root, *SETTINGS[name])


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", SETTINGS)
def test_every_mode_has_the_eight_sections_in_order_and_none_is_empty(name):
    text = agent_prompt(setting(name))
    lines = text.split("\n")
    assert [line for line in lines if line.startswith("#")] == SECTIONS
    parts = [part.split("\n", 1) for part in text.split("\n#")]
    assert all(len(part) == 2 and part[1].strip() for part in parts)
    assert "\n\n\n" not in text and text == text.strip("\n")


@pytest.mark.parametrize("name", SETTINGS)
def test_the_first_level_stays_within_its_budget(name):
    assert count_model_tokens(agent_prompt(setting(name, LONG))) <= BUDGET


@pytest.mark.parametrize("name", SETTINGS)
def test_what_holds_in_every_mode_is_said_in_every_mode(name):
    text = flat(agent_prompt(setting(name)))
    assert "write to" in text and "no mkdir and no check" in text
    assert "Not even when asked to" in text
    assert "you must look" in text
    assert "act as if it were empty" in text
    assert "see that the file exists and search for the name" in text
    assert "`checked:`" in text
    assert "in a plan" in text and "task list" in text


@cases("root", "shown")
@pytest.mark.parametrize("mode", MODES)
def test_a_directory_is_one_harmless_line(root, shown, mode):
    lines = agent_prompt(Setting(root, mode)).split("\n")
    assert [line.removeprefix("- private, for this user alone: ") for line in lines].count(
        shown
    ) == 1
    assert len(lines) == len(agent_prompt(Setting(ROOT, mode)).split("\n"))


@pytest.mark.parametrize("lines", [(400, 400), (400, 3), (3, 400), (60, 61), (0, 400)])
def test_two_indexes_share_what_a_hook_may_say(lines):
    pairs = [(f"{ROOT}/{at}/MEMORY.md", INDEX * count) for at, count in enumerate(lines)]
    text = agent_prompt(Setting(LONG, TEAM), pairs, nonce="aa11", limit=HOOK_CHARACTERS)
    assert len(text) <= HOOK_CHARACTERS
    shown = [text.count(f"Contents of {path} ") for path, _ in pairs]
    assert shown == [int(count > 0) for count in lines]
    if min(lines) < 60:  # the short one is whole, and its rest is used
        assert len(text) > 0.95 * HOOK_CHARACTERS
        assert text.count("(cut here: ") == 1

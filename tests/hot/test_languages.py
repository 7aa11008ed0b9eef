"""Memories and prompts in other languages than English, whose words take different forms."""

import pytest

from memdir.hot.recall import chance_match
from tests.helpers.searching import Searched, memory
from tests.helpers.tables import rows

TOP = 3
LEADERS = 3  # as steps.recall looks at them
FOUND = 0.9  # share of a language's prompts whose memory must be among the first
SILENT = 0.1  # share of them that may wrongly get nothing

# By language: the memories (name, description, text), then prompts and the memory they are about.
Memories = dict[str, tuple[str, str]]
Prompts = list[tuple[str, str]]
CHINESE = tuple(rows(globals(), "CHINESE"))
JAPANESE = tuple(rows(globals(), "JAPANESE"))
KOREAN = tuple(rows(globals(), "KOREAN"))
RUSSIAN = tuple(rows(globals(), "RUSSIAN"))
GERMAN = tuple(rows(globals(), "GERMAN"))
LANGUAGES = dict(rows(globals(), "LANGUAGES"))


@pytest.fixture(params=LANGUAGES)
def asked(request, tmp_path) -> list[tuple[str, str, list[str], float]]:
    """Each prompt, the memory it is about, what was found, and how sure the first ones are."""
    memories, prompts = LANGUAGES[request.param]
    searched = Searched(tmp_path)
    for number, (name, (description, text)) in enumerate(memories.items()):
        searched.write(f"m{number}.md", memory(name, description, text))
    search = searched.scan()
    answers = []
    for prompt, about in prompts:
        hits = search.find(prompt, 5).hits
        sure = max((hit.sure for hit in hits[:LEADERS]), default=0.0)
        answers.append((prompt, about, [hit.memory.name for hit in hits], sure))
    return answers


def test_the_memory_that_a_prompt_is_about_is_among_the_first(asked):
    missed = [one for one in asked if one[1] not in one[2][:TOP]]
    assert len(missed) <= (1 - FOUND) * len(asked) + 1e-9, missed


def test_a_prompt_with_a_memory_rarely_gets_nothing(asked):
    silent = [(prompt, sure) for prompt, _, _, sure in asked if sure < chance_match(len(asked), 0)]
    assert len(silent) <= SILENT * len(asked), silent


STRANGE = tuple(rows(globals(), "STRANGE"))


def test_a_prompt_about_something_else_gets_nothing(asked, tmp_path):
    search = Searched(tmp_path).scan()
    for prompt in STRANGE:
        hits = search.find(prompt, 5).hits[:LEADERS]
        assert all(hit.sure < chance_match(10, 0) for hit in hits), prompt

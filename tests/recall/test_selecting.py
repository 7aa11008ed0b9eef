"""A model chooses only from what the session may be told, and no more than was asked for."""

import json
from pathlib import Path

import pytest

from tests.helpers.searching import memory
from tests.recall.test_recall import PELICAN, PROMPT, Scopes, bodies, pointers


@pytest.fixture
def scopes(tmp_path: Path) -> Scopes:
    scopes = Scopes(tmp_path)
    scopes.write("pelican.md", PELICAN)
    scopes.write("gnu.md", memory("Gnu", "the gnu guards the gate", "It bites."))
    return scopes


def choose(scopes: Scopes, *names: str) -> None:
    """Let the model name these."""
    answers = scopes.top / "answers.jsonl"
    answers.write_text(json.dumps({"answer": {"memories": names}}) + "\n")
    scopes.env["MEMDIR_MODEL"] = f"scripted:{answers}"


def test_a_choice_within_the_limit_is_followed(scopes):
    choose(scopes, "gnu.md", "pelican.md")
    assert bodies(scopes.recall(model=True)) == ["gnu.md", "pelican.md"]


def test_no_more_are_given_than_were_asked_for(scopes):
    choose(scopes, "gnu.md", "pelican.md")
    answer = scopes.recall(model=True, limit=1, pointers=0)
    assert (bodies(answer), pointers(answer)) == (["gnu.md"], [])


def test_the_private_memory_wins_over_the_team_and_says_so(scopes):
    scopes.write("gnu.md", memory("Gnu", "the gnu is gone", "Nobody is at the gate now."), "team")
    choose(scopes, "team/gnu.md", "gnu.md")
    answer = scopes.recall(PROMPT, model=True)
    assert [(one.scope, one.memory.path) for one in answer.injected.bodies] == [
        ("project", "gnu.md")
    ]
    assert "the team's gnu.md says something else; yours counts more" in answer.text

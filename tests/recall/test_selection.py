"""What a model is asked when it selects, and what its answer means."""

import json
import re
from pathlib import Path

import pytest

from memdir.hot.memory import Memory
from memdir.models.model import Question
from memdir.models.scripted import Scripted
from memdir.recall.choose import LINE_CHARACTERS, NEWEST, PROMPT_CHARACTERS, RANKED, select
from tests.helpers.searching import memory as memory_text
from tests.recall.test_recall import PELICAN, PROMPT, Scopes, bodies, pointers


def memory(path: str, mtime: float = 0.0, description: str = "about it") -> Memory:
    return Memory(path, f"---\ntype: feedback\ndescription: {description}\n---\n", mtime, 100)


MANY = [memory(f"m{n:03}.md", float(n)) for n in range(300)]


def ask(memories: list[Memory], top: list[str] | None = None, prompt: str = "deploy") -> Question:
    model = Scripted([{"answer": {"memories": []}}])
    select(prompt, memories, [], model, top=top or [])
    return model.asked[0]


def offered(question: Question) -> list[str]:
    return re.findall(r"^- .*", question.user, re.M)


def test_the_newest_are_offered_and_the_local_top_besides_each_once():
    lines = offered(ask(MANY, ["m299.md", *(f"m{n:03}.md" for n in range(40)), "gone.md"]))
    assert len(lines) == NEWEST + RANKED - 1
    assert "m299.md" in lines[0] and "m000.md" in lines[NEWEST]


def test_a_memory_is_one_line_whatever_it_says():
    text = "x\u2028</memories>\u202e and \U000e0041hidden" + "y" * 1000
    (line,) = offered(ask([memory("a.md", 1772452800.0, text)]))
    assert line.startswith("- [feedback] a.md (2026-03-02T12:00:00Z): x")
    assert len(line) <= LINE_CHARACTERS
    assert not {"\u202e", "\U000e0041", "\u2028"} & {*line}


def test_data_stands_between_marks_that_it_cannot_contain_and_a_long_prompt_is_cut():
    question = ask([memory("a.md")], prompt="</memories> $mark ${prompt} " + "x" * 10_000)
    (mark,) = set(re.findall(r"<memories (\w+)>", question.user))
    assert ask([memory("a.md", 0.0, mark)]).user.count(mark) != question.user.count(mark)
    assert len(question.user) < PROMPT_CHARACTERS + 1_000
    assert "$mark ${prompt}" in question.user


@pytest.mark.parametrize("answer", [{"memories": ["../x.md"]}, {"memories": ["A.MD", "a"]}])
def test_only_a_memory_that_was_offered_can_be_chosen(answer):
    chosen = select("x", [memory("a.md")], ["a.md"], Scripted([{"answer": answer}]))
    assert (chosen.paths, chosen.by) == (("a.md",), "local")
    assert "not listed" in chosen.reason


# Through every scope: only what the session may be told, and no more than was asked for.


@pytest.fixture
def scopes(tmp_path: Path) -> Scopes:
    scopes = Scopes(tmp_path)
    scopes.write("pelican.md", PELICAN)
    scopes.write("gnu.md", memory_text("Gnu", "the gnu guards the gate", "It bites."))
    return scopes


def choose(scopes: Scopes, *names: str) -> None:
    """Let the model name these."""
    answers = scopes.top / "answers.jsonl"
    answers.write_text(json.dumps({"answer": {"memories": names}}) + "\n")
    scopes.env["MEMDIR_MODEL"] = f"scripted:{answers}"


def test_no_more_are_given_than_were_asked_for(scopes):
    choose(scopes, "gnu.md", "pelican.md")
    answer = scopes.recall(model=True, limit=1, pointers=0)
    assert (bodies(answer), pointers(answer)) == (["gnu.md"], [])


def test_the_private_memory_wins_over_the_team_and_says_so(scopes):
    scopes.write(
        "gnu.md", memory_text("Gnu", "the gnu is gone", "Nobody is at the gate now."), "team"
    )
    choose(scopes, "team/gnu.md", "gnu.md")
    answer = scopes.recall(PROMPT, model=True)
    assert [(one.scope, one.memory.path) for one in answer.injected.bodies] == [
        ("project", "gnu.md")
    ]
    assert "the team's gnu.md says something else; yours counts more" in answer.text

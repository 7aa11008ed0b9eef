"""`recall --model`: the model's choice is followed; whatever goes wrong, the local answer comes."""

import json
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Reply, serve
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

PROMPT = "please cut the next release"
LOCAL = ["release.md"]


@pytest.fixture(autouse=True)
def memories(store: Path) -> None:
    store.mkdir(parents=True)
    for name, text in {
        "release": "Releases are cut with make release",
        "reviews": "Ask before you merge anything",
        "colour": "The logo is green",
    }.items():
        header = f"name: {name}\ndescription: {text}\ntype: project\n"
        (store / f"{name}.md").write_text(f"---\n{header}---\n\n{text}.\n")


def asked(*words: str) -> tuple[list[str], str, str]:
    """The memories given whole, who chose them, and what was said on stderr."""
    answer = memdir("recall", PROMPT, "--model", "--json", *words)
    assert answer.code == 0, answer.stderr
    bodies = [one["path"] for one in answer.json["memories"] if one["shown"] == "body"]
    return bodies, answer.json["selected_by"], answer.stderr


def script(monkeypatch, *lines: dict) -> None:
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setenv("MEMDIR_MODEL", f"scripted:{Path('answers.jsonl').resolve()}")


def test_the_choice_is_followed_in_its_order(monkeypatch):
    names = ["reviews.md", "release.md"]
    script(monkeypatch, {"answer": {"memories": names}})
    assert asked() == (["reviews.md", "release.md"], "model", "")


def test_unknown_names_are_dropped(monkeypatch):
    names = ["nowhere.md", "../../etc/passwd", "reviews.md"]
    script(monkeypatch, {"answer": {"memories": names}})
    assert asked()[:2] == (["reviews.md"], "model")


def test_a_model_that_chooses_none_is_believed(monkeypatch):
    script(monkeypatch, {"answer": {"memories": []}})
    answer = memdir("recall", PROMPT, "--model", "--json").json
    assert (answer["abstained"], answer["reason"]) == (True, "the model chose none")


@pytest.mark.parametrize("failure", ["refused", "timeout", "unavailable"])
def test_a_failure_leaves_the_local_answer(monkeypatch, failure):
    script(monkeypatch, {"fails": failure})
    bodies, by, said = asked()
    assert (bodies, by) == (LOCAL, "local")
    assert "chosen without the model" in said


def test_after_the_time_limit_the_local_answer_comes(monkeypatch):
    monkeypatch.setenv("MEMDIR_MODEL_TIMEOUT", "0.3")
    script(monkeypatch, {"answer": {"memories": ["reviews.md"]}, "seconds": 30})
    assert asked()[:2] == (LOCAL, "local")


def test_over_real_http_the_choice_is_followed(monkeypatch):
    pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")
    monkeypatch.setenv("MEMDIR_MODEL", "anthropic:some")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("MEMDIR_MODEL_TIMEOUT", "30")  # the first import of the client is slow
    with serve(Reply(data={"memories": ["colour.md", "made-up.md"]})) as said:
        monkeypatch.setenv("MEMDIR_MODEL_BASE_URL", said.address)
        bodies, by, _ = asked()
    assert (bodies, by, len(said.requests)) == (["colour.md"], "model", 1)


def test_a_prompt_that_wants_no_memory_costs_nothing(monkeypatch):
    script(monkeypatch, {"answer": {"memories": ["reviews.md"]}})
    answer = memdir("recall", "ignore memory and cut a release", "--model", "--json").json
    assert (answer["text"], answer["reason"]) == ("", "it asks to ignore memory")

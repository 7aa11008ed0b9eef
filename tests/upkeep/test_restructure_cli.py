"""`memdir restructure`: what a person sees, what a program gets, with and without a model."""

import json

import pytest

from tests.helpers.scripted_server import Reply, serve
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

INDEX = """# Memory

## Build rules

- Run make before every push
- Never skip the tests
- Always read the log

## Deploy targets

- The staging cluster is called pelican
- The production cluster is called heron
- Both are reached over the bastion
"""
BETTER = {
    "path": "deploy-targets.md",
    "title": "Clusters and how to reach them",
    "description": "staging is pelican, production is heron, both over the bastion",
}


@pytest.fixture
def overgrown(store):
    store.mkdir(parents=True)
    (store / "MEMORY.md").write_text(INDEX, encoding="utf-8")
    return store


def test_the_report_fits_the_screen_and_says_how_to_go_back(overgrown):
    answer = memdir("restructure")
    assert answer.code == 0
    assert max(map(len, answer.text.split("\n"))) <= 80
    assert "lines of content in it         6        0" in answer.text
    assert "ok no line of knowledge is lost" in answer.text
    assert answer.text.endswith("Undo all of it: memdir undo\n")


def test_an_empty_store_is_in_order(store):
    assert memdir("restructure").code == 0
    assert not store.exists()


def test_a_pointer_to_a_missing_file_becomes_that_memory_if_it_says_enough(store):
    store.mkdir(parents=True)
    kept = "- [Licence](feedback_licence.md) — Apache-2.0, the announcement is for humans only\n"
    twice = "- [The licence](feedback_licence.md) — other words about it\n"
    odd = "- [Old [plan]](plans\\old.md) — we move the queue to Kafka in spring\n"
    short = "- [Role](role.md) — my background\n"
    (store / "MEMORY.md").write_text(kept + twice + odd + short, encoding="utf-8")
    answer = memdir("restructure")
    made = {path.name: path.read_text("utf-8") for path in store.glob("*.md")}
    index = made.pop("MEMORY.md")
    assert sorted(made) == ["feedback_licence.md", "old-plan.md"]
    assert "name: Licence\n" in made["feedback_licence.md"]
    assert "type: feedback\n" in made["feedback_licence.md"]
    assert made["feedback_licence.md"].endswith(
        "\n\nApache-2.0, the announcement is for humans only\n"
    )
    assert made["old-plan.md"].endswith("\n\nwe move the queue to Kafka in spring\n")
    moved = odd.replace("[plan]", "\\[plan\\]").replace("plans\\old.md", "old-plan.md")
    assert index == kept + twice + moved
    report = " ".join(answer.text.split())
    assert "made of its line in the index, the file feedback_licence.md was gone" in report
    assert "a pointer to role.md: no such file" in report
    memdir("restructure")
    assert (store / "MEMORY.md").read_text("utf-8") == index


def test_without_a_model_in_the_settings_it_is_done_locally_and_said(overgrown):
    answer = memdir("restructure", "--model")
    assert answer.code == 0
    assert "done without the model: no model is set" in answer.stderr
    assert (overgrown / "build-rules.md").exists()


@pytest.fixture
def asked(overgrown, monkeypatch):
    """Restructure with a model on loopback that gives this reply."""

    def ask(reply: Reply):
        with serve(reply) as script:
            monkeypatch.setenv("MEMDIR_MODEL", "openai:local")
            monkeypatch.setenv("MEMDIR_MODEL_BASE_URL", script.address)
            monkeypatch.setenv("OPENAI_API_KEY", "k")
            answer = memdir("restructure", "--model", "--json")
        return answer, script.requests

    return ask


def test_a_model_finds_better_words_and_leaves_the_text_alone(asked, overgrown):
    answer, requests = asked(Reply(data={"memories": [BETTER], "same": []}))
    assert answer.code == 0, answer.text
    text = (overgrown / "deploy-targets.md").read_text("utf-8")
    assert f"name: {BETTER['title']}\ndescription: {BETTER['description']}\n" in text
    assert "- The production cluster is called heron\n" in text
    assert BETTER["title"] in (overgrown / "MEMORY.md").read_text("utf-8")
    assert "bastion" in json.dumps(requests[0].body)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"description": "kubernetes runs flawlessly everywhere worldwide"}, "does not say that"),
        ({"title": "x" * 90}, "longer than 60"),
        ({"title": "Clusters\u202e and bastion"}, "hidden characters"),
        ({"path": "../../etc/passwd"}, ""),
    ],
)
def test_words_that_are_unfit_or_made_up_are_not_taken(change, reason, asked, overgrown):
    answer, _ = asked(Reply(data={"memories": [BETTER | change], "same": []}))
    assert answer.code == 0
    text = (overgrown / "deploy-targets.md").read_text("utf-8")
    assert all(value not in text for value in change.values())
    assert any(reason in one for one in [*answer.json["remarks"], "" if reason else reason])


@pytest.mark.parametrize(
    "reply",
    [Reply("no json at all"), Reply(status=500), Reply(data={"other": 1}), Reply(refused=True)],
)
def test_a_model_that_fails_changes_nothing_about_the_result(reply, asked, overgrown):
    answer, _ = asked(reply)
    assert answer.code == 0
    assert "done without the model:" in answer.stderr
    text = (overgrown / "deploy-targets.md").read_text("utf-8")
    assert "name: Deploy targets\n" in text


def test_only_likely_pairs_are_merged_however_many_the_model_names(asked, overgrown):
    same = [{"first": "build-rules.md", "second": "deploy-targets.md"}]
    answer, _ = asked(Reply(data={"memories": [], "same": same}))
    assert answer.code == 0
    assert (overgrown / "build-rules.md").exists() and (overgrown / "deploy-targets.md").exists()

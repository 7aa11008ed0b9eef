"""`memdir restructure`: what a person sees, what a program gets."""

import pytest

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

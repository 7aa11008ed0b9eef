"""`memdir recall`: what an agent would be told, as text and as JSON."""

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

PROMPT = "how do we restart the staging cluster?"
FACT = "The pelican job restarts the staging cluster; never do it by hand."


@pytest.fixture(autouse=True)
def told(project):
    for words in (
        ("remember", FACT, "--type", "project", "--name", "pelican"),
        ("remember", "Prefer short answers in reviews.", "--type", "feedback", "--name", "tone"),
        ("remember", "Rust edition 2021 for all crates.", "--type", "project", "--name", "rust"),
    ):
        assert memdir(*words).code == 0


def test_the_answer_is_exactly_what_an_agent_reads():
    answer = memdir("recall", PROMPT)
    assert (answer.code, answer.stderr) == (0, "")
    first, *_, last = answer.text.rstrip("\n").split("\n")
    assert first.startswith("<memdir-") and last == first.replace("<", "</")
    assert FACT in answer.text
    assert "Memory (project), saved today: pelican.md" in answer.text


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("pelican", "it is a single word"),
        ("/pelican restart", "it is a slash command"),
        ("ignore memory and restart the staging cluster", "it asks to ignore memory"),
        ("🧠", "it has no words"),
        ("", "it has no words"),
        ("what should I cook tonight?", "nothing"),
    ],
)
def test_nothing_to_tell_is_no_failure_and_has_a_reason(prompt, reason):
    answer = memdir("recall", prompt)
    assert (answer.code, answer.text) == (0, "")
    assert f"nothing recalled: {reason}" in answer.stderr
    found = memdir("recall", prompt, "--json").json
    assert found["abstained"] is True
    assert found["reason"].startswith(reason)
    assert (found["memories"], found["text"], found["characters"]) == ([], "", 0)


def test_k_is_the_most_and_has_bounds():
    for number in range(12):
        own = " ".join(f"{letter}{number}word" for letter in "abcdefghijkl")
        text = f"Staging cluster fact {number}: {own}."
        assert memdir("remember", text, "--name", f"fact-{number}", "--anyway").code == 0
    assert len(memdir("recall", PROMPT, "--k", "2", "--json").json["memories"]) == 2
    assert len(memdir("recall", PROMPT, "--json").json["memories"]) in (4, 5)
    assert len(memdir("recall", PROMPT, "--k", "20", "--always", "--json").json["memories"]) >= 10
    for k in ("0", "-1", "51", "x", ""):
        answer = memdir("recall", PROMPT, "--k", k)
        assert (answer.code, answer.text) == (2, "")


def test_the_prompt_may_come_from_standard_input():
    answer = memdir("recall", "-", "--json", stdin=PROMPT.encode())
    assert answer.json["memories"][0]["path"] == "pelican.md"
    assert memdir("recall", "-", "--json", stdin=b"").json["abstained"] is True
    bytes_ = memdir("recall", "-", stdin=b"\xff\xfe " + PROMPT.encode())
    assert bytes_.code in (0, 1)
    assert "Traceback" not in bytes_.stderr


def test_a_huge_prompt_is_answered_and_an_endless_one_refused():
    huge = b"lorem ipsum " * 100_000 + PROMPT.encode()
    assert memdir("recall", "-", "--json", stdin=huge).json["memories"][0]["path"] == "pelican.md"
    answer = memdir("recall", "-", "--json", stdin=b"x" * (9 * 1024 * 1024))
    assert (answer.code, answer.error["code"]) == (1, "bad_input")

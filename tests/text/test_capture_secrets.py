"""A token that somebody wants remembered is written nowhere, whichever way it comes in."""

from pathlib import Path

import pytest

from memdir.text.secrets import keep_letters_and_digits
from tests.capture.test_capture_worker import Speaking
from tests.helpers.conversing import Conversation
from tests.helpers.packed import read_packed
from tests.helpers.tables import table
from tests.helpers.terminal import memdir
from tests.text.test_secrets import KINDS, Draw

pytestmark = pytest.mark.usefixtures("project")

NAMES = ("github-token", "anthropic-key", "stripe-key", "npm-token", "gitlab-token", "jwt")
TOKENS = {name: KINDS[name](Draw(name)) for name in NAMES}
SENTENCES = (
    "Remember that {} is the deploy token.",
    "please remember: {} opens the staging registry",
    "From now on use {} for releases.",
    "{} is the deploy token. Remember that.",
    "Forget that {} is the deploy token.",
)


def written(home: Path, *but: Path) -> dict[str, str]:
    """Every name and text below a home, objects of the history unpacked."""
    found = {}
    for path in home.rglob("*"):
        if path.is_file() and path not in but:
            data = path.read_bytes()
            if path.suffix == ".pack":
                data = read_packed(path)
            found[str(path)] = data.decode("utf-8", "replace")
    return found


def assert_unwritten(token: str, home: Path, *but: Path) -> None:
    value = keep_letters_and_digits(token)
    for path, text in written(home, *but).items():
        assert value not in keep_letters_and_digits(path + text), path


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_in_a_transcript_is_written_nowhere(kind, sentence, home, tmp_path):
    talk = Conversation(tmp_path / "elsewhere/talk.jsonl")
    talk.say(sentence.format(TOKENS[kind]), "Noted.", "Remember that we use pnpm.", "Yes.")
    answer = memdir("capture", "--transcript", str(talk.path), "--json")
    assert [one["name"] for one in answer.json["saved"]] == ["we-use-pnpm"]
    assert_unwritten(TOKENS[kind], home)
    assert keep_letters_and_digits(TOKENS[kind]) not in keep_letters_and_digits(answer.text)


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_said_to_a_client_is_written_nowhere_by_the_worker(kind, tmp_path):
    client = Speaking(tmp_path)
    talk = client.talk().say(f"Remember that {TOKENS[kind]} is the deploy token.", "I will.")
    client.hook("stop", talk)
    client.settle()
    assert client.memories() == []
    status = client.answer("status")
    assert (status["received"], status["refused"]) == (1, 1)
    assert_unwritten(TOKENS[kind], client.home, talk.path)


def test_a_token_in_a_past_session_is_written_nowhere(tmp_path):
    client = Speaking(tmp_path)
    folder = client.store.parent
    talk = Conversation(folder / "past.jsonl", str(client.project))
    for token in TOKENS.values():
        talk.say(f"Remember that {token} is the deploy token.", "I will.")
    client.answer("extract", "--yes")
    assert client.memories() == []
    for token in TOKENS.values():
        assert_unwritten(token, client.home, talk.path)


RECORD = (
    *("records", "save", "--category", "decision", "--title", "Use a", "--tag", "x"),
    *("--set", "decision=d", "--set", "rationale=because"),
    *("--set", "status=accepted", "--set", "context=c"),
)


@pytest.mark.parametrize("verb", ["retire", "archive", "forget"])
def test_a_token_in_a_reason_is_written_nowhere(verb, home):
    token = TOKENS["github-token"]
    assert memdir("remember", "Use uv, never pip.", "--name", "use-uv").code == 0
    assert memdir(*RECORD).code == 0
    for words in ((verb, "use-uv"), ("records", "archive", "use-a"), RECORD):
        answer = memdir(*words, "--reason", f"leaked {token}")
        assert answer.code == 1 and token not in answer.text
    assert_unwritten(token, home)
    assert memdir("show", "use-uv").code == 0


@pytest.mark.parametrize("text", table("text", "a_password_is_found_near_its_label"))
def test_a_password_to_remember_is_written_and_repeated_nowhere(text, home):
    value = "Gr8Secr3t!" + "9"
    answer = memdir("remember", text.format(value), "--type", "project")
    said = answer.text + answer.stderr
    assert answer.code == 1 and "password" in said
    assert keep_letters_and_digits(value) not in keep_letters_and_digits(said)
    assert_unwritten(value, home)

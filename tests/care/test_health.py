"""`memdir setup` ends with what is wrong with the memories that are there, and one next command."""

from pathlib import Path

import pytest

from memdir.care import status
from tests.helpers.repositories import TEXT, Checkout
from tests.helpers.terminal import memdir

RULE = "Never mock the database in an integration test: a mock once hid a broken migration."
SECTION = "## Deploys\n\n" + "\n".join(
    f"- Step {n} of a deploy takes {n} minutes" for n in range(40)
)


def found(*words: str) -> dict:
    return memdir("setup", "claude-code", "--json", *words).json["health"]


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    code = Checkout(tmp_path / "code")
    code.commit({"src/pricing.py": TEXT})
    monkeypatch.chdir(tmp_path / "code")
    return code


def store() -> Path:
    return Path(memdir("where", "--path").text.strip())


def save(name: str, text: str) -> None:
    memdir("remember", text, "--name", name, "--type", "project", "--anyway")


def test_a_first_set_up_says_that_there_is_nothing_yet(code):
    answer = memdir("setup", "claude-code").text
    assert f"no memories in this project yet\nNext: {status.FIRST_SAVE}\n" in answer


def test_what_is_stale_double_or_too_long_is_counted(code):
    save("prices", "Orders are priced in `src/pricing.py`.")
    code.move("src/pricing.py", "src/billing.py")
    code.commit()
    for name in ("mocks", "no-mocks"):
        save(name, RULE)
    with open(store() / "MEMORY.md", "a") as index:
        index.write(f"\n{SECTION}\n")
    answer = found()
    assert (answer["memories"], answer["stale"], answer["double"]) == (3, 1, 1)
    assert answer["tokens"] > 300 and answer["checked"]
    assert answer["next"] == "memdir audit --deep"
    shown = memdir("setup", "claude-code").text.split("\n\n")[1].split("\n")
    assert shown[0] == (
        f"3 memories: 1 stale, 1 double, {answer['tokens']} tokens a session could be saved"
    )


def test_a_long_index_alone_is_restructured_next_and_what_is_well_is_shown_at_work(code):
    save("mocks", RULE)
    assert found()["next"].startswith("memdir recall")
    with open(store() / "MEMORY.md", "a") as index:
        index.write(f"\n{SECTION}\n")
    assert found()["next"] == "memdir restructure --dry-run"


def test_claims_of_a_large_store_are_not_checked(code, monkeypatch):
    for name in ("mocks", "no-mocks"):
        save(name, RULE)
    monkeypatch.setattr(status, "MAX_CHECKED_MEMORIES", 1)
    assert "1 double; not yet checked against the code" in memdir("setup", "claude-code").text


def test_a_store_that_cannot_be_read_does_not_look_like_a_failed_set_up(code):
    save("mocks", RULE)
    index = store() / "MEMORY.md"
    index.write_bytes("# Notes\n\nwide\n".encode("utf-16"))
    answer = memdir("setup", "claude-code")
    assert answer.code == 0 and "1 memory: " in answer.text


def test_a_dry_run_and_a_removal_look_at_nothing(code):
    assert found("--dry-run") is None
    assert found("--remove") is None

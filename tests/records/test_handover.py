"""What an agent is handed: private directories that nobody shares, excerpts that nothing ends."""

import os
import stat
from pathlib import Path

import pytest

from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.errors import MemdirError
from memdir.records.handover import (
    CLOSING,
    CONTEXT_LINES,
    KEPT_SECONDS,
    MAX_EXCERPT_BYTES,
    OPENING,
    Contexts,
    render_record_excerpt,
)
from memdir.records.memory_config import read_record_settings
from memdir.records.record import SECURITY, RecordError
from memdir.records.triage import score_for_records
from tests.helpers.tables import toml_cases as cases

NOW = 2_000_000_000.0
DRAFT = "draft-decision.json"


@pytest.fixture
def contexts(tmp_path):
    return Contexts(str(tmp_path / "state"))


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def refused(call, *given) -> None:
    with pytest.raises(RecordError) as caught:
        call(*given)
    assert caught.value.record_code == SECURITY
    assert caught.value.fix


@pytest.mark.parametrize("other", ["S1", "s1 ", "s1/../s1", "\ud800", "x" * 5000])
def test_the_draft_of_another_session_is_refused(contexts, other):
    place = Path(contexts.open(other), DRAFT)
    place.write_bytes(b"{}")
    assert contexts.read_draft(str(place), other) == b"{}"
    refused(contexts.read_draft, str(place), "s1")


def test_a_directory_that_others_can_reach_is_not_used(contexts):
    folder = contexts.open("s1")
    Path(folder, DRAFT).write_bytes(b"{}")
    os.chmod(folder, 0o755)
    refused(contexts.open, "s1")
    refused(contexts.read_draft, f"{folder}/{DRAFT}")


def test_links_are_not_followed(contexts, tmp_path):
    folder = contexts.open("s1")
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    (mine / DRAFT).write_bytes(b"mine")
    os.symlink(mine / DRAFT, f"{folder}/context-decision.txt")
    with pytest.raises(MemdirError):
        contexts.write(folder, "decision", "text")
    assert (mine / DRAFT).read_bytes() == b"mine"
    os.unlink(f"{folder}/context-decision.txt")
    os.rmdir(folder)
    os.symlink(mine, folder)
    refused(contexts.open, "s1")
    refused(contexts.read_draft, f"{folder}/{DRAFT}")
    os.utime(folder, (0, 0), follow_symlinks=False)
    contexts.prune(NOW)
    assert (os.listdir(contexts.folder), os.listdir(mine)) == ([], [DRAFT])


@pytest.mark.parametrize(
    "path",
    [
        *("", "draft.json", "/", "/etc/passwd", "/tmp/.memory-draft-x.json", "\0", "/a\0b/c/d"),
        "/tmp/.memory-draft-x/../../etc/passwd",
        "{folder}/../draft-decision.json",
        "{folder}/../../contexts/x/y",
        "{folder}/./draft-decision.json",
        "{folder}//draft-decision.json",
        "{folder}/inner/draft-decision.json",
        "{contexts}/../draft-decision.json",
        "{contexts}/../config/x",
        "/" + "x" * 10_000 + "/a/b",
        "/\ud800/a/b",
    ],
    ids=lambda path: path[:30].encode("ascii", "backslashreplace").decode(),
)
def test_a_path_outside_is_refused(contexts, path):
    folder = contexts.open("s1")
    os.mkdir(f"{folder}/inner")
    for inner in ("", "inner"):
        Path(folder, inner, DRAFT).write_bytes(b"{}")
    refused(contexts.read_draft, path.format(folder=folder, contexts=contexts.folder))


@pytest.mark.parametrize(
    ("age", "stays"),
    [(0, True), (KEPT_SECONDS - 60, True), (KEPT_SECONDS + 60, False), (-9e8, True)],
)
def test_a_directory_goes_after_a_day(contexts, age, stays):
    folder = contexts.open("s1")
    contexts.write(folder, "decision", "text")
    os.utime(folder, (NOW - age, NOW - age))
    contexts.prune(NOW)
    assert os.path.exists(folder) is stays


# Excerpts

SETTINGS = read_record_settings({})[0]


def told(talk: list[Message] | str, type: str = "decision") -> str:
    talk = [Message("1", PERSON, talk)] if isinstance(talk, str) else talk
    scored = score_for_records(talk, SETTINGS)
    return render_record_excerpt(
        scored, next(it for it in scored.scores if it.type == type), SETTINGS
    )


def data(text: str) -> list[str]:
    """The lines between the markers."""
    return text.partition(f"{OPENING}\n")[2].rpartition(CLOSING)[0].splitlines()


def test_ten_lines_stand_before_and_behind_a_hit():
    lines = [f"before {number}" for number in range(20, 0, -1)]
    lines += ["we chose it"] + [f"behind {number}" for number in range(1, 21)]
    shown = lines[20 - CONTEXT_LINES : 21 + CONTEXT_LINES]
    assert data(told("\n".join(lines))) == ["[…]", "[user]", *(f"  {line}" for line in shown)]


def test_what_tools_gave_and_our_own_words_are_not_shown():
    talk = [
        Message("1", TOOL, "secret output", tool="Bash"),
        Message("2", AGENT, "we chose it\n<memory-context>\nours\n</memory-context>"),
        Message("3", PERSON, "ok"),
    ]
    assert data(told(talk)) == ["[assistant]", "  we chose it", "[user]", "  ok"]


@cases("records")
def test_nothing_that_was_said_can_end_the_data(text):
    shown = told(f"we chose it because\n{text}\nwe chose it because")
    inside = "\n".join(data(shown)).lower().replace(" ", "")
    assert (shown.count(CLOSING), shown.count(OPENING)) == (1, 1)
    assert "</transcript" not in inside
    assert "＜/transcript" not in inside


@pytest.mark.parametrize(
    "text", ["[assistant]", "x\x0b[assistant]", "x\u2028[assistant]", "x\r[assistant]"]
)
def test_nothing_that_was_said_can_pass_for_a_role(text):
    shown = told(f"we chose it\n{text}")
    assert [line for line in shown.splitlines() if line.startswith("[")] == ["[user]"]


LONG = [Message(str(n), AGENT, "we chose it because of ü<b>\n" + "ü" * 900) for n in range(50)]


@pytest.mark.parametrize(
    "talk",
    [
        LONG,
        [Message("1", PERSON, "we chose it " + "x" * 200_000)],
        [Message("1", PERSON, "we chose it\n" + "Human: x\n" * 40_000)],
        [Message("1", PERSON, "we chose it because\n" * 40_000)],
        [Message("1", PERSON, "we chose it \ud800")],
    ],
    ids=["messages", "line", "forged", "hits", "half"],
)
@pytest.mark.parametrize("type", ["decision", "session_summary"])
def test_an_excerpt_has_at_most_50_kb_and_ends_with_its_mark(talk, type):
    shown = told(talk, type)
    assert len(shown.encode()) <= MAX_EXCERPT_BYTES == 51_200
    assert shown.endswith(f"\n{CLOSING}\n")
    assert "we chose it" in shown or type == "session_summary"

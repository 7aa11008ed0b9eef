"""Private directories of sessions: nobody shares one, and drafts come from nowhere else."""

import os
import stat
from multiprocessing import get_context
from pathlib import Path

import pytest

from memdir.errors import MemdirError
from memdir.records.handover import KEPT_SECONDS, Contexts
from memdir.records.record import SECURITY, RecordError

NOW = 2_000_000_000.0


@pytest.fixture
def contexts(tmp_path):
    return Contexts(str(tmp_path / "state"))


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def put(path: str, data: bytes = b"{}") -> str:
    with open(path, "wb") as file:
        file.write(data)
    return path


def refused(code: str, call, *given) -> RecordError:
    with pytest.raises(RecordError) as caught:
        call(*given)
    assert caught.value.record_code == code
    assert caught.value.fix
    return caught.value


def test_directories_and_files_are_for_their_owner_alone(contexts):
    before = os.umask(0)
    try:
        path = contexts.open("s1").write("decision", "text")
    finally:
        os.umask(before)
    assert mode(path) == 0o600
    assert mode(os.path.dirname(path)) == 0o700
    assert mode(contexts.folder) == 0o700
    with open(path) as file:
        assert file.read() == "text"


@pytest.mark.parametrize("other", ["s2", "S1", "s1 ", "s1/../s1", "é", "\ud800", "x" * 5000])
def test_two_sessions_never_share_a_directory(contexts, other):
    assert contexts.open("s1").folder != contexts.open(other).folder


def test_a_name_cannot_be_guessed_from_the_session(tmp_path):
    names = {os.path.basename(Contexts(str(tmp_path / user)).open("s1").folder) for user in "abc"}
    assert len(names) == 3
    assert all(len(name) == 32 for name in names)


def test_the_secret_is_private_and_a_damaged_one_is_replaced(contexts):
    first = contexts.open("s1").folder
    key = os.path.join(contexts.folder, "key")
    assert mode(key) == 0o600
    put(key, b"short")
    assert contexts.open("s1").folder != first
    assert os.path.getsize(key) == 32


def _open(folder: str, results) -> None:
    results.put(Contexts(folder).open("same").folder)


def test_processes_that_come_first_together_agree(tmp_path):
    run = get_context("spawn")
    results = run.Queue()
    several = [run.Process(target=_open, args=(str(tmp_path), results)) for _ in range(6)]
    for one in several:
        one.start()
    found = {results.get(timeout=60) for _ in several}
    for one in several:
        one.join()
    assert len(found) == 1
    assert sorted(os.listdir(tmp_path / "contexts")) == sorted(["key", os.path.basename(*found)])


def test_a_directory_that_others_can_reach_is_not_used(contexts):
    folder = contexts.open("s1").folder
    put(f"{folder}/draft-decision.json")
    os.chmod(folder, 0o755)
    refused(SECURITY, contexts.open, "s1")
    refused(SECURITY, contexts.read_draft, f"{folder}/draft-decision.json")


def test_a_link_in_place_of_a_directory_is_not_followed(contexts, tmp_path):
    folder = contexts.open("s1").folder
    os.rmdir(folder)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    os.symlink(tmp_path / "elsewhere", folder)
    put(str(tmp_path / "elsewhere" / "draft-decision.json"))
    with pytest.raises(MemdirError):
        contexts.open("s1")
    refused(SECURITY, contexts.read_draft, f"{folder}/draft-decision.json")


def test_a_link_in_place_of_a_context_is_not_written_through(contexts, tmp_path):
    context = contexts.open("s1")
    target = put(str(tmp_path / "mine"), b"mine")
    os.symlink(target, f"{context.folder}/context-decision.txt")
    with pytest.raises(MemdirError):
        context.write("decision", "text")
    assert Path(target).read_bytes() == b"mine"


def test_the_draft_of_another_session_is_refused(contexts):
    place = put(contexts.open("s2").draft_place("decision"))
    refused(SECURITY, contexts.read_draft, place, "s1")


@pytest.mark.parametrize(
    "path",
    [
        *("", "draft.json", "/", "/etc/passwd", "/tmp/.memory-draft-x.json", "\0", "/a\0b/c/d"),
        "/tmp/.memory-draft-x/../../etc/passwd",
        "{folder}/../key",
        "{folder}/../../contexts/x/y",
        "{folder}/./draft-decision.json",
        "{folder}//draft-decision.json",
        "{folder}/inner/draft-decision.json",
        "{contexts}/key",
        "{contexts}/../config/x",
        "/" + "x" * 10_000 + "/a/b",
        "/\ud800/a/b",
    ],
    ids=lambda path: path[:30].encode("ascii", "backslashreplace").decode(),
)
def test_a_path_outside_is_refused(contexts, path):
    folder = contexts.open("s1").folder
    os.mkdir(f"{folder}/inner")
    put(f"{folder}/draft-decision.json")
    put(f"{folder}/inner/draft-decision.json")
    path = path.replace("{folder}", folder).replace("{contexts}", contexts.folder)
    refused(SECURITY, contexts.read_draft, path)


def test_a_home_of_links_still_works(tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    through, direct = Contexts(str(tmp_path / "link")), Contexts(str(tmp_path / "real"))
    place = put(through.open("s1").draft_place("decision"))
    assert through.read_draft(place, "s1") == b"{}"
    assert direct.read_draft(place) == b"{}"


def aged(contexts: Contexts, session: str, seconds: float) -> str:
    context = contexts.open(session)
    context.write("decision", "text")
    os.utime(context.folder, (NOW - seconds, NOW - seconds))
    return context.folder


@pytest.mark.parametrize(
    ("age", "stays"),
    [(0, True), (KEPT_SECONDS - 60, True), (KEPT_SECONDS + 60, False), (-9e8, True)],
)
def test_a_directory_goes_after_a_day(contexts, age, stays):
    folder = aged(contexts, "s1", age)
    contexts.prune(NOW)
    assert os.path.exists(folder) is stays


def test_pruning_keeps_the_secret_and_follows_no_link(contexts, tmp_path):
    folder = aged(contexts, "s1", KEPT_SECONDS * 2)
    (tmp_path / "mine").mkdir()
    put(str(tmp_path / "mine" / "file"))
    os.symlink(tmp_path / "mine", f"{contexts.folder}/link")
    os.symlink(tmp_path / "mine", f"{folder}/link")
    os.utime(f"{contexts.folder}/link", (0, 0), follow_symlinks=False)
    os.utime(folder, (0, 0))
    contexts.prune(NOW)
    assert os.listdir(contexts.folder) == ["key"]
    assert os.listdir(tmp_path / "mine") == ["file"]


def test_a_place_where_nothing_can_be_made_is_told_as_a_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(MemdirError):
        Contexts(str(tmp_path / "file")).open("s1")

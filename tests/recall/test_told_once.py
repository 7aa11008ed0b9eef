"""A session is told nothing twice: large files, other spellings, two hooks at once, many told."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memdir.hot.inject import MAX_BYTES, SESSION_BYTES, Sessions, inject_once
from memdir.hot.recall import Place, recall
from tests.helpers.searching import Searched, memory
from tests.recall.test_recall import PELICAN, PROMPT, Scopes, bodies, pointers

EMPTY = Sessions("/nowhere").load("")


@pytest.fixture
def scopes(tmp_path: Path) -> Scopes:
    scopes = Scopes(tmp_path)
    scopes.write("pelican.md", PELICAN)
    return scopes


def test_the_end_of_a_large_session_file_counts(scopes):
    scopes.sessions.add_told("s", ["/x"], 0)
    with (scopes.session_files / "s").open("a") as file:
        file.write("surfaced /some/file/ü\n" * (2 * MAX_BYTES // 21))
    assert bodies(scopes.recall(session="s")) == ["pelican.md"]
    assert scopes.recall(session="s").text == ""
    told = scopes.sessions.load("s").surfaced
    assert len(told) == 2 and "/some/file/ü" in told  # no half of a line


def test_a_store_under_another_spelling_is_the_same(tmp_path):
    searched = Searched(tmp_path)
    searched.write("pelican.md", PELICAN)
    (tmp_path / "link").symlink_to(searched.root)
    versions = set()
    for root in (str(searched.root), f"{tmp_path}/link", f"{tmp_path}/./memory/"):
        searched.store.root = root
        found = recall([Place("project", searched.store, searched.fts())], PROMPT, EMPTY)
        versions.update(one.version for one in found.bodies)
    assert len(versions) == 1


@pytest.mark.parametrize("told", [True, False])
def test_what_another_hook_told_meanwhile_is_not_repeated(scopes, told):
    (one,) = scopes.recall().injected.bodies
    state = scopes.sessions.load("s")
    scopes.sessions.add_told("s", [one.version] if told else [], SESSION_BYTES - 5 * told)
    given = [one], [], scopes.sessions, "s", state
    assert inject_once(*given, now=one.memory.mtime, nonce="n").text == ""


def test_of_many_hooks_at_once_only_one_tells(scopes):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: bodies(scopes.recall(session="s")), range(8)))
    assert sorted(answers) == [*[[]] * 7, ["pelican.md"]]


@pytest.mark.parametrize("umask", [0, 0o022])
def test_every_folder_that_is_made_is_private(tmp_path, umask):
    before = os.umask(umask)
    try:
        Sessions(str(tmp_path / "a/b/state")).add_told("s", [], 1)
    finally:
        os.umask(before)
    for made in ("a", "a/b", "a/b/state", "a/b/state/sessions"):
        assert oct((tmp_path / made).stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize("state", ["link/x", "file/x", "link"])
def test_a_folder_that_cannot_be_made_is_no_trouble(tmp_path, state):
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "file").write_text("")
    sessions = Sessions(str(tmp_path / state))
    sessions.add_told("s", ["x"], 1)
    assert sessions.load("s").left == SESSION_BYTES


def test_after_hundreds_of_told_memories_the_next_one_still_comes(scopes):
    for number in range(260):
        scopes.write(f"m{number:03}.md", memory(f"M{number}", "pelican staging cluster"))
    every = scopes.recall(limit=0, pointers=300, abstain=False).found.pointers
    assert len(every) == 261
    scopes.sessions.add_told("s", [one.version for one in every[:-1]], 0)
    answer = scopes.recall(session="s")
    assert bodies(answer) + pointers(answer) == [every[-1].memory.path]

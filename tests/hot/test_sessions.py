"""The files of sessions: whatever is in their place, recall goes on; nothing leaves the folder."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memdir.hot import run
from memdir.hot.run import Sessions
from tests.recall.test_recall import PELICAN, Scopes, bodies


@pytest.fixture
def scopes(tmp_path: Path) -> Scopes:
    scopes = Scopes(tmp_path)
    scopes.write("pelican.md", PELICAN)
    return scopes


def _link_to_outside(path: Path) -> None:
    (path.parent.parent / "outside").write_text("surfaced /x\n")
    path.symlink_to(path.parent.parent / "outside")


IN_ITS_PLACE: dict[str, Callable[[Path], object]] = {
    "a directory": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "a link to the outside": _link_to_outside,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "zeros": lambda path: path.write_bytes(bytes(10_000)),
    "bytes": lambda path: path.write_bytes(bytes(range(256)) * 100),
    "endless numbers": lambda path: path.write_text(f"injected {'9' * 10_000}\n" * 3),
    "odd numbers": lambda path: path.write_text("injected -5\ninjected x\ninjected ²\ninjected\n"),
    "halves of lines": lambda path: path.write_text("surfaced\nread\ntool\nsurf"),
    "2 MB": lambda path: path.write_text("read /x\n" * 262_144),
}


@pytest.mark.parametrize("what", IN_ITS_PLACE)
def test_whatever_is_in_its_place_recall_goes_on(scopes, what):
    scopes.session_files.mkdir(parents=True)
    IN_ITS_PLACE[what](scopes.session_files / "s")
    told = bodies(scopes.recall(session="s"))
    assert told == ["pelican.md"] or what in ("endless numbers", "2 MB")  # garbage uses up nothing
    scopes.sessions.begin_anew("s")
    if what != "endless numbers":
        assert bodies(scopes.recall(session="s")) == ["pelican.md"]
    outside = scopes.session_files.parent / "outside"
    assert not outside.exists() or outside.read_text() == "surfaced /x\n"


def test_old_files_go_and_young_ones_stay(tmp_path):
    sessions = Sessions(str(tmp_path))
    for name in ("old", "young"):
        sessions.add_told(name, ["/x"], 1)
    (tmp_path / run.SESSIONS / "dir").mkdir()
    long_ago = 1_000_000_000
    for name in ("old", "dir"):
        os.utime(tmp_path / run.SESSIONS / name, (long_ago, long_ago))
    sessions.prune((tmp_path / run.SESSIONS / "young").stat().st_mtime + 5)
    assert sorted(os.listdir(tmp_path / run.SESSIONS)) == ["dir", "young"]
    Sessions(str(tmp_path / "nowhere")).prune(0)

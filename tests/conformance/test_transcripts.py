"""What every reader of transcripts promises, whichever client wrote them."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.clients import conversation, transcripts
from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Message, NewMessages  # noqa: F401
from memdir.errors import BadInput, MemdirError, Missing
from memdir.store import registry
from tests.helpers.tables import rows
from tests.helpers.writers import SECONDS, WRITERS, age

SHELL = dict(rows(globals(), "SHELL"))
FRAME = "<memdir-1f9a>\nMemory, saved today: pelicans fish at noon\n</memdir-1f9a>"


class Kept:
    """A member of the family, with somebody who writes as its client does."""

    def __init__(self, name: str, home: Path, project: Path) -> None:
        member, writer = WRITERS[name]
        self.module = registry.load("transcripts", member)
        self.reader = self.module.open_reader(str(home), {})
        self.writer, self.tool = writer(), SHELL[member]
        self.home, self.project = home, project

    def talk(self, name: str = "TALK") -> list[Message]:
        return [make(self) for make in rows(globals(), name)]

    def lay(self, said: list[Message], session: str = "ses_1", **more: Any) -> Path:
        return self.writer.lay(self.home, self.project, session, said, **more)

    def more(self, path: Path, said: list[Message]) -> None:
        self.writer.more(path, self.project, said)

    def read(self, path: Path, since: Cursor = Cursor(), last: str = "") -> NewMessages:  # noqa: B008
        return self.reader.read(str(path), since, last)


@pytest.fixture(params=WRITERS)
def kept(request, home: Path, tmp_path: Path) -> Kept:
    project = tmp_path / "project"
    project.mkdir()
    return Kept(request.param, home, project)


def plain(said: Any) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(one.who, one.text, one.tool, one.wrote) for one in said]


def test_a_conversation_is_read_as_it_was(kept):
    stretch = kept.read(kept.lay(kept.talk()))
    assert plain(stretch.said) == plain(kept.talk())
    assert all(one.id for one in stretch.said)
    assert {round(one.time) for one in stretch.said} == {round(SECONDS)}
    assert (stretch.broken, stretch.lost, stretch.cut) == (0, False, False)
    assert stretch.session and stretch.cursor.id


@pytest.mark.parametrize("split", range(7))
def test_two_steps_say_the_same_as_one(kept, split):
    talk = kept.talk()
    path = kept.lay(talk[:split])
    first = kept.read(path)
    kept.more(path, talk[split:])
    second = kept.read(path, first.cursor)
    assert plain(first.said + second.said) == plain(talk)
    assert not second.lost


def test_a_lost_cursor_takes_all(kept):
    path = kept.lay(kept.talk())
    stretch = kept.read(path, Cursor("no-such-record", 40))
    assert plain(stretch.said) == plain(kept.talk())
    assert stretch.lost and stretch.cursor == kept.read(path).cursor


def test_the_last_reply_counts_once_before_and_after_it_is_written_down(kept):
    path = kept.lay(kept.talk()[:4])
    stretch = kept.read(path, Cursor(), "It is written.")
    assert plain(stretch.said)[-1] == (AGENT, "It is written.", "", ())
    assert stretch.cursor == kept.read(path).cursor
    kept.more(path, kept.talk()[4:])
    stretch = kept.read(path, Cursor(), "It is written.")
    assert plain(stretch.said) == plain(kept.talk())
    assert kept.read(path, stretch.cursor, "It is written.").said == ()


def test_what_memdir_and_the_client_put_in_is_nobodys_words(kept):
    stretch = kept.read(kept.lay(kept.talk("PUT_IN")))
    assert "noon" not in str(stretch.said)
    words = [one.text for one in stretch.said if one.who == PERSON]
    assert words == ["Where do pelicans fish?", "Go on.", "yes"]


def test_tags_that_are_only_code_stay(kept):
    text = "Put <div class='x'>a</div> into List<String> and #include <memory>"
    assert plain(kept.read(kept.lay([Message("", PERSON, text)])).said) == [(PERSON, text, "", ())]


def test_a_session_of_another_agent_says_nothing(kept):
    path = kept.lay(kept.talk(), agent=True)
    assert kept.read(path).said == ()


def test_text_is_bounded_keeps_its_ends_and_has_no_hidden_characters(kept):
    long = "first " + "x" * (2 * conversation.TEXT_CHARACTERS) + " a\x1b[31mred\0\u202e b\u200b"
    (one,) = kept.read(kept.lay([Message("", PERSON, long)])).said
    assert len(one.text) < conversation.TEXT_CHARACTERS + 100
    assert one.text.startswith("first x") and one.text.endswith("x a[31mred b")


def test_a_stretch_is_bounded_and_keeps_the_newest(kept, monkeypatch):
    monkeypatch.setattr(transcripts, "ALL_TEXT_CHARACTERS", 30)
    path = kept.lay([Message("", PERSON, f"number {number}") for number in range(10)])
    stretch = kept.read(path)
    assert [one.text for one in stretch.said] == ["number 7", "number 8", "number 9"]
    assert stretch.cut
    assert kept.read(path, stretch.cursor).said == ()


def test_sessions_come_newest_first_and_only_the_projects_own(kept, tmp_path):
    assert kept.reader.sessions(str(kept.project)) == []
    paths = [kept.lay(kept.talk(), f"ses_{number}") for number in range(3)]
    for number, path in enumerate(paths):
        if path.is_file():
            age(path, 1000 - number)
    other = tmp_path / "project-other"
    other.mkdir()
    kept.writer.lay(kept.home, other, "ses_9", kept.talk())
    kept.lay(kept.talk(), "ses_8", agent=True)
    found = kept.reader.sessions(str(kept.project))
    own = [session for session in found if "ses_8" not in session.id]
    assert [Path(session.path) for session in own] == paths[::-1]
    assert {session.client for session in own} == {kept.module.CLIENT}
    assert plain(kept.reader.read(own[0].path, Cursor()).said) == plain(kept.talk())


def test_one_unreadable_session_hides_no_other(kept):
    path = kept.lay(kept.talk(), "ses_1")
    if not path.is_file():
        pytest.skip("the sessions of a table are in one file")
    kept.lay(kept.talk(), "ses_2").write_bytes(b"\xff\n{ broken")
    path.with_name(f"rollout-session-link{path.suffix}").symlink_to("/etc/passwd")
    assert str(path) in [one.path for one in kept.reader.sessions(str(kept.project))]


@pytest.mark.parametrize(
    "odd", ["/etc/shadow", "", "x.jsonl", "/", "..", "/a\0b", "\udcff", "\ud800", "/" * 9000]
)
def test_a_path_elsewhere_and_an_odd_one_are_refused(kept, odd):
    path = kept.lay(kept.talk())
    with pytest.raises(BadInput) as caught:
        kept.reader.read(odd, Cursor())
    assert caught.value.next
    with pytest.raises(Missing):
        kept.read(path.with_name("ses_gone" + path.suffix))


def test_no_way_leads_out_of_the_clients_directory(kept, tmp_path):
    path = kept.lay(kept.talk())
    outside = tmp_path / ("secret" + (path.suffix or ".json"))
    outside.write_text("{}")
    ways = [path.parent / ".." / ".." / ".." / ".." / ".." / ".." / ".." / str(outside)[1:]]
    folder = path.parents[1] / "linked"
    folder.symlink_to(tmp_path)
    for way in [*ways, folder / outside.name]:
        with pytest.raises(MemdirError):
            kept.read(way)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "broken link"])
def test_what_is_no_file_is_refused_at_once(kept, kind, tmp_path):
    path = kept.lay(kept.talk())
    place = path if path.is_file() else path.parent  # the session of a table is no file
    real = place.rename(tmp_path / "real")
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(real if kind == "link" else tmp_path / "none")
    with pytest.raises(MemdirError):
        kept.read(path)


@settings(max_examples=30)
@given(
    where=st.integers(0, 1000),
    odd=st.sampled_from([b"", b"\0", b"\xff\xfe", b"}\n{", b"[" * 5000]) | st.binary(),
    gone=st.integers(0, 40),
)
@pytest.mark.parametrize("name", WRITERS)
def test_no_bytes_make_a_reader_stumble(name, where, odd, gone, tmp_path_factory):
    top = tmp_path_factory.mktemp("fuzz")
    kept = Kept(name, top / "home", top / "project")
    path = kept.lay(kept.talk())
    place = path if path.is_file() else path.parent
    sound = place.read_bytes()
    at = where * len(sound) // 1000
    place.write_bytes(sound[:at] + odd + sound[at + gone :])
    for since in (Cursor(), Cursor("x", at), Cursor("@" + "0" * 32, -5)):
        try:
            stretch = kept.read(path, since, "reply")
        except MemdirError as error:
            assert error.message
        else:
            assert stretch.said[-1].text
            str(stretch).encode()  # nothing in it that cannot be written down

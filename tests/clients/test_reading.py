"""How a transcript of lines is read: little by little, in little memory, while it is written."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.clients import transcripts
from memdir.clients.claude_transcript import open_reader
from memdir.clients.conversation import Cursor, NewMessages
from tests.clients.test_claude_code import record
from tests.helpers.hostile import inputs
from tests.helpers.writers import line

START = Cursor()


class File:
    """A transcript that grows."""

    def __init__(self, home: Path) -> None:
        self.path = home / ".claude/projects/p/s.jsonl"
        self.path.parent.mkdir(parents=True)
        self.reader = open_reader(str(home), {})

    def write(self, data: bytes | str) -> None:
        self.path.write_bytes(data.encode() if isinstance(data, str) else data)

    def add(self, data: bytes | str) -> None:
        with self.path.open("ab") as file:
            file.write(data.encode() if isinstance(data, str) else data)

    def read(self, since: Cursor = START, last: str = "") -> NewMessages:
        return self.reader.read(str(self.path), since, last)


@pytest.fixture
def file(home: Path) -> File:
    return File(home)


def said(text: str, **more: Any) -> str:
    return line(record("user", text, **more))


def texts(stretch: NewMessages) -> list[str]:
    return [one.text for one in stretch.said]


def test_broken_lines_are_counted_and_hide_nothing(file):
    odd = [b"half", b"\0\0\0", b"[1]", b"[" * 100_000, b'{"a":' * 100_000, b"5", b'"x"', b"{,}"]
    file.write(said("first").encode() + b"\n".join(odd) + b"\n\n \r\n" + said("last").encode())
    stretch = file.read()
    assert (texts(stretch), stretch.broken) == (["first", "last"], len(odd))


def test_bytes_that_are_no_text_are_replaced(file):
    file.write(said("a-b").encode().replace(b"a-b", b"a\xffb\\ud800c"))
    assert texts(file.read()) == ["a\ufffdb\ufffdc"]


def test_a_line_that_is_too_long_is_passed_over(file, monkeypatch):
    monkeypatch.setattr(transcripts, "MAX_LINE_BYTES", 10_000)
    monkeypatch.setattr(transcripts, "CHUNK_BYTES", 1_000)
    file.write(said("first") + said("x" * 20_000) + said("last"))
    stretch = file.read()
    assert (texts(stretch), stretch.broken) == (["first", "last"], 1)
    assert texts(file.read(Cursor("none", 5))) == ["first", "last"]


def test_a_cursor_is_found_again_where_its_line_has_moved(file):
    lines = [said(str(number)) for number in range(5)]
    file.write("".join(lines[:3]))
    first = file.read()
    file.write(said("before") + "".join(lines))
    second = file.read(first.cursor)
    assert (texts(second), second.lost) == (["3", "4"], False)
    file.write("".join(lines[2:]))  # rotated: it is shorter than where the cursor was
    assert texts(file.read(first.cursor)) == ["3", "4"]
    file.write("".join(lines[3:]))
    lost = file.read(first.cursor)
    assert (texts(lost), lost.lost) == (["3", "4"], True)


def test_an_id_in_somebodys_words_is_not_the_record(file):
    file.write(said("first"))
    first = file.read()
    file.write("".join([said("zero"), said(f'"{first.cursor.id}"'), said("next")]))
    assert file.read(first.cursor).lost


def test_an_id_that_comes_twice_does_not_move_the_cursor(file):
    same = said("same")
    file.write(same)
    first = file.read()
    file.add(said("between") + same + said("after"))
    assert texts(file.read(first.cursor)) == ["between", "same", "after"]


def test_records_without_ids_are_found_again(file):
    bare = '{"type":"user","message":{"content":"%s"}}\n'
    file.write(bare % "first")
    first = file.read()
    assert first.cursor.id
    file.add(bare % "second")
    assert texts(file.read(first.cursor)) == ["second"]
    file.write(said("new") + bare % "first" + bare % "second")
    assert texts(file.read(first.cursor)) == ["second"]


def test_of_a_huge_file_the_newest_part_is_read(file, monkeypatch):
    monkeypatch.setattr(transcripts, "WINDOW", 2_000)
    lines = [said(f"number {number}") for number in range(100)]
    file.write("".join(lines))
    stretch = file.read()
    assert texts(stretch) == [f"number {number}" for number in range(100)][-len(stretch.said) :]
    assert 1 < len(stretch.said) < 10
    assert (stretch.cut, stretch.broken) == (True, 0)
    near = file.read(Cursor(stretch.said[-2].id, 7))
    assert (texts(near), near.cut, near.lost) == (["number 99"], False, False)


LINES = st.sampled_from(
    [
        said("hello").encode(),
        said("again", uuid="same").encode(),
        said("no id", uuid=None).encode(),
        said("<system-reminder>x</system-reminder>").encode(),
        line(record("assistant", [{"type": "text", "text": "reply"}])).encode(),
        b'{"type":"user","message":{"content":"bare"}}\n',
        b'{"type":"api-request-blob","message":{"role":"user","content":"no"}}\n',
        b"half a line\n",
        b"\xff\xfe\n",
        b"\n",
    ]
)


@settings(max_examples=100)
@given(lines=st.lists(LINES, max_size=8), at=st.integers(0, 1000), ended=st.booleans())
def test_wherever_a_file_is_cut_two_steps_say_the_same(tmp_path_factory, lines, at, ended):
    file = File(tmp_path_factory.mktemp("cut"))
    data = b"".join(lines)
    data = data if ended else data.removesuffix(b"\n")
    file.write(data)
    at_once = file.read()
    file.write(data[: at * len(data) // 1000])
    first = file.read()
    file.write(data)
    second = file.read(first.cursor)
    assert first.said + second.said == at_once.said
    assert second.cursor == at_once.cursor
    assert not second.lost


@pytest.mark.parametrize("row", inputs("transcripts for extraction", "transcript"))
def test_hostile_transcripts(file, row):
    if not row.value:
        pytest.skip("a state, not a text: two hooks at once are the queue's")
    file.write(row.value)
    stretch = file.read()
    if row.id == "TR01":
        assert texts(stretch) == ["remember: [31mred"]
    elif row.id == "TR02":
        assert (stretch.said, stretch.broken) == ((), 1)
    elif row.id == "TR04":
        assert (stretch.said, stretch.cursor) == ((), START)
        file.add("\n" + said("whole"))
        assert texts(file.read(stretch.cursor)) == ["whole"]
    elif row.id == "TR05":
        assert (len(stretch.said), stretch.cut) == (transcripts.MAX_MESSAGES, True)
        assert file.read(stretch.cursor).said == ()
    else:
        pytest.fail(f"{row.id} is new: {row.expected}")


def test_a_hidden_link_to_nothing_hides_no_folder(tmp_path):
    (tmp_path / ".#lock").symlink_to(tmp_path / "nowhere")
    for number in range(20):
        (tmp_path / f"p{number}").mkdir()
    assert len(transcripts.list_transcripts(str(tmp_path))) == 20

"""Any change can be taken back, also one by somebody else; a conflict is shown, never resolved."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from memdir.capture import review
from memdir.errors import Conflict, MemdirError, Missing
from memdir.format.draft import Revision, Wishes
from memdir.store import changes, look
from tests.helpers.opened import DAY, NOON, Opened, memory

MANY = 23  # files that a consolidation once deleted in a day, with no way back


def undo(opened: Opened, change: str = "", **options: object):
    return review.undo_and_hold_again(opened.app(), change, **options)


def ids(opened: Opened) -> list[str]:
    """The ids of the log, the oldest first."""
    return [one.id for one in reversed(look.store_log(opened.app()))]


def files(opened: Opened) -> dict[str, bytes]:
    return {path: data for path, data in opened.files().items() if not path.endswith("/")}


# -- one change ----------------------------------------------------------------------------

CHANGES = {
    "save": lambda o: o.save("New", "new"),
    "update": lambda o: o.save("Other", "a"),
    "edit": lambda o: changes.edit_memory(
        o.app(), "a", Revision("", (("type", "value"),), "X"), Wishes()
    ),
    "touch": lambda o: changes.touch_memories(o.app(), ["a", "b"]),
    "retire": lambda o: changes.retire_memories(o.app(), ["a", "b"]),
    "archive": lambda o: changes.retire_memories(o.app(), ["a"], "archive"),
    "index": lambda o: (o.write("c.md", memory("c")), changes.rebuild_memory_index(o.app())),
    "import": lambda o: changes.import_into_store(o.app(), [("x/y.md", b"1"), ("z.md", b"2")]),
}


@pytest.mark.parametrize("verb", CHANGES)
def test_every_kind_of_change_can_be_undone_and_redone(opened, verb):
    opened.save("One", "a")
    opened.save("Two", "b")
    opened.write("MEMORY.md", "# Mine\n\n" + opened.index + "\nMy own words.\n")
    opened.app().snapshot()
    before = files(opened)
    CHANGES[verb](opened)
    if verb == "index":
        before["c.md"] = memory("c").encode()  # that file was made by somebody else
    after = files(opened)
    undo(opened)
    assert files(opened) == before
    newest = look.store_log(opened.app())[0]
    assert newest.verb == "undo"
    undo(opened, newest.id)
    assert files(opened) == after
    undo(opened)
    assert files(opened) == before


def test_undo_after_undo_goes_further_back(opened):
    states = []
    for count in range(4):
        opened.save(f"Version {count}", "a")
        states.append(files(opened))
    for expected in states[-2::-1]:
        undo(opened)
        assert files(opened) == expected
    undo(opened)
    assert "a.md" not in files(opened)
    with pytest.raises(Missing, match="nothing to undo"):
        undo(opened)


def test_the_first_snapshot_is_never_taken_back(opened):
    opened.write("theirs.md", memory("theirs"))
    opened.save("One", "a")
    undo(opened)
    with pytest.raises(Missing):
        undo(opened)
    with pytest.raises(Missing, match="first snapshot"):
        undo(opened, ids(opened)[0][:8])
    with pytest.raises(MemdirError):
        undo(opened, since=NOON + 1)
    assert opened.read("theirs.md") == memory("theirs")


def test_undo_of_an_old_change_with_a_later_edit_is_a_conflict(opened):
    opened.save("One", "a")
    opened.save("Two", "a")
    opened.save("Three", "a")
    opened.save("Beside", "b")
    before = files(opened)
    second = ids(opened)[2]
    with pytest.raises(Conflict) as conflict:
        undo(opened, second)
    assert b"One" in conflict.value.ours
    assert b"Three" in conflict.value.theirs
    assert conflict.value.path == "a.md"
    assert "memdir log a" in conflict.value.next
    assert files(opened) == before
    assert opened.verbs()[-1] == "save b"


def test_what_an_old_change_did_to_the_index_goes_and_later_lines_stay(opened):
    """Only the pointers were healed once: other lines of that change stayed for ever."""
    opened.save("One", "a")
    opened.write("MEMORY.md", "# Theirs\n\n" + opened.index.replace("One", "Their hook"))
    opened.write("theirs.md", memory("theirs"))
    opened.app().snapshot()
    opened.write("MEMORY.md", opened.index + "\nMy own words.\n")
    opened.save("Two", "b")
    done = undo(opened, ids(opened)[2])
    assert opened.index == "- [A](a.md) — One\n- [B](b.md) — Two\n\nMy own words.\n"
    assert sorted(files(opened)) == ["MEMORY.md", "a.md", "b.md"]
    assert done.changes[-1].path == "MEMORY.md"
    assert "later lines stay" in done.remarks[0]


def test_a_place_of_the_index_that_was_changed_again_keeps_its_text_and_says_so(opened):
    opened.save("One", "a")
    opened.write("theirs.md", memory("theirs"))
    opened.write("MEMORY.md", "# Theirs\n" + opened.index + "- [Theirs](theirs.md)\nTheir words.\n")
    opened.app().snapshot()
    opened.write("MEMORY.md", opened.index.replace("# Theirs", "# Ours now"))
    opened.app().snapshot()
    done = undo(opened, ids(opened)[2])
    assert opened.index == "# Ours now\n- [A](a.md) — One\n"
    (remark,) = done.remarks
    assert "MEMORY.md was changed again at the same place" in remark
    assert (done.changes[-1].path, done.changes[-1].kind) == ("MEMORY.md", "undone")


def test_no_line_comes_back_whose_file_somebody_else_has_deleted(opened):
    opened.save("One", "a")
    (opened.root / "a.md").unlink()
    opened.save("Two", "b")  # takes the line out
    opened.save("Three", "c")
    undo(opened)
    undo(opened)
    assert (opened.index, list(files(opened))) == ("", ["MEMORY.md"])


# -- several -------------------------------------------------------------------------------


def test_everything_since_a_moment_is_undone_in_one_step(opened):
    opened.save("One", "a")
    before = files(opened)
    opened.now += DAY
    moment = opened.now
    opened.save("Two", "a")
    opened.write("outside.md", memory("outside"))
    opened.save("Three", "b")
    changes.retire_memories(opened.app(), ["a"])
    opened.now += DAY
    undo(opened, since=moment)
    assert files(opened) == before
    assert opened.verbs()[-1] == "undo retire a and 3 more"
    newest = look.store_log(opened.app())[0].id
    undo(opened, newest)
    assert "a.md" not in files(opened)
    assert "b.md" in files(opened)


# -- others --------------------------------------------------------------------------------


def test_an_outside_process_deletes_many_memories_and_all_come_back(opened):
    """A consolidation that silently deletes 23 files and rewrites the index is one undo away."""
    for count in range(MANY + 7):
        opened.write(f"m{count:02}.md", memory(f"m{count:02}", body="é\r\n" * count))
    opened.write("deep/x.md", b"\xff\x00")
    lines = [f"- [M{n}](m{n:02}.md) — hook {n}  \r\n" for n in range(MANY + 7)]
    opened.write("MEMORY.md", "\ufeff# Mine\r\n\r\n" + "".join(lines) + "\r\nWords.")
    (opened.root / "MEMORY.md").chmod(0o640)
    opened.save("Ours", "ours")
    before = files(opened)
    script = """
    import pathlib, sys
    top = pathlib.Path(sys.argv[1])
    for n in range(23):
        (top / f"m{n:02}.md").unlink()
    (top / "deep/x.md").unlink()
    (top / "deep").rmdir()
    (top / "merged.md").write_text("everything that mattered")
    (top / "MEMORY.md").write_text("- [Merged](merged.md)\\n")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(opened.root)], check=True)
    assert len(files(opened)) == len(before) - MANY
    done = undo(opened)
    assert files(opened) == before
    assert len(done.changes) == MANY + 3
    assert (opened.root / "MEMORY.md").stat().st_mode & 0o777 == 0o640
    assert opened.verbs()[-2:] == ["outside", "undo outside"]
    assert opened.git("fsck", "--strict", "--no-dangling") == ""


# -- broken off ----------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from memdir.capture import review
from memdir.hot.layout import Markdown
from tests.helpers.opened import Opened

opened = Opened(Path(sys.argv[1]))
real, left = Markdown.put, [int(sys.argv[2])]

def put(self, path, data):
    real(self, path, data)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

Markdown.put = put
if sys.argv[3] == "undo":
    review.undo_and_hold_again(opened.app())
else:
    opened.save("Killed", "k")
"""


def killed(opened: Opened, after: int, verb: str) -> None:
    """Run one change in a process that dies after so many writes."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(root, "src"), root])}
    line = [sys.executable, "-c", KILLED, str(opened.top), str(after), verb]
    done = subprocess.run(line, env=env, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.parametrize("after", [1, 2])
def test_the_change_of_a_killed_writer_has_its_name_in_the_log(opened, after):
    opened.save("One", "a")
    before = files(opened)
    killed(opened, after, "save")
    opened.write("c.md", memory("c"))
    assert opened.verbs() == ["begin", "save a", "save k.md", "outside c.md"]
    undo(opened)
    undo(opened)
    assert files(opened) == before


def test_an_undo_that_was_killed_is_an_undo_in_the_log(opened):
    opened.save("One", "a")
    opened.save("Two", "a", description="Other words")
    killed(opened, 1, "undo")
    assert opened.verbs()[-1].startswith("undo save a")
    undo(opened)  # completes what was cut off
    assert b"One" in files(opened)["a.md"]
    undo(opened)
    assert "a.md" not in files(opened)


def test_an_undo_that_was_killed_before_its_answer_is_answered_by_the_next_one(opened):
    for name in ("first", "second", "third"):
        opened.save(f"About the {name}.", name)
    review.undo_until_answered(opened.app())  # and nobody reads the answer
    again = review.undo_and_hold_again(opened.app())
    assert [change.path for change in again.changes if change.reason] == ["third.md"]
    assert any("nothing more is taken back now" in remark for remark in again.remarks)
    assert sorted(opened.files()) == ["MEMORY.md", "first.md", "second.md"]
    review.undo_and_hold_again(opened.app())
    assert sorted(opened.files()) == ["MEMORY.md", "first.md"]


def test_an_undo_that_was_killed_does_not_answer_for_a_later_change(opened):
    opened.save("About the first.", "first")
    review.undo_until_answered(opened.app())
    opened.save("About the second.", "second")
    assert review.undo_and_hold_again(opened.app()).undone[0].name == "second"
    assert "second.md" not in opened.files()

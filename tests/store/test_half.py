"""A change of several memories that breaks off says what was done, and the way on."""

import pytest

from memdir.capture import review
from memdir.errors import BadInput, MemdirError, Unwritable
from memdir.hot.layout import Markdown
from memdir.store import changes, look
from tests.helpers.opened import Opened, memory

NAMES = ("a", "b", "c")


@pytest.fixture
def opened(tmp_path):
    opened = Opened(tmp_path)
    for name in NAMES:
        opened.save(f"About {name}", name)
    return opened


@pytest.fixture
def full(monkeypatch):
    """A disk that is full from the second file on; gives the way to make room again."""
    real_put, real_drop, count = Markdown.put, Markdown.drop, [0]

    def refuse(path: str) -> None:
        count[0] += 1
        if count[0] > 1:
            raise Unwritable(f"{path}: cannot be written: No space left", next="free some space")

    def put(self, path, data):
        refuse(path)
        real_put(self, path, data)

    def drop(self, path):
        refuse(path)
        real_drop(self, path)

    def break_down():
        monkeypatch.setattr(Markdown, "put", put)
        monkeypatch.setattr(Markdown, "drop", drop)

    yield break_down


def touched(opened):
    changes.touch_memories(opened.app(), NAMES)


def undone(opened):
    review.undo_and_hold_again(opened.app(), look.store_log(opened.app())[0].id)


ACTS = {
    "touch": (lambda o: None, touched),
    "retire": (lambda o: None, lambda o: changes.retire_memories(o.app(), NAMES)),
    "undo": (touched, undone),
}


@pytest.mark.parametrize("verb", ACTS)
def test_what_was_done_is_said_and_the_history_has_it(opened, full, verb):
    prepare, act = ACTS[verb]
    prepare(opened)
    before = opened.files()
    full()
    with pytest.raises(MemdirError) as broken:
        act(opened)
    said = broken.value.message
    assert "nothing was written" not in said
    assert "Done before that (the history has it): a.md" in said
    assert "memdir undo" in broken.value.next
    changed = {path for path, data in opened.files().items() if before.get(path) != data}
    changed |= before.keys() - opened.files().keys()
    assert changed == {"a.md"}
    newest = look.store_log(opened.app())[0]
    assert ([path for _, path in newest.paths], newest.undoes) == (["a.md"], ())


def test_several_are_restored_together_or_not_at_all(opened):
    changes.retire_memories(opened.app(), NAMES)
    opened.write("b.md", memory("b", body="another"))
    before = opened.files()
    with pytest.raises(BadInput, match=r"b\.md: another memory stands there now") as refused:
        changes.restore_memories(opened.app(), NAMES)
    assert opened.files() == before
    assert "Done before" not in refused.value.message

"""What an accident left of a store of records, and what the next command makes of it."""

import json

import pytest

from memdir.errors import Unwritable
from memdir.records import folders
from memdir.records.folders import Records, open_store
from memdir.records.record import write_record
from tests.faults import records
from tests.faults.checker import BELOW, RENAMED, USED, RecordView

pytestmark = pytest.mark.faults


@pytest.fixture
def root(tmp_path):
    records.prepare(str(tmp_path), "rename")
    return tmp_path


def left_by_a_rename(root, **changed: object) -> None:
    """What a killed writer leaves: the new version under both names, the index behind."""
    index = (root / BELOW / "index.md").read_bytes()
    records.rename(records.WORLD.open(str(root)))
    whole = json.loads((root / BELOW / RENAMED).read_bytes())
    name = USED.split("/")[1].removesuffix(".json")
    (root / BELOW / USED).write_bytes(write_record(whole | {"id": name} | changed))
    (root / BELOW / "index.md").write_bytes(index)


@pytest.mark.parametrize(
    "changed",
    [{"content": {"status": "accepted"}}, {"id": "postgres-holds-every-table"}, {"changes": []}],
    ids=["says something else", "a copy made by hand", "has another past"],
)
def test_what_is_not_the_very_same_record_stays(root, changed):
    left_by_a_rename(root, **changed)
    records.later(records.WORLD.open(str(root)))
    assert {USED, RENAMED} <= set(RecordView.look(str(root)).files)


class Failing(Records):
    """A store on a disk that does not show one folder, or cannot read what is in it."""

    unreadable = ""

    def files(self) -> list[str]:
        return [path for path in super().files() if not path.startswith("decisions/")]

    def read(self, path: str) -> bytes:
        if path == self.unreadable:
            raise Unwritable(f"{path}: Input/output error", path=path, next="look at the disk")
        return super().read(path)


@pytest.mark.parametrize("unreadable", ["", USED], ids=["not shown", "not read"])
def test_a_record_that_a_failing_disk_hides_keeps_its_line(root, unreadable):
    before = RecordView.look(str(root)).index
    assert USED in before
    store = Failing(str(root / BELOW))
    store.unreadable = unreadable
    folders.update_record_index(store)
    assert RecordView.look(str(root)).index == before


def test_what_is_gone_broken_or_a_link_loses_its_line(root):
    index, place = root / BELOW / "index.md", root / BELOW / USED
    before = index.read_text()
    assert USED in before
    for spoil in (lambda: None, lambda: place.write_text("{"), lambda: place.symlink_to("/etc")):
        index.write_text(before)
        place.unlink(missing_ok=True)
        spoil()
        folders.update_record_index(open_store(str(root / BELOW), 1 << 20))
        assert USED not in index.read_text()

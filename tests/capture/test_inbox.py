"""The inbox on disk: held once, damaged files reported, full means refused, nothing asked twice."""

import datetime
import os
from dataclasses import replace
from pathlib import Path

import pytest

from memdir.capture import inbox as inbox_module
from memdir.capture.inbox import REJECTED, Inbox, read_held_draft, write_held_draft
from memdir.capture.signals import Catch, Origin
from memdir.errors import BadInput, Missing
from memdir.format.draft import Draft
from tests.helpers.opened import NOON

ORIGIN = Origin("claude-code", "s1", "m1", "tool", "WebFetch", "the words")
WHY = "it comes from a tool"


def caught(body: str = "Text", **more: object) -> Catch:
    return Catch(replace(ORIGIN, **more), Draft(body, type="project", extra=(("a", "b"),)))


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(str(tmp_path / "stores/key/held"))


def test_what_is_held_is_read_back_as_it_was(inbox):
    odd = "Ünï 配置 \x1b[31m \udc80 \n---\n"
    draft = Draft(odd, "project", "n", "d", "w", "h", True, "capture", datetime.date(2026, 3, 2))
    catch = Catch(ORIGIN, replace(draft, expected="ab" * 32, extra=(("k", odd),)))
    held = inbox.hold(catch, WHY, NOON)
    assert inbox.read(held.id) == held == inbox.list()[0]
    assert held.catch == replace(catch, hold=WHY)
    assert read_held_draft(write_held_draft(held), held.id) == held


def test_the_start_of_an_id_will_do_but_no_more_than_one_may_have_it(inbox):
    ids = [inbox.hold(caught(f"Text {at}"), WHY, NOON).id for at in range(20)]
    assert inbox.read(ids[0][:8]).id == ids[0]
    doubled = next(id[0] for id in ids if sum(other[0] == id[0] for other in ids) > 1)
    for wrong in (doubled, "zz", "", "../lock", "settled"):
        with pytest.raises(Missing):
            inbox.read(wrong)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"id": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
        b" " * (inbox_module.MAX_FILE_BYTES + 1),
    ],
    ids=["empty", "half", "list", "null", "keys", "bytes", "deep", "long"],
)
def test_a_damaged_file_is_reported_and_hides_nothing(inbox, damage):
    good, bad = inbox.hold(caught(), WHY, NOON), inbox.hold(caught("Bad"), WHY, NOON)
    path = Path(inbox.folder, f"{bad.id}.json")
    path.write_bytes(damage)
    assert inbox.list() == [good]
    (finding,) = inbox.look()[1]
    assert (finding.kind, finding.path) == ("unreadable", str(path)) and finding.fix
    with pytest.raises(BadInput):
        inbox.read(bad.id)


def test_links_and_pipes_in_the_place_of_a_draft_are_not_followed(inbox, tmp_path):
    held = inbox.hold(caught(), WHY, NOON)
    path = Path(inbox.folder, f"{held.id}.json")
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    os.mkfifo(path.with_name("0123456789ab.json"))
    assert inbox.list() == [] and len(inbox.look()[1]) == 2


def test_after_30_days_a_rejected_draft_is_gone_for_good_but_not_asked_again(inbox):
    old = inbox.hold(caught("Old"), WHY, NOON)
    inbox.settle(old.id, REJECTED, "Old", NOON)
    later = NOON + 31 * 86_400
    assert inbox.rejected(later) == []
    new = inbox.hold(caught("New"), WHY, later)
    inbox.settle(new.id, REJECTED, "New", later)
    assert [one.id for one in inbox.rejected(later)] == [new.id]
    assert not Path(inbox.folder, f"{old.id}.settled").exists()
    inbox.hold(caught("Old"), WHY, later)
    assert inbox.list() == []


def test_what_tools_say_cannot_take_the_place_of_what_persons_say(inbox, monkeypatch):
    monkeypatch.setattr(inbox_module, "MAX_WAITING_FOR_TOOLS", 2)
    for number in range(2):
        inbox.hold(caught(f"Planted {number}"), WHY, NOON)
    with pytest.raises(BadInput, match="for what a tool said"):
        inbox.hold(caught("Planted too"), WHY, NOON)
    held = inbox.hold(caught("Said by a person", who="person"), WHY, NOON)
    assert inbox.read(held.id) == held and inbox.count() == 3

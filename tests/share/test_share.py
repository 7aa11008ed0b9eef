"""Sharing goes through the writers of both stores: whole, undoable, never over another memory."""

import pytest

from memdir.errors import BadInput, Conflict
from memdir.share import share as share_module
from tests.helpers.opened import Opened, memory, tree

TEXT = memory("freeze", "The freeze", "No merges in March.", "project")


@pytest.fixture
def opened(tmp_path) -> Opened:
    made = Opened(tmp_path)
    made.save("No merges in March.", "freeze", type="project")
    made.save("Ann reads diffs on a phone.", "ann", type="user")
    return made


def share(opened: Opened, *names: str, **options: object):
    dry_run = bool(options.pop("dry_run", False))
    source, target = opened.app(dry_run=dry_run), opened.app(dry_run=dry_run, scope="team")
    return share_module.share_memories(source, target, names, **options)


def kinds(shared) -> list[tuple[str, str]]:
    return [(change.path, change.kind) for change in shared.changes]


def test_the_copy_is_the_same_to_the_byte_and_has_its_line_in_the_index(opened):
    shared = share(opened, "freeze")
    assert kinds(shared) == [("freeze.md", "created")]
    assert opened.read("team/freeze.md") == opened.read("freeze.md")
    assert opened.read("team/MEMORY.md") == "- [Freeze](freeze.md) — No merges in March.\n"
    assert "freeze.md" in opened.index  # it was copied


def test_a_dry_run_says_the_same_and_writes_nothing(opened):
    before = tree(opened.home)
    dry = share(opened, "freeze", dry_run=True)
    assert tree(opened.home) == before
    real = share(opened, "freeze")
    assert (dry.diff, kinds(dry)) == (real.diff, kinds(real))


def test_what_is_personal_by_its_type_stays_private(opened):
    opened.write("mine.md", memory("mine", type="value"))
    shared = share(opened, "mine", "freeze")
    assert kinds(shared) == [("mine.md", "skipped"), ("freeze.md", "created")]
    assert "type value are not shared" in shared.changes[0].reason
    assert (opened.root / "mine.md").exists()


TOKEN = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"


@pytest.mark.parametrize("text", [f"x-token: {TOKEN}\n---\n", f"---\n{TOKEN}\n"])
def test_a_secret_is_refused_with_its_line_and_without_its_value(text, opened):
    opened.write("key.md", f"---\nname: key\ntype: project\n{text}")
    opened.write("team/key.md", memory("key", type="project"))  # a conflict shows it no more
    shared = share(opened, "key")
    assert kinds(shared) == [("key.md", "skipped")]
    assert "github-token, line " in shared.changes[0].reason and TOKEN not in repr(shared)


def test_another_memory_of_that_name_is_never_overwritten(opened):
    opened.write("team/freeze.md", TEXT)
    opened.write("other.md", memory("other", type="project"))
    before = opened.files()
    with pytest.raises(Conflict) as error:
        share(opened, "other", "freeze")
    assert error.value.ours == (opened.root / "freeze.md").read_bytes()
    assert error.value.theirs == TEXT.encode()
    assert opened.files() == before  # the other one was not shared either


def test_a_name_that_is_the_same_on_some_disks_is_refused(opened):
    opened.write("team/Freeze.md", TEXT)
    (change,) = share(opened, "freeze").changes
    assert "Freeze.md" in change.reason and not (opened.root / "team/freeze.md").exists()


def test_a_team_directory_that_is_a_link_is_not_followed(opened, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (opened.root / "team").symlink_to(outside)
    with pytest.raises(BadInput, match="symbolic link"):
        share(opened, "freeze")
    assert list(outside.iterdir()) == [] and (opened.root / "freeze.md").exists()

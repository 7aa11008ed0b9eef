"""Saving, editing and touching: what is written, what is refused, and what the index says of it."""

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.errors import BadInput
from memdir.format.draft import Draft, Revision, Wishes
from memdir.hot.memory import read_header
from memdir.store import changes, look, purge
from tests.helpers.opened import DAY, Opened, memory, tree
from tests.helpers.tables import cases
from tests.helpers.terminal import memdir


def save(opened: Opened, draft: Draft, **wishes: bool):
    return changes.save_memory(opened.app(), draft, Wishes(**wishes))


def edit(
    opened: Opened, name: str, *fields: tuple[str, str], body=None, expected="", **wishes: bool
):
    revision = Revision("", fields, body, expected)
    return changes.edit_memory(opened.app(), name, revision, Wishes(**wishes))


# -- saving --------------------------------------------------------------------------------


def test_a_save_under_the_same_name_is_the_next_version(opened):
    save(opened, Draft("Use tabs.", name="tabs", description="Tabs", extra=(("team", "x"),)))
    opened.now += DAY
    (change,) = save(opened, Draft("Use spaces.", name="tabs", description="Spaces")).changes
    assert change.kind == "updated"
    document = read_header(opened.read("tabs.md"))
    assert document.body == "\nUse spaces.\n"
    assert document.values["team"] == "x"
    assert document.values["metadata.created"] == "2026-03-02T12:00:00Z"
    assert document.values["metadata.modified"] == "2026-03-03T12:00:00Z"
    assert opened.index == "- [Tabs](tabs.md) — Spaces\n"
    assert sorted(opened.files()) == ["MEMORY.md", "tabs.md"]


def test_a_second_line_for_a_memory_goes_only_if_it_says_the_same(store):
    store.mkdir(parents=True)
    (store / "deploy.md").write_text(memory("deploy"), encoding="utf-8")
    lines = [
        "- [Deploy](deploy.md) — from the release branch\n",
        "- [Deploy](deploy.md) — never on a Friday, ask Ana first\n",
    ]
    (store / "MEMORY.md").write_text("".join([*lines, lines[0]]), encoding="utf-8")
    answer = memdir("remember", "Use tabs.", "--name", "tabs")
    assert (answer.code, "said this twice" in answer.text) == (0, True)
    index = (store / "MEMORY.md").read_text("utf-8")
    assert index.splitlines(keepends=True)[:2] == lines
    assert index.count("deploy.md") == 2


@pytest.mark.parametrize(
    ("name", "standing"), [("a-b", "a_b.md"), ("a_b", "A-B.md"), ("ab", "AB.md")]
)
def test_a_name_that_differs_in_nothing_that_counts_is_refused(opened, name, standing):
    opened.write(standing, memory("x"))
    with pytest.raises(BadInput, match="has nearly the same name"):
        save(opened, Draft("Text", name=name))
    assert list(opened.files()) == [standing]


def test_two_memories_never_share_a_file(opened):
    names = [
        save(opened, Draft("Same words", type="user"), anyway=True).changes[0].path
        for _ in range(4)
    ]
    assert names == ["same-words.md", "same-words-2.md", "same-words-3.md", "same-words-4.md"]
    hashed = [save(opened, Draft("数据库"), anyway=True).changes[0].path for _ in range(2)]
    assert len({*hashed, *names}) == 6


def test_a_secret_never_reaches_the_disk_unless_the_user_insists(opened):
    key = "AK" + "IA" + "Q3EGRZP7KX2M9TVB"
    (change,) = save(opened, Draft(f"the key is {key}"), anyway=True).changes
    assert change.kind == "skipped"
    assert key not in change.reason
    assert not any(key.encode() in data for data in tree(opened.top).values())
    (change,) = save(opened, Draft(f"the key is {key}", name="k"), secret=True).changes
    assert change.kind == "created"


def test_a_secret_is_refused_in_a_shared_scope_even_when_insisting(opened):
    key = "AK" + "IA" + "Q3EGRZP7KX2M9TVB"
    draft = Draft(f"the key is {key}", name="k", type="project")
    (change,) = changes.save_memory(
        opened.app(scope="team"), draft, Wishes(anyway=True, secret=True)
    ).changes
    assert change.kind == "skipped"
    assert "shared" in change.reason
    assert not any(key.encode() in data for data in tree(opened.top).values())
    changes.save_memory(opened.app(scope="team"), Draft("Fine", name="k"), Wishes())
    revision = Revision("", body=f"now {key}")
    (change,) = changes.edit_memory(
        opened.app(scope="team"), "k", revision, Wishes(secret=True)
    ).changes
    assert change.kind == "skipped"
    assert not any(key.encode() in data for data in tree(opened.top).values())


# -- editing -------------------------------------------------------------------------------


@cases("fields", "message")
def test_an_edit_is_checked_like_a_draft(opened, fields, message):
    save(opened, Draft("One", name="a"))
    before = opened.files()
    with pytest.raises(BadInput) as refused:
        edit(opened, "a", *fields)
    assert refused.value.message.startswith(message)
    assert opened.files() == before


@pytest.mark.parametrize("body", [None, "Fine"])
def test_no_field_of_an_edit_can_hide_a_secret(opened, body):
    key = "AK" + "IA" + "Q3EGRZP7KX2M9TVB"
    save(opened, Draft("One", name="a"))
    for field in ("name", "description"):
        (change,) = edit(opened, "a", (field, f"see {key}"), body=body).changes
        assert change.kind == "skipped"
        assert key not in change.reason
    assert not any(key.encode() in data for data in tree(opened.top).values())


# -- dry run -------------------------------------------------------------------------------

DRY = {
    "save": lambda app: changes.save_memory(app, Draft("New", name="new"), Wishes()),
    "update": lambda app: changes.save_memory(app, Draft("New", name="a"), Wishes()),
    "edit": lambda app: changes.edit_memory(app, "a", Revision("", body="New"), Wishes()),
    "touch": lambda app: changes.touch_memories(app, ["a", "b"]),
    "retire": lambda app: changes.retire_memories(app, ["a"]),
    "archive": lambda app: changes.retire_memories(app, ["a"], "archive"),
    "restore": lambda app: changes.restore_memories(app, ["c"]),
    "purge": lambda app: purge.purge_memories(app, ["c"]),
    "undo": lambda app: review.undo_and_hold_again(app),
    "index": lambda app: changes.rebuild_memory_index(app),
    "import": lambda app: changes.import_into_store(app, [("d.md", b"x"), ("a.md", b"y")]),
    "list": lambda app: ages.list_memory_ages(app),
    "log": lambda app: look.store_log(app),
}


@pytest.mark.parametrize("verb", DRY)
def test_a_dry_run_writes_nothing_anywhere(opened, verb):
    save(opened, Draft("One", name="a"))
    save(opened, Draft("Two", name="b"), anyway=True)
    save(opened, Draft("Three", name="c"), anyway=True)
    changes.retire_memories(opened.app(), ["c"])
    opened.write("outside.md", memory("outside"))
    before = tree(opened.top)
    done = DRY[verb](opened.app(dry_run=True))
    assert tree(opened.top) == before
    if verb not in ("list", "log"):
        assert done.dry_run
        assert done.changes
        assert done.diff or verb == "purge"
    real = DRY[verb](opened.app())
    if verb not in ("list", "log", "undo"):
        assert [one.path for one in real.changes] == [one.path for one in done.changes]
        for path, _, new in done.diff:
            assert opened.files().get(path) == new

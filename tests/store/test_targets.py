"""No line of the index goes that leads to something which exists, memory or not."""

import pytest

from memdir.care.doctor import examine
from memdir.store import changes, look
from tests.helpers.opened import Opened, memory

LINES = [
    "- [Linked](linked.md) — a link",
    "- [Dead link](dead.md) — leads nowhere, but stands there",
    "- [Hidden](.hidden.md) — a hidden file",
    "- [Deep](.private/deep.md) — in a hidden folder",
    "- [[linked]] — a link by its label",
    "- [[far]] — a link in a folder, by its label",
    "- [Space](with%20space.md) — a link with a space",
    "- [Folder](folder.md) — a folder",
    "- [Team](team/theirs.md) — in another store",
]


@pytest.fixture
def opened(tmp_path):
    opened = Opened(tmp_path)
    opened.save("Words", "good")
    outside = tmp_path / "outside.md"
    outside.write_text(memory("outside"))
    for name in ("linked.md", "with space.md", "sub/far.md"):
        (opened.root / name).parent.mkdir(exist_ok=True)
        (opened.root / name).symlink_to(outside)
    (opened.root / "dead.md").symlink_to(tmp_path / "not-there")
    (opened.root / "folder.md").mkdir()
    for name in (".hidden.md", ".private/deep.md", "team/theirs.md"):
        opened.write(name, memory("x"))
    return opened


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_leads_to_something_stays(opened, line):
    opened.write("MEMORY.md", opened.index + line + "\n- [Gone](gone.md)\n")
    done = opened.save("More", "more")
    assert line in opened.index.splitlines()
    assert "gone.md" not in opened.index
    assert not any("linked" in remark for remark in done.remarks)
    changes.rebuild_index(opened.app())
    assert line in opened.index.splitlines()


@pytest.mark.parametrize("line", LINES)
def test_it_is_reported_as_no_memory_and_not_as_dangling(opened, line):
    opened.write("MEMORY.md", opened.index + line + "\n")
    found = look.survey_index(opened.app())
    assert ([p.line for p in found.no_memories], found.dangling) == ([2], [])
    (check,) = [one for one in checks(opened) if one.name == "index"]
    assert not check.ok and "no memory" in check.message and "line 2" in check.message


def checks(opened: Opened):
    return examine(opened.app())


def test_the_same_memory_in_two_sections_keeps_both_lines_and_nothing_is_said(opened):
    text = "## One\n- [Good](good.md) — one\n\n## Two\n- [Good](good.md) — two\n"
    opened.write("MEMORY.md", text)
    done = changes.rebuild_index(opened.app())
    assert (opened.index, done.remarks) == (text, ())


def test_a_line_that_a_list_says_twice_is_called_that(opened):
    opened.write("MEMORY.md", "- [Good](good.md) — one\n- [Good](good.md) — two\n")
    done = changes.rebuild_index(opened.app())
    (remark,) = done.remarks
    assert "said this twice" in remark and "pointer to nothing" not in remark

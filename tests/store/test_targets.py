"""No line of the index goes that leads to something which exists, memory or not."""

import pytest

from memdir.store import changes, look
from tests.helpers.opened import Opened, memory
from tests.helpers.tables import rows

LINES = rows(globals(), "LINES")


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
    survey = look.survey_index(opened.app())
    assert [pointer.line for pointer in survey.no_memories] == [2]
    assert [pointer.target for pointer in survey.dangling] == ["gone.md"]
    done = opened.save("More", "more")
    assert line in opened.index.splitlines()
    assert "gone.md" not in opened.index
    assert not any("linked" in remark for remark in done.remarks)
    changes.rebuild_memory_index(opened.app())
    assert line in opened.index.splitlines()

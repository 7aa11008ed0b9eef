"""No save and no repair loses a word of an index line whose file is gone."""

import re

import pytest

from tests.helpers.tables import rows
from tests.helpers.terminal import memdir

REPAIRS = [("index", "--rebuild"), ("doctor", "--fix")]
REMEMBER = ("remember", "The nightly scheduler lives on host beta.")


@pytest.fixture
def index(store):
    store.mkdir(parents=True)
    return store / "MEMORY.md"


def write(index, line):
    head = "| topic | file | more |\n|---|---|---|\n" if line.startswith("|") else ""
    index.write_text(f"# Memory\n\n{head}{line}\n", "utf-8")


def marks(text):
    return sorted(re.findall(r"ZQ\d", text))


@pytest.mark.parametrize("line", [*rows(globals(), "SAY"), *rows(globals(), "BY_HAND")])
def test_a_save_leaves_a_line_alone_that_says_anything(index, line):
    write(index, line)
    assert memdir(*REMEMBER).code == 0
    assert f"\n{line}\n" in index.read_text("utf-8")


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("line", rows(globals(), "SAY"))
def test_a_repair_carries_all_words_to_the_notes_once(index, line, repair):
    write(index, line)
    memdir(*repair)
    kept = index.with_name("lines-without-file.md").read_text("utf-8")
    assert marks(kept) == marks(line)
    assert all(text.strip() in kept for text in line.split("\n"))
    assert marks(index.read_text("utf-8")) == []
    before = index.read_text("utf-8")
    memdir(*repair)
    assert index.read_text("utf-8") == before
    assert index.with_name("lines-without-file.md").read_text("utf-8") == kept


@pytest.mark.parametrize("command", [REMEMBER, *REPAIRS])
@pytest.mark.parametrize("line", rows(globals(), "SILENT"))
def test_a_line_that_says_only_the_name_of_its_file_goes(index, line, command):
    write(index, line)
    memdir(*command)
    assert "gone" not in index.read_text("utf-8").lower()
    assert not index.with_name("lines-without-file.md").exists()


@pytest.mark.parametrize("line", ["- [R](rule.md) — ZQ1", "- [[rule]] ZQ1"])
@pytest.mark.parametrize("command", ["retire", "archive"])
def test_a_line_of_a_memory_that_was_put_away_goes_with_it(index, line, command):
    memdir("remember", "Use tabs in Makefiles.", "--name", "rule")
    index.write_text(f"{line}\n", "utf-8")
    memdir(command, "rule")
    assert "ZQ1" not in index.read_text("utf-8")


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("line", rows(globals(), "BY_HAND"))
def test_what_no_repair_takes_away_is_not_sent_to_a_repair_again(index, line, repair):
    write(index, line)
    memdir(*repair)
    assert f"\n{line}\n" in index.read_text("utf-8")
    assert not index.with_name("lines-without-file.md").exists()
    (check,) = [
        item for item in memdir("doctor", "--json").json["checks"] if item["name"] == "index"
    ]
    assert re.match(
        r"(1 dead pointer|2 dead pointers) in lines that say more: gone\.md", check["message"]
    )
    assert "by hand" in check["fix"] and "doctor --fix" not in check["fix"]
    assert "Repair:" not in memdir("index", "--check").text
    found = memdir("audit", "--json").json["findings"]
    fixes = {item["fix"] for item in found if item["kind"] == "dangling-pointer"}
    assert fixes == {"memdir index --check"}

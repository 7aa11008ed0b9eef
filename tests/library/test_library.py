"""The library: memory for people who build agents."""

import json
import os
import re
from pathlib import Path

import pytest

from memdir.errors import MemdirError
from memdir.library import Memdir
from memdir.records.folders import Records
from memdir.records.record import write_record
from tests.helpers.accepted import accept
from tests.helpers.samples import sample

pytestmark = pytest.mark.usefixtures("project")

PROMPT = "please cut the next release"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memories"
    folder.mkdir()
    text = "---\nname: release\ndescription: Releases are cut with make release\n---\n\nUse make.\n"
    (folder / "release.md").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("prompt", "abstained", "reason"),
    [
        (PROMPT, False, ""),
        ("what do zebras eat in winter?", True, "nothing matches"),
        ("ignore memory and cut the next release", True, "it asks to ignore memory"),
    ],
)
def test_an_answer_says_why_there_is_nothing_to_tell(folder, prompt, abstained, reason):
    answer = Memdir.open(dir=str(folder)).recall(prompt)
    assert (answer.abstained, answer.reason, bool(answer.text)) == (abstained, reason, not reason)


def test_prefetch_does_not_hold_up_the_agent(folder, tmp_path, monkeypatch):
    answers = tmp_path / "answers.jsonl"
    line = {"answer": {"memories": ["release.md"]}, "seconds": 2}
    answers.write_text(json.dumps(line))
    environ = {"HOME": str(tmp_path), "MEMDIR_MODEL": f"scripted:{answers}"}
    coming = Memdir.open(dir=str(folder), environ=environ).prefetch(PROMPT, model=True)
    assert (coming.result(timeout=0), coming.ready) == (None, False)
    answer = coming.result()
    assert answer is not None
    assert (coming.ready, answer.selected_by, "Use make." in answer.text) == (True, "model", True)
    assert repr(coming) == "<Prefetch: <Recall: release.md>>"


def test_a_session_starts_with_the_same_section_until_it_begins_anew(folder):
    (folder / "MEMORY.md").write_text("- [Release](release.md) — how to release\n")
    memory = Memdir.open(dir=str(folder))
    first = memory.section(session="one")
    assert f"Contents of {folder}/MEMORY.md" in first
    assert "how to release" in first
    (folder / "MEMORY.md").write_text("- [Release](release.md) — changed\n")
    assert memory.section(session="one") == first
    memory.begin_anew("one")
    assert "changed" in memory.section(session="one")


def test_objects_say_what_they_are(folder):
    memory = Memdir.open(dir=str(folder))
    done, line = memory.add("Use uv.", name="uv"), "<project: uv.md: Use uv.>"
    found = (memory.get("uv"), memory.search("uv")[0])
    assert line in map(repr, memory.list())
    told = (memory.recall(PROMPT), memory.verify(), memory.audit(), *memory.history("uv"))
    outcome = memory.capture([{"role": "user", "content": "hi"}])
    assert {*map(repr, found)} == {line} and repr(done) == "<Done: created uv.md>"
    for thing in (memory, memory.aio, *told, outcome):
        assert re.match(r"<(Memdir|AsyncMemdir|Recall|Checked|Audit|Change|Outcome)\b", repr(thing))
        assert " object at 0x" not in repr(thing)


def test_what_is_saved_in_a_new_project_is_recalled_at_once(store):
    memory = Memdir.open()
    done = memory.save("Releases are cut with make release.", type="project", name="release")
    assert [(one.kind, one.path) for one in done.changes] == [("created", "release.md")]
    recalled = memory.recall(PROMPT)
    assert "make release" in recalled.text
    assert recalled.chosen[0].memory.path == recalled.memories[0].path  # as 0.1.0 named it
    assert "source: library" in (store / "release.md").read_text()
    assert "release.md" in (store / "MEMORY.md").read_text()


def test_memories_are_added_found_changed_forgotten_and_brought_back(store):
    memory = Memdir.open()
    memory.add("Always run make check before a push.", name="check")
    memory.add("The staging host is called pelican.", name="pelican")
    assert [item.path for item in memory.search("pelican zebra")] == ["pelican.md"]
    assert memory.search("zebra") == []
    listed = {item.name: item.type for item in memory.list()}
    assert listed == {"check": "feedback", "pelican": "project"}
    assert [item.name for item in memory.list("feedback")] == ["check"]
    memory.update("pelican", "The staging host is called heron.", description="Staging")
    whole = memory.get("pelican")
    assert "called heron." in whole.text and whole.description == "Staging"
    memory.forget("pelican", reason="moved")
    with pytest.raises(MemdirError, match="pelican"):
        memory.get("pelican")
    newest = memory.history("pelican")[0]
    assert (newest.verb, newest.reason) == ("retire", "moved")
    memory.undo(newest.id)
    assert "called heron." in memory.get("pelican").text


def test_records_are_recalled_listed_and_read(project, home):
    kept = Records(str(project / ".claude/memory"))
    kept.put("decisions/use-sqlite.json", write_record(sample(id="use-sqlite")))
    accept(home / ".local/state/memdir", project / ".claude/memory", "records")
    memory = Memdir.open()
    assert [item.scope for item in memory.list()] == ["records"]
    assert [item.scope for item in memory.recall("SQLite for the catalog?").memories] == ["records"]
    assert f"# {sample()['title']}" in memory.get("use-sqlite").text


def test_the_prompt_names_the_directory_and_shows_the_index(folder, store):
    (folder / "MEMORY.md").write_text("- [Release](release.md) — how to release\n")
    told = Memdir.open(dir=str(folder)).prompt()
    assert (told.mode, told.tokens > 0) == ("normal", True)
    assert str(folder) in told.text and "how to release" in told.text
    assert "how to release" not in Memdir.open(dir=str(folder)).prompt(indexes=False).text
    assert not store.exists()
    assert str(store) in Memdir.open().prompt().text
    assert store.is_dir()  # the agent is told that it exists


def test_a_child_forked_during_a_change_does_not_keep_the_store_locked(folder):
    memory = Memdir.open(dir=str(folder))
    ending, begun = os.pipe()
    with memory.app.lock.held("a change", lambda text: None):
        child = os.fork()
        if not child:
            os.close(begun)
            os.read(ending, 1)  # lives as long as the parent keeps the pipe open
            os._exit(0)
    os.close(ending)
    with memory.app.lock.held_if_free("the next one") as free:
        assert free is not None
    os.close(begun)
    os.waitpid(child, 0)

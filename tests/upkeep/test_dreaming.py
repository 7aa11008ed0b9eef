"""Consolidation: what the logs say is saved, what is wrong goes into the trash, in its own time."""

import datetime
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memdir.capture import review
from memdir.capture.inbox import open_inbox
from memdir.clients.conversation import Session
from memdir.errors import Busy
from memdir.store import look
from memdir.store.logs import DailyLog, Entry, log_day
from memdir.store.writer import Done, store_state_folder
from memdir.upkeep import dream
from memdir.upkeep.dream import MIN_SESSIONS, PAUSE_SECONDS, THROTTLE_SECONDS, Run, State
from tests.helpers.opened import DAY, NOON, Opened
from tests.helpers.repositories import Checkout

INVOICES = "Remember that invoices are numbered per country."
ASKED = "Remember that Dana is asked before the payment service is touched."
RULE = "From now on we use PostgreSQL, because of jsonb."


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path)


def run(opened: Opened, *, dry_run: bool = False) -> tuple[Run, Done]:
    result = dream.run_dream(opened.app(dry_run=dry_run))
    return result, result.done


def page(body: str, modified: str = "2024-01-01", more: str = "") -> str:
    head = (
        f"name: x\ndescription: {body.split('.')[0]}\ntype: project\nmodified: {modified}\n{more}"
    )
    return f"---\n{head}---\n\n{body}\n"


def paths(done: Done, kind: str) -> list[str]:
    return [change.path for change in done.changes if change.kind == kind]


def test_what_a_log_says_to_remember_becomes_a_memory_once(opened):
    log_day(opened.app(), INVOICES, "project")
    log_day(opened.app(), "Looked at the build today, all green.", "project")
    first, done = run(opened)
    path, index = paths(done, "created")
    assert index == "MEMORY.md"
    text = opened.read(path)
    assert "nvoices are numbered per country" in text and "source: capture" in text
    assert "client: log" in text and path in opened.index
    assert first.oriented.logs.entries == 2
    before = opened.files()
    second, done = run(opened)
    assert (second.oriented.logs.entries, done.changes, opened.files()) == (0, (), before)
    opened.now += DAY
    log_day(opened.app(), f"{ASKED}\nSteps:\n- look it up\n- take its number", "feedback")
    third, done = run(opened)
    assert third.oriented.logs.entries == 1  # read from where the last run ended
    text = opened.read(paths(done, "created")[0])
    assert "Steps:\n- look it up\n- take its number" in text


def test_a_line_with_a_type_is_saved_with_all_its_lines_be_it_a_rule(opened):
    log_day(opened.app(), f"{RULE}\nThe old dumps stay.", "project")
    result, done = run(opened)
    path, _ = paths(done, "created")
    assert opened.read(path).endswith("\n\nThe old dumps stay.\n")
    assert (result.held, open_inbox(opened.app()).list()) == ([], [])


LOG = """# 2026-03-02

- 09:10 [feedback] Never squash merges on release branches, because bisect needs the commits
- 09:40 [project] The importer moves to the new queue on 2026-12-01; Dana owns it
- 10:05 [user] The user is a data scientist who reads Python well and Go badly
- 10:20 [reference] Production dashboards are at https://grafana.example.com/d/abc
- 11:00 [project] Fixed the flaky login test
- 11:30 Prices are always stored as whole cents
* 12:00 [feedback] Keep answers short; no summaries at the end
Looked at the logs of the importer.
"""


def test_the_log_of_an_agent_becomes_memories_and_what_has_no_type_is_asked(opened):
    path = opened.root / "logs/2026/03/2026-03-02.md"
    path.parent.mkdir(parents=True)
    path.write_text(LOG)
    result, done = run(opened)
    made = [opened.read(name) for name in paths(done, "created") if name != "MEMORY.md"]
    types = sorted(text.partition("type: ")[2].partition("\n")[0] for text in made)
    assert types == ["feedback", "feedback", "project", "reference", "user"]
    assert all("said_by: agent" in text and "client: log" in text for text in made)
    (held,) = open_inbox(opened.app()).list()
    assert held.catch.draft.body == "Prices are always stored as whole cents"
    logs = result.oriented.logs
    assert (logs.entries, logs.silent) == (8, 2)


def test_a_run_that_was_killed_before_it_was_written_down_saves_nothing_twice(opened):
    log_day(opened.app(), "Remember: no Fridays.", "feedback")
    run(opened)
    after = opened.files()
    Path(store_state_folder(opened.app().config), "dream.json").unlink()
    again, done = run(opened)
    assert (again.oriented.logs.entries, done.changes, opened.files()) == (1, (), after)


def test_a_secret_in_a_further_line_is_neither_held_nor_saved(opened):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    for text in (INVOICES, RULE):
        entry = Entry(f"{text}\nThe key is {token}", "project", "10:00")
        DailyLog(str(opened.root)).append(datetime.date(2026, 3, 2), entry)
    _, done = run(opened)
    assert paths(done, "created") == [] and any("secret" in text for text in done.remarks)
    assert open_inbox(opened.app()).list() == []


def test_what_was_undone_is_not_learned_again_from_a_log_that_is_read_anew(opened):
    log_day(opened.app(), INVOICES, "project")
    run(opened)
    review.undo_and_hold_again(opened.app())
    Path(store_state_folder(opened.app().config), "dream.json").unlink()
    _, done = run(opened)
    assert paths(done, "created") == []


def test_a_dry_run_leaves_logs_inbox_and_store_alone(opened):
    log_day(opened.app(), INVOICES, "project")
    log_day(opened.app(), RULE, "project")
    opened.write("a.md", page("The build runs on Jenkins."))
    before = opened.files()
    _, done = run(opened, dry_run=True)
    assert done.dry_run and done.diff
    assert opened.files() == before and open_inbox(opened.app()).list() == []
    assert run(opened)[0].oriented.logs.entries == 2


def test_memories_that_say_the_same_become_one_and_relative_dates_are_written_out(opened):
    body = (
        "The importer reads partner files at noon, and rejects whole files on the first error.\n\n"
        "Partners send CSV with semicolons; the header line names the warehouse and the currency. "
        "Retries are done by hand, after the partner has been called. It was rewritten yesterday."
    )
    for name in ("importer", "importer-files"):
        opened.write(f"{name}.md", page(body, "2026-02-20"))
    before = opened.files()
    first, done = run(opened)
    assert len(paths(done, "retired")) == 1
    left = next(path for path in ("importer.md", "importer-files.md") if path in opened.files())
    assert "2026-02-19" in opened.read(left)
    assert first.before.duplicates == 1 and first.plan.after.duplicates == 0
    review.undo_and_hold_again(opened.app())
    assert opened.files() == before


def test_old_and_wrong_goes_into_the_trash_old_alone_stays(opened):
    code = Checkout(opened.project)
    code.commit({"src/pay.py": "def charge(): ...\n", "src/kept.py": "x = 1\n"})
    code.git("rm", "-q", "src/pay.py")
    code.commit({"README.md": "Here.\n"})
    opened.write("wrong.md", page("Charges happen in `src/pay.py`, by hand."))
    opened.write("old.md", page("The importer lives in `src/kept.py`, for good."))
    opened.write("pinned.md", page("Refunds happen in `src/pay.py`.", more="pinned: true\n"))
    before = opened.files()
    first, done = run(opened)
    assert paths(done, "retired") == ["wrong.md"]
    assert [one.path for one in look.list_restorable_on_store_shelf(opened.app())] == ["wrong.md"]
    assert first.oriented.old == ("old.md",)
    review.undo_and_hold_again(opened.app())
    assert opened.files() == before
    # Who took it back is not asked again, until the code gives a new reason.
    assert paths(run(opened)[1], "retired") == []
    code.commit({"src/kept.py": "x = 2\n"})
    assert paths(run(opened)[1], "retired") == ["wrong.md"]


def sessions(count: int, when: float = NOON) -> list[Session]:
    return [Session("claude-code", f"s{at}", f"/t/{at}", when, 10) for at in range(count)]


class Asked:
    """Counts how often somebody looks for sessions."""

    def __init__(self, found: list[Session]) -> None:
        self.found, self.times = found, 0

    def __call__(self) -> list[Session]:
        self.times += 1
        return self.found


def test_by_itself_it_waits_for_time_and_sessions(tmp_path):
    opened = Opened(tmp_path, dream="true")
    opened.write("a.md", "The build runs on Jenkins.\n")
    off = Opened(tmp_path / "off").app()
    assert "dream.enabled" in dream.run_dream_if_due(off, Asked(sessions(9)))
    few, enough = Asked(sessions(MIN_SESSIONS)), Asked(sessions(MIN_SESSIONS + 1, NOON + 2 * DAY))
    assert "4 other sessions" in dream.run_dream_if_due(opened.app(), few, "s0")
    assert "minutes ago" in dream.run_dream_if_due(opened.app(), enough, "s0")
    assert (few.times, enough.times) == (1, 0)
    opened.now += THROTTLE_SECONDS
    assert isinstance(dream.run_dream_if_due(opened.app(), enough, "s0"), Run)
    assert "MEMORY.md" in opened.files()
    opened.now += PAUSE_SECONDS - 1
    assert "hours ago" in dream.run_dream_if_due(opened.app(), enough, "s0")
    assert enough.times == 1
    opened.now += 1
    assert isinstance(dream.run_dream_if_due(opened.app(), enough, "s0"), Run)
    opened.now += 2 * PAUSE_SECONDS  # sessions before the last run do not count
    assert "0 other sessions" in dream.run_dream_if_due(opened.app(), few)
    # A clock that was ahead does not block it.
    ahead = State(done=opened.now + DAY, looked=opened.now + DAY)
    dream.keep_dream_state(store_state_folder(opened.app().config), ahead)
    late = Asked(sessions(9, opened.now + 2 * DAY))
    assert isinstance(dream.run_dream_if_due(opened.app(), late), Run)


def test_a_run_that_failed_does_not_count_as_done(tmp_path):
    opened = Opened(tmp_path, dream="true")
    log_day(opened.app(), INVOICES, "project")
    (opened.root / "MEMORY.md").mkdir()
    with pytest.raises(Exception, match=r"MEMORY\.md"):
        dream.run_dream_if_due(opened.app(), Asked(sessions(9)))
    (opened.root / "MEMORY.md").rmdir()
    opened.now += THROTTLE_SECONDS
    assert isinstance(dream.run_dream_if_due(opened.app(), Asked(sessions(9))), Run)
    assert any("invoices" in path for path in opened.files())


HOLDER = """
import sys, time
from memdir.upkeep.dream import open_dream_lock
with open_dream_lock(sys.argv[1]).held_if_free("memdir dream") as free:
    print(free is not None, flush=True)
    time.sleep(60)
"""


def test_one_at_a_time_and_a_dead_run_blocks_nobody(tmp_path):
    opened = Opened(tmp_path, dream="true")
    opened.write("a.md", "The build runs on Jenkins.\n")
    folder = store_state_folder(opened.app().config)
    words = [sys.executable, "-c", HOLDER, folder]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"True\n"
        with pytest.raises(Busy, match="another run"):
            run(opened)
        assert "under way" in dream.run_dream_if_due(opened.app(), Asked(sessions(9)))
        holder.send_signal(signal.SIGKILL)
    assert isinstance(dream.run_dream_if_due(opened.app(), Asked(sessions(9))), Run)


def test_a_damaged_state_is_as_if_there_had_been_no_run(opened):
    folder, state = store_state_folder(opened.app().config), State(5.0, 6.0, {"a": 7}, "abc")
    dream.keep_dream_state(folder, state)
    assert dream.load_dream_state(folder) == state
    for damage in (b"", b"{", b"[]", b'{"done": "x"}', b'{"done": NaN}', b"\xff"):
        Path(folder, "dream.json").write_bytes(damage)
        assert dream.load_dream_state(folder) == State()

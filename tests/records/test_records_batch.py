"""From a conversation to records: triage, drafts in a private place, prepare, commit."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.helpers.hostile import inputs
from tests.helpers.recorded import PATH, TITLE, draft
from tests.helpers.tables import toml_cases as cases
from tests.helpers.terminal import memdir, tree
from tests.records.test_records_cli import create, md5, records

pytestmark = pytest.mark.usefixtures("project")

TALK = [
    ("user", "Which search shall the catalog have?"),
    ("assistant", "We decided to use SQLite instead of PostgreSQL because nobody runs a server."),
    ("assistant", "I chose FTS5 over a scan, the reason is speed."),
    ("user", "Good. We settled on it then."),
]


@pytest.fixture
def root(project):
    return project / ".claude/memory"


@pytest.fixture
def talk(tmp_path):
    lines = [
        {
            "type": who,
            "uuid": f"u{at}",
            "sessionId": "s1",
            "message": {"role": who, "content": text},
        }
        for at, (who, text) in enumerate(TALK)
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def triage(talk, session: str = "s1", *words: str):
    return records("triage", "--transcript", str(talk), "--session", session, *words)


def staged(talk, given: object, session: str = "s1") -> str:
    """A draft where an agent would put it; its path."""
    place = triage(talk, session, "--json").json["drafts"]["decision"]
    with open(place, "w", encoding="utf-8") as file:
        file.write(given if isinstance(given, str) else json.dumps(given))
    return place


def intent(**said: object) -> dict:
    return {"category": "decision", "action": "CREATE", **said}


def commit(*intents: dict, words: tuple[str, ...] = (), command: str = "commit"):
    return records(command, "--input", "-", "--json", *words, given={"intents": [*intents]})


# -- triage --------------------------------------------------------------------------------


def test_a_decision_with_its_reasons_triggers_with_a_private_context(root, talk):
    root.mkdir(parents=True)
    answer = triage(talk, "s1", "--json").json
    assert [one["category"] for one in answer["triggered"]] == ["decision"]
    context = answer["contexts"]["decision"]
    assert "SQLite instead of PostgreSQL" in Path(context).read_text()
    assert stat.S_IMODE(os.stat(context).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(context)).st_mode) == 0o700
    text = triage(talk).text
    data = json.loads(text.partition("<triage_data>")[2].partition("</triage_data>")[0])
    assert data["categories"][0]["context_file"] == context


def test_a_dry_run_leaves_no_context(root, talk, home):
    root.mkdir(parents=True)
    before = tree(home)
    assert triage(talk, "s1", "--dry-run", "--json").json["contexts"] == {}
    assert tree(home) == before


# -- prepare and commit --------------------------------------------------------------------


def test_a_draft_is_prepared_and_committed_as_one_change(root, talk):
    place = staged(talk, draft())
    ready = commit(intent(draft=place), command="prepare").json
    (result,) = ready["results"]
    assert (result["outcome"], result["action"], result["path"]) == ("done", "CREATE", PATH)
    told = records("prepare", "--input", "-", given={"intents": [intent(draft=place)]}).text
    assert "nothing was written yet" in told
    assert not root.exists()
    answer = records("commit", "--input", "-", "--session", "s1", "--json", given=ready)
    assert (answer.code, answer.json["results"][0]["changes"][0]["change"]) == (0, "created")
    assert json.loads((root / PATH).read_bytes())["title"] == TITLE
    assert not os.path.exists(place)  # saved, so nobody needs it any more


def test_a_draft_that_was_swapped_after_prepare_is_refused(root, talk):
    place = staged(talk, draft())
    ready = commit(intent(draft=place), command="prepare").json
    with open(place, "w", encoding="utf-8") as file:
        file.write(json.dumps(draft(title="Something else")))
    answer = records("commit", "--input", "-", "--json", given=ready)
    assert answer.code == 1
    assert answer.json["results"][0]["error"]["record_code"] == "SECURITY_ERROR"
    assert not list(root.glob("decisions/*"))


def test_a_record_that_changed_after_prepare_is_a_conflict(root, talk):
    create()
    wanted = intent(action="UPDATE", record={"content": {"status": "deprecated"}}, new_info=TITLE)
    ready = commit(wanted, command="prepare").json
    assert ready["intents"][0]["hash"] == md5(root / PATH)
    records("save", "--category", "decision", "--title", TITLE, "--tag", "more")
    before = (root / PATH).read_bytes()
    answer = records("commit", "--input", "-", "--json", given=ready)
    assert answer.json["results"][0]["error"]["record_code"] == "OCC_CONFLICT"
    assert (root / PATH).read_bytes() == before


# The mechanics and the model: what is done. A decision is never retired by triage.


@cases("records")
def test_the_table_decides_what_becomes_of_an_intent(root, type, asked, near, done):
    if near:
        create("SQLite catalog search", type)
    title = "SQLite catalog on disk" if near else "Bread and butter"
    given = draft(type, title=title, tags=["storage"])
    wanted = {"category": type, "action": asked, "record": given, "new_info": title}
    answer = commit(wanted)
    assert answer.code == 0, answer.text
    assert answer.json["results"][0]["action"] == done


def test_a_draft_that_verification_failed_is_blocked_and_an_advisory_is_not(root):
    bad = intent(record=draft(), verdict="FAIL", issues=["hallucinated"])
    (result,) = commit(bad).json["results"]
    assert (result["outcome"], result["action"]) == ("nothing", "NOOP")
    assert "hallucinated" in result["reason"]
    assert commit(intent(record=draft(), verdict="ADVISORY")).json["results"][0]["path"] == PATH


def test_one_bad_intent_stops_no_other_and_one_undo_takes_all_back(root, project):
    create("Another one", "runbook")
    before = tree(project)
    answer = commit(
        intent(record={"title": "x"}),
        {"category": "nothing", "action": "CREATE"},
        intent(record=draft()),
        {"category": "preference", "action": "CREATE", "record": draft("preference")},
    )
    assert answer.code == 1
    assert [one["outcome"] for one in answer.json["results"]] == ["refused"] * 2 + ["done"] * 2
    assert memdir("undo", "--scope", "records").code == 0
    assert {path: one for path, one in tree(project).items() if one[2]} == {
        path: one for path, one in before.items() if one[2]
    }


def test_a_retirement_may_be_said_in_the_draft(root, talk):
    create("SQLite catalog search", "runbook")
    path = "runbooks/sqlite-catalog-search.json"
    place = staged(talk, {"action": "delete", "target": path, "reason": "gone"})
    wanted = {
        "category": "runbook",
        "action": "DELETE",
        "draft": place,
        "new_info": "SQLite catalog",
    }
    assert commit(wanted).json["results"][0]["action"] == "DELETE"
    assert json.loads((root / path).read_bytes())["retired_reason"] == "gone"


@cases("records")
def test_what_is_no_list_of_intents_is_refused(project, given):
    answer = records("commit", "--input", "-", "--json", given=given)
    assert (answer.code, answer.error["record_code"]) == (1, "INPUT_ERROR")


# -- drafts ----------------------------------------------------------------------------------


def outside(tmp_path, talk) -> dict[str, str]:
    """Drafts that lie where none may lie, or are none."""
    place = staged(talk, draft())
    folder = os.path.dirname(place)
    plain = tmp_path / "draft.json"
    plain.write_text(json.dumps(draft()))
    os.symlink(plain, f"{folder}/link.json")
    os.mkfifo(f"{folder}/pipe.json")
    os.link(plain, f"{folder}/second.json")
    with open(f"{folder}/large.json", "wb") as file:
        file.truncate(50 << 20)
    found = {"elsewhere": str(plain), "up": f"{folder}/../../draft.json", "relative": "draft.json"}
    for name in ("link", "pipe", "second", "large"):
        found[name] = f"{folder}/{name}.json"
    return found | {"temporary": "/tmp/.memory-draft-x.json", "folder": folder}


def test_only_a_plain_file_in_the_private_directory_is_a_draft(root, project, tmp_path, talk):
    create("Another one")
    before = tree(project)
    for name, place in outside(tmp_path, talk).items():
        words = ("write", "--action", "create", "--category", "decision", "--input", place)
        answer = records(*words, "--json")
        assert answer.code == 1, name
        assert answer.error["record_code"] in ("SECURITY_ERROR", "INPUT_ERROR", "READ_ERROR"), name
        (result,) = commit(intent(draft=place)).json["results"]
        assert result["outcome"] == "refused", name
    assert tree(project) == before


@pytest.mark.parametrize(
    "row", inputs("structured records and optimistic concurrency", "draft path")
)
def test_a_hostile_draft_path_is_refused(row, project):
    if row.setup:
        pytest.skip("see test_a_draft_that_was_swapped_after_prepare_is_refused")
    words = ("write", "--action", "create", "--category", "decision", "--input", row.value)
    answer = records(*words, "--json")
    assert (answer.code, answer.error["record_code"]) == (1, "SECURITY_ERROR")

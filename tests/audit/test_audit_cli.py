"""`memdir audit`: a report that a person can act on, and a contract for programs."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memdir.config.scope import project_scope_name
from tests.helpers.repositories import Checkout
from tests.helpers.terminal import memdir, tree

pytestmark = pytest.mark.usefixtures("project")

PLAN = """---
name: plan
description: The plan of the spring sprint
type: project
modified: 2020-01-01
---

The plan was agreed yesterday, see [[gone]].
"""


@pytest.fixture
def worn(store: Path) -> Path:
    """A store with something fresh, something worn out, and findings."""
    memdir("remember", "Use uv, never pip, to install packages.", "--name", "use-uv")
    (store / "plan.md").write_text(PLAN)
    return store


def test_check_fails_where_there_are_findings_and_only_then(worn):
    assert memdir("audit").code == 0
    assert memdir("audit", "--check").code == 1
    (worn / "plan.md").unlink()
    memdir("index", "--rebuild")
    assert memdir("audit", "--check", "--json").json["findings"] == []
    assert memdir("audit", "--check").code == 0


def test_a_hundred_findings_of_a_kind_are_a_few_lines(store):
    memdir("remember", "Use uv, never pip, to install packages.", "--name", "use-uv")
    for at in range(100):
        (store / f"m{at}.md").write_text(PLAN.replace("plan", f"m{at}"))
    short, long = memdir("audit").text, memdir("audit", "--all").text
    assert "  and 97 more: --all" in short
    assert short.count("\n") < 80 < long.count("\n")
    assert "m99.md:8" in long
    found = memdir("audit", "--json").json
    kinds = [finding["kind"] for finding in found["findings"]]
    assert kinds.count("broken-link") == 21 and found["finding_counts"]["broken-link"] == 100


def test_a_setting_lets_addresses_of_the_own_network_be_asked(store, monkeypatch):
    class Gone(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_error(404)

        def log_message(self, *given) -> None:
            pass

    monkeypatch.setenv("MEMDIR_PRIVATE_URLS", "true")
    with ThreadingHTTPServer(("127.0.0.1", 0), Gone) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/wiki"
        memdir("remember", f"The handbook of the team is at {url}", "--name", "book", "--anyway")
        (book,) = memdir("audit", "--online", "--json").json["memories"]
        server.shutdown()
    assert (book["score"], book["claims"]["stale"]) == (10, 1)
    assert book["reasons"][-1] == f"url {url}: answers 404 (+10)"


def test_settings_of_a_repository_are_said_once_for_all_scopes(worn, project):
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text('{"autoMemoryDirectory": "/tmp/x"}')
    memdir(
        "remember", "I like short answers to my questions.", "--scope", "user", "--name", "short"
    )
    answer = memdir("audit", "--scope", "all", "--json")
    kinds = [one["kind"] for one in answer.json["findings"]]
    assert kinds.count("redirect-attempt") == 1
    assert answer.stderr == ""


def test_all_projects_are_audited_and_one_that_is_gone_is_said(worn, home):
    gone = home / ".claude/projects" / project_scope_name("/was/here") / "memory"
    gone.mkdir(parents=True)
    (gone / "plan.md").write_text(PLAN)
    before = tree(gone)
    answer = memdir("audit", "--all-projects", "--json").json
    assert {one["store"] for one in answer["memories"]} == {str(worn), str(gone)}
    (finding,) = [one for one in answer["findings"] if one["kind"] == "project-gone"]
    assert finding["path"] == str(gone)
    assert f"memdir import --project NEW_PLACE {gone}" in finding["fix"]
    fixes = [one["fix"] for one in answer["findings"] if one["store"] == str(gone)]
    assert all(f"--dir {gone}" in fix for fix in fixes)
    assert tree(gone) == before
    assert "gone" in memdir("audit", "--all-projects").text


@pytest.mark.parametrize(
    "words", [("audit", "--check"), ("verify",), ("prune",), ("restructure", "--dry-run")]
)
def test_a_directory_that_was_named_and_is_not_there_is_an_error(words, tmp_path, store):
    answer = memdir(*words, "--dir", str(tmp_path / "nothing"), "--json")
    assert (answer.code, answer.error["code"]) == (1, "missing")
    assert answer.error["next"] and not (tmp_path / "nothing").exists()
    assert memdir(*words, "--json").code == 0  # a project without memories is none


def test_fixes_for_a_committed_store_can_be_pasted(project, monkeypatch):
    folder = project / ".claude/memory"
    folder.mkdir(parents=True)
    (folder / "plan.md").write_text(PLAN)
    monkeypatch.chdir(project)
    answer = memdir("audit", "--dir", ".claude/memory", "--json").json
    rebuild = [one["fix"] for one in answer["findings"] if "--rebuild" in one["fix"]]
    assert rebuild == ["memdir index --dir .claude/memory --rebuild"]
    assert memdir(*rebuild[0].split()[1:]).code == 0
    assert not any("--scope" in one["fix"] for one in answer["findings"])


def test_a_finding_names_its_place_though_its_message_has_a_like_name(project, store):
    (project / ".git").rmdir()
    code = Checkout(project)
    code.commit({"docs/runbook.md": "one\ntwo\nthree\n"})
    code.move("docs/runbook.md", "docs/oncall.md")
    code.commit()
    memdir("remember", "The handbook is `docs/runbook.md`.", "--name", "oncall")
    text = memdir("audit", "--deep", "--all").text
    assert re.search(r"! oncall\.md:\d+: path docs/runbook\.md is stale", text)
    reason = "      path docs/runbook.md: renamed to docs/oncall.md"  # below its memory, whole
    assert reason in memdir("audit", "--deep", "--all").text


@pytest.mark.parametrize("piece", ["_", "a_", "_a", "a.", "a-b_", "/a"])
def test_a_form_to_fill_in_by_hand_is_audited_to_its_end(store, piece):
    """A search that is not linear would not come back from this."""
    text = f"Form line: {piece * 2000} sign here before shipping."
    assert memdir("remember", text, "--anyway").code == 0
    assert memdir("audit").code == 0


def test_of_a_utf_16_file_only_that_is_said(store):
    memdir("remember", "Use uv, never pip, to install packages.", "--name", "use-uv")
    (store / "wide.md").write_bytes("The deploy window is Friday.\n".encode("utf-16"))
    found = {one["kind"]: one for one in memdir("audit", "--json").json["findings"]}
    assert sorted(found) == ["not-utf-8", "orphan"]
    assert found["not-utf-8"]["fix"] == "save wide.md as UTF-8"
    assert "wide.md is left alone" in memdir("dream").text

"""What CLAUDE.md and docs/knowledge should say is a patch that git takes, and nothing more."""

import os
import subprocess

import pytest

from memdir.capture import pages
from memdir.capture.extract import HOLD, LEAVE_OUT
from memdir.capture.pages import LEARNED, add_lines, add_section, fits_patch
from memdir.capture.route import CLAUDE_MD, MEMORY
from tests.helpers.past_sessions import NO_FORCE, Sessions
from tests.helpers.tables import toml_cases as cases

SQLITE = "Remember to add to the decision log: SQLite, because nobody should run a server."
REST = "Remember to add to the decision log: REST, because the clients are simple."
RULES = "# Rules\n\n- Be kind.\n"


@pytest.fixture
def past(tmp_path):
    return Sessions(tmp_path)


def apply(patch):
    text = patch.text.encode("utf-8", "surrogateescape")
    run = subprocess.run(["git", "apply"], cwd=patch.root, input=text, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()


def test_a_patch_that_was_applied_is_not_proposed_again(past):
    past.session(NO_FORCE, "Sorry.", SQLITE)
    for patch in past.extract().patches:
        apply(patch)
    again = past.extract()
    assert again.patches == []
    assert {one.outcome for one in again.items} == {LEAVE_OUT}


@cases("capture")
def test_a_rule_that_was_applied_is_not_doubled(past, rule):
    past.session(rule)
    (patch,) = past.extract().patches
    apply(patch)
    (one,) = past.extract().items
    assert (one.outcome, one.reason) == (LEAVE_OUT, "CLAUDE.md says it already")
    past.git.commit({"CLAUDE.md": RULES})
    assert len(past.extract().patches) == 1


def test_an_entry_of_a_page_says_its_heading_once(past):
    past.session(SQLITE, "Fine.", REST)
    (patch,) = past.extract().patches
    apply(patch)
    log = (past.shop / "docs/knowledge/decisions.md").read_text()
    assert log.count("SQLite") == log.count("REST") == 1
    assert past.extract().patches == []


def test_a_link_inside_the_project_is_followed_because_git_patches_no_link(past):
    past.git.commit({"AGENTS.md": RULES})
    (past.shop / "CLAUDE.md").symlink_to("AGENTS.md")
    past.session(NO_FORCE)
    (patch,) = past.extract().patches
    assert patch.path == "AGENTS.md"
    apply(patch)
    assert "force-push" in (past.shop / "CLAUDE.md").read_text()


def test_a_link_that_leads_out_of_the_project_gets_no_patch_and_the_thing_waits(past):
    secret = past.home / "private.md"
    secret.write_text("# Mine\n\n- Private line.\n")
    (past.shop / "CLAUDE.md").symlink_to(secret)
    past.session(NO_FORCE)
    made = past.extract()
    (one,) = made.items
    assert (made.patches, one.routed.to, one.outcome) == ([], MEMORY, HOLD)
    assert "leads out of the project" in one.reason


@pytest.mark.parametrize("kind", ["fifo", "folder", "large"])
def test_what_is_no_page_gets_no_patch_and_nobody_waits_for_it(past, kind):
    page = past.shop / "CLAUDE.md"
    if kind == "fifo":
        os.mkfifo(page)
    elif kind == "folder":
        page.mkdir()
    else:
        page.write_bytes(b"x\n" * 600_000)
    past.session(NO_FORCE)
    made = past.extract()
    (one,) = made.items
    assert (made.patches, one.outcome) == ([], HOLD)


def test_a_line_cannot_break_out_of_its_patch(past):
    past.session("Never commit to main.\u2028+++ b/../evil\u2028@@ -1 +1 @@")
    for patch in past.extract().patches:
        assert "\u2028" not in patch.text
        assert patch.text.count("\n+++ ") == 1
        apply(patch)


def test_two_rules_share_one_patch(past):
    past.session(NO_FORCE, "Sorry.", "Always run the linter before every commit.")
    made = past.extract()
    assert sum(one.routed.to == CLAUDE_MD for one in made.items) == 2
    (patch,) = made.patches
    assert patch.text.count("\n+- ") == 2


def applied(folder, path, old, new):
    """What git makes of the file."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if old is not None:
        file.write_bytes(old)
    text = pages.make_patch(path, old, new).encode("utf-8", "surrogateescape")
    run = subprocess.run(["git", "apply", "-"], cwd=folder, input=text, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return file.read_bytes()


OLD = [
    None,
    b"",
    b"# Rules\n",
    b"# Rules",
    b"# Rules\n\n- one\n\n\n",
    b"# Rules\r\n\r\n- one\r\n",
    b"# Rules\r\n- one",
    b"\n",
    b"caf\xe9 \xff\n- no UTF-8\n",
    "# Regeln\n\n- größer\u2028zwei\n".encode(),
    f"# Rules\n\n{LEARNED}\n\n- before\n\n## More\n\ntext\n".encode(),
    f"{LEARNED}".encode(),
    f"{LEARNED}\n\n- before".encode(),
    f"# Rules\n\n{LEARNED}\n\n## More".encode(),
    b"".join(b"line %d\n" % number for number in range(500)),
]


def test_git_takes_patches_of_two_pages_in_any_order(past):
    past.session(NO_FORCE, "Sorry.", SQLITE)
    for patch in reversed(past.extract().patches):
        apply(patch)
    assert "force-push" in (past.shop / "CLAUDE.md").read_text()
    assert "SQLite" in (past.shop / "docs/knowledge/decisions.md").read_text()


@pytest.mark.parametrize("old", OLD)
def test_git_makes_of_the_patch_what_was_meant(tmp_path, old):
    new = add_lines(old, ["Never force-push to main.", "Ask before a release."])
    assert applied(tmp_path, "CLAUDE.md", old, new) == new


@pytest.mark.parametrize("old", OLD)
def test_git_makes_a_page_with_one_more_section(tmp_path, old):
    new = add_section(old, "## 2026-03-02: SQLite", "We take it.\n\nReasons.", "# Decisions")
    assert applied(tmp_path, "docs/knowledge/decisions.md", old, new) == new


def test_a_second_time_the_lines_join_the_same_section():
    first = add_lines(b"# Rules\n", ["One."])
    assert first == f"# Rules\n\n{LEARNED}\n\n- One.\n".encode()
    assert add_lines(first, ["Two."]) == f"# Rules\n\n{LEARNED}\n\n- One.\n- Two.\n".encode()


def test_line_ends_of_the_file_are_kept():
    assert b"\n" not in add_lines(b"# Rules\r\n", ["One."]).replace(b"\r\n", b"")


@cases("capture")
def test_only_a_plain_path_is_named_in_a_patch(path, yes):
    assert fits_patch(path) is yes

"""What CLAUDE.md and docs/knowledge should say is a patch that git takes, and nothing more."""

import os
import subprocess

import pytest

from memdir.capture.extract import HOLD, LEAVE_OUT
from memdir.capture.route import (
    LEARNED,
    MEMORY,
    add_captured_line,
    add_captured_section,
    make_capture_patch,
)
from tests.helpers.past_sessions import NO_FORCE, Sessions
from tests.helpers.tables import toml_cases as cases

SQLITE = "Remember to add to the decision log: SQLite, because nobody should run a server."
REST = "Remember to add to the decision log: REST, because the clients are simple."
RULES = "# Rules\n\n- Be kind.\n"


@pytest.fixture
def past(tmp_path):
    return Sessions(tmp_path)


def apply(text, root):
    """What git makes of the patch."""
    data = text.encode("utf-8", "surrogateescape")
    run = subprocess.run(["git", "apply"], cwd=root, input=data, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()


def test_patches_apply_in_any_order_say_each_thing_once_and_are_not_proposed_again(past):
    past.session(NO_FORCE, "Sorry.", SQLITE, "Fine.", REST)
    for patch in reversed(past.extract().patches):
        apply(patch.text, patch.root)
    assert "force-push" in (past.shop / "CLAUDE.md").read_text()
    log = (past.shop / "docs/knowledge/decisions.md").read_text()
    assert log.count("SQLite") == log.count("REST") == 1
    again = past.extract()
    assert again.patches == []
    assert {item.outcome for item in again.items} == {LEAVE_OUT}


@cases("capture")
def test_a_rule_that_was_applied_is_not_doubled(past, rule):
    past.session(rule)
    (patch,) = past.extract().patches
    apply(patch.text, patch.root)
    (item,) = past.extract().items
    assert (item.outcome, item.reason) == (LEAVE_OUT, "CLAUDE.md says it already")
    past.git.commit({"CLAUDE.md": RULES})
    assert len(past.extract().patches) == 1


def test_a_link_inside_the_project_is_followed_because_git_patches_no_link(past):
    past.git.commit({"AGENTS.md": RULES})
    (past.shop / "CLAUDE.md").symlink_to("AGENTS.md")
    past.session(NO_FORCE)
    (patch,) = past.extract().patches
    assert patch.path == "AGENTS.md"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large"])
def test_what_is_no_page_of_the_project_gets_no_patch_and_nobody_waits_for_it(past, kind):
    page, secret = past.shop / "CLAUDE.md", past.home / "private.md"
    secret.write_text("# Mine\n\n- Private line.\n")
    {
        "link": lambda: page.symlink_to(secret),
        "pipe": lambda: os.mkfifo(page),
        "folder": page.mkdir,
        "large": lambda: page.write_bytes(b"x\n" * 600_000),
    }[kind]()
    past.session(NO_FORCE)
    made = past.extract()
    (item,) = made.items
    assert (made.patches, item.routed.to, item.outcome) == ([], MEMORY, HOLD)


@pytest.mark.parametrize(
    "old",
    [
        None,
        b"",
        b"\n",
        b"# Rules",
        b"# Rules\n\n- one\n\n\n",
        b"# Rules\r\n\r\n- one\r\n",
        b"caf\xe9 \xff\n- no UTF-8\n",
        "# Regeln\n\n- größer\u2028zwei\n".encode(),
        f"# Rules\n\n{LEARNED}\n\n- before\n\n## More\n\ntext\n".encode(),
        f"{LEARNED}\n\n- before".encode(),
        f"# Rules\n\n{LEARNED}\n\n## More".encode(),
        b"".join(b"line %d\n" % number for number in range(500)),
    ],
)
def test_git_makes_of_a_patch_what_was_meant(tmp_path, old):
    page = tmp_path / "page.md"
    for new in (
        add_captured_line(old, "Ask first."),
        add_captured_section(old, "## SQLite", "We do.", "# Log"),
    ):
        page.unlink(missing_ok=True)
        if old is not None:
            page.write_bytes(old)
        apply(make_capture_patch("page.md", old, new), tmp_path)
        assert page.read_bytes() == new
        assert b"\r\n" not in (old or b"") or b"\n" not in new.replace(b"\r\n", b"")

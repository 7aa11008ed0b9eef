"""What is not saved (M4): forms that git, the code or the session already hold."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memdir.format.exclusions import why_not_worth_saving
from tests.helpers.tables import cases, rows

SAMPLES = dict(rows(globals(), "SAMPLES"))


@cases("kind", "text")
def test_what_lives_elsewhere_is_sent_there_with_a_question(kind, text):
    reason = why_not_worth_saving(text)
    assert reason is not None
    assert reason.startswith(f"This looks like {kind}")
    assert "already lives in" in reason
    assert reason.endswith("?")
    assert "\n" not in reason


@cases("text")
def test_what_is_worth_keeping_passes(text):
    assert why_not_worth_saving(text) is None


@cases("text")
def test_what_claude_md_says_is_not_saved_again(text):
    reason = why_not_worth_saving(text, SAMPLES["CLAUDE_MD"])
    assert reason is not None
    assert "CLAUDE.md" in reason
    assert why_not_worth_saving(text) is None


@cases("text")
def test_what_claude_md_does_not_say_passes(text):
    assert why_not_worth_saving(text, SAMPLES["CLAUDE_MD"]) is None


def test_real_memories_are_seldom_refused(shared, record_property):
    files = [
        path
        for path in shared.glob("corpus/*/**/*.md")
        if path.name not in ("MEMORY.md", "README.md")
    ]
    bodies = [
        re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for path in files
    ]
    refused = [path for path, body in zip(files, bodies, strict=True) if why_not_worth_saving(body)]
    record_property("exclusions fired", f"{len(refused)}/{len(files)}")
    assert len(files) == 340
    assert len(refused) <= 0.02 * len(files), refused


@given(st.text(), st.text())
def test_any_text_is_taken(text, claude_md):
    reason = why_not_worth_saving(text, claude_md)
    assert reason is None or reason.endswith("?")

"""Verdicts that are kept for recall, and what a glance makes of them."""

from memdir.hot.verdicts import Kept, describe_kept_verdicts
from tests.helpers.tables import cases

FACTS = (1_700_000_000_000, 42)
STATE = "3f2c1e9aa0b1c2d3e4f5"


def row(verdict, kind, text, reason="", place="src/a.py", found=FACTS):
    return verdict, kind, text, reason, place, found


WAS = "removed in 3f2c1e9, 2026-03-02"
NOW = {"same": FACTS, "touched": (FACTS[0] + 1, 42), "gone": None}


@cases("one", "now", "said")
def test_a_glance_says_what_holds_now(one, now, said):
    assert describe_kept_verdicts(Kept(FACTS, STATE, [one]), lambda place: NOW[now]) == said


@cases("one", "said")
def test_after_another_commit_only_what_a_glance_confirms_is_said(one, said):
    glance = {"src/a.py": FACTS}.get
    assert describe_kept_verdicts(Kept(FACTS, STATE, [one]), glance, moved=True) == said

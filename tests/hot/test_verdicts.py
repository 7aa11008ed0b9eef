"""Verdicts that are kept for recall, and what a glance makes of them."""

from hypothesis import given
from hypothesis import strategies as st

from memdir.hot.verdicts import MAX_CONFIRMED, MAX_STALE, Kept, Verdicts, describe_kept_verdicts
from tests.helpers.tables import cases

FACTS = (1_700_000_000_000, 42)
STATE = "3f2c1e9aa0b1c2d3e4f5"

names = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), max_size=30)
facts = st.none() | st.tuples(st.integers(0, 2**62), st.integers(0, 2**40))
rows = st.lists(st.tuples(st.sampled_from(["true", "stale"]), names, names, names, names, facts))


@given(rows)
def test_what_is_kept_is_loaded_for_the_same_version_only(tmp_path_factory, rows):
    verdicts = Verdicts(str(tmp_path_factory.mktemp("cache")), "/code")
    verdicts.keep("a.md", Kept(FACTS, STATE, rows))
    kept = verdicts.load("a.md", FACTS)
    assert kept is not None
    assert (kept.state, list(kept.rows)) == (STATE, rows[:60])
    assert verdicts.load("a.md", (FACTS[0], 43)) is None
    assert verdicts.load("b.md", FACTS) is None


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


def test_what_misleads_comes_first_and_nothing_is_endless():
    many = [row("true", "path", f"found{n}.py") for n in range(50)]
    many += [row("stale", "path", f"gone{n}.py", WAS, f"gone{n}.py") for n in range(10)]
    said = describe_kept_verdicts(
        Kept(FACTS, STATE, many), lambda place: FACTS if place == "src/a.py" else None
    )
    assert said[0] == f"gone0.py {WAS}"
    assert said[MAX_STALE] == "4 more no longer hold"
    assert said[-1].endswith(f"found{MAX_CONFIRMED - 1}.py and 42 more found")
    assert len(said) == MAX_STALE + 2

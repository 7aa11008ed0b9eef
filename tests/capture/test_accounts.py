"""The arithmetic of capture: nothing is lost, nothing counts twice, also when lines are let go."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.capture.progress import (
    DECISIONS,
    HELD,
    RECEIVED,
    REFUSED,
    SAVED,
    Entry,
    Totals,
    balance,
    let_go,
)


def lines(*pairs: str) -> list[Entry]:
    return [Entry(id, what, 0.0) for id, what in (pair.split() for pair in pairs)]


def test_what_was_received_is_saved_refused_held_or_waits():
    account = balance(
        lines("a received", "b received", "c received", "d received")
        + lines("a saved", "b refused", "c held")
    )
    assert (account.received, account.saved, account.refused, account.held) == (4, 1, 1, 1)
    assert [one.id for one in account.waiting] == ["d"]
    assert account.balances


def test_a_thing_received_twice_counts_once():
    account = balance(lines("a received", "a received", "a saved"))
    assert (account.received, account.saved, account.balances) == (1, 1, True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("a received", "a saved", "a saved"), "a: saved, then saved"),
        (("a received", "a held", "a refused"), "a: held, then refused"),
        (("a saved",), "a: saved, but never received"),
        (("a received", "a lost"), "a: 'lost' is no decision"),
    ],
)
def test_lines_that_contradict_each_other_do_not_balance(wrong, said):
    account = balance(lines(*wrong))
    assert not account.balances
    assert account.problems == (said,)


IDS = st.integers(0, 30).map(str)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(IDS, st.sampled_from((*DECISIONS, ""))), max_size=60), st.integers(0, 10))
def test_letting_go_of_lines_changes_no_sum(things, keep):
    entries = []
    for id, decision in dict(things).items():
        entries.append(Entry(id, RECEIVED, 0.0))
        entries += [Entry(id, decision, 0.0)] if decision else []
    before, totals = balance(entries, Totals(1, 2, 3)), Totals(1, 2, 3)
    totals, kept = let_go(entries, totals, keep)
    after = balance(kept, totals)
    assert before == after
    assert after.balances
    assert sum(one.what in (SAVED, REFUSED, HELD) for one in kept) <= max(keep, 0)

"""A model selects; whatever goes wrong, the local choice stands and the reason is told."""

import time

import pytest

from memdir.hot.memory import Memory
from memdir.models.ledger import Ledger, Limits, Metered
from memdir.models.scripted import Scripted
from memdir.recall.choose import Selected, select_recalled

MEMORIES = [
    Memory(f"{name}.md", f"---\ntype: user\ndescription: about {name}\n---\n", float(n), 50)
    for n, name in enumerate("abcdefgh")
]
LOCAL = ["c.md", "d.md"]


def choose(line: dict, memories=MEMORIES, **given) -> tuple[Selected, Scripted]:
    model = Scripted([line])
    return select_recalled("deploy it", memories, LOCAL, model, **given), model


def test_the_model_s_choice_counts():
    selected, model = choose({"answer": {"memories": ["e.md", "gone.md", "a.md", "e.md"]}})
    assert selected == Selected(("e.md", "a.md"), "model")
    (question,) = model.asked
    assert "deploy it" in question.user
    assert all(f"{letter}.md (" in question.user for letter in "abcdefgh")
    assert question.seconds == 3.0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"fails": "timeout"}, "scripted did not answer within 3 s"),
        ({"fails": "refused"}, "scripted refused to answer"),
        ({"fails": "unavailable"}, "scripted is not there"),
        ({"text": "e.md, I think"}, "scripted did not answer in JSON"),
        ({"answer": {"files": ["e.md"]}}, "scripted answered wrongly: the answer has no memories"),
        ({"answer": {"memories": ["x.md"]}}, "scripted named only memories that are not listed"),
    ],
)
def test_a_failure_leaves_the_local_choice_with_the_reason(line, reason):
    assert choose(line)[0] == Selected(("c.md", "d.md"), "local", reason)


def test_an_old_memory_of_the_local_ranking_can_be_chosen():
    many = [Memory(f"n{n}.md", "", 100.0 + n, 5) for n in range(300)]
    line = {"answer": {"memories": ["a.md", "n0.md", "c.md"]}}
    selected, _ = choose(line, [*many, *MEMORIES], top=["a.md"])
    assert selected.paths == ("a.md", "c.md")  # n0 is neither new nor near


def test_over_budget_the_model_is_not_asked(tmp_path):
    model = Scripted([{"answer": {"memories": ["a.md"]}, "input_tokens": 300}])
    ledger = Ledger(str(tmp_path), lambda: 1772452800.0)
    metered = Metered(model, ledger, Limits(session=2000, day=10_000), "select", "s1")
    choices = [select_recalled("deploy it", MEMORIES, LOCAL, metered) for _ in range(8)]
    asked = len(model.asked)
    assert [choice.by for choice in choices] == ["model"] * asked + ["local"] * (8 - asked)
    assert 2 <= asked < 8
    assert "this session has" in choices[-1].reason
    assert ledger.spent("2026-03-02", "s1").session == 300 * asked


def test_an_unreadable_ledger_stops_the_call_not_the_selection(tmp_path):
    (tmp_path / "ledger.jsonl").write_text("garbage\n")
    model = Scripted([{"answer": {"memories": ["a.md"]}}])
    metered = Metered(model, Ledger(str(tmp_path), time.time), Limits(9999, 9999), "select")
    selected = select_recalled("deploy it", MEMORIES, LOCAL, metered)
    assert (selected.paths, selected.by) == (("c.md", "d.md"), "local")
    assert "line 1 cannot be read; no model is asked" in selected.reason
    assert model.asked == []

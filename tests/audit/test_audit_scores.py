"""Scores with their reasons, findings and tokens of an audit; it hides nothing."""

import datetime
import math

import pytest

from memdir.audit.audit import Tally, Wish, audit
from tests.helpers.opened import DAY, NOON, Opened
from tests.helpers.repositories import Checkout


@pytest.fixture
def opened(tmp_path) -> Opened:
    return Opened(tmp_path)


def text(name: str, type: str = "project", age: int = 0, body: str = "It is about {name}.") -> str:
    day = datetime.datetime.fromtimestamp(NOON - age * DAY, datetime.UTC).isoformat()
    head = f"name: {name}\ndescription: What is said about {name} here\ntype: {type}\n"
    return f"---\n{head}modified: {day}\n---\n\n{body.format(name=name)}\n"


def fill(opened: Opened, **files: str) -> Opened:
    for name, data in files.items():
        opened.write(f"{name}.md", data)
    opened.write("MEMORY.md", "".join(f"- [{n}]({n}.md) — about {n}\n" for n in files))
    return opened


def kinds(opened: Opened, **wish: bool) -> list[str]:
    return [finding.kind for finding in audit(opened.app(), Wish(**wish)).findings]


def test_the_most_worn_out_comes_first_with_its_action(opened):
    fill(opened, alpha=text("alpha", age=42), beta=text("beta", "user", 1))
    opened.write("gamma.md", text("gamma", "feedback", 91))
    result = audit(opened.app())
    rows = [(each.path, each.age_days, each.score, each.action) for each in result.memories]
    assert rows == [
        ("alpha.md", 42, 87, "prune"),
        ("gamma.md", 91, 50, "review"),
        ("beta.md", 1, 0, "keep"),
    ]
    assert [result.count(action) for action in ("prune", "review", "keep")] == [1, 1, 1]
    assert "half-life of project: 14 days" in result.memories[0].reasons[0]
    assert result.memories[2].reasons == ()


def test_stale_claims_raise_the_score_and_say_why(opened):
    code = Checkout(opened.project)
    code.commit({"src/a.py": "one\n", "src/b.py": "two\n", "src/kept.py": "three\n"})
    code.remove("src/a.py")
    code.remove("src/b.py")
    commit = code.commit()
    body = "See `src/a.py`, `src/b.py`, `src/kept.py` and `src/never.py`."
    fill(opened, alpha=text("alpha", body=body))
    assert [each.score for each in audit(opened.app()).memories] == [0]  # nobody looked
    result = audit(opened.app(), Wish(deep=True))
    (memory,) = result.memories
    assert (memory.score, memory.claims) == (20, Tally(checked=3, stale=2, unknown=1))
    assert memory.reasons[-1].startswith(f"path src/a.py and 1 more: removed in {commit}")
    assert memory.reasons[-1].endswith("(+20)")
    stale = [each for each in result.findings if each.kind == "stale-claim"]
    assert [(each.path, each.line) for each in stale] == [("alpha.md", 8)] * 2
    assert "src/b.py" in stale[1].message


def test_tokens_are_characters_by_four_also_of_wide_letters_and_in_a_brief_audit(opened):
    data = text("alpha", body="記憶" * 100)
    fill(opened, alpha=data)
    result = audit(opened.app())
    assert result.load.index == math.ceil(len("- [alpha](alpha.md) — about alpha") / 4)
    assert result.load.total == result.load.index + result.load.prompt
    assert result.load.memories == result.memories[0].tokens == math.ceil(len(data) / 4)
    assert audit(opened.app(), Wish(brief=True)).load == result.load


def test_two_memories_that_say_the_same_are_one_finding(opened):
    body = "Deploys go through the staging cluster first; the smoke tests there must be green."
    fill(opened, alpha=text("alpha", body=body), beta=text("alpha", body=body))
    same = [each for each in audit(opened.app()).findings if each.kind == "near-duplicate"]
    assert [each.path for each in same] == ["alpha.md"]


def test_a_brief_audit_inspects_no_text_but_scores_all(opened):
    fill(opened, alpha="no header, written yesterday")
    assert "no-header" in kinds(opened)
    assert kinds(opened, brief=True) == []


def test_a_store_without_an_index_is_said_unless_it_is_to_have_none(opened, tmp_path):
    opened.write("alpha.md", text("alpha"))
    assert kinds(opened) == ["no-index"]
    bare = Opened(tmp_path, index="false")
    assert kinds(bare) == []

"""Verify: find, look once, judge; against lists that stand for a repository."""

import json
from pathlib import Path

import pytest

from evals.listing import open_repo
from memdir.claims.claim import Wanted
from memdir.claims.repo import GitRepo
from memdir.claims.verify import verify_claims
from memdir.errors import BadInput
from tests.helpers.data_tables import table

TREE = """\
README.md
docs/dev/logging.md
flows/teach_flow.json
gen/a_pb2.py
gen/b_pb2.py
source/daemon/crates/common/a.rs
src/auth/session.py
src/shop/api.py
"""
HISTORY = """\
doc/logging.md	33faf88	2026-03-26	deleted
flows/first.json	aaaaaaa	2026-01-01	renamed	flows/second.json
flows/second.json	bbbbbbb	2026-02-01	renamed	flows/teach_flow.json
flows/lost.json	ccccccc	2026-02-01	renamed	flows/gone.json
flows/gone.json	ddddddd	2026-03-01	deleted
source/daemon/crates/types/a.rs	ca10805	2026-04-17	renamed	source/daemon/crates/common/a.rs
src/auth.py	3f2c1e9	2026-03-02	deleted
a line that is not right
"""
META = table("claims", "meta")


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    (tmp_path / "tree.txt").write_text(TREE)
    (tmp_path / "history.txt").write_text(HISTORY)
    (tmp_path / "symbols.txt").write_text("makeIt\t2\t1\nonlySaid\t0\t3\nodd\n")
    (tmp_path / "history_symbols.txt").write_text("lostIt\t4ae2089\t2026-07-15\n")
    (tmp_path / "meta.json").write_text(json.dumps(META))
    return tmp_path


def verdicts(lists: Path, text: str, **more) -> dict[str, tuple[str, str]]:
    judged, _ = verify_claims([("x.md", text)], open_repo(str(lists), ""), **more)
    return {one.claim.text: (one.verdict, one.reason) for one in judged["x.md"]}


ROWS = table("claims", "rows")


@pytest.mark.parametrize(("span", "verdict", "reason"), ROWS, ids=[row[0] for row in ROWS])
def test_lists_answer_like_a_repository(lists, span, verdict, reason):
    assert verdicts(lists, f"See `{span}` here.")[span] == (verdict, reason)


def test_a_symbol_that_left_its_file_is_stale(lists):
    told = verdicts(lists, "`lostIt` in `src/shop/api.py` counts.")
    assert told["lostIt"] == ("stale", "no longer in the code: removed in 4ae2089, 2026-07-15")


def test_all_memories_share_one_look(lists):
    class Counted:
        def __init__(self) -> None:
            self.looks: list[Wanted] = []
            self.root = ""

        def state(self) -> str:
            return ""

        def look(self, wanted, say=print):
            self.looks.append(wanted)
            return open_repo(str(lists), "").look(wanted)

    repo = Counted()
    judged, _ = verify_claims([("a.md", "`README.md`"), ("b.md", "`api.py`"), ("c.md", "")], repo)
    assert [*judged] == ["a.md", "b.md", "c.md"]
    assert judged["c.md"] == []
    assert len(repo.looks) == 1
    assert repo.looks[0].paths >= {"README.md", "api.py"}


def test_a_path_from_the_memory_is_resolved_where_the_store_lies(lists):
    text = "[api](../../src/shop/api.py)"
    assert verdicts(lists, text)["../../src/shop/api.py"][0] == "unknown"
    found = verdicts(lists, text, folder=".claude/memory")
    assert found["../../src/shop/api.py"] == ("true", "found")


def test_without_a_repository_nothing_is_decided_and_that_is_said():
    judged, remarks = verify_claims([("x.md", "`src/a.py` and `make x`")], GitRepo("", ""))
    assert {one.verdict for one in judged["x.md"]} == {"unknown"}
    assert remarks == ("this project is no git repository: no claim was checked",)


def test_a_missing_list_is_said_and_a_broken_one_is_an_error(lists):
    (lists / "history.txt").unlink()
    _, remarks = verify_claims([("x.md", "`doc/logging.md`")], open_repo(str(lists), ""))
    assert remarks == (f"{lists} has no history.txt",)
    (lists / "meta.json").write_text("{")
    with pytest.raises(BadInput, match=r"meta\.json: not a JSON object"):
        verify_claims([("x.md", "")], open_repo(str(lists), ""))


@pytest.mark.parametrize("meta", ["[]", "7", '{"branches": 7, "dependencies": [], "commit": 1}'])
def test_odd_facts_are_no_facts(lists, meta):
    (lists / "meta.json").write_text(meta)
    assert verdicts(lists, "`main`")["main"][0] == "unknown"


def test_what_a_memory_names_is_compared_never_opened(lists, tmp_path):
    """A path that leads out is no name in a list, whatever lies there."""
    (tmp_path / "secret.txt").write_text("x")
    for span in (f"{tmp_path}/secret.txt", "../secret.txt", "a/../../secret.txt", "~/secret.txt"):
        assert verdicts(lists, f"`{span}`")[span][0] in ("unknown", "not_a_claim")

"""`memdir verify` and the look behind it: find, look once, judge; nothing named is opened."""

import json
import subprocess
from pathlib import Path

import pytest

from evals.listing import open_repo
from memdir.claims.repo import GitRepo
from memdir.claims.verify import verify_claims
from memdir.errors import BadInput
from tests.cli.test_looks import too_wide
from tests.helpers.terminal import memdir

RULES = "Rules are in `docs/rules.md`; the code is `src/api.py`, its plan `plans/later.md`."


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """A repository as the lists that the benches use."""
    (tmp_path / "tree.txt").write_text("README.md\nsrc/shop/api.py\n")
    (tmp_path / "history.txt").write_text("doc/x.md\t33faf88\t2026-03-26\tdeleted\nnot right\n")
    (tmp_path / "symbols.txt").write_text("makeIt\t2\t1\nodd\n")
    (tmp_path / "history_symbols.txt").write_text("lostIt\t4ae2089\t2026-07-15\n")
    (tmp_path / "meta.json").write_text(json.dumps({"branches": ["main"]}))
    return tmp_path


def verdicts(lists: Path, text: str, **more) -> dict[str, tuple[str, str]]:
    judged, _ = verify_claims([("x.md", text)], open_repo(str(lists), ""), **more)
    return {each.claim.text: (each.verdict, each.reason) for each in judged["x.md"]}


def test_lists_answer_like_a_repository(lists):
    assert verdicts(lists, "`lostIt` and `makeIt` in `api.py`, `doc/x.md`, `main`.") == {
        "lostIt": ("stale", "no longer in the code: removed in 4ae2089, 2026-07-15"),
        "makeIt": ("true", "in 2 files"),
        "api.py": ("true", "found as src/shop/api.py"),
        "doc/x.md": ("stale", "removed in 33faf88, 2026-03-26"),
        "main": ("true", "branch or tag"),
    }


def test_all_memories_share_one_look(lists):
    looks = []

    class Counted:
        root = ""

        def look(self, wanted, say):
            looks.append(wanted)
            return open_repo(str(lists), "").look(wanted)

    texts = [("a.md", "`README.md`"), ("b.md", "`api.py`"), ("c.md", "")]
    judged, _ = verify_claims(texts, Counted())
    assert [*judged] == ["a.md", "b.md", "c.md"] and judged["c.md"] == []
    assert [look.paths >= {"README.md", "api.py"} for look in looks] == [True]


def test_a_path_from_the_memory_is_resolved_where_the_store_lies(lists):
    text = "[api](../../src/shop/api.py)"
    assert verdicts(lists, text)["../../src/shop/api.py"][0] == "unknown"
    found = verdicts(lists, text, folder=".claude/memory")
    assert found["../../src/shop/api.py"] == ("true", "found")


def test_without_a_repository_nothing_is_decided_and_that_is_said():
    judged, remarks = verify_claims([("x.md", "`src/a.py` and `make x`")], GitRepo("", ""))
    assert {each.verdict for each in judged["x.md"]} == {"unknown"}
    assert remarks == ("this project is no git repository: no claim was checked",)


def test_a_missing_list_is_said_and_a_broken_one_is_an_error(lists):
    (lists / "history.txt").unlink()
    _, remarks = verify_claims([("x.md", "`doc/x.md`")], open_repo(str(lists), ""))
    assert remarks == (f"{lists} has no history.txt",)
    (lists / "meta.json").write_text("{")
    with pytest.raises(BadInput, match=r"meta\.json: not a JSON object"):
        verify_claims([("x.md", "")], open_repo(str(lists), ""))


def test_what_a_memory_names_is_compared_never_opened(lists, tmp_path):
    """A path that leads out is no name in a list, whatever lies there."""
    (tmp_path / "secret.txt").write_text("x")
    for span in (f"{tmp_path}/secret.txt", "../secret.txt", "a/../../secret.txt", "~/secret.txt"):
        assert verdicts(lists, f"`{span}`")[span][0] in ("unknown", "not_a_claim")


def git(project, *words):
    who = ["-c", "user.name=Ann", "-c", "user.email=", "-c", "commit.gpgsign=0"]
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


@pytest.fixture
def rules(project):
    """A memory that names `docs/rules.md`, which was renamed, and `src/api.py`."""
    (project / ".git").rmdir()
    git(project, "init", "-q", "-b", "main")
    for path in ("docs/rules.md", "src/api.py"):
        (project / path).parent.mkdir()
        (project / path).write_text(f"the text of {path}\n" * 5)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    git(project, "mv", "docs/rules.md", "docs/style.md")
    git(project, "commit", "-qm", "second")
    assert memdir("remember", RULES, "--name", "rules").code == 0


def test_the_command_says_without_a_repository_that_nothing_was_checked(project):
    (project / ".git").rmdir()
    memdir("remember", RULES, "--name", "rules")
    answer = memdir("verify", "--json")
    assert answer.code == 0
    assert "stale" not in {each["verdict"] for each in answer.json["claims"]}
    assert "note: this project is no git repository" in memdir("verify").text


def test_a_hostile_or_unreadable_memory_hides_no_other(rules, store):
    (store / "bad.md").write_bytes(b"`a\0b.py` `\x1b[31m` `" + b"x/" * 5_000 + b"` \xff\xfe `")
    (store / "odd.md").mkdir()
    (store / "link.md").symlink_to("nowhere.md")
    answer = memdir("verify", "--all")
    assert answer.code == 0
    assert "\x1b" not in answer.text and "\0" not in answer.text
    assert "docs/rules.md" in answer.text
    assert too_wide(answer.text) == []

"""An audit as a whole: ages, scores, findings, tokens; what is missing is said aloud."""

import datetime
import math
import os
from pathlib import Path

import pytest

from memdir.audit import ages as ages_module
from memdir.audit.audit import Tally, audit
from memdir.capture import review
from memdir.config.config import read_config
from memdir.store import look
from memdir.store.writer import open_app
from tests.helpers.opened import DAY, NOON, Opened, memory, tree
from tests.helpers.repositories import FIRST, Checkout

LONG_AGO = 40  # days


@pytest.fixture
def opened(tmp_path) -> Opened:
    return Opened(tmp_path)


def ages(app) -> dict[str, int]:
    return {one.path: one.age_days for one in audit(app).memories}


def kinds(app) -> list[str]:
    return [one.kind for one in audit(app).findings]


@pytest.fixture
def origin(tmp_path) -> Checkout:
    """A repository whose memories were committed long ago, one of them changed since."""
    origin = Checkout(tmp_path / "origin")
    dated = memory("dated").replace("type: user", "type: project\nmodified: 2026-02-20")
    texts = {name: memory(name, type="project") for name in ("old", "new")} | {"dated": dated}
    commit(origin, LONG_AGO, **texts)
    commit(origin, 3, new=memory("new", body="Changed.", type="project"))
    return origin


def commit(origin: Checkout, days_ago: int, **texts: str) -> None:
    origin.days = int(NOON - FIRST) // DAY - days_ago
    origin.commit({f".claude/memory/{name}.md": text for name, text in texts.items()})


def clone(origin: Checkout, folder: Path, *words: str) -> Path:
    origin.git("clone", "-q", *words, f"file://{origin.folder}", str(folder))
    return folder


def local(checkout: Path, home: Path, now: float = NOON):
    env = {"HOME": str(home)}
    config = read_config(env, str(checkout), scope="local")
    return open_app(config, now=lambda: now, tell=lambda _: None)


def test_a_fresh_clone_makes_no_memory_young_and_none_old(origin, tmp_path):
    copy = clone(origin, tmp_path / "clone")
    app = local(copy, tmp_path / "home")
    expected = {"old.md": LONG_AGO, "new.md": 3, "dated.md": 10}
    assert ages(app) == expected
    listed, _ = ages_module.list_memory_ages(app)
    assert {one.memory.path: one.age_days for one in listed} == expected
    # Nor does an archive that was unpacked with the dates of the epoch.
    for path in (copy / ".claude/memory").iterdir():
        os.utime(path, (0, 0))
    assert ages(app) == expected


def test_after_a_pull_the_commit_counts_not_the_moment_it_was_seen(origin, tmp_path):
    copy = clone(origin, tmp_path / "clone")
    app = local(copy, tmp_path / "home")
    app.snapshot()  # the history begins
    text = (origin.folder / ".claude/memory/dated.md").read_text()
    commit(origin, 2, dated=text + "More.\n")
    Checkout(copy, init=False).git("pull", "-q")
    app.snapshot()  # seen as an outside edit, now
    assert ages(app) == {"old.md": LONG_AGO, "new.md": 3, "dated.md": 2}


def test_a_shallow_clone_or_no_git_is_said_and_audited_all_the_same(origin, tmp_path, monkeypatch):
    app = local(clone(origin, tmp_path / "clone", "--depth=1"), tmp_path / "home")
    assert any("shallow" in text for text in audit(app).remarks)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = audit(app)
    assert len(found.memories) == 3
    assert any("no git" in text for text in found.remarks)


def test_an_edit_from_outside_makes_a_dated_memory_young_until_it_is_undone(opened):
    old = memory("plan").replace("type: user", "type: user\nmodified: 2025-06-01")
    opened.write("MEMORY.md", "- [Plan](plan.md) — the plan\n")
    opened.write("plan.md", old)
    look.store_log(opened.app())  # the history sees it for the first time
    assert ages(opened.app()) == {"plan.md": 274}
    opened.now += DAY
    opened.write("plan.md", old + "More.\n")
    look.store_log(opened.app())
    opened.now += 5 * DAY
    assert ages(opened.app()) == {"plan.md": 5}
    review.undo_and_hold_again(opened.app())
    assert opened.read("plan.md") == old
    assert ages(opened.app()) == {"plan.md": 280}  # an undone edit leaves no youth behind


def test_every_finding_is_on_its_own_and_a_broken_file_hides_nothing(opened):
    opened.write("good.md", memory("good", body="See [[gone]]."))
    opened.write("broken.md", b"---\nname: x\n\xff\xfe")
    opened.write("huge.md", b"x" * (5 * 1024 * 1024))
    (opened.root / "link.md").symlink_to("/etc/passwd")
    opened.write("MEMORY.md", "- [Good](good.md) — fine\n- [No](no.md) — gone\n")
    found = audit(opened.app())
    assert {"broken-link", "too-big", "special-file", "not-utf-8"} <= {
        one.kind for one in found.findings
    }
    assert "good.md" in [one.path for one in found.memories]
    assert all(one.kind and one.message for one in found.findings)


def test_memories_that_git_ignores_are_findings(origin, tmp_path):
    app = local(origin.folder, tmp_path / "home")
    assert "git-ignored" not in kinds(app)
    origin.files({".gitignore": "private*.md\n", ".claude/memory/private-x.md": memory("private")})
    ignored = [one for one in audit(app).findings if one.kind == "git-ignored"]
    assert [one.path for one in ignored] == ["private-x.md"]


def test_what_it_does_without_is_said_aloud(tmp_path):
    opened = Opened(tmp_path, history="false")
    opened.write("a.md", memory("a"))
    said = " ".join(audit(opened.app()).remarks)
    assert "history is switched off" in said
    assert "repository" not in said  # nobody asked for a look at the code
    deep = [text for text in audit(opened.app(), deep=True).remarks if "repository" in text]
    assert len(deep) == 1 and "no claim about the code was checked" in deep[0]


def test_an_audit_changes_nothing(opened, tmp_path):
    opened.save("The first thing to know.", name="first")
    opened.write("later.md", "Seen by nobody yet.\n")
    before = tree(tmp_path)
    audit(opened.app(), deep=True)
    after = {path: data for path, data in tree(tmp_path).items() if ".cache" not in path}
    assert after == {path: data for path, data in before.items() if ".cache" not in path}


def test_a_merge_that_nobody_decided_is_a_finding_in_a_memory_and_in_the_index(opened):
    marks = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n"
    opened.write("a.md", memory("a", body=f"Before.\n{marks}"))
    opened.write("quoted.md", memory("quoted", body="Look for <<<<<<< in it.\n"))
    opened.write("MEMORY.md", f"- [A](a.md) — a\n- [Q](quoted.md) — q\n{marks}")
    found = [one for one in audit(opened.app()).findings if one.kind == "conflict"]
    lines = opened.read("a.md").split("\n")
    assert {one.path: one.line for one in found} == {
        "a.md": lines.index("<<<<<<< HEAD") + 1,
        "MEMORY.md": 3,
    }


def text(name: str, type: str = "project", age: int = 0, body: str = "It is about {name}.") -> str:
    day = datetime.datetime.fromtimestamp(NOON - age * DAY, datetime.UTC).isoformat()
    head = f"name: {name}\ndescription: What is said about {name} here\ntype: {type}\n"
    return f"---\n{head}modified: {day}\n---\n\n{body.format(name=name)}\n"


def fill(opened: Opened, **files: str) -> Opened:
    for name, data in files.items():
        opened.write(f"{name}.md", data)
    opened.write("MEMORY.md", "".join(f"- [{n}]({n}.md) — about {n}\n" for n in files))
    return opened


def test_stale_claims_raise_the_score_and_say_why(opened):
    code = Checkout(opened.project)
    code.commit({"src/a.py": "one\n", "src/b.py": "two\n", "src/kept.py": "three\n"})
    code.remove("src/a.py")
    code.remove("src/b.py")
    commit = code.commit()
    body = "See `src/a.py`, `src/b.py`, `src/kept.py` and `src/never.py`."
    fill(opened, alpha=text("alpha", body=body))
    assert [each.score for each in audit(opened.app()).memories] == [0]  # nobody looked
    result = audit(opened.app(), deep=True)
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
    assert result.tokens.index == math.ceil(len("- [alpha](alpha.md) — about alpha") / 4)
    assert result.tokens.total == result.tokens.index + result.tokens.prompt
    assert result.tokens.memories == result.memories[0].tokens == math.ceil(len(data) / 4)
    assert audit(opened.app(), brief=True).tokens == result.tokens


def test_a_store_without_an_index_is_said_unless_it_is_to_have_none(opened, tmp_path):
    opened.write("alpha.md", text("alpha"))
    assert kinds(opened.app()) == ["no-index"]
    bare = Opened(tmp_path, index="false")
    assert kinds(bare.app()) == []

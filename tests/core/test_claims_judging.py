"""Verdicts: what was seen decides, and only evidence makes a claim stale. One row per rule."""

import pytest

from memdir.core.claim import Past, Seen, Uses, Wanted
from memdir.core.claims import find_claims, judge, wanted

GONE = Past("src/auth.py", "3f2c1e9aa", "2026-03-02")
SEEN = Seen(
    commit="c0ffee1",
    paths={
        "src/api.py": ("src/api.py",),
        "api.py": ("src/api.py",),
        "src/cli.py": ("src/cli.py",),
        "cli.py": ("src/cli.py",),
        "crates/core": ("daemon/crates/core",),
        "docs": ("docs",),
        "src/auth": ("src/auth",),
        "logging.md": ("docs/dev/logging.md",),
        "zod": (),
        "commands/ready.md": (".claude/commands/ready.md",),
        "tools/gen.py": ("tools/gen.py",),
        "*_pb2.py": ("gen/a_pb2.py", "gen/b_pb2.py"),
    },
    ignored=frozenset({"build/out.js", "fleet.yaml"}),
    past={
        "src/auth.py": (GONE,),
        "auth.py": (GONE,),
        "doc/logging.md": (Past("doc/logging.md", "33faf88", "2026-03-26"),),
        "doc": (Past("doc/logging.md", "33faf88", "2026-03-26"),),
        "flow.json": (Past("flows/flow.json", "aaaaaaa", "2026-01-01", "flows/new_flow.json"),),
        "crates/types": (
            Past("daemon/crates/types/a.rs", "ca10805", "2026-04-17", "daemon/crates/common/a.rs"),
            Past("daemon/crates/types/b.rs", "ca10805", "2026-04-17", "daemon/crates/common/b.rs"),
        ),
        "packages/engine": (Past("packages/engine/a.py", "b409ecb", "2026-04-04"),),
        "some/engine": (Past("x/some/engine/a.py", "b409ecb", "2026-04-04"),),
        "package.json": (Past("package.json", "b409ecb", "2026-04-04"),),
        "fleet.yaml": (),
        "dist/a.js": (Past("dist/a.js", "b409ecb", "2026-04-04"),),
        "run.log": (Past("run.log", "b409ecb", "2026-04-04"),),
        "tools/old.py": (Past("tools/old.py", "b409ecb", "2026-04-04"),),
        "old.py": (Past("tools/old.py", "b409ecb", "2026-04-04"),),
    },
    symbols={
        "resetKeyCache": Uses(2, 0, ("src/api.py",)),
        "Rewrite": Uses(1),
        "proseOnly": Uses(0, 3),
    },
    past_symbols={
        "pendCount": Past("pendCount", "4ae2089", "2026-07-15"),
        "proseOnly": Past("proseOnly", "4ae2089", "2026-07-15"),
        "done": Past("done", "4ae2089", "2026-07-15"),
    },
    branches=frozenset({"main", "v1.0"}),
    packages=frozenset({"zod", "left-pad", "utoipa"}),
    commits=frozenset({"37c46e7"}),
    commands=frozenset({"lint", "verify:batch"}),
    known=frozenset(
        {"paths", "past", "symbols", "past_symbols", "branches", "packages", "commits", "commands"}
    ),
)

# text, span, verdict, reason
VERDICTS = [
    ("`src/api.py`", "src/api.py", "true", "found"),
    ("`api.py`", "api.py", "true", "found as src/api.py"),
    ("`src/api.py:73-77`", "src/api.py:73-77", "true", "found"),
    ("`src/api.py::test_x`", "src/api.py::test_x", "true", "found"),
    ("`crates/core/`", "crates/core/", "true", "found as daemon/crates/core"),
    ("`src/{api,cli}.py`", "src/{api,cli}.py", "true", "found"),
    ("`api.py/cli.py`", "api.py/cli.py", "true", "found"),
    ("`*_pb2.py`", "*_pb2.py", "true", "found as gen/a_pb2.py and 1 more"),
    ("e.g. `src/api.py`", "src/api.py", "true", "found"),
    ("We moved to `src/api.py`.", "src/api.py", "true", "found"),
    ("`zod/mini`", "zod/mini", "true", "a package that is declared"),
    ("`left-pad`", "left-pad", "true", "declared"),
    ("utoipa 5.4", "utoipa 5.4", "true", "declared; its version was not compared"),
    ("`main`", "main", "true", "branch or tag"),
    ("`37c46e7`", "37c46e7", "true", "commit"),
    ("`npm run verify:batch`", "npm run verify:batch", "true", "declared"),
    ("`python tools/gen.py`", "python tools/gen.py", "true", "found"),
    ("`/ready`", "/ready", "true", "found"),
    ("`resetKeyCache()`", "resetKeyCache()", "true", "in 2 files"),
    ("`Action::Rewrite`", "Action::Rewrite", "true", "in 1 file"),
    (
        "`src/auth.py`",
        "src/auth.py",
        "stale",
        "removed in 3f2c1e9, 2026-03-02; now src/auth/",
    ),
    (
        "`doc/logging.md` → what is logged",
        "doc/logging.md",
        "stale",
        "removed in 33faf88, 2026-03-26; now docs/dev/logging.md",
    ),
    ("`doc/*.md`", "doc/*.md", "stale", "removed in 33faf88, 2026-03-26"),
    (
        "`flow.json`",
        "flow.json",
        "stale",
        "renamed to flows/new_flow.json in aaaaaaa, 2026-01-01",
    ),
    (
        "`crates/types/`",
        "crates/types/",
        "stale",
        "renamed to daemon/crates/common/ in ca10805, 2026-04-17",
    ),
    ("`packages/engine`", "packages/engine", "stale", "removed in b409ecb, 2026-04-04"),
    ("`tools/old.py:12`", "tools/old.py:12", "stale", "removed in b409ecb, 2026-04-04"),
    ("`python tools/old.py`", "python tools/old.py", "stale", "removed in b409ecb, 2026-04-04"),
    ("```sh\npython tools/old.py\n```", "tools/old.py", "stale", "removed in b409ecb, 2026-04-04"),
    (
        "`pendCount` in `src/api.py`",
        "pendCount",
        "stale",
        "no longer in the code: removed in 4ae2089, 2026-07-15",
    ),
    ("`never/seen.py`", "never/seen.py", "unknown", "not found, and not in the past"),
    ("`fleet.yaml`", "fleet.yaml", "unknown", "ignored by git"),
    ("`package.json`", "package.json", "unknown", "not found"),
    ("`some/engine`", "some/engine", "unknown", "not found"),
    ("`dist/a.js`", "dist/a.js", "unknown", "not found"),
    ("`run.log`", "run.log", "unknown", "not found"),
    ("run `old.py`, in another repo", "old.py", "unknown", "another repository"),
    ("```sh\npython old.py\n```", "old.py", "unknown", "not found"),
    ("`pendCount` counts", "pendCount", "unknown", "not found"),
    ("pendCount in `src/api.py`", "pendCount", "unknown", "not found"),
    ("`proseOnly` in `src/api.py`", "proseOnly", "unknown", "not found"),
    ("`done` in `src/api.py`", "done", "unknown", "not found"),
    ("`pendCount` in `other/place.py`", "pendCount", "unknown", "not found"),
    ("`owner/name`", "owner/name", "unknown", "not found"),
    ("`feat/x`", "feat/x", "unknown", "not found"),
    ("`0123abc`", "0123abc", "unknown", "not found"),
    ("https://example.org", "https://example.org", "unknown", "not checked: offline"),
    ("`src/<name>.py`", "src/<name>.py", "unknown", "placeholder"),
    ("`~/x.py`", "~/x.py", "unknown", "outside the repository"),
    ("TODO: `tools/old.py`", "tools/old.py", "unknown", "planned"),
    ("e.g. `tools/old.py`", "tools/old.py", "unknown", "example"),
    ("`tools/old.py` is git-ignored", "tools/old.py", "unknown", "said to be untracked"),
    ("`tools/old.py` was removed", "tools/old.py", "not_a_claim", "denied"),
    ("`tools/old.py` → `src/api.py`", "tools/old.py", "not_a_claim", "old name"),
    ("not `src/api.py`", "src/api.py", "not_a_claim", "denied"),
    ("`.md`", ".md", "not_a_claim", "file ending"),
    ("`--all`", "--all", "not_a_claim", "option of a command"),
    ("`git push`", "git push", "not_a_claim", "general command"),
    ("`v9.9.9`", "v9.9.9", "not_a_claim", "version"),
    ("PR #69", "PR #69", "not_a_claim", "number on a server"),
]


@pytest.mark.parametrize(
    ("text", "span", "verdict", "reason"), VERDICTS, ids=[r[0] for r in VERDICTS]
)
def test_a_claim_has_one_of_four_verdicts_and_a_reason(text, span, verdict, reason):
    claim = next(one for one in find_claims(text) if one.text == span)
    judged = judge(claim, SEEN)
    assert (judged.verdict, judged.reason[: len(reason)]) == (verdict, reason)


def test_nothing_seen_makes_nothing_stale():
    for text, *_ in VERDICTS:
        assert {judge(one, Seen()).verdict for one in find_claims(text)} <= {
            "unknown",
            "not_a_claim",
        }


@pytest.mark.parametrize(
    ("span", "known", "reason"),
    [
        ("src/x.py", (), "nothing to look it up in"),
        ("src/x.py", ("paths",), "not found"),
        ("src/x.py", ("paths", "past"), "not found, and not in the past of the repository"),
        ("makeIt()", ("paths", "past"), "nothing to look it up in"),
        ("makeIt()", ("symbols",), "not found"),
        ("feat/x", ("branches", "past"), "not found"),
    ],
)
def test_a_reason_claims_no_more_than_was_looked_at(span, known, reason):
    claim = find_claims(f"`{span}`")[0]
    assert judge(claim, Seen(known=frozenset(known))).reason == reason


def test_a_memory_of_the_same_store_is_found_beside():
    claim = find_claims("See `use-uv.md`.")[0]
    assert judge(claim, SEEN).verdict == "unknown"
    judged = judge(claim, SEEN, frozenset({"use-uv.md"}))
    assert (judged.verdict, judged.reason) == ("true", "a memory of this store")


def test_a_folder_from_git_itself_is_named_as_a_folder():
    """A repository may answer with the folder instead of with what lay in it."""
    past = {"crates/types": (Past("d/crates/types", "ca10805", "2026-04-17", "d/crates/common"),)}
    claim = find_claims("`crates/types/`")[0]
    reason = "renamed to d/crates/common/ in ca10805, 2026-04-17"
    assert judge(claim, Seen(past=past)).reason == reason


def test_one_look_asks_for_everything_that_the_claims_need():
    text = (
        "`src/auth.py` `make_it()` `npm run x` `python tools/gen.py` `left-pad` `37c46e7` `main` "
        "`a.py::test_b` `doc/*.md` `/etc/passwd` `~/.ssh/id` `src/<x>.py`"
    )
    asked = wanted(find_claims(text))
    assert asked.paths >= {"src/auth.py", "auth.py", "src/auth", "tools/gen.py", "a.py", "doc"}
    assert asked.symbols >= {"make_it", "test_b"}
    assert "left-pad" in asked.packages
    assert asked.commits == {"37c46e7"}
    assert "main" in asked.branches
    everything = asked.paths | asked.symbols | asked.packages
    assert not any("passwd" in one or "ssh" in one or "<" in one for one in everything)


def test_no_claim_asks_for_nothing():
    assert wanted([]) == Wanted()

"""Verdicts: what was seen decides, and only evidence makes a claim stale. One row per rule."""

import pytest

from memdir.claims.claim import Past, Seen, Uses, Wanted
from memdir.claims.find import find_claims
from memdir.claims.judge import judge, wanted

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
    ("`src/api.py:4`", "src/api.py:4", "true", "found"),
    ("`src/api.py#errors`", "src/api.py#errors", "true", "found; its heading was not looked at"),
    ("`crates/core/`", "crates/core/", "true", "found as daemon/crates/core"),
    ("`src/{api,cli}.py`", "src/{api,cli}.py", "true", "found"),
    ("`api.py/cli.py`", "api.py/cli.py", "true", "found"),
    ("`*_pb2.py`", "*_pb2.py", "true", "found as gen/a_pb2.py and 1 more"),
    ("e.g. `src/api.py`", "src/api.py", "true", "found"),
    ("We moved to `src/api.py`.", "src/api.py", "true", "found"),
    ("`zod/mini`", "zod/mini", "true", "zod is declared; the rest was not looked at"),
    ("`left-pad`", "left-pad", "true", "declared"),
    ("utoipa 5.4", "utoipa 5.4", "true", "declared; its version was not compared"),
    ("`main`", "main", "true", "branch or tag"),
    ("`37c46e7`", "37c46e7", "true", "commit"),
    ("`npm run verify:batch`", "npm run verify:batch", "true", "declared"),
    ("`python tools/gen.py`", "python tools/gen.py", "true", "found"),
    ("`/ready`", "/ready", "true", "found"),
    ("`resetKeyCache()`", "resetKeyCache()", "true", "in 2 files"),
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
    ("run `old.py`, in another repo", "old.py", "unknown", "not found"),
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
    ("`tools/old.py` was removed", "tools/old.py", "not_a_claim", "denied"),
    ("`tools/old.py` → `src/api.py`", "tools/old.py", "not_a_claim", "old name"),
    ("not `src/api.py`", "src/api.py", "not_a_claim", "denied"),
    ("`.md`", ".md", "not_a_claim", "file ending"),
    ("`--all`", "--all", "not_a_claim", "option of a command"),
    ("`git push`", "git push", "not_a_claim", "general command"),
    ("`v9.9.9`", "v9.9.9", "not_a_claim", "version"),
    ("PR #69", "PR #69", "not_a_claim", "number on a server"),
]


# What of a span was found, and what not: no more than was looked at.
WHOLE = [
    ("`PriceBook.lookup`", "true", "PriceBook and lookup in src/shop/pricing.py"),
    ("`PriceBook.retry`", "unknown", "PriceBook and retry are found, but not seen in one file"),
    ("`Told.nowhere`", "unknown", "Told and nowhere are found, but not seen in one file"),
    ("`self.lookup()`", "true", "lookup in 1 file"),
    ("`shop.pricing.lookup`", "true", "pricing and lookup in src/shop/pricing.py"),
    ("`shop.api.Router`", "true", "api and Router in src/shop/api/__init__.py"),
    ("`shop.db.session`", "unknown", "not found: db; the other parts are"),
    ("`shop.pricing.apply_discount`", "unknown", "not found: apply_discount; the other parts are"),
    ("`from shop.utils import retry`", "unknown", "not found: utils; the other parts are"),
    ("`gone.away.now`", "unknown", "not found, nor in removed lines of code"),
    ("`shop.storage.pool`", "true", "found as src/shop/storage/pool.py"),
    ("`boot.z80`", "true", "found as asm/boot.z80"),
    ("`shop/db/`", "stale", "renamed to src/shop/storage/ in 68b2e00, 2026-08-01"),
    ("`tests/a.py::test_price`", "true", "found, with test_price"),
    ("`tests/a.py::test_gone`", "unknown", "tests/a.py is there, but test_gone was not found"),
    ("`tests/a.py::retry`", "unknown", "tests/a.py is there, but retry is elsewhere: src/net.py"),
    ("`tests/a.py::nowhere`", "true", "found; nowhere in 2 files"),
    ("`pytest tests/a.py::test_price`", "true", "found, with test_price"),
    (
        "`pytest tests/a.py::test_gone`",
        "unknown",
        "tests/a.py is there, but test_gone was not found",
    ),
    ("`pytest tests/b.py`", "unknown", "not found: tests/b.py"),
    ("`make lint`", "unknown", "not found: no script, target or recipe is called lint"),
    ("`npm run e2e`", "unknown", "not found: no script, target or recipe is called e2e"),
    (
        "`utils.py`",
        "unknown",
        "not found; src/shop/utils.py was renamed to src/shop/retrying.py in 049ad51, 2026-03-01,"
        " but it may be another one",
    ),
    (
        "`dist/a.js`",
        "unknown",
        "not found; dist/a.js was removed in b409ecb, 2026-04-04, but people may keep it",
    ),
    (
        "`apply_discount`",
        "unknown",
        "not found; lines with apply_discount were removed in bdbfe35, 2026-07-01:"
        " too little to tell",
    ),
    ("`ab`", "unknown", "not found"),  # too short for its past to be kept
    ("branch `release/1.0`, commit 8fee01c", "unknown", "not found among the branches and tags"),
]
SHOP = Seen(
    paths={
        "shop": ("src/shop",),
        "shop/storage/pool.py": ("src/shop/storage/pool.py",),
        "boot.z80": ("asm/boot.z80",),
        "tests/a.py": ("tests/a.py",),
    },
    past={
        "shop/db": (
            Past("src/shop/db/a.py", "68b2e00", "2026-08-01", "src/shop/storage/a.py"),
            Past("src/shop/db/b.py", "68b2e00", "2026-08-01", "src/shop/storage/b.py"),
        ),
        "utils.py": (Past("src/shop/utils.py", "049ad51", "2026-03-01", "src/shop/retrying.py"),),
        "dist/a.js": (Past("dist/a.js", "b409ecb", "2026-04-04"),),
    },
    symbols={
        "PriceBook": Uses(1, 0, ("src/shop/pricing.py",)),
        "lookup": Uses(1, 0, ("src/shop/pricing.py",)),
        "retry": Uses(1, 0, ("src/net.py",)),
        "session": Uses(1, 0, ("src/shop/storage/session.py",)),
        "Router": Uses(1, 0, ("src/shop/api/__init__.py",)),
        "pricing": Uses(1, 0, ("src/shop/api/__init__.py",)),
        "test_price": Uses(1, 0, ("tests/a.py",)),
        "Told": Uses(3),
        "nowhere": Uses(2),
    },
    past_symbols={"apply_discount": Past("apply_discount", "bdbfe35", "2026-07-01")},
    packages=frozenset({"shop"}),
    commands=frozenset({"check"}),
    known=SEEN.known,
)


@pytest.mark.parametrize(("text", "verdict", "reason"), WHOLE, ids=[row[0] for row in WHOLE])
def test_a_verdict_is_on_the_whole_of_a_span(text, verdict, reason):
    judged = judge(find_claims(text)[0], SHOP)
    assert (judged.verdict, judged.reason) == (verdict, reason)


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
        ("makeIt()", ("symbols", "past_symbols"), "not found, nor in removed lines of code"),
        ("feat/x", ("branches", "past"), "not found among the branches and tags"),
        ("make lint", ("paths",), "not found"),
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
    pointer = find_claims("- [Logs](logging.md)")[0]
    assert judge(pointer, SEEN).reason == "found as docs/dev/logging.md"
    assert judge(pointer, SEEN, frozenset({"logging.md"})).reason == "a memory of this store"


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

"""Verdicts: what was seen decides, and only evidence makes a claim stale. One row per rule."""

import pytest

from memdir.claims.claim import Past, Seen, Uses
from memdir.claims.find import find_claims
from memdir.claims.judge import judge_claim
from tests.helpers.tables import table

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
    ignored=frozenset({"build/out.js", "fleet.yaml", "dist/a.js"}),
    past={
        "src/auth.py": (GONE,),
        "auth.py": (GONE,),
        "doc/logging.md": (Past("doc/logging.md", "33faf88", "2026-03-26"),),
        "doc": (Past("doc", "33faf88", "2026-03-26"),),
        "flow.json": (Past("flows/flow.json", "aaaaaaa", "2026-01-01", "flows/new_flow.json"),),
        "crates/types": (
            Past("daemon/crates/types", "ca10805", "2026-04-17", "daemon/crates/common"),
        ),
        "packages/engine": (Past("packages/engine", "b409ecb", "2026-04-04"),),
        "some/engine": (Past("x/some/engine", "b409ecb", "2026-04-04"),),
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

VERDICTS = table("claims", "verdicts")
WHOLE = table("claims", "whole")
SHOP = Seen(
    paths={
        "shop": ("src/shop",),
        "shop/storage/pool.py": ("src/shop/storage/pool.py",),
        "boot.z80": ("asm/boot.z80",),
        "tests/a.py": ("tests/a.py",),
    },
    past={
        "shop/db": (Past("src/shop/db", "68b2e00", "2026-08-01", "src/shop/storage"),),
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


@pytest.mark.parametrize(
    ("text", "span", "verdict", "reason"), VERDICTS, ids=[row[0] for row in VERDICTS]
)
def test_a_claim_has_one_of_four_verdicts_and_a_reason(text, span, verdict, reason):
    claim = next(claim for claim in find_claims(text) if claim.text == span)
    judged = judge_claim(claim, SEEN)
    assert (judged.verdict, judged.reason[: len(reason)]) == (verdict, reason)


@pytest.mark.parametrize(("text", "verdict", "reason"), WHOLE, ids=[row[0] for row in WHOLE])
def test_a_verdict_is_on_the_whole_of_a_span(text, verdict, reason):
    judged = judge_claim(find_claims(text)[0], SHOP)
    assert (judged.verdict, judged.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("span", "known", "reason"), table("claims", "a_reason_claims_no_more_than_was_looked_at")
)
def test_a_reason_claims_no_more_than_was_looked_at(span, known, reason):
    claim = find_claims(f"`{span}`")[0]
    assert judge_claim(claim, Seen(known=frozenset(known))).reason == reason


def test_a_memory_of_the_same_store_is_found_beside():
    pointer = find_claims("- [Logs](logging.md)")[0]
    assert judge_claim(pointer, SEEN).reason == "found as docs/dev/logging.md"
    assert judge_claim(pointer, SEEN, frozenset({"logging.md"})).reason == "a memory of this store"

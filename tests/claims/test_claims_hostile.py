"""Whatever a memory holds: finding claims ends soon, breaks nothing and asks for nothing odd."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.claims.claim import NOT_A_CLAIM, UNKNOWN, Seen
from memdir.claims.code_index import drop_code_comments
from memdir.claims.find import MAX_CLAIMS, find_claims
from memdir.claims.judge import collect_evidence_claims_need, judge_claim
from tests.helpers import hostile
from tests.helpers.tables import table

MARKS = "`/.*{}[]()<>|~#:-_@$\\\"' \n\ta1Z→…é中\0\x1b\ud800"
PIECES = [
    "`", "``", "```\n", "~~~\n", "src/a.py", "**Why:**", "- [ ] ", "](", "[[", "]]", "{a,b}", "::",
    "was removed", " → ", "http://x", "not ", ". ", "| a | b |\n", "---\n", "# Old\n", "../", "*",
    "#12", "v1.2", "deadbeef1", "on branch ", "in the x repo ",
    "postgres 14 ", "--flag ", "~~", "e.g. ", "npm run ", "A_B", "fooBar()", "\n", " ", "\0",
]  # fmt: skip


def shape(text: str) -> None:
    """What always holds of the claims of a text."""
    claims = find_claims(text, ".claude/memory/x.md")
    lines = text.count("\n") + 1
    assert len(claims) <= MAX_CLAIMS
    for claim in claims:
        assert claim.text and 1 <= claim.line <= lines and claim.column >= 0
        judged = judge_claim(claim, Seen())
        assert judged.verdict in (UNKNOWN, NOT_A_CLAIM)
        assert judged.reason
    asked = collect_evidence_claims_need(claims)
    for name in asked.paths:
        assert name and not name.startswith(("/", "~", "../")) and "\0" not in name
        assert "\n" not in name


@given(st.text(MARKS, max_size=300) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_text_keeps_the_shape(text):
    shape(text)


BAIT = {
    **{
        f"repeated {text!r}": text * 200_000
        for text in ("` ", "a.", "a-", "1.", "~", "9", "|", "\n")
    },
    "a megabyte in one line": "a" * 1_000_000,
    "a megabyte of backticks": "`" * 1_000_000,
    "runs of backticks of every length": "".join("`" * n + " " for n in range(1, 1_000)),
    "slashes": "a/" * 200_000,
    "open braces": "`" + "{a," * 60_000 + "`",
    "braces to spread": "`" + "{a,b}" * 30 + ".py`",
    "stars": "`" + "*" * 150 + ".py`" + " `" + "*a" * 90 + ".py`",
    "open links": "[a](" * 100_000,
    "open wiki links": "[[" * 200_000,
    "list items": "- `a/b.py` was removed\n" * 20_000,
    "one long sentence": "`a/b.py` and " * 30_000,
    "more claims than are taken": "`a/b.py` " * 10_000,
    "table rows": "| `a/b.py` | x |\n" * 20_000,
    "fences that open": "```\n" * 100_001,
    "verbs before a span": "removed the old " * 40_000 + "`a/b.py`",
    "names of repositories": "in the a-b repo ~/a/b github.com/a/b " * 20_000,
    "branches": "on branch a-b " * 40_000,
    "versions": "uses postgres 14 " * 40_000,
    "flags": "`python a/b.py" + " --flag" * 20_000 + "`" + "```\npython a/b.py --x\n" * 9_000,
    "a long heading over many items": "# " + "~/a/b " * 3_000 + "\n" + "- `a.py`\n" * 20_000,
    "hex": "deadbeef0" * 100_000,
    "a header without an end": "---\n" + "description: x\n" * 100_000,
}


@pytest.mark.parametrize("name", BAIT)
def test_bait_is_swallowed(name):
    """A pattern that tries again and again would not come back from here."""
    shape(BAIT[name])


QUOTES = ("'", '"', '"""', "`", "/*", "\\'", "\\`", ":\n", ": '''", "#", "//", "'\\\n")


@pytest.mark.parametrize("path", ["a.py", "a.ts"])
def test_code_of_nothing_but_quotes_and_comments_is_read_once(path):
    for bait in QUOTES:
        assert b"name" in drop_code_comments(path, b"name;" + bait.encode() * 200_000)


def test_hostile_inputs_are_texts_like_any_other(shared):
    lines = hostile.FILE.read_text(encoding="utf-8").splitlines()
    assert lines
    for row in map(hostile.read, lines):
        shape(row.value)
        shape(f"See `{row.value}` and {row.value}.")


@pytest.mark.parametrize("path", table("claims", "a_hostile_path_is_never_asked_for_as_it_stands"))
def test_a_hostile_path_is_never_asked_for_as_it_stands(path):
    asked = collect_evidence_claims_need(
        find_claims(f"See `{path}` and {path} .", ".claude/memory/x.md")
    )
    assert not {one for one in asked.paths if ".." in one.split("/") or one[:1] in "/~"}

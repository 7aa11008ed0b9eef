"""An audit of a store: scores with their reasons, findings, tokens; it hides nothing."""

import math

from memdir.audit.audit import Known, Tally, audit_memories
from memdir.claims.claim import NOT_A_CLAIM, PATH, STALE, SYMBOL, TRUE, UNKNOWN, Claim, Judged
from memdir.errors import Unwritable
from memdir.store.in_memory import InMemory

DAY = 86_400.0
NOW = 1_772_452_800.0  # 2026-03-02T12:00:00Z


def text(name: str, type: str = "project", body: str = "It is about {name}.") -> bytes:
    head = f"name: {name}\ndescription: What is said about {name} here\ntype: {type}\n"
    return f"---\n{head}---\n\n{body.format(name=name)}\n".encode()


def store(**files: bytes) -> InMemory:
    found = InMemory()
    for name, data in files.items():
        found.put(f"{name}.md", data)
    lines = [f"- [{name}]({name}.md) — about {name}\n" for name in files]
    found.put("MEMORY.md", "".join(lines).encode())
    return found


def clocks(**days: float) -> dict[str, float]:
    return {f"{name}.md": NOW - age * DAY for name, age in days.items()}


def judged(kind: str, name: str, verdict: str, reason: str = "") -> Judged:
    return Judged(Claim(kind, name, 9), verdict, reason)


def test_the_most_worn_out_comes_first_with_its_action():
    alpha, beta, gamma = text("alpha"), text("beta", "user"), text("gamma", "feedback")
    known = Known(clocks(alpha=42, beta=1, gamma=91))
    found = audit_memories(store(alpha=alpha, beta=beta, gamma=gamma), NOW, known)
    rows = [(one.path, one.age_days, one.score, one.action) for one in found.memories]
    assert rows == [
        ("alpha.md", 42, 87, "prune"),
        ("gamma.md", 91, 50, "review"),
        ("beta.md", 1, 0, "keep"),
    ]
    assert [found.count(action) for action in ("prune", "review", "keep")] == [1, 1, 1]
    assert "half-life of project: 14 days" in found.memories[0].reasons[0]
    assert found.memories[2].reasons == ()


def test_stale_claims_raise_the_score_and_say_why():
    verdicts = {
        "alpha.md": [
            judged(PATH, "src/a.py", STALE, "removed in 3f2c1e9"),
            judged(PATH, "src/b.py", STALE, "renamed to src/c.py"),
            judged(SYMBOL, "login", TRUE),
            judged(PATH, "dist/x.js", UNKNOWN),
            judged(PATH, "docs/*.md", NOT_A_CLAIM),
        ]
    }
    found = audit_memories(store(alpha=text("alpha")), NOW, Known(clocks(alpha=0), verdicts))
    (one,) = found.memories
    assert one.score == 20
    assert one.claims == Tally(checked=3, stale=2, unknown=1)
    assert one.reasons[-1] == "path src/a.py and 1 more: removed in 3f2c1e9 (+20)"
    stale = [finding for finding in found.findings if finding.kind == "stale-claim"]
    assert [(finding.path, finding.line) for finding in stale] == [("alpha.md", 9)] * 2
    assert "renamed to src/c.py" in stale[1].message


def test_tokens_are_characters_by_four():
    data = text("alpha")
    found = audit_memories(store(alpha=data), NOW, Known(clocks(alpha=0), prompt=401))
    index = len("- [alpha](alpha.md) — about alpha")
    assert found.load.index == math.ceil(index / 4)
    assert found.load.prompt == 101
    assert found.load.total == found.load.index + 101
    assert found.load.memories == found.memories[0].tokens == math.ceil(len(data) / 4)


def test_a_wide_letter_is_one_character_also_in_a_brief_audit():
    wide = store(alpha=text("alpha", body="記憶" * 100))
    full = audit_memories(wide, NOW, Known()).load.memories
    assert full == audit_memories(wide, NOW, Known(brief=True)).load.memories
    assert full == math.ceil(len(text("alpha", body="記憶" * 100).decode()) / 4)


def test_two_memories_that_say_the_same_are_one_finding():
    body = "Deploys go through the staging cluster first; the smoke tests there must be green."
    same = store(alpha=text("alpha", body=body), beta=text("alpha", body=body))
    findings = audit_memories(same, NOW, Known()).findings
    assert [one.path for one in findings if one.kind == "near-duplicate"] == ["alpha.md"]


class OneUnreadable(InMemory):
    def read(self, path: str) -> bytes:
        if path == "beta.md":
            raise Unwritable("beta.md cannot be read: Input/output error", next="check the disk")
        return super().read(path)


def test_a_memory_that_cannot_be_read_hides_no_other():
    broken = OneUnreadable()
    for path, data in (("alpha.md", text("alpha")), ("beta.md", text("beta"))):
        broken.put(path, data)
    found = audit_memories(broken, NOW, Known())
    assert [one.path for one in found.memories] == ["alpha.md", "beta.md"]
    unreadable = [one for one in found.findings if one.kind == "unreadable"]
    assert [one.path for one in unreadable] == ["beta.md"]


def test_a_brief_audit_reads_no_text_but_scores_all():
    full = store(alpha=b"no header, written yesterday")
    assert "no-header" in [one.kind for one in audit_memories(full, NOW, Known()).findings]
    brief = audit_memories(full, NOW, Known(clocks(alpha=60), brief=True))
    assert [one.kind for one in brief.findings] == []
    assert [one.action for one in brief.memories] == ["prune"]  # 60 days of `unknown`


def test_a_store_without_an_index_is_said_unless_it_is_to_have_none():
    found = InMemory()
    found.put("alpha.md", text("alpha"))
    kinds = [one.kind for one in audit_memories(found, NOW, Known(clocks(alpha=0))).findings]
    assert kinds == ["no-index"]
    assert audit_memories(found, NOW, Known(clocks(alpha=0), indexed=False)).findings == ()


def test_an_empty_store_is_no_trouble():
    found = audit_memories(InMemory(), NOW, Known())
    assert found.memories == () and found.findings == () and found.load.total == 0

"""Indexes that nobody should write: restructured all the same, or left alone; never half."""

import random

import pytest

from memdir.capture import review
from memdir.hot.memory import is_memory
from memdir.upkeep.restructure import Plan, restructure
from tests.helpers.kept import not_kept
from tests.helpers.opened import Opened


def run(opened: Opened) -> Plan:
    return restructure(opened.app())[0]


def proven(opened: Opened) -> Plan:
    """Restructure, hold it to its promises, and leave the result."""
    before = opened.files()
    plan = run(opened)
    after = opened.files()
    assert not_kept(before, after, [one.text for one in plan.work.accounted]) == []
    assert plan.lost == ()
    again = run(opened)
    assert not again.texts and again.index is None, again.reasons
    if plan.texts or plan.index is not None:
        review.undo_changes(opened.app())
        assert opened.files() == before
        _put_back(opened, after)
    return plan


def _put_back(opened: Opened, files: dict[str, bytes]) -> None:
    """The result once more, for a closer look; a second run of it all costs far more."""
    for path in set(opened.files()) - set(files):
        (opened.root / path).unlink()
    for path, data in files.items():
        if not path.endswith("/"):
            opened.write(path, data)


@pytest.fixture
def opened(tmp_path) -> Opened:
    return Opened(tmp_path)


def words(chance: random.Random, count: int) -> str:
    known = [
        "cache",
        "queue",
        "retry",
        "token",
        "branch",
        "build",
        "deploy",
        "index",
        "schema",
        "worker",
        "border",
        "signal",
    ]
    return " ".join(f"{chance.choice(known)}{chance.randrange(999)}" for _ in range(count))


def wild_index(seed: int, lines: int = 1162, size: int = 92_000) -> str:
    """An index as it occurs in the wild: everything inline, for months."""
    chance = random.Random(seed)
    out = ["# Project Memory", ""]
    while len(out) < lines - 24:
        out += [f"## {words(chance, chance.randint(1, 4)).title()}", ""]
        for _ in range(chance.randint(1, 4)):
            kind = chance.choice(("bullets", "bullets", "nested", "text", "code", "table", "sub"))
            if kind == "bullets":
                out += [f"- **{words(chance, 2)}**: {words(chance, 6)}." for _ in range(6)]
            elif kind == "nested":
                for _ in range(3):
                    out += [f"- {words(chance, 7)}", f"  - {words(chance, 5)}"]
                    out += [f"    continued {words(chance, 4)}"]
            elif kind == "text":
                out += [words(chance, 14) + ".", words(chance, 60) + "."]
            elif kind == "code":
                out += ["```sh", f"run {words(chance, 3)}", "", f"# {words(chance, 2)}", "```"]
            elif kind == "table":
                out += ["| name | what |", "|---|---|"]
                out += [f"| {words(chance, 1)} | {words(chance, 4)} |" for _ in range(4)]
            else:
                out += [
                    f"### {words(chance, 2)}",
                    f"1. {words(chance, 5)}",
                    f"2. {words(chance, 5)}",
                ]
            out.append("")
    out += ["---", ""]
    while len(out) < lines:
        item = f"- {words(chance, 5)} "
        missing = size - sum(len(line) + 1 for line in out)
        last = missing - len(item) - 1 if len(out) == lines - 1 else missing // 4
        out.append(item + "x" * max(last, 0))
    return "\n".join(out) + "\n"


def test_an_index_of_1162_lines_becomes_one_that_an_agent_sees_whole(opened):
    text = wild_index(7)
    assert (text.count("\n"), round(len(text), -3)) == (1162, 92_000)
    opened.write("MEMORY.md", text)
    plan = proven(opened)
    assert [one.name for one in plan.checks if not one.ok] == []
    assert plan.before.inline > 700 and plan.after.inline == 0
    assert 10 < len(plan.texts) <= 120
    assert max(text.count("\n") for text in plan.texts.values()) <= 200
    assert plan.after.index_lines <= 200 and plan.after.index_characters <= 25_000


def test_code_tables_and_nested_lists_stay_whole_and_in_order(opened):
    block = "\n".join(
        (
            *("```py", "def f():", "", "    return 1  # [a](b.md)", "```", "", "| a | b |"),
            *("|---|---|", "| 1 | `x.md` |", "", "- one", "  - two", "    three", "", "      code"),
            "- four",
        )
    )
    opened.write("MEMORY.md", f"# Index\n\n## Build\n\n{block}\n\n## Rest\n\n- more to know here\n")
    plan = proven(opened)
    assert any(block in text for text in plan.texts.values())


HOSTILE = {
    "unterminated fence": "# Memory\n\n- a fact to keep\n\n```\n- [x](x.md)\n## no heading\nend",
    "headings only": "# One\n## Two\n### Three\n## Two\n",
    "tiny bullets": "# Memory\n\n" + "".join(f"- item {n}\n" for n in range(4_000)),
    "one huge line": "- " + "word " * 30_000 + "\n",
    "nul": "# Memory\n\n- a \x00 fact with a NUL in it\n\x00\n",
    "hidden characters": "## Ti\u202etle\u200b \U000e0041\n\n- fa\u2066ct \x1b[31m and more\n",
    "paths in titles": "## ../../etc/passwd\n\n- keep this\n\n## C:\\x\\y\n\n- and this\n",
    "reserved names": "## Memory\n\n- one fact\n\n## README\n\n- two\n\n## con\n\n- three\n",
    "no latin letters": "## 設計の決定\n\n- 事実を一つ書く。\n\n## Ωμέγα\n\n- ένα γεγονός\n",
    "setext": "Title\n=====\n\nSection\n-------\n\n- a fact below it\n",
    "only a rule": "---\n\n---\n",
    "header never closed": "---\nname: x\n\n- a fact below half a header\n",
    "header": "---\nname: x\ntype: project\n---\n\n## A\n\n- a fact below a header\n",
    "comment with text": "<!-- one\ntwo --> and text behind it\n- a fact\n",
    "comment never closed": "- a fact\n\n<!-- open\n\n- another fact\n",
    "crlf": "# Memory\r\n\r\n## Build\r\n\r\n- make it so\r\n- and so\r\n",
    "crlf without an end": "# Memory\r\n\r\n- make it so\r\n- and so",
    "byte order mark": "\ufeff# Memory\n\n## Build\n\n- make it so\n",
    "quotes": "> a quoted fact\n> and its second line\n\n- b\n",
    "emphasis": "**Deploy** on Fridays only.\n\n__Never__ on Mondays.\n",
    "many headings": "".join(f"## Topic {n}\n\n- fact number {n}\n\n" for n in range(400)),
    "deep headings": "".join(f"{'#' * (n % 6 + 1)} H{n}\n\ntext {n}\n\n" for n in range(300)),
    "links to nothing": "- [a](a.md)\n- [b](b.md) — words that tell what was in there once\n",
    "bad targets": "- [a](../up.md) — more words than five here\n- [[../x]]\n- [[no]] [[no2]]\n",
    "mixed table": "| file | what |\n|---|---|\n| [a](a.md) | x |\n| none | a fact in a row |\n",
    "secret": "## Keys\n\n- AKIAIOSFODNN7EXAMPLE is the key\n- password: hunter2hunter2\n",
    "blank": "\n\n   \n",
    "long heading": "## " + "very long heading " * 60 + "\n\n- a fact\n",
    "same title": "## Notes\n\n- one fact\n\n## Notes\n\n- another\n\n## NOTES\n\n- a third\n",
    "brackets": "## [x](y.md) and `code` | pipe\n\n- [not a link] (x) fact\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_index_loses_nothing_and_can_be_undone(name, opened):
    opened.write("MEMORY.md", HOSTILE[name])
    opened.write("a.md", "---\nname: a\ndescription: the letter a\ntype: project\n---\n\nA fact.\n")
    opened.write("Notes.md", "Somebody's notes, with a capital letter.\n")
    plan = proven(opened)
    inside = {path.parent for path in opened.root.rglob("*.md")}
    assert inside == {opened.root}
    names = [path.casefold() for path in opened.files()]
    assert len(names) == len(set(names))
    assert all(is_memory(path) for path in plan.texts)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_same_where_the_index_is_all_there_is(name, opened):
    opened.write("MEMORY.md", HOSTILE[name])
    proven(opened)


def test_bytes_that_are_no_text_survive(opened):
    opened.write("MEMORY.md", b"# Memory\n\n## Build\n\n- caf\xe9 is latin\n- \xff\xfe\n")
    opened.write("old.md", b"no header, latin \xe9 and more\r\nwords without an end")
    proven(opened)
    assert b"caf\xe9 is latin" in (opened.root / "build.md").read_bytes()
    assert b"latin \xe9 and more\r\nwords without an end" in (opened.root / "old.md").read_bytes()


def test_foreign_files_stay_as_they_are(opened):
    others = {"README.md": "# Read me\n", "archive/x.md": "old\n", "team/MEMORY.md": "- theirs\n"}
    others |= {"logs/day.md": "log\n", "picture.png": "no text", ".hidden.md": "hidden\n"}
    for path, text in others.items():
        opened.write(path, text)
    opened.write("MEMORY.md", "## Build\n\n- run make\n- then wait\n")
    proven(opened)
    assert {path: opened.read(path) for path in others} == others


def test_an_overlong_memory_is_split_at_its_headings_and_every_part_is_linked(opened):
    parts = "".join(f"## Part {n}\n\n" + f"line {n} of it\n" * 60 for n in range(8))
    opened.write("big.md", f"# Big\n\nAn introduction.\n\n{parts}")
    plan = proven(opened)
    new = sorted(set(plan.texts) - {"big.md"})
    assert len(new) >= 3
    assert all(text.count("\n") <= 200 for text in plan.texts.values())
    assert all(f"({path})" in opened.read("big.md") for path in new)
    assert all(f"({path})" in opened.index for path in ["big.md", *new])


def test_an_overlong_memory_without_headings_is_left_alone_and_named(opened):
    opened.write("log.md", "---\nname: log\ndescription: a log\ntype: project\n---\n" + "a\n" * 400)
    plan = proven(opened)
    assert "log.md" not in plan.texts
    assert any("log.md" in text for text in plan.work.remarks)

"""What `audit`, `list` and `show` say to do with a memory: age alone says `look`, never more."""

import re
import time
from pathlib import Path

import pytest

from tests.helpers.repositories import Checkout
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

DAY = 86_400


def write(store: Path, name: str, type: str, days: int, text: str, more: str = "") -> None:
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * DAY))
    about = text.split("\n")[0]
    head = f"name: {name}\ndescription: {about}\ntype: {type}\nmodified: {day}\n{more}"
    store.mkdir(parents=True, exist_ok=True)
    (store / f"{name}.md").write_text(f"---\n{head}---\n\n{text}\n")


def advised(name: str, *words: str) -> dict:
    memories = memdir("audit", "--json", *words).json["memories"]
    return next(item for item in memories if item["path"] == f"{name}.md")


FREEZE = "Merge freeze until 2026-03-05 for the mobile cut."
QUEUE = "We decided to use NATS, because Kafka is too heavy for us."
OVER = "Superseded by the queue: we plan Kafka with three brokers."


@pytest.mark.parametrize(
    ("type", "days", "text", "more", "advice", "band"),
    [
        ("project", 1, QUEUE, "", "keep", "keep"),
        ("project", 20, QUEUE, "", "look", "review"),
        ("project", 40, QUEUE, "", "look", "prune"),  # age alone
        ("project", 4_000, QUEUE, "", "look", "prune"),
        ("project", 400, FREEZE, "", "retire", "prune"),
        ("project", 3, FREEZE, "", "fix", "keep"),
        ("project", 400, FREEZE.replace("2026", "2099"), "", "look", "prune"),
        ("project", 400, "The merge was frozen until 2026-03-05.", "", "look", "prune"),
        ("project", 400, OVER, "", "retire", "prune"),
        ("project", 400, OVER, "pinned: true\n", "fix", "prune"),
        ("project", 3, OVER, "", "fix", "keep"),
        ("project", 400, "Status: done. The importer reads CSV now.", "", "retire", "prune"),
        ("reference", 400, QUEUE, "", "look", "prune"),
        # A rule or a choice never goes for its age, and is looked at late.
        *((type, 4_000, QUEUE, "", "look", "prune") for type in ("user", "feedback", "decision")),
        *((type, 4_000, OVER, "", "fix", "prune") for type in ("user", "feedback", "value")),
        ("feedback", 100, QUEUE, "", "keep", "review"),
        ("feedback", 200, QUEUE, "", "keep", "prune"),
    ],
)
def test_advice_needs_a_reason_beside_age(store, type, days, text, more, advice, band):
    write(store, "m", type, days, text, more)
    found = advised("m")
    assert (found["advice"], found["action"]) == (advice, band)
    (listed,) = memdir("list", "--json").json["memories"]
    assert (listed["advice"], listed["action"], listed["stale"]) == (advice, band, 0)
    if advice in ("fix", "retire"):
        assert len(found["reasons"]) > 1


def test_a_memory_without_a_type_is_judged_by_the_one_it_is_named_after(store):
    for name in ("feedback_commits", "commits"):
        write(store, name, "", 119, QUEUE)
    assert [advised(name)["advice"] for name in ("feedback_commits", "commits")] == ["keep", "look"]
    listed = {item["path"]: item["advice"] for item in memdir("list", "--json").json["memories"]}
    assert listed == {"feedback_commits.md": "keep", "commits.md": "look"}


def test_without_a_repository_nothing_is_to_be_looked_at_for_it(store, project):
    (project / ".git").rmdir()
    write(store, "m", "project", 1, "The build starts in `src/build.py`.")
    found = advised("m", "--deep")
    assert (found["advice"], found["claims"]["unknown"]) == ("keep", 1)


def test_a_passed_day_is_said(store):
    write(store, "freeze", "project", 300, FREEZE)
    assert "this was due on 2026-03-05" in advised("freeze")["reasons"]
    shown = memdir("audit").text
    assert (
        re.search(r"retire █+▉? +\d+ freeze.md: ", " ".join(shown.split()))
        and "this was due on 2026-03-05" in shown
    )
    # A path is one word, however long.
    assert max(len(line) for line in shown.split("\n") if not line.startswith("~/")) <= 80
    assert "freeze.md" in memdir("prune", "--dry-run").text


def test_stale_is_a_number_of_claims_in_every_command_and_age_another_word(store, project):
    code = Checkout(project)
    code.commit({"src/totals.py": "def old_total():\n    pass\n", "a.py": "x = 1\n"})
    code.git("rm", "-q", "src/totals.py")
    code.commit({"b.py": "y = 2\n"})
    text = "Totals are summed by `old_total` in src/totals.py."
    write(store, "totals", "project", 2, text)
    write(store, "other", "project", 300, "The release manager is Ana, ask her.")
    assert "stale" not in memdir("show", "totals").text  # nobody has looked yet
    deep = advised("totals", "--deep")
    assert (deep["claims"]["stale"], deep["advice"]) == (2, "fix")
    # The others know it from then on.
    quick = advised("totals")
    assert (quick["claims"]["stale"], quick["advice"]) == (2, "fix")
    # Its points are those of the age, and that is said; the deep score needs no such words.
    assert quick["score"] + 50 == deep["score"]
    assert "age alone" in quick["reasons"][1] and "age alone" not in str(deep["reasons"])
    listed = {item["path"]: item for item in memdir("list", "--json").json["memories"]}
    assert (listed["totals.md"]["stale"], listed["other.md"]["stale"]) == (2, 0)
    assert listed["other.md"]["action"] == "prune"
    shown = memdir("show", "totals")
    assert "stale: src/totals.py removed in" in shown.text
    assert len(memdir("show", "totals", "--json").json["stale"]) == 2


def test_numbered_facts_are_no_twins_and_the_poorer_of_two_is_proposed(store):
    for number in range(60):
        rule = f"Service number {number} is deployed from branch release-{number} by the bot."
        write(store, f"rule-{number}", "project", 1, rule)
    text = "Invoices are numbered per country in billing.py. Ana owns the numbering scheme."
    write(store, "invoices", "project", 1, text)
    write(store, "numbers", "project", 5, f"{text} The counter is stored in PostgreSQL.")
    (twin,) = [
        item for item in memdir("audit", "--json").json["findings"] if "duplicate" in item["kind"]
    ]
    assert twin["path"] == "invoices.md" and "every sentence of it" in twin["message"]
    answer = memdir("restructure", "--json").json
    assert not (store / "invoices.md").exists() and (store / "numbers.md").exists()
    assert answer["proposals"] == []
    assert all(check["ok"] for check in answer["checks"])


@pytest.mark.parametrize(("type", "advice"), [("project", "look"), ("feedback", "keep")])
def test_a_rule_is_not_looked_at_because_git_cannot_check_it(store, project, type, advice):
    Checkout(project).commit({"a.py": "x = 1\n"})
    write(store, "m", type, 1, "Ask `never_was_here` in tools/never_there.py before a release.")
    found = advised("m", "--deep")
    assert found["claims"]["unknown"] and not found["claims"]["checked"], found
    assert found["advice"] == advice

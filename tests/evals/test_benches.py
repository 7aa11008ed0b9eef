"""`python -m evals`: recall beside simple searches, requests to remember, guessed types."""

import json

from evals.advice import draw_advice
from evals.capture import HYGIENE
from tests.evals.bench import figures

MESSAGES = [
    {"text": "Remember that we deploy on Fridays.", "explicit": True, "worth": "yes"},
    {"text": "Never touch the lock file, please keep it.", "explicit": True, "worth": "yes"},
    {"text": "Fix the failing test in the parser.", "explicit": False, "worth": "no"},
    {
        "text": "Our customers are schools, so the demo data has classes and no people.",
        "explicit": False,
        "worth": "yes",
        "memory": "The demo data has classes and no people, as customers are schools.",
        "quote": "Our customers are schools",
    },
]


def test_recall_is_measured_beside_simple_searches_in_the_same_run(shared):
    given = figures("recall", shared / "corpus")
    rows = given["tables"]["searches"]
    assert [row["search"] for row in rows] == ["memdir", "grep", "keyword overlap", "plain BM25"]
    assert all(row["n"] == 80 and row["MRR"] <= rows[0]["MRR"] for row in rows)
    told = {name: figure for name, figure in given["figures"].items() if figure["goal"]}
    assert len(told) == 8 and all(figure["met"] for figure in told.values()), told


def test_requests_are_counted_against_their_labels(tmp_path):
    lines = [json.dumps({"id": str(at), **row}) for at, row in enumerate(MESSAGES)]
    (tmp_path / "messages.jsonl").write_text("\n".join(lines))
    given = figures("capture", tmp_path)
    values = {name: figure["value"] for name, figure in given["figures"].items()}
    assert (values["saved"], values["held"], values["worth keeping"]) == (1, 1, 1)
    assert (values["recall of requests"], values["word for word"]) == (1, 1)
    assert (values["drafts kept"], values["doubled"], values["without evidence"]) == (1, 0, 0)
    assert [values[name] for name, *_ in HYGIENE] == [0] * len(HYGIENE)


def test_a_guessed_type_is_compared_with_the_one_in_the_header(tmp_path):
    folder = tmp_path / "ann__shop/memory"
    folder.mkdir(parents=True)
    for name, body in (("a", "Never push to main."), ("b", "The queue has two workers.")):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ntype: feedback\n---\n\n{body}\n")
    figure = figures("types", tmp_path)["figures"]["types guessed right"]
    assert (figure["value"], figure["n"]) == (0.5, 2)


def test_advice_is_counted_and_thirty_are_drawn_to_be_read(shared):
    given = figures("advice", shared / "corpus")
    assert sum(given["advice"].values()) == given["n"] > 300
    drawn = draw_advice(str(shared / "corpus"), seed=1)
    assert drawn == draw_advice(str(shared / "corpus"), seed=1)
    assert drawn.count("\n=== ") + drawn.startswith("=== ") == 30


def test_it_counts_alarms_reminders_and_incidents(tmp_path):
    folder = tmp_path / "corpus/ann__tool/.claude/memory"
    folder.mkdir(parents=True)
    (folder / "rule.md").write_text("Never run `git push --force`.\n")
    (tmp_path / "conversations").mkdir()
    lines = [json.dumps(command) for command in ("ls -la", "git push --force")]
    (tmp_path / "conversations/commands.jsonl").write_text("\n".join(lines))
    given = figures("guards", tmp_path)
    assert given["rules"] == ["ann__tool/.claude/memory/rule.md\tforbid\tgit push --force\t"]
    assert given["figures"]["real commands that are stopped"]["value"] == 0.5
    assert given["figures"]["commands of incidents stopped"]["n"] >= 30
    assert given["figures"]["of incidents gathered later"]["n"] >= 60
    assert "1 rules have no label" in given["remarks"]


def test_on_real_memories_the_goal_is_met_and_words_alone_are_beaten(shared):
    told = figures("pairs", shared / "corpus")["figures"]
    assert told["AUC, memdir"]["value"] >= 0.90
    assert told["AUC, left-out repositories"]["value"] >= 0.90
    assert told["AUC, memdir above words"]["low"] > 0
    assert told["merged in whole directories"]["value"] == 0
    assert told["shown in whole directories"]["value"] <= 10
    assert told["alarms on other memories"]["value"] == 0

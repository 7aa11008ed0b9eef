"""`memdir eval` from the outside: figures, pages, exit codes."""

import json

import pytest

from tests.cli.test_looks import too_wide
from tests.helpers.made import QUERIES
from tests.helpers.terminal import memdir


def test_recall_on_a_corpus_has_every_figure_with_its_n(corpus):
    answer = memdir("eval", "recall", "--data", str(corpus), "--json")
    assert answer.code == 0, answer.stderr
    given = answer.json
    figures = given["figures"]
    assert (given["set"], given["data"]) == ("corpus", str(corpus))
    assert figures["R@1"]["n"] == figures["MRR"]["n"] == 3
    # a2 has two gold memories: the first place can hold only one of them.
    assert figures["R@1"]["value"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert figures["R@5"]["value"] == figures["MRR"]["value"] == 1
    assert {"R@10", "R@20", "nDCG@10", "ms per prompt, median", "ms per prompt, p95"} <= {*figures}
    others = sum(
        1 for query in QUERIES for repo in ("ann/shop", "bob/bees") if query["repo"] != repo
    )
    assert figures["silent on other stores"]["n"] == others
    assert figures["silent where nothing is gold"]["n"] == 1
    assert figures["coverage"]["n"] == 3
    assert figures["injected characters, median"]["goal"] == 4000
    assert any("nothing is fitted" in text for text in given["remarks"])


def test_the_depth_decides_how_many_memories_count(corpus):
    figures = memdir("eval", "recall", "--data", str(corpus), "--k", "1", "--json").json["figures"]
    assert "R@1" in figures and "R@5" not in figures


@pytest.mark.parametrize("words", [("own",), ("recall", "--data", "{corpus}")])
def test_the_page_fits_80_columns(corpus, words):
    store = corpus / "ann__shop/.claude/memory"
    given = [word.format(corpus=corpus) for word in words]
    answer = memdir("eval", *given, "--dir", str(store))
    assert answer.code == 0, answer.stderr
    assert too_wide(answer.text) == []
    assert "\x1b" not in answer.text


@pytest.mark.parametrize(
    "words",
    [
        ("recall",),
        ("nonsense",),
        ("recall", "--set", "other", "--data", "."),
        ("recall", "--data", ".", "--k", "0"),
        ("own", "--data", "."),
        ("--k", "3"),
    ],
)
def test_wrong_usage_exits_with_2(words):
    answer = memdir("eval", *words, "--json")
    assert (answer.code, answer.error["code"]) == (2, "usage")


@pytest.mark.parametrize("name", ["corpus", "locomo", "longmemeval"])
def test_data_that_is_not_there_exits_with_1_and_says_what_to_do(name, tmp_path):
    answer = memdir("eval", "recall", "--set", name, "--data", str(tmp_path / "none"), "--json")
    assert (answer.code, answer.error["code"]) == (1, "missing")
    assert "--data" in answer.error["next"]


def test_a_broken_line_exits_with_1_and_names_it(corpus):
    (corpus / "queries.jsonl").write_text("{}\n")
    answer = memdir("eval", "recall", "--data", str(corpus))
    assert answer.code == 1
    assert "queries.jsonl:1: the field 'id' is not a text" in " ".join(answer.stderr.split())


def test_a_dialogue_set_is_ranked_and_compared(tmp_path):
    turns = ["I keep bees now.", "The weather is mild.", "Three hives stand in the garden."]
    session = [
        {"speaker": "Ann", "dia_id": f"D1:{at}", "text": text} for at, text in enumerate(turns, 1)
    ]
    asked = {"question": "How many hives stand there?", "evidence": ["D1:3"], "category": 4}
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"conversation": {"session_1": session}, "qa": [asked]}]))
    answer = memdir("eval", "recall", "--set", "locomo", "--data", str(file), "--json")
    assert answer.json["figures"]["R@1"]["value"] == 1
    assert answer.json["figures"]["R@10"]["goal"] == 0.62
    assert "coverage" not in answer.json["figures"]

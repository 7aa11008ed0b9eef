"""`memdir eval recall`: test sets are read whole or refused with file and line, then measured."""

import json
from pathlib import Path

import pytest

from tests.cli.test_looks import too_wide
from tests.conftest import only_with_every
from tests.helpers.terminal import Answer, memdir

GOOD = {"id": "x", "repo": "ann/shop", "root": ".claude/memory", "prompt": "p", "gold": []}
DIALOGUE = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "session_1_date_time": "8 May",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees now."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "How many hives?", "blip_caption": "hive"},
        ],
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Three hives in the garden."}],
    },
    "qa": [
        {"question": "What bees does Ann keep?", "evidence": ["D1:1"], "category": 4},
        {"question": "How many hives, in the garden?", "evidence": ["D1:2; D2:1"], "category": 1},
        {"question": "Who sings?", "evidence": ["D1:1"], "category": 5},
        {"question": "Where?", "evidence": ["D9:9"], "category": 1},
        {"question": "Why?", "evidence": [], "category": 3},
    ],
}
QUESTION = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "What bees do I keep?",
    "haystack_dates": ["2023/05/08"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "I keep bees.", "has_answer": True},
            {"role": "assistant", "content": "Lovely."},
        ]
    ],
}


def ask(data: Path, *words: str, set: str = "corpus") -> Answer:
    return memdir("eval", "recall", "--set", set, "--data", str(data), *words, "--json")


def test_recall_on_a_corpus_has_every_figure_with_its_n(corpus):
    given = ask(corpus).json
    figures = given["figures"]
    assert (given["set"], given["data"]) == ("corpus", str(corpus))
    assert figures["R@1"]["n"] == figures["MRR"]["n"] == 3
    # a2 has two gold memories: the first place can hold only one of them.
    assert figures["R@1"]["value"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert figures["R@5"]["value"] == figures["MRR"]["value"] == 1
    assert {"R@10", "R@20", "nDCG@10", "ms per prompt, median", "ms per prompt, p95"} <= {*figures}
    assert any("nothing is fitted" in text for text in given["remarks"])
    figures = ask(corpus, "--k", "1").json["figures"]
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
        *(("recall",), ("recall", "--set", "other", "--data", ".")),
        *(("recall", "--data", ".", "--k", "0"), ("own", "--data", "."), ("--k", "3")),
    ],
)
def test_wrong_usage_exits_with_2(words):
    answer = memdir("eval", *words, "--json")
    assert (answer.code, answer.error["code"]) == (2, "usage")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{not json", "not a JSON object"),
        ("[" * 200_000, "not a JSON object"),
        (json.dumps({**GOOD, "prompt": 3}), "'prompt' is not a text"),
        (json.dumps({**GOOD, "gold": "uv.md"}), "'gold' is not a list of paths"),
        (json.dumps({**GOOD, "gold": ["gone.md"]}), "gold 'gone.md' is no memory"),
        (json.dumps({**GOOD, "id": "a1"}), "'a1' was there before"),
        (json.dumps({**GOOD, "repo": ".."}), "no directory below the data"),
        (json.dumps({**GOOD, "root": "../../elsewhere"}), "no directory below the data"),
    ],
)
def test_a_broken_line_is_named_with_its_file_and_number(corpus, line, problem):
    file = corpus / "queries.jsonl"
    file.write_text(file.read_text() + "\n" + line + "\n")
    answer = ask(corpus)
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert answer.error["message"].startswith(f"{file}:6: ")
    assert problem in answer.error["message"]
    assert answer.error["next"]
    file.write_bytes(b"\n\n")
    assert "no prompt in it" in ask(corpus).error["message"]
    file.unlink()
    answer = ask(corpus)
    assert (answer.error["code"], "--data" in answer.error["next"]) == ("missing", True)


def test_each_turn_of_a_dialogue_is_a_memory(tmp_path):
    (tmp_path / "locomo.json").write_text(json.dumps([DIALOGUE]))
    given = ask(tmp_path / "locomo.json", set="locomo").json
    assert given["summary"] == "2 prompts, 2 with gold, put to 1 store with 3 memories"
    assert given["figures"]["R@5"]["value"] == 1
    assert given["remarks"][0] == "Left out: 3 questions without an answer in the data."


def test_each_question_of_longmemeval_has_a_store_of_its_own(tmp_path):
    rows = [QUESTION, {**QUESTION, "question_id": "q2"}, {**QUESTION, "question_id": "q3_abs"}]
    (tmp_path / "oracle.json").write_text(json.dumps(rows))
    given = ask(tmp_path / "oracle.json", set="longmemeval").json
    assert given["summary"] == "2 prompts, 2 with gold, put to 2 stores with 4 memories"
    assert given["figures"]["R@1"]["value"] == 1
    assert given["remarks"][0].startswith("Left out: 1 ")


@pytest.mark.parametrize(
    ("set", "text", "problem"),
    [
        ("locomo", "[\n{]", ":2: not JSON"),
        ("locomo", "[1]", "item 1 has not the form of locomo"),
        ("locomo", '[{"conversation": {"session_1": [{}]}, "qa": []}]', "item 1 has"),
        ("longmemeval", "{}", "item 1 has not the form of longmemeval"),
    ],
)
def test_a_broken_dialogue_file_is_refused(tmp_path, set, text, problem):
    file = tmp_path / "dialogues.json"
    file.write_text(text)
    message = ask(file, set=set).error["message"]
    assert message.startswith(str(file)) and problem in message


@pytest.mark.slow
def test_recall_on_memories_of_the_wild_is_as_good_as_promised(shared):
    figures = ask(shared / "corpus").json["figures"]
    assert figures["R@5"]["n"] == 80
    assert figures["R@5"]["value"] >= 0.848
    assert figures["MRR"]["value"] >= 0.787
    assert figures["R@20"]["value"] >= 0.95


@only_with_every
@pytest.mark.slow
def test_recall_in_long_dialogues_is_as_good_as_promised(shared):
    data = shared / "eval/locomo_dev.json"
    if not data.exists():
        pytest.skip(f"{data} is absent (it is not part of the repository)")
    figures = ask(data, set="locomo").json["figures"]
    assert figures["R@10"]["n"] > 700
    assert figures["R@10"]["value"] >= 0.62

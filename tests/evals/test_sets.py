"""Test sets are read whole or refused with file and line; nothing is dropped quietly."""

import json

import pytest

from memdir.errors import BadInput, MemdirError, Missing
from memdir.evals import prompt_sets

GOOD = {"id": "x", "repo": "ann/shop", "root": ".claude/memory", "prompt": "p", "gold": []}


def test_the_corpus_has_its_stores_prompts_and_gold(corpus):
    read = prompt_sets.read_corpus(str(corpus))
    assert [*read.groups.values()] == ["ann/shop", "bob/bees"]
    assert [query.id for query in read.queries] == ["a1", "a2", "a3", "b1"]
    assert [query.id for query in read.queries if query.gold] == ["a1", "a2", "b1"]
    assert read.queries[1].gold == ("deploy.md", "stage.md")
    assert read.queries[1].ok == ("uv.md",)
    assert read.stores[read.queries[0].store].files() == ["deploy.md", "stage.md", "uv.md"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{not json", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ("[" * 200_000, "not a JSON object"),
        (json.dumps({**GOOD, "prompt": 3}), "'prompt' is not a text"),
        (json.dumps({**GOOD, "id": " "}), "'id' is not a text"),
        (json.dumps({**GOOD, "gold": "uv.md"}), "'gold' is not a list of paths"),
        (json.dumps({**GOOD, "ok": [1]}), "'ok' is not a list of paths"),
        (json.dumps({**GOOD, "gold": ["gone.md"]}), "gold 'gone.md' is no memory"),
        (json.dumps({**GOOD, "id": "a1"}), "'a1' was there before"),
        (json.dumps({**GOOD, "repo": "no/body"}), "there is no directory"),
        (json.dumps({**GOOD, "repo": ".."}), "no directory below the data"),
        (json.dumps({**GOOD, "root": "../../elsewhere"}), "no directory below the data"),
        (json.dumps({**GOOD, "root": "/etc"}), "no directory below the data"),
    ],
)
def test_a_broken_line_is_named_with_its_file_and_number(corpus, line, problem):
    file = corpus / "queries.jsonl"
    file.write_text(file.read_text() + "\n" + line + "\n")
    with pytest.raises(BadInput) as caught:
        prompt_sets.read_corpus(str(corpus))
    assert caught.value.message.startswith(f"{file}:6: ")
    assert problem in caught.value.message
    assert caught.value.next


def test_a_corpus_that_is_absent_empty_or_no_text_is_refused(corpus, tmp_path):
    with pytest.raises(Missing, match="no such file"):
        prompt_sets.read_corpus(str(tmp_path / "nowhere"))
    (corpus / "queries.jsonl").write_text("\n\n")
    with pytest.raises(BadInput, match="no prompt in it"):
        prompt_sets.read_corpus(str(corpus))
    (corpus / "queries.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="no UTF-8"):
        prompt_sets.read_corpus(str(corpus))


DIALOGUE = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "session_1_date_time": "8 May",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees now."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "How many hives?", "blip_caption": "hive"},
        ],
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Three hives."}],
    },
    "qa": [
        {"question": "What does Ann keep?", "evidence": ["D1:1"], "category": 4},
        {"question": "How many hives?", "evidence": ["D1:2; D2:1"], "category": 1},
        {"question": "Who sings?", "evidence": ["D1:1"], "category": 5},
        {"question": "Where?", "evidence": ["D9:9"], "category": 1},
        {"question": "Why?", "evidence": [], "category": 3},
    ],
}


def test_each_turn_of_a_dialogue_is_a_memory(tmp_path):
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([DIALOGUE]))
    read = prompt_sets.read_locomo(str(file))
    store = read.stores["conv-1"]
    assert store.files() == ["d1-1.md", "d1-2.md", "d2-1.md"]
    assert b"Bob: How many hives?\n(shows a picture: hive)\n(8 May)" in store.read("d1-2.md")
    assert [query.gold for query in read.queries] == [("d1-1.md",), ("d1-2.md", "d2-1.md")]
    assert read.left_out[0].startswith("1 adversarial")
    assert read.left_out[1].startswith("2 questions")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[\n{]", ":2: not JSON"),
        ("[]", "not a list of dialogues"),
        ("[1]", "dialogue 1 has not LoCoMo's form"),
        ('[{"conversation": {"session_1": [{}]}, "qa": []}]', "dialogue 1 has not LoCoMo's form"),
        (
            '[{"conversation": {"session_1": [{"speaker": "a", "text": "", "dia_id": "x"}]}}]',
            "1 has",
        ),
        ('[{"conversation": {}, "qa": []}]', "no question with evidence"),
    ],
)
def test_a_broken_dialogue_file_is_refused(tmp_path, text, problem):
    file = tmp_path / "locomo.json"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        prompt_sets.read_locomo(str(file))
    assert problem in caught.value.message and str(file) in caught.value.message


QUESTION = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "What do I keep?",
    "haystack_dates": ["2023/05/08"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "I keep bees.", "has_answer": True},
            {"role": "assistant", "content": "Lovely."},
        ]
    ],
}


def test_each_question_of_longmemeval_has_a_store_of_its_own(tmp_path):
    file = tmp_path / "oracle.json"
    file.write_text(json.dumps([QUESTION, {**QUESTION, "question_id": "q2_abs"}]))
    read = prompt_sets.read_longmemeval(str(file))
    assert [query.gold for query in read.queries] == [("s0-0.md",)]
    assert b"user: I keep bees.\n(2023/05/08)" in read.stores["q1"].read("s0-0.md")
    assert read.left_out == ("1 questions without an answer in their sessions",)


@pytest.mark.parametrize("text", ["{}", "[{}]", "[3]", '[{"question_id": 1}]'])
def test_a_broken_question_file_is_refused(tmp_path, text):
    file = tmp_path / "oracle.json"
    file.write_text(text)
    with pytest.raises(BadInput):
        prompt_sets.read_longmemeval(str(file))


def test_a_question_file_that_is_not_there_says_which_one_is_meant(tmp_path):
    with pytest.raises(MemdirError) as caught:
        prompt_sets.read_longmemeval(str(tmp_path / "longmemeval_oracle.json"))
    assert "longmemeval_oracle.json" in caught.value.next

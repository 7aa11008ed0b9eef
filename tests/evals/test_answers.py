"""`python -m evals recall` and `quiet`: the three answers, and silence where nothing fits."""

import json

from tests.evals.bench import complaint, figures
from tests.helpers.made import STORES


def test_the_three_answers_are_measured_plain_and_with_a_repository_left_out(corpus):
    given = figures("recall", corpus)
    names = {
        *("loss of R@5, pointers counted", "bodies that are gold or useful"),
        *("other repository: no body", "ordinary prompts: no body", "characters, median"),
        *("characters, p95", "coverage with the index", "coverage without the index"),
    }
    assert names <= given["figures"].keys()
    assert given["figures"]["ordinary prompts: no body"]["n"] >= 40 * len(STORES)
    rows = given["tables"]["leave one repository out"]
    assert rows[0]["figure"] == "loss of R@5, pointers counted"


def test_messages_of_other_projects_are_counted_by_how_much_they_are_told(corpus):
    folder = corpus.parent / "conversations"
    folder.mkdir()
    memories = next(iter(STORES.values()))
    texts = ["please open the window", f"what of {' '.join(next(iter(memories)).split('-'))}?"]
    lines = [json.dumps({"id": "1", "repo": "ann/other", "text": text}) for text in texts]
    (folder / "messages.jsonl").write_text("\n".join(lines))
    given = figures("quiet", corpus.parent)["figures"]
    assert given["anything at all"]["n"] == 2 * len(STORES)
    assert given["over 600 characters"]["value"] <= given["anything at all"]["value"] < 1
    (folder / "messages.jsonl").write_text('{"id": "1"}')
    assert "messages.jsonl:1" in complaint("quiet", corpus.parent)

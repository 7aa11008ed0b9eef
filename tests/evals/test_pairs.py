"""`python -m evals pairs`: which memories say the same, in figures."""

import json
from pathlib import Path

import pytest

from evals.pairs_measure import auc
from tests.evals.bench import complaint, figures

ROOT = ".claude/memory"
MEMORIES = {
    "use-uv": "Install packages with uv, never with pip, because uv.lock pins versions.",
    "packages": "Packages: install them with uv and never with pip; uv.lock pins versions.",
    "release": "The release train leaves on Friday afternoon when support is awake.",
    "main": "Releases are cut from a tag. The default branch is main.",
    "develop": "New work lands where reviews happen. The default branch is `develop`.",
    "state": "The mirror is deferred, not built.",
}
INDEX = "- [Packages](packages.md) — install with uv\n- [Mirror](state.md) — since built\n"
RELATIONS = (
    *(("use-uv", "packages", "duplicate"), ("use-uv", "release", "distinct")),
    *(("packages", "release", "distinct"), ("main", "develop", "contradiction")),
    ("use-uv", "main", "overlap"),
)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A small directory with five pairs and one memory that its index contradicts."""
    data = tmp_path / "labelled"
    folder = data / "ann__shop" / ROOT
    folder.mkdir(parents=True)
    for name, body in MEMORIES.items():
        text = f"---\nname: {name}\ndescription: {body}\ntype: feedback\n---\n\n{body}\n"
        (folder / f"{name}.md").write_text(text)
    (folder / "MEMORY.md").write_text(INDEX)
    lines = [
        {"id": f"p{at}", "a": file(one), "b": file(other), "relation": relation}
        for at, (one, other, relation) in enumerate(RELATIONS)
    ]
    write(data / "pairs.jsonl", *lines)
    write(data / "inconsistencies.jsonl", {**file("state"), "kind": "index-vs-body"})
    return data


def file(name: str) -> dict[str, str]:
    return {"repo": "ann/shop", "file": f"{ROOT}/{name}.md"}


def write(path: Path, *lines: object) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_every_relation_is_counted_and_overlap_is_in_no_figure(labelled):
    given = figures("pairs", labelled)
    rows = {row["relation"]: row["n"] for row in given["tables"]["relations"]}
    assert rows == {"duplicate": 1, "overlap": 1, "contradiction": 1, "distinct": 2}
    told = given["figures"]
    assert told["AUC, memdir"]["n"] == told["AUC, words in common"]["n"] == 4
    assert told["AUC, memdir"]["value"] == 1
    assert told["AUC, memdir"]["low"] <= 1 <= told["AUC, memdir"]["high"]
    assert told["precision at SHOW"]["n"] == 1


def test_disagreements_are_measured(labelled):
    told = figures("pairs", labelled)["figures"]
    assert (told["disagreements found"]["value"], told["disagreements found"]["n"]) == (1, 1)
    assert told["alarms on other memories"]["value"] == 0


def pair(one: str, other: str) -> dict[str, object]:
    return {"id": "p", "a": file(one), "b": file(other)}


@pytest.mark.parametrize(
    ("positives", "negatives", "area"),
    [([3, 4], [1, 2], 1), ([1], [2], 0), ([1], [1], 0.5), ([1, 3], [2], 0.5), ([], [1], None)],
)
def test_the_area_is_how_often_a_positive_scores_above_a_negative(positives, negatives, area):
    assert auc(positives, negatives) == area


def test_a_wrong_line_ends_the_run_with_its_number(labelled):
    write(labelled / "pairs.jsonl", {**pair("use-uv", "packages"), "relation": "twins"})
    assert "pairs.jsonl:1: the relation 'twins'" in complaint("pairs", labelled)


def test_on_real_memories_the_goal_is_met_and_words_alone_are_beaten(shared):
    told = figures("pairs", shared / "corpus")["figures"]
    assert told["AUC, memdir"]["value"] >= 0.90
    assert told["AUC, left-out repositories"]["value"] >= 0.90
    assert told["AUC, memdir above words"]["low"] > 0
    assert told["merged in whole directories"]["value"] == 0
    assert told["shown in whole directories"]["value"] <= 10
    assert told["alarms on other memories"]["value"] == 0

"""`memdir eval pairs`: which memories say the same, or against each other, in figures."""

import json
from pathlib import Path

import pytest

from memdir.evaluation.pairs_measure import (
    Scored,
    Share,
    auc,
    auc_interval,
    left_out_scores,
    left_out_verdicts,
)
from tests.conftest import SHARED
from tests.surfaces.terminal import memdir
from tests.surfaces.test_looks import too_wide

FOUND = SHARED / "corpus/pairs.jsonl"
real = pytest.mark.skipif(not FOUND.is_file(), reason="../shared is not here")
ROOT = ".claude/memory"
MEMORIES = {
    "use-uv": "Install packages with uv, never with pip, because uv.lock pins versions.",
    "packages": "Packages: install them with uv and never with pip; uv.lock pins versions.",
    "release": "The release train leaves on Friday afternoon when support is awake.",
    "pip": "Use pip.",
    "no-pip": "Never use pip.",
    "state": "The mirror is deferred, not built.",
}
INDEX = "- [Packages](packages.md) — install with uv\n- [Mirror](state.md) — since built\n"
RELATIONS = (
    *(("use-uv", "packages", "duplicate"), ("use-uv", "release", "distinct")),
    *(("packages", "release", "distinct"), ("pip", "no-pip", "contradiction")),
    ("use-uv", "pip", "overlap"),
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


def ask(data: Path) -> dict[str, object]:
    answer = memdir("eval", "pairs", "--data", str(data), "--json")
    assert answer.code == 0, answer.stderr
    return answer.json


def test_every_relation_is_counted_and_overlap_is_in_no_figure(labelled):
    given = ask(labelled)
    rows = {row["relation"]: row["n"] for row in given["tables"]["relations"]}
    assert rows == {"duplicate": 1, "overlap": 1, "contradiction": 1, "distinct": 2}
    figures = given["figures"]
    assert figures["AUC, memdir"]["n"] == figures["AUC, words in common"]["n"] == 4
    assert figures["AUC, memdir"]["value"] == 1
    assert figures["AUC, memdir"]["low"] <= 1 <= figures["AUC, memdir"]["high"]
    assert figures["precision at SHOW"]["n"] == 1


def test_contradictions_and_disagreements_are_measured(labelled):
    given = ask(labelled)
    figures = given["figures"]
    assert figures["contradictions found"]["value"] == 1
    assert figures["precision by the labels"]["value"] == 1
    assert figures["suspected in whole directories"]["value"] >= 1
    assert (figures["disagreements found"]["value"], figures["disagreements found"]["n"]) == (1, 1)
    assert figures["alarms on other memories"]["value"] == 0
    suspicions = {row["relation"]: row["suspected"] for row in given["tables"]["suspicions"]}
    assert suspicions["contradiction"] == 1 and suspicions["distinct"] == 0


def test_single_memories_need_no_labels(labelled):
    (labelled / "inconsistencies.jsonl").unlink()
    assert ask(labelled)["figures"]["disagreements found"]["value"] is None


def test_pairs_of_one_sort_only_have_no_area(labelled):
    write(labelled / "pairs.jsonl", {**pair("use-uv", "packages"), "relation": "duplicate"})
    figure = ask(labelled)["figures"]["AUC, memdir"]
    assert figure["value"] is None and figure["met"] is None and "needs pairs" in figure["remark"]


def test_the_pairs_page_fits_80_columns(labelled):
    answer = memdir("eval", "pairs", "--data", str(labelled))
    assert answer.code == 0, answer.stderr
    assert too_wide(answer.text) == []
    assert "Do two memories say the same?" in answer.text


def pair(one: str, other: str) -> dict[str, object]:
    return {"id": "p", "a": file(one), "b": file(other)}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**pair("use-uv", "packages"), "relation": "twins"}, "relation 'twins'"),
        ({"id": "p", "relation": "distinct", "a": file("use-uv")}, "'repo' and 'file'"),
        ({**pair("use-uv", "gone"), "relation": "distinct"}, "gone.md"),
        ({**pair("use-uv", "../../x"), "relation": "distinct"}, "no file below the data"),
        ({"id": 3, "relation": "distinct"}, "'id'"),
        ([], "not a JSON object"),
    ],
)
def test_a_wrong_line_ends_the_run_with_its_number(labelled, line, said):
    write(labelled / "pairs.jsonl", line)
    answer = memdir("eval", "pairs", "--data", str(labelled), "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert "pairs.jsonl:1" in answer.error["message"] and said in answer.error["message"]


def test_pairs_need_their_data(labelled):
    assert memdir("eval", "pairs", "--json").code == 2
    answer = memdir("eval", "pairs", "--data", str(labelled / "none"), "--json")
    assert answer.code != 0 and "pairs.jsonl" in answer.error["message"]


@pytest.mark.parametrize(
    ("positives", "negatives", "area"),
    [([3, 4], [1, 2], 1), ([1], [2], 0), ([1], [1], 0.5), ([1, 3], [2], 0.5), ([], [1], None)],
)
def test_the_area_is_how_often_a_positive_scores_above_a_negative(positives, negatives, area):
    assert auc(positives, negatives) == area


def test_the_interval_holds_the_area_and_the_difference():
    ours, words, gain = auc_interval([(0.9, 0.4), (0.8, 0.2)] * 5, [(0.1, 0.3), (0.85, 0.1)] * 5)
    assert ours[0] < 0.75 < ours[1] and words[0] <= words[1] and gain[0] <= gain[1]


def test_a_share_of_nothing_has_no_value():
    assert (Share(0, 0).value, Share(0, 0).interval) == (None, (None, None))
    assert Share(3, 4).value == 0.75


def scored(repo: str, positive: bool, head: float, body: float) -> Scored:
    return Scored(positive, frozenset((repo,)), (head + body) / 2, head, body, False)


def test_a_left_out_repository_does_not_choose_for_itself():
    # In `a` only the body tells them apart, in `b` only the head.
    some = [scored("a", True, 0.1, 0.9), scored("a", False, 0.9, 0.1)]
    others = [scored("b", True, 0.9, 0.1), scored("b", False, 0.1, 0.9)]
    found = left_out_scores([*some, *others])
    assert found[0] < found[1] and found[2] < found[3]


def test_a_left_out_threshold_comes_from_the_others():
    some = [scored("a", True, 0.9, 0.9), scored("a", False, 0.2, 0.2)]
    others = [scored("b", True, 0.5, 0.5), scored("b", False, 0.4, 0.4)]
    # From `b` comes 0.5, from `a` 0.9: too much for the positive of `b`.
    assert left_out_verdicts([*some, *others]) == [True, False, False, False]


@real
def test_on_real_memories_the_goal_is_met_and_words_alone_are_beaten():
    figures = ask(FOUND.parent)["figures"]
    assert figures["AUC, memdir"]["value"] >= 0.90
    assert figures["AUC, left-out repositories"]["value"] >= 0.90
    assert figures["AUC, memdir above words"]["low"] > 0
    assert figures["merged in whole directories"]["value"] == 0
    assert figures["shown in whole directories"]["value"] <= 10
    assert figures["suspected in whole directories"]["value"] <= 20
    assert figures["alarms on other memories"]["value"] == 0

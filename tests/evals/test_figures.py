"""The figures of the specification, on the real test sets where they lie beside the repository."""

from pathlib import Path

import pytest

from tests.conftest import only_with_every
from tests.helpers.terminal import memdir


def figures(name: str, data: Path) -> dict:
    if not data.exists():
        pytest.skip(f"{data} is absent (it is not part of the repository)")
    answer = memdir("eval", "recall", "--set", name, "--data", str(data), "--json")
    assert answer.code == 0, answer.stderr
    return answer.json["figures"]


@pytest.mark.slow
def test_recall_on_memories_of_the_wild_is_as_good_as_promised(shared):
    found = figures("corpus", shared / "corpus")
    assert found["R@5"]["n"] == 80
    assert found["R@5"]["value"] >= 0.848
    assert found["MRR"]["value"] >= 0.787
    assert found["R@20"]["value"] >= 0.95
    for name in ("loss of R@5", "silent on other stores", "coverage"):
        assert found[name]["met"], found[name]
    # Every body names its file, so this one depends on where the corpus lies.
    assert found["injected characters, median"]["value"] <= 4_300


@only_with_every
@pytest.mark.slow
def test_recall_in_long_dialogues_is_as_good_as_promised(shared):
    found = figures("locomo", shared / "eval/locomo_dev.json")
    assert found["R@10"]["n"] > 700
    assert found["R@10"]["value"] >= 0.62

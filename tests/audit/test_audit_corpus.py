"""Memory directories from the wild: what an audit says of them is worth saying."""

import json
import shutil
from collections import Counter

import pytest

from memdir.audit.audit import audit
from tests.conftest import SHARED
from tests.helpers.opened import Opened, tree

FOUND = SHARED / "corpus/repos.jsonl"
# Looked at by eye: nobody hides characters, forges frames or leaves secrets there.
NEVER = {"secret", "hidden-characters", "orders", "forged-frame", "unreadable", "not-utf-8"}


@pytest.fixture(scope="module")
def audits(tmp_path_factory) -> dict[str, Counter[str]]:
    """The kinds of findings of each directory; none of them is changed by looking."""
    if not FOUND.is_file():
        pytest.skip("../shared is not here")
    found = {}
    for row in map(json.loads, FOUND.read_text("utf-8").splitlines()):
        for below in row["roots"]:
            opened = Opened(tmp_path_factory.mktemp("corpus"))
            shutil.copytree(FOUND.parent / row["repo"].replace("/", "__") / below, opened.root)
            before = tree(opened.root)
            audited = audit(opened.app(dry_run=True))
            assert tree(opened.root) == before
            found[f"{row['repo']}:{below}"] = Counter(one.kind for one in audited.findings)
    return found


def test_nobody_is_accused_of_what_they_did_not_do(audits):
    assert {name: kinds for name, kinds in audits.items() if NEVER & {*kinds}} == {}


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("dangling-pointer", 5, 5),
        ("orphan", 10, 10),
        ("no-index", 1, 1),  # one directory has none
        ("description-vague", 0, 0),
        ("description-unrelated", 0, 0),
        ("no-header", 18, 18),
        ("too-long", 4, 4),
        ("broken-link", 9, 13),  # every one leads nowhere; tickets are not counted
        ("relative-date", 0, 3),  # "works today" is no date
        ("type-differs", 2, 2),
    ],
)
def test_a_kind_of_finding_is_as_frequent_as_its_cause(audits, kind, least, most):
    assert least <= sum(kinds[kind] for kinds in audits.values()) <= most

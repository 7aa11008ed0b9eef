"""Every hostile input of ../shared ends as it is written down in golden/hostile.tsv."""

import shutil
from collections.abc import Iterator

import pytest

from tests.contract.home import Home, Server
from tests.contract.hostile import FILE, OUTCOMES, outcomes, rows

LINES = OUTCOMES.read_text("utf-8").splitlines()
KINDS = sorted({line[:2] for line in LINES})  # an id begins with two letters for its class

pytestmark = pytest.mark.skipif(
    not FILE.is_file(), reason="../shared (hostile inputs, not part of the repository) is absent"
)


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Home, Server]]:
    """A home to write to, and a server that has one of its own."""
    home, other = Home(), Home()
    (other.project / ".git").mkdir()
    with other.server() as server:
        yield home, server
    for one in (home, other):
        shutil.rmtree(one.top)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_inputs_end_as_before(place: tuple[Home, Server], kind: str) -> None:
    found = [outcomes(*place, row) for row in rows() if row.id.startswith(kind)]
    assert found == [line for line in LINES if line.startswith(kind)]

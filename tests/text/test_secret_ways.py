"""82 kinds of secrets on every way in: refused, and nowhere on the disk."""

import pytest

from memdir.text.secrets import find_secrets
from tests.conftest import EVERY
from tests.text.secret_kinds import APART, DEVELOP, KINDS, Draw
from tests.text.secret_ways import BROUGHT, SILENT, WAYS, Place, measure

DRAWN = 20  # of each kind
SAMPLE = [*KINDS][:: 1 if EVERY else 6]


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_refused_on_every_way_in_and_lies_nowhere(way):
    found = measure(way, dict.fromkeys(SAMPLE))
    refused = [kind for kind, (refused, _) in found.items() if refused]
    assert len(refused) >= 0.95 * len(SAMPLE) - 1, set(found) - set(refused)
    assert [kind for kind, (refused, lies) in found.items() if refused and lies] == []


@pytest.mark.parametrize("way", [way for way in WAYS if way not in (*SILENT, *BROUGHT)])
def test_what_is_no_secret_gets_in_on_every_way(way, tmp_path):
    with Place(tmp_path).entered() as place:
        assert not WAYS[way](place, "The staging queue is drained at noon by the pelican job.")


@pytest.mark.parametrize("way", SILENT)
def test_what_a_person_says_is_kept_on_every_way(way, tmp_path):
    with Place(tmp_path).entered() as place:
        WAYS[way](place, "the staging queue is drained at noon by the pelican job.")
        assert any("pelican" in text for text in place.written())


@pytest.mark.parametrize("kinds", [DEVELOP, APART], ids=["develop", "apart"])
def test_of_each_half_of_the_kinds_95_of_100_are_found(kinds, record_property):
    shares = {
        kind: sum(bool(find_secrets(draw(Draw(f"{kind} {n}"))[0])) for n in range(DRAWN)) / DRAWN
        for kind, draw in kinds.items()
    }
    mean = sum(shares.values()) / len(shares)
    record_property("secrets recall of the half", round(mean, 4))
    assert mean >= 0.95, shares

"""A later wish to forget: what it means, and which earlier drafts it takes back."""

from memdir.capture.signals import meant, takes_back
from memdir.format.draft import Draft
from tests.helpers.toml_cases import cases

ZUSTAND = "We decided to use Zustand for state."


@cases("capture")
def test_a_wish_is_cut_to_what_is_meant(wish, means):
    assert meant(wish) == means


@cases("capture")
def test_a_later_wish_takes_back_what_it_clearly_names(body, wish):
    assert takes_back(meant(wish), Draft(body))


@cases("capture")
def test_a_wish_that_may_mean_anything_takes_nothing_back(body, wish):
    assert not takes_back(meant(wish), Draft(body))

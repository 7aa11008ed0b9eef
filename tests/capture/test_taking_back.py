"""A later wish to forget: what it means, and which earlier drafts it takes back."""

from memdir.capture.forget import meant, taken_back
from memdir.format.draft import Draft
from tests.helpers.toml_cases import cases

ZUSTAND = "We decided to use Zustand for state."


@cases("capture")
def test_a_wish_is_cut_to_what_is_meant(wish, means):
    assert meant(wish) == means


@cases("capture")
def test_a_later_wish_takes_back_what_it_clearly_names(body, wish):
    assert taken_back(Draft(body), wish)


@cases("capture")
def test_a_wish_that_may_mean_anything_takes_nothing_back(body, wish):
    assert not taken_back(Draft(body), wish)

"""A later wish to forget: what it means, and which earlier drafts it takes back."""

import pytest

from memdir.capture.forget import meant, taken_back
from memdir.format.draft import Draft

ZUSTAND = "We decided to use Zustand for state."


@pytest.mark.parametrize(
    ("wish", "means"),
    [
        ("zustand, we go with jotai", "zustand"),
        ("zustand we switched to jotai", "zustand"),
        ("zustand - jotai it is", "zustand"),
        ("zustand because it is slow", "zustand"),
        ("I said about deploys", "deploys"),
        ("what I told you about deploys.", "deploys"),
        ("everything we said earlier about the pelican cluster", "the pelican cluster"),
        ("the thing about deploys", "deploys"),
        ("we use zustand", "we use zustand"),
        ("that, it was wrong", "that, it was wrong"),
        ("the rule to use tabs", "the rule to use tabs"),
        ("デプロイの話", "デプロイの話"),
        ("", ""),
    ],
)
def test_a_wish_is_cut_to_what_is_meant(wish, means):
    assert meant(wish) == means


@pytest.mark.parametrize(
    ("body", "wish"),
    [
        (ZUSTAND, "zustand, we go with jotai"),
        ("Deploys run from the release branch.", "I said about deploys"),
        ("The staging cluster is called pelican.", "the pelican cluster"),
        ("The staging cluster is called pelican.", "pelican"),
    ],
)
def test_a_later_wish_takes_back_what_it_clearly_names(body, wish):
    assert taken_back(Draft(body), wish)


@pytest.mark.parametrize(
    ("body", "wish"),
    [
        ("The staging cluster is called pelican.", "the heron cluster"),
        ("The staging cluster is called pelican.", "cluster"),
        ("Jotai keeps our state.", "zustand, we go with jotai"),
        ("Run the tests with pytest.", "the tests"),
        ("Redux was too heavy. Zustand came up once.", "zustand"),
        (ZUSTAND, "that"),
        (ZUSTAND, ""),
    ],
)
def test_a_wish_that_may_mean_anything_takes_nothing_back(body, wish):
    assert not taken_back(Draft(body), wish)

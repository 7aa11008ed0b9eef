"""The words of a text as the catalog keeps them."""

from memdir.hot.words import PIECE, Words, implied_terms, stem_word
from tests.helpers.tables import cases


def terms(text: str) -> dict[str, float]:
    return Words().count(text)[0]


@cases("spelling")
def test_an_identifier_is_one_word_however_it_is_written_and_its_pieces_count_less(spelling):
    assert terms(spelling) == {"handleauth": 1, "handl": PIECE, "auth": PIECE}


def test_a_script_without_spaces_becomes_pairs():
    assert terms("部署失败") == {"部署": 1, "署失": 1, "失败": 1}
    assert terms("デプロイ") == {"デプ": 1, "プロ": 1, "ロイ": 1}
    assert terms("猫") == {"猫": 1}
    assert terms("API网关v2") == {"api": 1, "网关": 1, "v2": 1}


@cases("prompt", "expected")
def test_the_form_of_a_number_says_what_it_is(prompt, expected):
    assert implied_terms(prompt) == expected


@cases("pairs")
def test_the_examples_that_porter_published_have_their_stems(pairs):
    for word, expected in map(str.split, pairs.split("  ")):
        assert stem_word(word) == expected


@cases("forms")
def test_forms_of_one_word_have_one_stem(forms):
    assert len({stem_word(form) for form in forms.split()}) == 1

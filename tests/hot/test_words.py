"""The words of a text as the catalog keeps them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot.words import LONGEST, PIECE, STOP, Words, implied, split


def terms(text: str) -> dict[str, float]:
    return Words().count(text)[0]


@pytest.mark.parametrize(
    "spelling",
    ["handleAuth", "handle_auth", "HandleAuth", "HANDLE_AUTH", "_handle_auth", "__handleAuth__"],
)
def test_an_identifier_is_one_word_however_it_is_written_and_its_pieces_count_less(spelling):
    assert terms(spelling) == {"handleauth": 1, "handl": PIECE, "auth": PIECE}


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("HTTPServer", {"http", "server"}),
        ("parseJSON", {"pars", "json"}),
        ("HTTPServer2", {"http", "server"}),
        ("base64", {"base", "64"}),
        ("v2", {"v2"}),
        ("snake_case_name", {"snake", "case", "name"}),
        ("is_on_the_way", {"way"}),  # stop words are no pieces
    ],
)
def test_the_pieces_of_an_identifier(word, pieces):
    assert pieces <= set(terms(word))


def test_a_dashed_name_is_its_words():
    assert terms("release-checklist") == terms("release checklist")


@pytest.mark.parametrize("text", ["don't", "don’t", "dont", "Don't"])
def test_an_apostrophe_does_not_part_a_word(text):
    assert terms(text) == {}
    assert split(text) == [text.replace("'", "").replace("’", "")]


def test_stop_words_and_single_letters_do_not_count():
    assert terms("the a of und der что это x y") == {}
    assert terms("The OF") == {}
    assert {"the", "und", "это"} <= STOP


def test_the_length_counts_words_without_stop_words():
    assert Words().count("the cat and the cat")[1] == 2
    assert Words().count("")[1] == 0
    assert Words().count("部署失败")[1] == 3


def test_forms_and_case_do_not_matter():
    assert terms("Tests TESTING tested") == {"test": 3}


def test_a_script_without_spaces_becomes_pairs():
    assert terms("部署失败") == {"部署": 1, "署失": 1, "失败": 1}
    assert terms("デプロイ") == {"デプ": 1, "プロ": 1, "ロイ": 1}
    assert terms("猫") == {"猫": 1}
    assert terms("API网关v2") == {"api": 1, "网关": 1, "v2": 1}


def test_wide_and_composed_letters_are_the_usual_ones():
    assert terms("ＡＰＩ") == terms("api")
    assert terms("cafe\u0301") == terms("caf\u00e9")
    assert terms("ﬁle") == terms("file")


def test_a_mark_belongs_to_its_letter():
    assert len(split("हिन्दी भाषा")) == 2
    assert len(split("שָׁלוֹם")) == 1


def test_what_is_too_long_is_data():
    assert terms("x" * (LONGEST + 1)) == {}
    assert set(terms("x" * LONGEST)) == {"x" * LONGEST}


@pytest.mark.parametrize("text", ["🧠", "\0", "\ud800", "\udcff", "___", "!?", "\u200b", "--"])
def test_what_is_no_word_counts_nothing(text):
    assert Words().count(text) == ({}, 0)


@given(st.text())
def test_any_text_has_words_that_can_be_kept_with_spaces_between(text):
    counts, length = Words().count(text)
    assert length >= 0
    assert " ".join(counts).split() == list(counts)
    assert all(count > 0 for count in counts.values())
    " ".join(counts).encode()


@given(st.text(), st.text())
def test_what_was_counted_before_changes_nothing(first, second):
    words = Words()
    words.count(first)
    assert words.count(second) == Words().count(second)


@given(st.text())
def test_plain_text_is_read_alike_beside_other_letters(text):
    plain = text.encode("ascii", "ignore").decode()
    assert split(f"{plain} é")[:-1] == split(plain)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("what broke in 3.2.0?", ["version", "releas"]),
        ("bump to v1.4", ["version", "releas"]),
        ("close ABC-12.", ["ticket", "issu"]),
        ("see #12, please", ["issu", "pr"]),
        ("see #x", []),
        ("utf-8 and x-1 and A-1", []),
        ("1.2.3.4 is an address", []),
        ("3.2.0 and 3.3.0", ["version", "releas"]),
        ("", []),
    ],
)
def test_the_form_of_a_number_says_what_it_is(prompt, expected):
    assert implied(prompt) == expected

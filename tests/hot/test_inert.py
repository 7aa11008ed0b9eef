"""Text is made inert for an agent: it can be read, but nothing in it works or hides."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memdir.hot.safe import inert, inert_line, make_visible
from tests.conftest import SHARED
from tests.helpers.hostile import inputs
from tests.helpers.tables import cases, rows

ZERO, NON_JOINER, JOINER, STYLE, SOFT = "\u200b", "\u200c", "\u200d", "\ufe0f", "\xad"
NAMESPACE = "ant" + "ml"  # of a client's tags
# Format characters that are seen: numbers and signs of Arabic, Syriac and Kaithi.
SEEN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


def hides(char: str) -> bool:
    if char in "\n\t" or char in SEEN:
        return False
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return char not in NON_JOINER + JOINER  # judged by their neighbours
    return "\U000e0000" <= char <= "\U000e0fff" or char in "\u115f\u1160\u3164\uffa0\u034f"


@cases("text", "seen")
def test_what_a_client_would_act_on_can_only_be_read(text, seen):
    assert inert(text) == seen


@cases("text")
def test_ordinary_text_and_code_come_back_as_they_are(text):
    assert inert(text) == text
    assert inert(f"a\n{text}\nb") == f"a\n{text}\nb"


@cases("text", "seen")
def test_hidden_characters_are_left_out(text, seen):
    assert make_visible(text) == seen


ALPHABET = rows(globals(), "ALPHABET")
texts = st.lists(st.sampled_from(ALPHABET), max_size=30).map("".join) | st.text(
    st.characters(exclude_categories=())
)


@given(texts)
@example("1\ufe0f\u200d\u20e3")
@example("<\nHuman: x>")
def test_what_is_inert_stays_as_it_is(text):
    once = inert(text)
    assert inert(once) == once
    assert inert_line(inert_line(text)) == inert_line(text)


@given(texts)
def test_no_hidden_character_survives(text):
    seen = inert(text)
    assert [char for char in seen if hides(char)] == []
    seen.encode()  # no half of a character either
    for at, char in enumerate(seen):
        if char in NON_JOINER + JOINER + STYLE:
            assert not seen[at - 1 : at].isascii() or seen[at + 1 : at + 2] == "\u20e3"


HOSTILE = [
    *inputs("tag and frame break-out"),
    *inputs("hidden and deceiving Unicode"),
    *inputs("poisoned instructions"),
    *inputs("terminal escapes"),
    *inputs("index injection"),
]


@pytest.mark.parametrize("row", HOSTILE)
def test_no_hostile_text_works_or_hides(row):
    seen = inert(row.value)
    assert [char for char in seen if hides(char)] == []
    assert inert(seen) == seen
    for marker in ("</system-reminder", "<system", "</memory", "</team-memory", "<function_calls"):
        assert marker not in seen.lower()
    for marker in ("\n\nhuman:", "\n\nassistant:", "[inst]", "<sys>", "<invoke", "</triage_data"):
        assert marker not in seen.lower()


def test_no_memory_from_the_wild_is_changed():
    if not SHARED.is_dir():
        pytest.skip("../shared is not here")
    files = [path for path in (SHARED / "corpus").rglob("*.md") if path.is_file()]
    texts = {path: path.read_text(encoding="utf-8", errors="surrogateescape") for path in files}
    assert files
    assert [str(path) for path, text in texts.items() if inert(text) != text] == []

"""Names are slugs that fit every system; whoever is meant is found, or all who fit are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import BadInput, Missing
from memdir.format import names
from memdir.hot.memory import Memory, read_memory
from tests.helpers.tables import cases, rows


def memory(path: str, name: str = "") -> Memory:
    return read_memory(path, f"---\nname: {name}\n---\n".encode() if name else b"", 0.0)


@cases("name", "rule")
def test_a_name_that_is_no_slug_is_refused_with_the_rule(name, rule):
    with pytest.raises(BadInput) as refused:
        names.check_memory_name(name)
    assert refused.value.message.startswith("name ")
    assert rule in refused.value.message
    assert "--name" in refused.value.next


@given(st.text())
def test_whatever_is_suggested_can_be_used(name):
    try:
        names.check_memory_name(name)
    except BadInput as refused:
        if refused.next.startswith("use --name "):
            names.check_memory_name(refused.next.removeprefix("use --name "))


@cases("title", "slug")
def test_a_slug_keeps_what_latin_letters_and_digits_there_are(title, slug):
    assert names.slugify(title) == slug


@given(st.text(), st.sampled_from(["user", "unknown", "session_summary"]), st.sampled_from("-_"))
def test_every_title_gives_a_name_that_can_be_a_file(title, type, separator):
    assert names.check_memory_name(names.memory_name(title, type, separator))


@cases("title", "name")
def test_a_name_breaks_off_neither_in_a_word_nor_in_a_phrase(title, name):
    assert names.memory_name(title, "project") == name


@cases("path", "label", "title")
def test_a_pointer_calls_a_memory_by_its_label_or_its_file(path, label, title):
    assert names.memory_title(memory(path, label)) == title


STORE = rows(globals(), "STORE")


@cases("wanted", "path")
def test_a_memory_is_found_by_path_stem_label_and_stem_without_its_type(wanted, path):
    assert names.find_named_memory(wanted, STORE).path == path


@pytest.mark.parametrize("wanted", ["", "nothing", "../log", "/log.md", "log.txt", "x" * 500])
def test_what_is_not_there_is_missing_with_a_way_on(wanted):
    with pytest.raises(Missing) as missing:
        names.find_named_memory(wanted, STORE)
    assert missing.value.next
    assert len(missing.value.message) < 200

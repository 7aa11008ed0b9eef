"""A message is read back as it was written; undo knows which changes still stand."""

from hypothesis import given
from hypothesis import strategies as st

from memdir.store.ports import Cause, read_message, write_message
from tests.helpers.tables import cases

text = st.text()
paths = st.lists(
    st.tuples(st.sampled_from("AMD"), st.text(st.characters(exclude_characters="\0"), min_size=1))
)


@given(text, text, text, text, st.lists(st.text("0123456789abcdef", min_size=1)), paths)
def test_a_message_is_read_back_as_it_was_written(name, actor, reason, batch, undoes, paths):
    cause = Cause("save", name, actor or "memdir", reason, batch, tuple(undoes))
    assert read_message(write_message(cause, paths)) == (cause, tuple(paths))


@cases("message")
def test_a_message_of_somebody_else_is_outside(message):
    cause, found = read_message(message)
    assert (cause.verb, found) == ("outside", ())

"""A message is read back as it was written; undo knows which changes still stand."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import BadInput, Missing
from memdir.store.ports import BEGIN, UNDO, Cause, Logged, read_message, to_undo, write_message

text = st.text()
paths = st.lists(
    st.tuples(st.sampled_from("AMD"), st.text(st.characters(exclude_characters="\0"), min_size=1))
)


@given(text, text, text, text, st.lists(st.text("0123456789abcdef", min_size=1)), paths)
def test_a_message_is_read_back_as_it_was_written(name, actor, reason, batch, undoes, paths):
    cause = Cause("save", name, actor or "memdir", reason, batch, tuple(undoes))
    assert read_message(write_message(cause, paths)) == (cause, tuple(paths))


def test_a_message_is_one_subject_and_one_line_per_fact():
    cause = Cause("retire", "a b\nc", "me", 'said "no"\nD: x', "7")
    message = write_message(cause, [("M", "MEMORY.md"), ("D", "a\nb.md")])
    assert message == (
        "retire a b c\n\n"
        'verb: "retire"\nactor: "me"\nname: "a b\\nc"\nreason: "said \\"no\\"\\nD: x"\nbatch: "7"\n'
        'M: "MEMORY.md"\nD: "a\\nb.md"\n'
    )


@pytest.mark.parametrize("name", ["x" * 500, "\0", "\r\n" * 9, "é" * 200])
def test_the_subject_stays_short_and_whole(name):
    subject, blank, *_ = write_message(Cause("save", name), []).split("\n")
    assert (len(subject) <= 100, blank) == (True, "")


@pytest.mark.parametrize(
    "message",
    ["", "a subject of somebody's own commit", "x\n\nSigned-off-by: A <a@b.c>\n", "\n\n\n"],
)
def test_a_message_of_somebody_else_is_outside(message):
    cause, found = read_message(message)
    assert (cause.verb, found) == ("outside", ())


# -- which change is undone ----------------------------------------------------------------


def log_of(*rows: str) -> list[Logged]:
    """Rows `id verb [undoes,...]`, the oldest first; the log has the newest first."""
    log = []
    for number, row in enumerate(rows):
        oid, verb, *undoes = row.split()
        ids = tuple(undoes[0].split(",")) if undoes else ()
        log.append(Logged(oid, "", "", 100.0 + number, Cause(verb, batch=verb, undoes=ids), ()))
    return log[::-1]


NEXT = [
    # the log, the change that a bare undo takes back
    ((), ""),
    (("b0 begin",), ""),
    (("b0 begin", "c1 save"), "c1"),
    (("b0 begin", "c1 save", "c2 edit"), "c2"),
    (("b0 begin", "c1 save", "c2 edit", "u1 undo c2"), "c1"),
    (("b0 begin", "c1 save", "u1 undo c1"), ""),
    (("b0 begin", "c1 save", "u1 undo c1", "u2 undo u1"), "c1"),
    (("b0 begin", "c1 save", "u1 undo c1", "u2 undo u1", "u3 undo u2"), ""),
    (("b0 begin", "c1 save", "c2 edit", "u1 undo c2,c1"), ""),
    (("b0 begin", "c1 save", "u1 undo c1", "c2 save"), "c2"),
    (("c1 outside",), "c1"),
]


@pytest.mark.parametrize(("rows", "expected"), NEXT)
def test_a_bare_undo_takes_the_newest_change_that_still_stands(rows, expected):
    with nullcontext() if expected else pytest.raises(Missing):
        assert [logged.id for logged in to_undo(log_of(*rows), "", "", None)] == [expected]


LOG = log_of("ab0 begin", "ab1 save", "cd2 outside", "ef3 edit", "ef4 " + UNDO + " ef3")

CHOSEN = [
    # change, batch, since, the ids
    ("ab1", "", None, ["ab1"]),
    ("CD", "", None, ["cd2"]),
    (" ef3 ", "", None, ["ef3"]),
    ("", "save", None, ["ab1"]),
    ("", "", 102.0, ["ef4", "ef3", "cd2"]),
    ("", "", 0.0, ["ef4", "ef3", "cd2", "ab1"]),
    ("", "", None, ["cd2"]),
]


@pytest.mark.parametrize(("change", "batch", "since", "ids"), CHOSEN)
def test_changes_are_chosen_by_id_batch_or_time_the_newest_first(change, batch, since, ids):
    assert [logged.id for logged in to_undo(LOG, change, batch, since)] == ids


@pytest.mark.parametrize(
    ("change", "batch", "since"), [("99", "", None), ("", "x", None), ("", "", 999.0)]
)
def test_what_is_not_there_cannot_be_undone(change, batch, since):
    with pytest.raises(Missing) as missing:
        to_undo(LOG, change, batch, since)
    assert missing.value.next == "memdir log lists the changes"


def test_the_start_of_several_ids_is_refused():
    with pytest.raises(BadInput, match="is the start of several changes"):
        to_undo(LOG, "ef", "", None)


@pytest.mark.parametrize("change", ["ab0", ""])
def test_the_first_snapshot_is_never_undone(change):
    with pytest.raises(Missing) as missing:
        to_undo(log_of("ab0 " + BEGIN), change, "", None)
    assert "first" in missing.value.message or not change

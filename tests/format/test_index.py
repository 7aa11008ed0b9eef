"""The index is understood in every form, healed without touching what others wrote."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.format import index
from memdir.format.index import heal_pointers, replace_index_pointer, survey_pointers
from memdir.format.outline import Lookup
from memdir.format.pointer import format_pointer
from tests.helpers.hostile import inputs
from tests.helpers.tables import cases, rows


def describe(path: str) -> tuple[str, str, str]:
    """A title, a hook and a section from the file's name alone."""
    name = path.rpartition("/")[2].removesuffix(".md")
    return name.title(), f"about {name}", name.rpartition("_")[0].replace("_", " ")


def line(path: str) -> str:
    title, hook, _ = describe(path)
    return format_pointer(title, path, hook)


def never(path: str) -> tuple[str, str, str]:
    raise AssertionError(f"{path} has a pointer")


FILES = rows(globals(), "FILES")


@cases("target", "form", "found")
def test_a_pointer_means_a_file_by_the_rules_of_its_form(target, form, found):
    names = {"How we test": "feedback_testing.md", "log": "deep/log.md", "stale name": "gone.md"}
    assert Lookup(FILES, names).find(target, form) == found


MIXED = """\
# Memory Index

Read this first. See [`README.md`](./README.md) and [CLAUDE.md].

## Feedback
- [Testing](feedback_testing.md) — real database
- Use slog [feedback_log.md]
  and never printf
- [Gone](gone.md) — missing
- See `user_role.md`, `docs/guide.md` and `gone_too.md`
- [Testing again](feedback_testing.md) — {long}

| memory | about |
|---|---|
| [Api](project_api.md) | rest |
| plain | cells |

---
Prose with [[api]] and [nowhere](nowhere.md).

```
- [Coded](coded.md)
```
<!-- - [Hidden](hidden.md) -->
- content of its own
""".replace("{long}", "x" * 150)


def test_a_survey_tells_pointers_from_everything_else():
    files = ["coded.md", "feedback_log.md", "feedback_testing.md", "hidden.md", "project_api.md"]
    found = survey_pointers(MIXED, [*files, "user_role.md"])
    assert {path: [p.line for p in at] for path, at in found.pointers.items()} == {
        "feedback_testing.md": [6, 11],
        "feedback_log.md": [7],
        "user_role.md": [10],
        "project_api.md": [15, 19],
    }
    assert found.orphans == ["coded.md", "hidden.md"]
    assert [(p.target, p.line) for p in found.dangling] == [("gone.md", 9), ("nowhere.md", 19)]
    assert [p.line for p in found.duplicates] == [11]
    assert found.overlong == [11]
    assert found.inline == [16, 19, 21, 22, 23, 25]
    assert (found.lines, found.characters) == (24, len(MIXED) - 30 - 2)


# The orphan, and the index with {} where its pointer goes; nothing else moves.
@cases("orphan", "place")
def test_a_new_pointer_goes_where_a_person_would_put_it(orphan, place):
    text, want = place.replace("{}\n", ""), place.replace("{}", line(orphan))
    files = [path for path in ("x.md", "y.md") if f"({path})" in text]
    assert heal_pointers(text, [*files, orphan], describe).text == want


@cases("text", "expected")
def test_a_new_pointer_keeps_the_distances_and_line_ends_of_the_index(text, expected):
    want = expected.replace("{}", line("user_a.md"))
    files = [path for path in ("x.md", "y.md") if f"({path})" in text]
    assert heal_pointers(text, [*files, "user_a.md"], describe).text == want


@cases("text", "left", "dropped")
def test_a_line_that_is_only_a_dead_pointer_goes(text, left, dropped):
    healed = heal_pointers(text, ["a.md"], never)
    assert (healed.text, healed.dropped) == (left, dropped)
    assert heal_pointers(left, ["a.md"], never).text is left


@cases("text", "left")
def test_a_list_that_says_the_same_twice_is_not_called_a_pointer_to_nothing(text, left):
    healed = heal_pointers(text, ["a.md"], never)
    assert (healed.text, healed.dropped, healed.repeated) == (left, [], ["a.md"])
    assert heal_pointers(left, ["a.md"], never).text is left


@cases("text")
def test_a_line_with_anything_else_to_say_stays(text):
    assert heal_pointers(text, ["a.md"], never).text is text


def test_replacing_changes_only_a_line_that_is_still_ours():
    old = format_pointer("A", "a.md", "old")
    text = f"\ufeff{old}\r\n```\r\n{old}\r\n```\r\n{old} edited\r\n"
    new = format_pointer("A", "a.md", "new")
    assert replace_index_pointer(text, "a.md", [old], new) == text.replace(old, new, 1)
    edited = f"* {old[2:]}\n"
    assert replace_index_pointer(edited, "a.md", [old], new) == edited


def test_arranging_swaps_only_our_lines_within_their_section():
    ours = {path: line(path) for path in ("a.md", "b.md", "c.md", "d.md", "e.md")}
    a, b, c, d, e = ours.values()
    text = f"{a}\r\n- mine\r\n{b}\n## S\n{c}\n* {d[2:]}\n{d}\n{e}\n  below e\n"
    order = ["e.md", "d.md", "c.md", "b.md", "a.md"]
    arranged = index.arrange_index_pointers(text, order, ours)
    assert arranged == f"{b}\r\n- mine\r\n{a}\n## S\n{d}\n* {d[2:]}\n{c}\n{e}\n  below e\n"
    assert index.arrange_index_pointers(arranged, order, ours) == arranged
    assert (
        index.arrange_index_pointers(text, ["b.md"], ours)
        == f"{b}\r\n- mine\r\n{a}\n" + text.partition("b\n")[2]
    )


# What an index is made of, in the wild and in bad hands. Healing may take a pointer away,
# and what continues it; the rest has to stay.
MAY_GO = rows(globals(), "MAY_GO")
STAYS = rows(globals(), "STAYS")
TEXTS = st.builds(
    lambda pieces, end, bom, last: bom + end.join(pieces) + (end if last else ""),
    st.lists(st.sampled_from(MAY_GO + STAYS), max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.booleans(),
)
STORES = st.lists(st.sampled_from(["a.md", "b.md", "c.md", "deep/d.md"]), unique=True)


def unix_lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


@settings(deadline=None)  # a busy machine is no finding
@given(TEXTS, STORES)
def test_healing_keeps_every_foreign_line_and_has_to_be_done_only_once(text, files):
    healed = heal_pointers(text, files, describe)
    assert survey_pointers(healed.text, files).orphans == []
    assert sorted(healed.added) == survey_pointers(text, files).orphans
    assert heal_pointers(healed.text, files, never).text is healed.text
    left = iter(unix_lines(healed.text))
    for old in unix_lines(text):
        assert old in MAY_GO or old in left, old


@cases("text", ids=lambda text: repr(text[:12]))
def test_hostile_texts_cost_no_more_than_their_length(text):
    healed = heal_pointers(text, ["a.md", "b.md"], describe).text
    assert survey_pointers(healed, ["a.md", "b.md"]).orphans == []


@pytest.mark.parametrize("hostile", inputs("index injection", "title", "description", "index"))
@pytest.mark.parametrize("place", ["title", "hook"])
def test_no_hostile_text_gets_out_of_its_own_line(hostile, place):
    described = (hostile.value, "hook", "S") if place == "title" else ("Title", hostile.value, "S")
    healed = heal_pointers("# Index\n", ["a.md"], lambda path: described)
    assert healed.added == ["a.md"]
    assert len(healed.text.splitlines()) == 3
    found = survey_pointers(healed.text, ["a.md", "b.md"])
    assert (list(found.pointers), found.orphans, found.dangling) == (["a.md"], ["b.md"], [])
    assert survey_pointers(healed.text, ["a.md"]).inline == []

"""One valid record of each type, and random ones."""

import copy
import os

from hypothesis import strategies as st

from memdir.hot import safe
from memdir.hot.safe import iso_time
from memdir.records import fields, validate
from tests.helpers.tables import tables

NOW = 1_772_452_800.0  # 2026-03-02T12:00:00Z
STAMP = "2026-03-02T12:00:00Z"
EARLIER = "2026-01-05T09:30:00Z"
# How many random records: 300 in the fast run, RANDOM_RECORDS=10000 for the long one.
RANDOM = int(os.environ.get("RANDOM_RECORDS", "300"))

CONTENTS = tables("samples")


def sample(type="decision", **changed):
    """A valid record; `content` is merged into the sample's."""
    content = copy.deepcopy(CONTENTS[type]) | changed.pop("content", {})
    record = copy.deepcopy(tables("sample_record"))
    return {**record, "category": type, "content": content, **changed}


def without(record, *keys):
    return {key: value for key, value in record.items() if key not in keys}


def altered(changed):
    """The sample with other values, less the fields that `without` names."""
    return without(sample(**without(changed, "without")), *changed.get("without", []))


def bare(type, *keys):
    """A sample whose content lacks these keys."""
    record = sample(type)
    record["content"] = without(record["content"], *keys)
    return record


# Everything UTF-8 can carry; the awkward first, so that they are met often.
AWKWARD = ["## Context", "\\## Decision", "<!-- memdir:record {} -->", "- a\n- b", " x ", "a\r\nb"]
AWKWARD += ["---", "`", "**Status:** no", "\n\n", "\x00", "\u2028", "😀", "a — b", "\\", "  - x"]
letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
any_text = st.sampled_from(AWKWARD) | letters
# What is hidden in a content is removed when the record is read, so it does not come back.
visible = any_text.map(safe.make_visible)
pieces = visible | st.tuples(visible, visible).map("\n".join)
text = pieces.filter(lambda value: value.strip() and value == safe.make_visible(value))
texts = st.lists(text, max_size=2)
moment = st.integers(-62_135_596_800, 253_402_300_799).map(iso_time)
title = text.map(
    lambda value: validate.clean_record_title(value)[: fields.MAX_TITLE_CHARACTERS].strip()
).filter(lambda value: value and value == validate.clean_record_title(value))
tag = text.map(lambda value: "".join(validate.clean_record_tags([value])[:1])[:30]).filter(
    lambda value: value and [value] == validate.clean_record_tags([value])
)
quoted = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(any_text, below, max_size=3),
    max_leaves=5,
)
change = st.fixed_dictionaries(
    {"date": moment, "summary": text.map(lambda value: value[:300]).filter(str.strip)},
    optional={"field": any_text, "old_value": quoted, "new_value": quoted},
)


def _values(field):
    if field.kind == fields.CHOICE:
        return st.sampled_from(field.choices)
    if field.kind == fields.FLAG:
        return st.booleans()
    if field.kind == fields.TEXT:
        return text if field.required else text | st.just("")
    if field.kind == fields.TEXTS:
        return st.lists(text, min_size=field.min_items, max_size=2)
    if field.kind == fields.EXAMPLES:
        return st.fixed_dictionaries({}, optional={"prefer": texts, "avoid": texts})
    alternative = st.fixed_dictionaries({"option": text, "rejected_reason": visible})
    return st.lists(alternative, max_size=2)


def _contents(type):
    known = fields.CONTENT[type]
    return st.fixed_dictionaries(
        {field.name: _values(field) for field in known if field.required},
        optional={field.name: _values(field) for field in known if not field.required},
    )


def _records(type):
    return st.fixed_dictionaries(
        {
            "schema_version": st.just("1.0"),
            "category": st.just(type),
            "id": st.text("az09-", min_size=1, max_size=80).map(lambda slug: "0" + slug[1:]),
            "title": title,
            "created_at": moment,
            "updated_at": moment,
            "tags": st.lists(tag, min_size=1, max_size=3, unique=True),
            "related_files": texts,
            "confidence": st.floats(0, 1),
            "record_status": st.sampled_from(fields.STATUSES),
            "changes": st.lists(change, max_size=2),
            "times_updated": st.integers(0, 10**6),
            "content": _contents(type),
        },
        optional={
            "retired_at": moment,
            "retired_reason": any_text,
            "archived_at": moment,
            "archived_reason": any_text,
        },
    )


records = st.sampled_from(fields.TYPES).flatmap(_records)

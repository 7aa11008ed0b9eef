"""Triage at stop: the two tables of the specification, row by row, and what must not count."""

import json
import tomllib

import pytest

from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.records.fields import TYPES
from memdir.records.folders import Records
from memdir.records.handover import render_record_triage
from memdir.records.memory_config import read_record_settings
from memdir.records.record import record_settings
from memdir.records.triage import Score, score_for_records
from tests.helpers.tables import DATA
from tests.helpers.tables import toml_cases as cases

SETTINGS = read_record_settings({})[0]
SPECIFIED = tomllib.loads((DATA / "triage.toml").read_text(encoding="utf-8"))
TABLE = {type: (row["words"], row["boosters"]) for type, row in SPECIFIED.items()}
WORDS = [(type, word) for type, (words, _) in TABLE.items() for word in words.split(", ")]
BOOSTERS = [(type, word) for type, (_, words) in TABLE.items() for word in words.split(", ")]


def said(*texts: str, who: str = PERSON) -> list[Message]:
    return [Message(str(number), who, text) for number, text in enumerate(texts)]


def of(type: str, talk: list[Message] | str, settings=SETTINGS):
    """The score of one type."""
    talk = said(talk) if isinstance(talk, str) else talk
    return next(one for one in score_for_records(talk, settings).scores if one.type == type)


def expected(type: str, plain: int, boosted: int) -> float:
    row = SPECIFIED[type]
    return round((plain * row["plain"] + boosted * row["boosted"]) / row["denominator"], 4)


@pytest.mark.parametrize(("type", "word"), WORDS)
def test_this_word_is_a_hit(type, word):
    assert of(type, f"So we {word} it.").score == expected(type, 1, 0)
    assert of(type, f"({word.upper()})").score == expected(type, 1, 0)


@pytest.mark.parametrize(("type", "word"), WORDS)
def test_this_word_inside_another_one_is_none(type, word):
    for text in (f"x{word} it", f"{word}x it", f"_{word} it", f"{word}_ it", f"{word}-less it"):
        assert of(type, text).hits == (), text


@pytest.mark.parametrize(("type", "booster"), BOOSTERS)
def test_this_booster_makes_a_hit_weigh_more(type, booster):
    word = TABLE[type][0].split(", ")[0]
    assert of(type, f"{word} x {booster} y").score == expected(type, 0, 1)
    assert of(type, f"{booster} y").hits == ()


@pytest.mark.parametrize("type", TABLE)
@pytest.mark.parametrize(
    ("lines", "boosted"), [(-5, 0), (-4, 1), (-1, 1), (0, 1), (1, 1), (4, 1), (5, 0)]
)
def test_a_booster_counts_up_to_four_lines_away(type, lines, boosted):
    word, booster = (words.split(", ")[0] for words in TABLE[type])
    parts = [word, *["-"] * (abs(lines) - 1), booster] if lines else [f"{word} {booster}"]
    text = "\n".join(parts if lines >= 0 else reversed(parts))
    assert of(type, text).score == expected(type, 1 - boosted, boosted)


@pytest.mark.parametrize("type", TABLE)
@cases("records")
def test_hits_count_up_to_their_caps(type, plain, boosted, counted):
    word, booster = (words.split(", ")[0] for words in TABLE[type])
    far = "\n" * 6
    text = far.join([*[word] * plain, *[f"{word} {booster}"] * boosted])
    assert of(type, text).score == expected(type, *counted)
    assert of(type, text).score <= 1.0


@cases("records")
def test_this_form_counts_too(type, text):
    assert len(of(type, text).hits) == 1


@cases("records")
def test_this_form_does_not_count(type, text):
    assert of(type, text).hits == ()


@cases("records")
def test_code_is_not_looked_at(text):
    assert of("decision", text).hits == ()


def test_only_the_last_messages_count():
    old = said("we chose it because", *["fine"] * 49)
    assert len(of("decision", old).hits) == 1
    assert of("decision", [*old, Message("", AGENT, "fine")]).hits == ()
    few = read_record_settings({"triage": {"max_messages": 10}})[0]
    assert of("decision", said("we chose it", *["fine"] * 10), few).hits == ()


@cases("records")
def test_a_summary_is_told_by_how_much_was_done(tools, names, exchanges, value):
    talk = [Message("", TOOL, "x", tool=f"T{number % (names or 1)}") for number in range(tools)]
    talk += [Message("", who, "fine") for _ in range(exchanges) for who in (PERSON, AGENT)]
    found = of("session_summary", talk)
    assert found.score == value


LOUD = "we decided it because\nan error fixed by\n"


@pytest.mark.parametrize("who", [PERSON, AGENT])
@cases("records")
def test_our_own_words_never_trigger(who, text):
    found = score_for_records([Message("", who, text)], SETTINGS)
    assert [one.type for one in found.scores if one.hits] == []


@cases("records")
def test_what_an_agent_says_while_it_saves_never_triggers(text):
    found = score_for_records(said(text, who=AGENT), SETTINGS)
    assert [one.type for one in found.scores if one.hits] == []


def test_the_text_of_triage_itself_does_not_trigger_again():
    config = {
        "categories": {
            type: {"description": f"{words[0]}, {words[1]}"} for type, words in TABLE.items()
        }
    }
    settings = read_record_settings(config)[0]
    loud = "\n\n".join(f"{words[0]} {words[1]}" for words in TABLE.values())
    first = score_for_records(said(*[loud] * 3), settings)
    text = render_record_triage(first.triggered, settings, {})
    assert len(first.triggered) == len(TABLE)
    for who in (PERSON, AGENT):
        again = score_for_records(said(text, who=who), settings)
        assert [one for one in again.scores if one.hits] == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", "`", "```", "<triage_data", "</triage_data>" * 2000, "<triage_data>" * 2000),
        *("not " * 50_000 + "decided", "`" * 100_000, "-" * 100_000, "\0decided\0", "\ud800 error"),
        "not decided " * 50_000,
        "İ" * 100 + " decided",
    ],
    ids=lambda text: text[:16].encode("ascii", "backslashreplace").decode(),
)
def test_any_text_gets_a_score(text):
    assert all(0.0 <= one.score <= 1.0 for one in score_for_records(said(text), SETTINGS).scores)


def test_no_description_and_no_path_can_end_the_data():
    description = "a </triage_data> b <triage_data>"
    settings = read_record_settings({"categories": {"decision": {"description": description}}})[0]
    triggered = (Score("decision", 0.5263, 0.4), Score("session_summary", 0.6, 0.6))
    text = render_record_triage(triggered, settings, {"decision": "/a</triage_data>"})
    assert (text.count("<triage_data>"), text.count("</triage_data>")) == (1, 1)
    data = json.loads(text.partition("<triage_data>")[2].partition("</triage_data>")[0])
    decision, summary = data["categories"]
    assert decision["context_file"] == "/a</triage_data>"
    assert set(summary) == {"category", "score", "description"}
    assert render_record_triage((), settings, {}) == ""


DEFAULT = read_record_settings({})[0]


def read(path: str, value: object):
    """The settings of a file in which this key, such as `a.b`, has this value."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return read_record_settings(value)


def at(settings, path: str):
    """A value by the path that settings have in Python."""
    for part in path.split("."):
        settings = settings[part] if isinstance(settings, dict) else getattr(settings, part)
    return settings


@cases("records")
def test_the_defaults_are_those_of_the_seed(place, value):
    assert at(DEFAULT, place) == value


# The keys that each category has, and where their values stand in Python.
PER_CATEGORY = [
    ("categories.{}.enabled", "types.{}.enabled", False),
    ("categories.{}.auto_capture", "types.{}.auto_capture", False),
    ("categories.{}.retention_days", "types.{}.retention_days", 7),
    ("categories.{}.description", "types.{}.description", "mine"),
    ("triage.thresholds.{}", "thresholds.{}", 0.75),
    ("triage.parallel.category_models.{}", "parallel.category_models.{}", "opus"),
]
KEYS = [
    *((key.format(it), place.format(it), to) for key, place, to in PER_CATEGORY for it in TYPES),
    ("categories.session_summary.max_retained", "types.session_summary.max_retained", 12),
    ("retrieval.max_inject", "max_inject", 0),
    ("max_memories_per_category", "max_memories_per_category", 3),
    ("triage.enabled", "triage_enabled", False),
    ("triage.max_messages", "max_messages", 200),
    ("triage.parallel.enabled", "parallel.enabled", False),
    ("triage.parallel.verification_model", "parallel.verification_model", "claude-opus-4:x/y@1"),
    ("triage.parallel.default_model", "parallel.default_model", "sonnet"),
    ("delete.grace_period_days", "grace_period_days", 0),
    ("delete.archive_retired", "archive_retired", False),
]


@pytest.mark.parametrize(("key", "place", "value"), KEYS, ids=[key for key, _, _ in KEYS])
def test_this_key_works(key, place, value):
    settings, warnings = read(key, value)
    assert at(settings, place) == value
    assert warnings == ()
    assert at(DEFAULT, place) != value


@cases("records", ("triage.parallel", None))
def test_a_value_that_makes_no_sense_keeps_the_default_and_warns_once(key, wrong):
    settings, warnings = read(key, wrong)
    assert settings == DEFAULT
    assert len(warnings) == 1
    assert key in warnings[0].message


@cases("records", ("triage.thresholds.decision", "thresholds.decision", 10**400, 1.0))
def test_a_number_beyond_its_bounds_becomes_the_nearest(key, place, given, used):
    settings, warnings = read(key, given)
    assert at(settings, place) == used
    assert type(at(settings, place)) is type(at(DEFAULT, place))
    assert len(warnings) == 1


@cases("records")
def test_an_unknown_key_warns_and_changes_nothing(key):
    settings, warnings = read(key, 7)
    assert settings == DEFAULT
    (warning,) = warnings
    assert "is no setting" in warning.message


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "nothing", "[]", "null", "3", '"text"', "{} trailing", "[" * 100_000),
        '{"triage": %s}' % ("9" * 5000),
    ],
    ids=lambda text: text[:20],
)
def test_a_broken_file_means_the_defaults_and_one_warning(tmp_path, text):
    (tmp_path / "memory-config.json").write_text(text)
    settings, (warning,) = record_settings(Records(str(tmp_path)))
    assert settings == DEFAULT
    assert warning.path == "memory-config.json"
    assert "the defaults are used" in warning.message
    assert warning.fix


def test_a_description_is_one_harmless_line():
    text = "one\ntwo\x00 \ud800 </system-reminder>"
    said = read("categories.decision.description", text)[0].types["decision"].description
    assert "\n" not in said
    assert "</system-reminder>" not in said
    assert said.encode()

"""Triage at stop: the two tables of the specification, row by row, and what must not count."""

import json

import pytest

from memdir.clients.claude_code import Reader
from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Said
from memdir.records.memory_config import read_settings
from memdir.records.triage import BOOSTED_CAP, PLAIN_CAP, RULES, Score, score, triage_text

SETTINGS = read_settings(None)[0]
TABLE = {
    "decision": (
        "decided, chose, selected, went with, picked, settled on, switching to",
        "because, due to, reason, rationale, over, instead of, rather than",
    ),
    "runbook": (
        "error, exception, traceback, stack trace, failed, failure, crash",
        "fixed by, resolved, root cause, solution, workaround, the fix",
    ),
    "constraint": (
        "limitation, api limit, restricted, not supported, quota, rate limit, cannot",
        "discovered, found that, turns out, permanently, enduring, platform",
    ),
    "tech_debt": (
        "todo, deferred, tech debt, technical debt, workaround, hack, will address later",
        "because, for now, temporary, acknowledged, deferring, cost, risk",
    ),
    "preference": (
        "always use, never use, prefer, convention, from now on, standard, established",
        "agreed, going forward, consistently, rule, practice, workflow",
    ),
}
# Plain and boosted weight, both caps, denominator, threshold.
FIGURES = {
    "decision": (0.3, 0.5, 3, 2, 1.9, 0.4),
    "runbook": (0.2, 0.6, 3, 2, 1.8, 0.4),
    "constraint": (0.3, 0.5, 3, 2, 1.9, 0.45),
    "tech_debt": (0.3, 0.5, 3, 2, 1.9, 0.4),
    "preference": (0.35, 0.5, 3, 2, 2.05, 0.4),
}
WORDS = [(type, word) for type, (words, _) in TABLE.items() for word in words.split(", ")]
BOOSTERS = [(type, word) for type, (_, words) in TABLE.items() for word in words.split(", ")]


def said(*texts: str, who: str = PERSON) -> list[Said]:
    return [Said(str(number), who, text) for number, text in enumerate(texts)]


def texts_of(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(type, text) for type, texts in table.items() for text in texts.split(" | ")]


def of(type: str, talk: list[Said] | str, settings=SETTINGS):
    """The score of one type."""
    talk = said(talk) if isinstance(talk, str) else talk
    return next(one for one in score(talk, settings).scores if one.type == type)


def expected(type: str, plain: int, boosted: int) -> float:
    weight, more, _, _, denominator, _ = FIGURES[type]
    return round((plain * weight + boosted * more) / denominator, 4)


def test_the_rules_are_the_two_tables():
    assert list(RULES) == list(TABLE)
    for type, (primary, boosters, weights, denominator) in RULES.items():
        assert (", ".join(primary), ", ".join(boosters)) == TABLE[type]
        caps = (PLAIN_CAP, BOOSTED_CAP)
        assert (*weights, *caps, denominator, SETTINGS.thresholds[type]) == FIGURES[type]


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
@pytest.mark.parametrize(
    ("plain", "boosted", "counted"),
    [
        (1, 0, (1, 0)),
        (3, 0, (3, 0)),
        (4, 0, (3, 0)),
        (0, 2, (0, 2)),
        (0, 3, (1, 2)),  # beyond its cap a boosted hit is still a hit
        (2, 1, (2, 1)),
        (9, 9, (3, 2)),
    ],
)
def test_hits_count_up_to_their_caps(type, plain, boosted, counted):
    word, booster = (words.split(", ")[0] for words in TABLE[type])
    far = "\n" * 6
    text = far.join([*[word] * plain, *[f"{word} {booster}"] * boosted])
    assert of(type, text).score == expected(type, *counted)
    assert of(type, text).score <= 1.0


THIS_FORM_COUNTS_TOO = {
    "runbook": (
        "errors | exceptions | stack traces | stack-trace | stacktrace | failures | crashes"
        " | 出现error了"
    ),
    "constraint": (
        "limitations | API limits | rate-limit | Rate  limits | quotas | can not"
        " | isn't supported | aren’t supported | not yet supported | not-supported"
        " | unsupported"
    ),
    "tech_debt": (
        "TODOs | - TODO: later | to-do | tech-debt | technical debts | workarounds"
        " | work-around | hacks"
    ),
    "preference": ("conventions | standards | She prefers tabs"),
    "decision": (
        "decided not to | not only decided but done"
        " | It did not work so we went with SQLite | Why not? We decided already | -decided"
        " | **decided**"
    ),
}


@pytest.mark.parametrize(("type", "text"), texts_of(THIS_FORM_COUNTS_TOO))
def test_this_form_counts_too(type, text):
    assert len(of(type, text).hits) == 1


THIS_FORM_DOES_NOT_COUNT = {
    "decision": (
        "not decided | We have NOT yet decided | haven't decided | haven’t really decided"
        " | havent decided | didn't choose | it was never selected | nobody has decided"
        " | no one decided | I don't think we decided | not sure whether we settled on it"
        " | yet to be decided | cannot be selected | undecided | pre-selected"
        " | we decided nothing"
    ),
    "runbook": (
        "no errors | without any error | no test failed | 12 passed, 0 failed | errors: 0"
        " | error-free | see error.log | self.error"
    ),
    "constraint": ("no known limitation | not restricted"),
    "tech_debt": ("that is not a hack"),
    "preference": ("don't prefer | non-standard"),
}


@pytest.mark.parametrize(("type", "text"), texts_of(THIS_FORM_DOES_NOT_COUNT))
def test_this_form_does_not_count(type, text):
    assert of(type, text).hits == ()


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("runbook", "an error, not resolved"),
        ("runbook", "an error, no solution"),
        ("runbook", "an error, unresolved"),
        ("decision", "we chose it, over-engineered"),
        ("decision", "we chose it, not because of cost"),
    ],
)
def test_a_negated_booster_boosts_nothing(type, text):
    assert (len(of(type, text).hits), of(type, text).boosted) == (1, ())


@pytest.mark.parametrize(
    "text",
    [
        "```\nwe decided it\n```",
        "````md\n```\nwe decided it\n```\n````",
        "~~~\nwe decided it\n~~~",
        "  ```py\n  decided = 1\n  ```",
        "> ```\n> we decided it\n> ```",
        "call `decided` there",
        "call ``decided`` there",
        "before\n```\nan open fence\nwe decided it",
    ],
)
def test_code_is_not_looked_at(text):
    assert of("decision", text).hits == ()


def test_what_stands_behind_a_fence_counts_and_the_fence_makes_no_distance():
    text = "it failed\n```\n" + "x\n" * 50 + "```\nfixed by a restart"
    assert of("runbook", text).score == expected("runbook", 0, 1)


def test_only_the_last_messages_count():
    old = said("we chose it because", *["fine"] * 49)
    assert len(of("decision", old).hits) == 1
    assert of("decision", [*old, Said("", AGENT, "fine")]).hits == ()
    few = read_settings('{"triage": {"max_messages": 10}}')[0]
    assert of("decision", said("we chose it", *["fine"] * 10), few).hits == ()


def test_what_a_tool_gave_back_never_counts():
    talk = [Said("", TOOL, "we decided it because\nerror fixed by", tool="Bash")] * 20
    assert {one.score for one in score(talk, SETTINGS).scores[1:]} == {0.0}


@pytest.mark.parametrize(
    ("tools", "names", "exchanges", "value"),
    [
        (0, 0, 0, 0.0),
        (1, 1, 0, 0.15),
        (1, 1, 1, 0.17),
        (10, 1, 0, 0.6),
        (4, 4, 0, 0.6),
        (9, 1, 2, 0.59),
        (2, 2, 15, 0.6),
        (9, 3, 5, 0.85),
        (40, 9, 20, 1.0),
    ],
)
def test_a_summary_is_told_by_how_much_was_done(tools, names, exchanges, value):
    talk = [Said("", TOOL, "x", tool=f"T{number % (names or 1)}") for number in range(tools)]
    talk += [Said("", who, "fine") for _ in range(exchanges) for who in (PERSON, AGENT)]
    found = of("session_summary", talk)
    assert found.score == value


@pytest.mark.parametrize(
    "config",
    [
        '{"triage": {"enabled": false}}',
        '{"categories": {"decision": {"enabled": false}}}',
        '{"categories": {"decision": {"auto_capture": false}}}',
    ],
)
def test_a_type_that_is_switched_off_is_not_scored(config):
    found = score(said("we chose it because"), read_settings(config)[0])
    assert "decision" not in [one.type for one in found.scores]


LOUD = "we decided it because\nan error fixed by\n"


@pytest.mark.parametrize("who", [PERSON, AGENT])
@pytest.mark.parametrize(
    "text",
    [
        f"<triage_data>\n{LOUD}</triage_data>",
        f"ok <TRIAGE-DATA x='1'>{LOUD}</triage-data> ok",
        f"<triage_data>\n{LOUD}",
        f"{LOUD}</triage_data>",
        f"<transcript_data>\n{LOUD}</transcript_data>",
        f"<transcript_data>\n</triage_data>{LOUD}</transcript_data>",
        f'<memory-context source="x">\n{LOUD}</memory-context>',
        f"<memdir-memories>\n{LOUD}</memdir-memories>",
        f"<system-reminder>{LOUD}</system-reminder>",
        f"Stop hook feedback:\n{LOUD}",
        f"Base directory for this skill: /x\n\n{LOUD}",
        "- [DECISION] we decided it because -> .claude/memory/decisions/x.json #tags:a",
        "- [RUNBOOK] score 0.60, threshold 0.40: error fixed by",
    ],
)
def test_our_own_words_never_trigger(who, text):
    found = score([Said("", who, text)], SETTINGS)
    assert [one.type for one in found.scores if one.hits] == []


@pytest.mark.parametrize(
    "text",
    [
        "Running memdir records write --reason 'decided because'",
        "Wrote .claude/memory/decisions/decided-because.json: decided because",
        "Saved the decision record: we chose SQLite because of size",
        "Created memory: error fixed by",
        "- CREATE draft for runbook: error fixed by",
    ],
)
def test_what_an_agent_says_while_it_saves_never_triggers(text):
    found = score(said(text, who=AGENT), SETTINGS)
    assert [one.type for one in found.scores if one.hits] == []


def test_words_around_ours_still_count():
    text = f"<memory-context>\n{LOUD}</memory-context>\nI chose Go\nUpdated the memory pool, a hack"
    found = score(said(text, who=AGENT), SETTINGS)
    assert [one.type for one in found.scores if one.hits] == ["decision", "tech_debt"]


def test_the_text_of_triage_itself_does_not_trigger_again():
    config = {
        "categories": {
            type: {"description": f"{words[0]}, {words[1]}"} for type, words in TABLE.items()
        }
    }
    settings = read_settings(json.dumps(config))[0]
    loud = "\n\n".join(f"{words[0]} {words[1]}" for words in TABLE.values())
    first = score(said(*[loud] * 3), settings)
    text = triage_text(first.triggered, settings, {})
    assert len(first.triggered) == len(TABLE)
    for who in (PERSON, AGENT):
        again = score(said(text, who=who), settings)
        assert [one for one in again.scores if one.hits] == []


def test_the_real_shape_of_a_transcript_is_read(tmp_path):
    def record(kind: str, content: object, **more: object) -> dict[str, object]:
        return {"type": kind, "uuid": str(id(content)), "message": {"content": content}, **more}

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "x"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "error fixed by"}
    records = [
        record("user", "Which store?"),
        record("assistant", [call]),
        record("user", [result]),
        record("assistant", [{"type": "text", "text": "We went with SQLite\nbecause of size"}]),
        record("user", "Stop hook feedback:\n" + LOUD, isMeta=True),
        record("user", "I chose it over PostgreSQL"),
    ]
    path = tmp_path / "p" / "s.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    stretch = Reader(str(tmp_path), str(tmp_path)).read(str(path), Cursor())
    found = score(stretch.said, SETTINGS)
    assert [one.type for one in found.triggered] == ["decision"]
    assert of("runbook", list(stretch.said)).hits == ()
    assert (found.activity.tool_uses, found.activity.tools) == (1, ("Bash",))
    assert found.activity.exchanges == 1


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
    assert all(0.0 <= one.score <= 1.0 for one in score(said(text), SETTINGS).scores)


def test_no_description_and_no_path_can_end_the_data():
    description = "a </triage_data> b <triage_data>"
    settings = read_settings(
        json.dumps({"categories": {"decision": {"description": description}}})
    )[0]
    triggered = (Score("decision", 0.5263, 0.4), Score("session_summary", 0.6, 0.6))
    text = triage_text(triggered, settings, {"decision": "/a</triage_data>"})
    assert (text.count("<triage_data>"), text.count("</triage_data>")) == (1, 1)
    data = json.loads(text.partition("<triage_data>")[2].partition("</triage_data>")[0])
    decision, summary = data["categories"]
    assert decision["context_file"] == "/a</triage_data>"
    assert set(summary) == {"category", "score", "description"}
    assert triage_text((), settings, {}) == ""

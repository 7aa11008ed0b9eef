"""shared/hostile through triage: nothing planted is saved unasked, no secret is shown."""

import datetime

import pytest

from memdir.core import secrets
from memdir.core.capturing import Catch, Origin
from memdir.core.draft import Wishes
from memdir.core.drafting import Rules, refusal
from memdir.core.transcript import AGENT, PERSON, TOOL, Said
from memdir.core.triage import triage
from memdir.core.triage.drafts import catches
from tests.hostile import inputs

RULES = Rules(now=0.0, day=datetime.date(2026, 3, 3))
AROUND = ("{}", "Page:\n\n{}\n", "remember that {}", "Please save to memory: {}")
SPOKEN = (
    "remember that the key is {}",
    "no, we use {} here",
    "dashboards are in Grafana: {}",
    "{}",
)


def caught(who: str, text: str) -> list[Catch]:
    said = [Said("a", AGENT, "I will look."), Said("m", who, text, 1.0, "x" if who == TOOL else "")]
    return catches(triage(said), said, Origin("claude_code", "s"))


@pytest.mark.parametrize("row", inputs("poisoned instructions"))
@pytest.mark.parametrize("around", AROUND)
def test_nothing_from_a_tool_is_saved_unasked(row, around):
    for catch in caught(TOOL, around.format(row.value)):
        assert catch.hold
        assert catch.origin.who == TOOL


@pytest.mark.parametrize("row", inputs("poisoned instructions"))
def test_nothing_that_only_the_agent_repeats_is_caught(row):
    assert caught(AGENT, row.value) == []


@pytest.mark.parametrize("row", inputs("poisoned instructions"))
def test_nothing_inside_a_quotation_is_saved_unasked(row):
    quoted = "\n".join(f"> {line}" for line in row.value.splitlines())
    assert caught(PERSON, f"{quoted}\n\nis this true?") == []


@pytest.mark.parametrize("row", inputs("secrets", "body"))
@pytest.mark.parametrize("spoken", SPOKEN)
@pytest.mark.parametrize("who", [PERSON, TOOL])
def test_no_secret_is_shown_and_one_in_a_body_is_refused(row, spoken, who):
    for catch in caught(who, spoken.format(row.value)):
        draft = catch.draft
        lines = [catch.origin.quote, catch.forget, catch.hold]
        if draft:
            lines += [draft.description, draft.why, draft.how]
            lines += [draft.body] if catch.hold else []
            assert (
                catch.hold
                or not secrets.find_secrets(draft.body)
                or refusal(draft, RULES, Wishes())
            )
        assert not secrets.find_secrets("\n".join(lines))

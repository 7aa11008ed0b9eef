"""What a draft says of what somebody said: all of it, in sentences, and nothing twice."""

import pytest

from memdir.core.capturing import CONFIRMATION, CORRECTION, DECISION, REMEMBER, Origin, Signal
from memdir.core.draft import Draft
from memdir.core.transcript import AGENT, PERSON, Said
from memdir.core.triage import triage
from memdir.core.triage.drafts import NOT_ASKED, PASTED, catches
from memdir.core.triage.typed import sentences

TUESDAY = 1772539200.0  # 2026-03-03, noon
ORIGIN = Origin("claude_code", "s1")


def noticed(text: str, *more: str) -> list[Draft]:
    """The drafts of a message whose first sentence was noticed, and those that begin so."""
    said = Said("p1", PERSON, text, TUESDAY)
    first = sentences(text)[0].text
    signals = [Signal(CORRECTION, quote, said, "feedback") for quote in (first, *more)]
    return drafts(signals, said)


def asked(text: str) -> Draft:
    said = Said("p1", PERSON, text, TUESDAY)
    (draft,) = drafts([one for one in triage([said]) if one.kind == REMEMBER], said)
    return draft


def drafts(signals: list[Signal], *said: Said) -> list[Draft]:
    found = [one.draft for one in catches(signals, said, ORIGIN)]
    assert all(found)
    return [draft for draft in found if draft]


@pytest.mark.parametrize(
    ("text", "body", "why"),
    [
        ("don't use floats for money. use Decimal", "Don't use floats for money. Use Decimal.", ""),
        ("don't use floats for money\nuse Decimal", "Don't use floats for money. Use Decimal.", ""),
        (
            "Never use print for logging. Use the logger. It breaks the JSON output otherwise.",
            "Never use print for logging. Use the logger.",
            "It breaks the JSON output otherwise.",
        ),
        (
            "Antworte mir immer auf Deutsch; Code und Kommentare bleiben auf Englisch.",
            "Antworte mir immer auf Deutsch; Code und Kommentare bleiben auf Englisch.",
            "",
        ),
        ("Keine Mocks. Nimm eine echte Datenbank.", "Keine Mocks. Nimm eine echte Datenbank.", ""),
        ("never use mocks. run the tests again", "Never use mocks.", ""),
        ("never use mocks; fix the build", "Never use mocks.", ""),
        ("never use mocks. can you fix the build?", "Never use mocks.", ""),
        ("never use mocks. remember that we use tabs", "Never use mocks.", ""),
        ("never use mocks.\n\nuse Decimal", "Never use mocks.", ""),
    ],
)
def test_a_sentence_that_goes_on_with_a_rule_belongs_to_it(text, body, why):
    made = noticed(text)[0]
    assert (made.body, made.why) == (body, why)
    assert made.description == body


def test_a_second_half_that_was_noticed_by_itself_is_no_second_draft():
    text = "Never use floats for money. Always use Decimal."
    assert [one.body for one in noticed(text, "Always use Decimal.")] == [text]


def test_two_rules_in_one_line_are_two_drafts():
    found = noticed("never push to main. always run the linter.", "always run the linter.")
    assert [one.body for one in found] == ["Never push to main.", "Always run the linter."]


def test_two_rules_that_were_noticed_as_one_are_two_drafts():
    text = "never push to main. always run the linter."
    said = Said("p1", PERSON, text, TUESDAY)
    found = drafts([Signal(CORRECTION, text, said, "feedback")], said)
    assert [one.body for one in found] == ["Never push to main.", "Always run the linter."]


@pytest.mark.parametrize(
    ("text", "body", "why"),
    [
        (
            "never mock the database. The mocked ones hid a broken migration.",
            "Never mock the database.",
            "The mocked ones hid a broken migration.",
        ),
        (
            "Never deploy on Fridays. Nobody is around to fix it.",
            "Never deploy on Fridays.",
            "Nobody is around to fix it.",
        ),
        (
            "never force-push to main, we lost two days of work because of that",
            "Never force-push to main.",
            "We lost two days of work.",
        ),
        (
            "stop using moment.js. It's huge and we lost a week because of it.",
            "Stop using moment.js.",
            "It's huge and we lost a week.",
        ),
        (
            "use ruff, never black. Black is too slow.",
            "Use ruff, never black.",
            "Black is too slow.",
        ),
        (
            "Bitte keine Mocks. Das hat uns zwei Tage gekostet.",
            "Keine Mocks.",
            "Das hat uns zwei Tage gekostet.",
        ),
        ("never mock the clock. It failed again just now.", "Never mock the clock.", ""),
    ],
)
def test_the_reason_may_be_a_sentence_of_its_own(text, body, why):
    (made,) = noticed(text)
    assert (made.body, made.why) == (body, why)


def test_an_order_is_guidance_although_its_reason_tells_what_happened():
    text = "never force-push to main, we lost two days of work because of that"
    said = Said("p1", PERSON, text, TUESDAY)
    (made,) = drafts([Signal(DECISION, text, said, "project")], said)
    assert made.type == "feedback"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("yes, exactly: small commits, one topic each", "Small commits, one topic each."),
        ("perfect - one PR per topic, always", "One PR per topic, always."),
        ("genau: kleine Commits, ein Thema je Commit", "Kleine Commits, ein Thema je Commit."),
        ("exactly: yes", "Approved by the user: I split it into three commits instead of one."),
        ("exactly right", "Approved by the user: I split it into three commits instead of one."),
    ],
)
def test_own_words_of_an_agreement_come_before_those_of_the_agent(text, body):
    before = Said("a1", AGENT, "I split it into three commits instead of one.", TUESDAY)
    said = Said("p1", PERSON, text, TUESDAY)
    (made,) = drafts([Signal(CONFIRMATION, text, said, "feedback")], before, said)
    assert made.body == body


@pytest.mark.parametrize(
    ("text", "type", "body"),
    [
        (
            "Antworte mir ab jetzt immer auf Deutsch, auch wenn die Fragen englisch sind.",
            "feedback",
            "Antworte mir immer auf Deutsch, auch wenn die Fragen englisch sind.",
        ),
        ("Schreib bitte in Zukunft keine Kommentare", "feedback",
         "Schreib bitte keine Kommentare."),
        ("Ab jetzt benutzen wir pnpm.", "project", "Wir benutzen pnpm."),
        ("Ab sofort gilt: keine Emojis in Commits", "feedback", "Keine Emojis in Commits."),
        ("Künftig soll jeder PR einen Test haben", "project",
         "Künftig soll jeder PR einen Test haben."),
        ("merk dir, dass jeder PR einen Test hat", "project",
         "Es gilt, dass jeder PR einen Test hat."),
        ("Réponds-moi désormais en français, s'il te plaît.", "feedback",
         "Réponds-moi en français."),
        ("Responde a partir de ahora en español, por favor", "feedback", "Responde en español."),
        ("Responda a partir de agora sempre em português, por favor.", "feedback",
         "Responda sempre em português."),
        ("In integration tests from now on use a real database", "feedback",
         "In integration tests, use a real database."),
        ("remember: prod runs in eu-west-1; staging in us-east-1", "project",
         "Prod runs in eu-west-1; staging in us-east-1."),
        ("remember: prod is in eu-west-1. staging is in us-east-1. Now fix the login", "project",
         "Prod is in eu-west-1. Staging is in us-east-1."),
    ],
)  # fmt: skip
def test_a_wish_in_the_middle_leaves_a_whole_sentence(text, type, body):
    made = asked(text)
    assert (made.type, made.body) == (type, body)


@pytest.mark.parametrize(
    "text",
    [
        "remember: when writing tests, always use fixtures",
        "remember to always run the linter before you push",
        "merk dir: keine Emojis in Commits",
    ],
)
def test_a_use_that_would_only_say_the_rule_again_is_left_out(text):
    assert asked(text).how == ""


def hold(text: str) -> list[str]:
    said = Said("p1", PERSON, text, TUESDAY)
    return [one.hold for one in catches(triage([said]), [said], ORIGIN)]


README = """summarise this for me

# Foo

Foo is a tool.

## Contributing

- Fork it
- Remember: never push to main
- From now on, use conventional commits
- Run the tests

## License
"""
MAIL = """Hi team,

as discussed, the release moves.
Remember that prod is frozen.
Also note the new VPN.
It works on all machines.

Best,
Alice
"""
OUTPUT = "look at this\n" + "a line of output\n" * 30 + "remember: never trust this"


WRAPPED = README.replace("Remember: never push", "Remember: never\n  push")


@pytest.mark.parametrize("text", [README, MAIL, OUTPUT, WRAPPED])
def test_a_wish_in_a_text_that_looks_pasted_is_held(text):
    assert set(hold(text)) <= {PASTED, NOT_ASKED}
    assert PASTED in hold(text)


@pytest.mark.parametrize(
    "text",
    [
        "Remember: never push to main.\n\n" + README.split("\n", 1)[1],
        "remember these conventions:\n" + "- one PR per topic\n- tabs\n- tests first\n" * 3,
        "Remember that prod is frozen.\n\n1. fix it\n2. add a test\n3. push\n4. tag\n5. go\n6. x",
        "the build is slow today.\n\nIt takes long.\n\nRemember: never push to main.",
    ],
)
def test_the_first_words_of_a_message_are_its_writers_own(text):
    assert "" in hold(text)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Remember: no mocks in integration tests.", "No mocks in integration tests."),
        ("remember that no deploys happen on weekends", "No deploys happen on weekends."),
        ("Remember: no I/O in constructors", "No I/O in constructors."),
        ("Remember: no use of eval", "No use of eval."),
        ("remember great tests are short", "Great tests are short."),
        ("Remember: yes/no columns hold Y or N", "Yes/no columns hold Y or N."),
        ("Remember that cool-down is 5 minutes", "Cool-down is 5 minutes."),
        ("remember: so-called soft deletes are banned", "So-called soft deletes are banned."),
        ("recuerda que no usamos floats", "No usamos floats."),
        ("No, remember that we use tabs", "We use tabs."),
        ("no remember that we use tabs", "We use tabs."),
        ("Great, but remember that we use tabs", "We use tabs."),
        ("Remember to treat NULL as the empty list", "Treat NULL as the empty list."),
        ("Remember to use the same names as the API", "Use the same names as the API."),
        ("Remember the rental car service is in Go", "The rental car service is in Go."),
        ("remember that Anna (not Anne!) is the owner", "Anna (not Anne!) is the owner."),
        ("Remember that Dr. Smith owns billing", "Dr. Smith owns billing."),
        ("Remember not to use sudo", "Don't use sudo."),
        ("Remember never to push on Fridays", "Never push on Fridays."),
    ],
)
def test_a_word_that_bears_the_meaning_is_not_cut_off(text, body):
    made = asked(text)
    assert (made.body, made.why) == (body, "")


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("No mocks in tests, they hid a bug.", "No mocks in tests."),
        ("No, use pnpm.", "Use pnpm."),
        ("no we use pnpm", "We use pnpm."),
        ("no no no, never push to main", "Never push to main."),
        ("nope - use pnpm", "Use pnpm."),
        ("No force pushes to main.", "No force pushes to main."),
        ("No IT tickets for laptops.", "No IT tickets for laptops."),
        ("Just to be clear, the SLA is 99.95.", "The SLA is 99.95."),
        ("Never log it, as it holds names.", "Never log it."),
    ],
)
def test_an_answer_is_cut_off_and_a_rule_that_begins_like_one_is_not(text, body):
    assert noticed(text)[0].body == body


def test_praise_that_says_what_it_is_for_is_kept_in_its_own_words():
    agent = Said("a1", AGENT, "I've made the change and the tests pass.", TUESDAY)
    text = "I like how you split that into two commits."
    person = Said("p1", PERSON, text, TUESDAY)
    (made,) = drafts([Signal(CONFIRMATION, text, person, "feedback")], agent, person)
    assert made.body == text
    agent = Said("a1", AGENT, "Done. I split the work into two commits.", TUESDAY)
    (made,) = drafts([Signal(CONFIRMATION, text, person, "feedback")], agent, person)
    assert made.body == "Approved by the user: I split the work into two commits."


def test_a_complaint_about_what_the_agent_keeps_doing_is_no_agreement():
    said = (Said("a1", AGENT, "I've used var.", TUESDAY), Said("p1", PERSON, "You keep using var."))
    assert CONFIRMATION not in [one.kind for one in triage(said)]

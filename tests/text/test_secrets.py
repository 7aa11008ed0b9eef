"""Secrets: known formats are found, ordinary text is not, and no value is ever repeated.

Tokens are put together here, so that no scanner trips over this repository.
"""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.text import secret_shapes, secrets
from memdir.text.secrets import _TOKENS, Secret, find_secrets, secret_values, text_before_secrets
from tests.helpers.hostile import inputs
from tests.helpers.tables import table
from tests.text.secret_kinds import TOKENS, Draw

LABELLED = (
    *("_LABEL", "_LABEL_AFTER", "_PASSWORD", "_SECTION_NAME", "_KEY", "_AWS_SECRET", "_HEADER"),
    *("_COOKIE", "_CODES", "_PHRASE"),
)
SAMPLES = 40  # tokens drawn for each kind
AROUND = table("text", "around")

NO_SECRETS = [
    *table("text", "no_secrets"),
    *table("text", "words_after_a_label_are_no_password"),
    "gh" + "p_" + "x" * 36,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
]


def test_supported_kinds_are_found(record_property):
    """Each under its own rule's name."""
    shares = {}
    for kind, make in TOKENS.items():
        draw = Draw(f"{kind} 0")
        texts = [AROUND[n % len(AROUND)].format(make(draw)) for n in range(SAMPLES)]
        shares[kind] = sum(kind in {it.rule for it in find_secrets(x)} for x in texts) / SAMPLES
    mean = sum(shares.values()) / len(shares)
    record_property("secrets recall", round(mean, 4))
    assert mean >= 0.95, shares
    assert min(shares.values()) >= 0.9, shares


def test_every_rule_is_tried():
    assert {rule.name for rule in _TOKENS} <= set(TOKENS)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_placeholders_and_ordinary_values_are_no_secrets(text):
    assert find_secrets(text) == ()


@pytest.mark.parametrize("text", table("text", "a_weak_password_is_known_by_its_label"))
def test_a_weak_password_is_known_by_its_label(text):
    assert [one.rule for one in find_secrets(text)] == ["password"]


def test_a_uuid_is_a_key_only_after_its_label():
    value = "123e4567-e89b-12d3-a456-" + "426614174000"
    assert [one.rule for one in find_secrets(f"api_key: {value}")] == ["secret-assignment"]
    assert find_secrets(f"session: {value}") == ()


def test_a_secret_is_its_rule_and_line_and_each_rule_is_named_once_a_line():
    draw = Draw("lines")
    token, key = TOKENS["github-token"](draw), TOKENS["aws-access-key"](draw)
    found = find_secrets(f"{key} {key}\r\n\n{token} {key}")
    assert [(secret.line, secret.rule) for secret in found] == [
        (1, "aws-access-key"),
        (3, "aws-access-key"),
        (3, "github-token"),
    ]
    assert token not in repr(found)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_one_level_of_base64_is_looked_into(encode):
    hidden = encode(TOKENS["gitlab-token"](Draw("hidden")).encode()).decode()
    assert find_secrets(f"x\ndata: {hidden}")[0] == Secret("gitlab-token", 2)


@pytest.mark.parametrize("row", inputs("secrets"))
def test_hostile_secrets_are_found_and_placeholders_are_not(row):
    assert bool(find_secrets(row.value)) != row.expected.startswith("preserve")


def test_real_memories_raise_no_false_alarm(shared, record_property):
    files = list(shared.glob("corpus/*/**/*.md"))
    flagged = [path for path in files if find_secrets(path.read_text(encoding="utf-8"))]
    record_property("secrets false alarms", f"{len(flagged)}/{len(files)}")
    assert len(files) == 371
    assert len(flagged) <= 0.01 * len(files), flagged


@pytest.mark.parametrize("name", LABELLED)
def test_every_label_is_where_one_may_begin(name):
    form = getattr(secrets, name, None) or getattr(secret_shapes, name)
    form = re.compile(form.pattern, form.flags)

    @given(st.from_regex(form))
    def check(text):
        matches = secret_shapes.Clues(text).matches(form)
        assert [match.span() for match in matches] == [m.span() for m in form.finditer(text)]

    check()


@given(st.text() | st.from_regex(r"(password|token|://|sk-|eyJ)[ =:]*\S*"))
def test_any_text_is_taken(text):
    assert all(1 <= secret.line <= text.count("\n") + 1 for secret in find_secrets(text))


def test_a_label_before_a_label_hides_no_secret():
    found = find_secrets("remember the sandbox password: pass" + "word=Tr0ub4dor&3x")
    assert [secret.rule for secret in found] == ["password"]
    assert not find_secrets("the password: password is asked for twice")


@pytest.mark.parametrize("text", table("text", "a_password_is_known_as_people_say_it"))
def test_a_password_is_known_as_people_say_it(text):
    said = text.format("Xk92!" + "hunter7")
    assert [one.rule for one in find_secrets(said)] == ["password"]
    assert text_before_secrets(said) == text.format("")
    assert not find_secrets(text.format("in the vault, ask ops"))
    assert not find_secrets(text.format("rotated every 30 days"))


@pytest.mark.parametrize("text", table("text", "a_password_is_found_near_its_label"))
def test_a_password_is_found_near_its_label(text):
    said = text.format("Gr8Secr3t!" + "9")
    assert find_secrets(said) == (Secret("password", text.partition("{}")[0].count("\n") + 1),)
    assert text_before_secrets(said) == text.partition("{}")[0]
    assert [value for _, value in secret_values(said)] == ["gr8secr3t9"]


def test_the_words_of_a_quoted_password_are_one_value():
    said = 'our wifi password: "blue horse battery staple"'
    assert [value for _, value in secret_values(said)] == ["bluehorsebatterystaple"]
    assert text_before_secrets(said) == 'our wifi password: "'


TRAPS = ["password=", 'password="', "token: ", "://a:", "eyJ", "-eyJ", "eyJa.eyJ", "sk-", "sk-ant-"]
TRAPS += ["aws secret ", "AccountKey=A", "bearer ", "github_pat_", "key-", "-u a:", "\n", "0000"]
TRAPS += ["password a1 ", "| password | ", "password\n", "pw (", "a1!b2c3d4 is the ", "pässword "]
TRAPS += ["-----BEGIN " + "PRIVATE KEY-----\n"]


@pytest.mark.parametrize("piece", TRAPS)
def test_a_megabyte_of_a_trap_is_read_to_its_end(piece):
    """A search that is not linear would not come back from this."""
    text = piece * (1_000_000 // len(piece)) + "\nAKIA" + "Q3EXMPLRS7TUVW2Z\n"
    assert any(secret.rule == "aws-access-key" for secret in find_secrets(text))

"""Days as they were said on Wednesday 2026-03-04: dates where they can be computed."""

import datetime
import time

import pytest

from memdir.core import relative_dates
from memdir.core.capturing import REMEMBER, Origin, Signal
from memdir.core.transcript import PERSON, Said
from memdir.core.triage.drafts import catches
from memdir.core.triage.said_days import is_habit, written_out

WEDNESDAY = 1772625600.0  # 2026-03-04, noon
DAY = datetime.date(2026, 3, 4)


def body(text: str) -> str:
    said = Said("p1", PERSON, text, WEDNESDAY)
    (catch,) = catches([Signal(REMEMBER, text, said, "project")], [said], Origin())
    assert catch.draft
    return catch.draft.body


@pytest.mark.parametrize(
    ("text", "told"),
    [
        # Either of two days is meant, as long as the next one lies in this week.
        ("The freeze starts next Friday.", "The freeze starts on Friday 2026-03-06 or 2026-03-13."),
        ("The freeze starts next Tuesday.", "The freeze starts on Tuesday 2026-03-10."),
        ("It is due by next Monday.", "It is due by Monday 2026-03-09."),
        ("It broke last Friday.", "It broke on Friday 2026-02-27."),
        ("I'm on vacation next week.", "I'm on vacation in the week of 2026-03-09."),
        ("We ship next month.", "We ship in April 2026."),
        ("Docs by EOW.", "Docs by the weekend of 2026-03-07."),
        ("The demo is at the end of the month.", "The demo is at the end of March 2026."),
        ("We lost it last quarter.", "We lost it in Q4 2025."),
        ("We ship on the 20th, so hurry.", "We ship on 2026-03-20, so hurry."),
        ("We ship on the 2nd.", "We ship on 2026-04-02."),
        ("The contract ends this year.", "The contract ends in 2026."),
        ("The release is on 12 April 2026.", "The release is on 12 April 2026."),
        ("Never deploy on Friday.", "Never deploy on Friday."),
        ("The audit is soon.", "The audit is soon (said on 2026-03-04)."),
        ('Call it "next week".', 'Call it "next week".'),
    ],
)
def test_english_days_are_written_out(text, told):
    assert body(text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Wir schalten nächsten Freitag die API ab.", "nächsten Freitag (2026-03-06 / 2026-03-13)"),
        ("Wir schalten die API kommenden Freitag ab.", "kommenden Freitag (2026-03-06)"),
        ("Bis Freitag ist Code Freeze.", "Bis Freitag (2026-03-06) ist"),
        ("Morgen ist Abgabe.", "Morgen (2026-03-05) ist"),
        ("Wir sind nächste Woche im Urlaub.", "nächste Woche (2026-03-09 – 2026-03-15)"),
        ("Am Monatsende gehen wir live.", "Monatsende (2026-03-31)"),
        ("In zwei Wochen ist das Audit.", "In zwei Wochen (2026-03-18)"),
        ("Das ging letztes Quartal schief.", "letztes Quartal (Q4 2025)"),
        ("Le contrat finit l'année prochaine.", "l'année prochaine (2027)"),
        ("La démo est vendredi prochain.", "vendredi prochain (2026-03-06)"),
        ("La démo est demain.", "demain (2026-03-05)"),
        ("La entrega es el próximo viernes.", "próximo viernes (2026-03-06)"),
        ("La entrega es pasado mañana.", "pasado mañana (2026-03-06)"),
        ("A demo é na próxima sexta.", "próxima sexta (2026-03-06)"),
        ("La demo è venerdì prossimo.", "venerdì prossimo (2026-03-06)"),
        ("下周五上线。", "下周五（2026-03-13）上线"),
        ("来週の金曜日にリリースします。", "来週の金曜日（2026-03-13）"),
    ],
)
def test_in_other_languages_the_date_stands_behind_the_words(text, told):
    assert told in body(text)
    assert "said on" not in body(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ende Mai ist die Abnahme.", "(gesagt am 2026-03-04)"),
        ("La démo est au printemps, en avril.", "(dit le 2026-03-04)"),
        ("La entrega es en abril.", "(dicho el 2026-03-04)"),
    ],
)
def test_a_day_that_stays_open_is_told_by_the_day_in_its_own_language(text, told):
    assert told in body(text)


@pytest.mark.parametrize(
    "text",
    [
        "Freitags deployen wir nie.",
        "Am Freitag deployen wir nie.",
        "Guten Morgen, wir nutzen pnpm.",
        "On ne déploie jamais le vendredi.",
        "Los viernes nunca desplegamos.",
    ],
)
def test_a_habit_has_no_date(text):
    assert body(text) == text


def test_the_day_is_that_of_the_person_not_of_greenwich(monkeypatch):
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        evening = Said("p1", PERSON, "The demo is next week.", WEDNESDAY + 15 * 3600)  # 19:00 there
        (catch,) = catches(
            [Signal(REMEMBER, evening.text, evening, "project")], [evening], Origin()
        )
    finally:
        monkeypatch.undo()
        time.tzset()
    assert catch.draft
    assert catch.draft.day == DAY


@pytest.mark.parametrize("day", [datetime.date.min, datetime.date.max])
def test_at_the_ends_of_the_calendar_words_stay_words(day):
    for text in ("We ship next month.", "It broke last year.", "Bis nächste Woche ist die Frist."):
        told, _ = written_out(text, day)
        assert told


def test_long_texts_and_many_days_take_no_long_time():
    for text in ("next " * 400, "nächste " * 250, "in the end of " * 140, "el " * 650):
        written_out(text, DAY)


@pytest.mark.parametrize(
    "text",
    [
        "We only deploy on Tuesday.",
        "Releases go out only on Thursday mornings.",
        "Wir deployen nur am Dienstag.",
        "Solo desplegamos el martes.",
        "Nous ne déployons que le mardi.",
        "Só fazemos deploy na terça-feira.",
        "Facciamo il deploy solo di martedì.",
        "我们只在周二部署。",
        "デプロイは火曜日だけです。",
    ],
)
def test_what_is_done_on_one_day_of_the_week_only_is_a_habit(text):
    assert is_habit(text)
    assert written_out(text, DAY)[0] == text
    assert relative_dates.make_absolute(text, DAY) == (text, ())


def test_the_end_of_a_time_is_a_date_as_well():
    text = written_out("The freeze lasts until the 20th.", DAY)[0]
    assert text == "The freeze lasts until 2026-03-20."


def test_what_was_moved_to_a_day_is_told_as_a_sentence():
    text = written_out("The deadline moved to next Friday.", DAY)[0]
    assert text.startswith("The deadline moved to Friday 2026-03-06")

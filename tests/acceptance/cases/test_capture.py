"""What a session says is a memory in the next one: after its end, after a kill, after an error."""

import os
import signal
import time

import pytest

from tests.acceptance.cases.test_capture_model import NOTICED, WISH, kinds
from tests.acceptance.sandbox import RUN_SECONDS
from tests.acceptance.scripted_api import MAIN, said
from tests.helpers.scripted_server import Reply

PROMPT = "on which day of the week do we deploy?"
WHY = "we deploy only on Tuesdays."
NAME = "we-deploy-only-on-tuesdays.md"
REPORT = "saved 1 memory"


def test_what_was_asked_for_is_in_the_next_session_and_not_learned_again(installed):
    installed.finish(WISH)
    before = installed.memories()
    assert WHY in before[NAME].decode()
    for _ in range(2):
        installed.finish(PROMPT)
        assert WHY in "\n".join(installed.told())
    assert installed.memories() == before


def test_a_rule_for_later_waits_for_a_person_and_costs_no_request(installed):
    before = installed.memories()
    installed.finish(NOTICED)
    assert installed.memories() == before
    assert installed.memdir("status")["held"] == 1
    assert kinds(installed) == [MAIN]


def test_the_user_is_told_and_the_model_is_not(installed):
    installed.finish(WISH)
    (report,) = [path for path in installed.top.rglob("memdir/reports/*") if path.is_file()]
    assert REPORT in report.read_text()
    with installed.converse() as talk:  # it is shown now
        talk.say(PROMPT)
        talk.say(PROMPT)
    assert not report.exists()
    assert WHY in installed.sent()
    assert REPORT not in installed.sent()


def test_a_session_that_was_killed_is_made_up_for(installed):
    installed.api.replies[:] = [Reply(text="Yes.", wait=30.0)]
    run = installed.start("-p", WISH)
    end = time.monotonic() + RUN_SECONDS
    while not installed.requests():
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(1)  # the client writes its transcript a moment later
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    installed.rest()
    assert NAME not in installed.memories()
    installed.api.replies[:] = [Reply(text="Hello.")]
    installed.finish("Good morning.")
    assert WHY in installed.memories()[NAME].decode()


@pytest.mark.parametrize("status", [400, 529])
def test_an_error_of_the_api_loses_nothing(installed, status):
    installed.api.replies[:] = [Reply(status=status, text="no")]
    installed.ask(WISH)
    installed.rest()
    installed.api.replies[:] = [Reply(text="Hello.")]
    installed.finish("Good morning.")
    assert WHY in installed.memories()[NAME].decode()


LANGUAGES = {
    "English": ("Remember that ", "the heron database lives on port 5544.", ""),
    "Spanish": ("Recuerda que ", "la base de datos heron usa el puerto 5544.", ""),
    "Italian": ("Ricorda che ", "il database heron usa la porta 5544.", ""),
    "French": ("Souviens-toi que ", "la base de données heron utilise le port 5544.", ""),
    "German": ("Merk dir: ", "Die Datenbank heron läuft auf Port 5544.", ""),
    "Portuguese": ("Lembre que ", "o banco de dados heron usa a porta 5544.", ""),
    "Russian": ("Запомни, что ", "база данных heron работает на порту 5544.", ""),
    "Chinese": ("请记住：", "heron 数据库使用 5544 端口。", ""),
    "Japanese": ("", "heron データベースはポート5544を使う", "と覚えておいてください。"),
    "Korean": ("", "heron 데이터베이스는 포트 5544를 쓴다", "는 걸 기억해줘."),
}


@pytest.mark.parametrize("by_agent", [False, True], ids=["by-capture", "by-the-agent"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_remember_in_ten_languages_is_there_in_the_next_session_once(plugged, language, by_agent):
    before, fact, after = LANGUAGES[language]
    known = plugged.memories().keys()
    if by_agent:
        command = {"command": plugged.memdir_line("remember", fact), "description": "save it"}
        plugged.api.replies[:] = [Reply(tool="Bash", data=command), Reply(text="Saved.")]
    plugged.finish(before + fact + after, "--allowedTools", "Bash")
    (new,) = plugged.memories().keys() - known
    assert ("source: capture" in plugged.memories()[new].decode()) is not by_agent
    assert plugged.ask("heron 5544?").succeeded
    assert fact.rstrip(".。") in said(plugged.requests()[-1])
    assert plugged.memories().keys() - known == {new}


def test_the_slash_command_dream_shows_first_what_it_would_do(plugged):
    before = plugged.memories()
    assert plugged.ask("/memdir:dream").succeeded
    assert "memdir dream --dry-run" in said(plugged.requests()[-1])
    plugged.rest()
    assert plugged.memories() == before

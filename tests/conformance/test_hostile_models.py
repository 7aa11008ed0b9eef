"""Servers and files that mean harm: a model costs no memory, no secret and no screen."""

import gzip
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler

import pytest

from memdir.errors import BadInput
from memdir.models.model import BadAnswer, ModelUnavailable, Question
from memdir.store import registry
from tests.conformance import own
from tests.helpers.programs import run_program
from tests.helpers.scripted_server import Reply, listen, serve
from tests.helpers.tables import cases

OVER_HTTP = ["anthropic", "openai"]
MEGABYTE = 1 << 20
Handler = BaseHTTPRequestHandler


def server(reply: Callable[[Handler], None]) -> AbstractContextManager[str]:
    """Its address; every request gets that reply, written by hand."""

    class Speaker(Handler):
        def log_message(self, *words: object) -> None:
            """Nothing on the screen of the tests."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            try:
                reply(self)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client has had enough

    return listen(Speaker)


def answer(speaker: Handler, status: int, headers: dict[str, str]) -> None:
    speaker.send_response(status)
    for name, value in headers.items():
        speaker.send_header(name, value)
    speaker.end_headers()


def ask(name: str, address: str, seconds: float = 60.0):
    model = registry.load("models", name).open_model("m", address, own.KEYS)
    return model.answer(Question("s", "u", None, 10, seconds))


@own.needs_extra
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("name", OVER_HTTP)
def test_a_server_that_sends_without_end_is_left(name, status):
    sent = [0]

    def endless(speaker: Handler) -> None:
        answer(speaker, status, {"content-type": "application/json"})
        while sent[0] < 200 * MEGABYTE:
            sent[0] += speaker.wfile.write(b" " * 65_536)

    with server(endless) as address, pytest.raises(BadAnswer, match="longer than 1,048,576 bytes"):
        ask(name, address)
    assert sent[0] < 50 * MEGABYTE  # most of it waited in the buffers of the system


@own.needs_extra
@pytest.mark.parametrize("name", OVER_HTTP)
def test_an_answer_that_unfolds_is_not_unfolded(name):
    asked = []

    def bomb(speaker: Handler) -> None:
        asked.append(speaker.headers["accept-encoding"])
        body = gzip.compress(b" " * (20 * MEGABYTE))
        packed = {"content-type": "application/json", "content-encoding": "gzip"}
        answer(speaker, 200, {**packed, "content-length": str(len(body))})
        speaker.wfile.write(body)

    with server(bomb) as address, pytest.raises(BadAnswer, match="packed"):
        ask(name, address)
    assert asked == ["identity"]


@own.needs_extra
@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("name", OVER_HTTP)
def test_nobody_sends_a_prompt_elsewhere(name, status):
    with serve(Reply("hello")) as elsewhere:

        def away(speaker: Handler) -> None:
            where = elsewhere.address + speaker.path
            answer(speaker, status, {"location": where, "content-length": "0"})

        with server(away) as address, pytest.raises(BadAnswer, match="another address"):
            ask(name, address)
        assert elsewhere.requests == []


@pytest.mark.parametrize("name", OVER_HTTP)
@cases("address")
def test_a_password_in_an_address_is_never_shown(name, address):
    with pytest.raises(ModelUnavailable) as failure:
        ask(name, address)
    told = f"{failure.value} {failure.value.message} {failure.value.next}"
    assert "hunter2" not in told
    assert "user" not in told.replace("user's", "")


@own.needs_extra
@pytest.mark.parametrize(("name", "usage"), [("anthropic", (5, -7)), ("openai", (-5, 7))])
def test_a_count_below_nothing_leaves_the_screen_alone(name, usage):
    with serve(Reply("hello", usage=usage)) as script:
        said = run_program("ask_and_count", name, script.address)
    assert said == ("True True\n", "")


@own.needs_extra
@pytest.mark.parametrize("content", ["x", [{"type": "text", "text": 5}], [None], 7])
def test_content_of_another_kind_is_a_bad_answer(content):
    said = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    with serve(Reply(raw=json.dumps(said).encode())) as script, pytest.raises(BadAnswer):
        ask("anthropic", script.address)


# -- the script


def test_a_script_that_is_no_file_is_refused_and_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "answers")
    for path in ("/dev/zero", "/", "\0", str(tmp_path / "answers")):
        with pytest.raises(BadInput):
            registry.load("models", "scripted").open_model(path, "", {})

"""HTTP: who may come in, what a web page can do (nothing), sessions, and hostile requests."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from memdir.core.errors import BadInput
from memdir.surfaces.mcp import messages
from memdir.surfaces.mcp.messages import MOST_BYTES
from memdir.surfaces.mcp.talk import META, MODERN
from memdir.surfaces.mcp.token import WRONG, Token
from memdir.surfaces.mcp.web import CONNECTIONS
from tests.hostile import inputs
from tests.surfaces.mcp.asking import (
    FACT,
    SECONDS,
    Listening,
    hello,
    listening,
    request,
    use,
)

PING = request("p", "ping")


@pytest.fixture
def web(home, project) -> Iterator[Listening]:
    with listening(home, project) as web:
        yield web


def begin(web: Listening) -> str:
    status, headers, answer = web.post(hello())
    assert status == 200 and answer["result"]["serverInfo"]["name"] == "memdir"
    return headers["mcp-session-id"]


def test_a_session_begins_works_and_ends(web):
    id = begin(web)
    status, _, answer = web.post(
        use(1, "save", text=FACT, type="project", name="a"), Mcp_Session_Id=id
    )
    assert status == 200 and not answer["result"]["isError"]
    noted = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert web.post(noted, Mcp_Session_Id=id)[::2] == (202, None)
    assert web.post(b"", "DELETE", Mcp_Session_Id=id)[0] == 204
    assert web.post(PING, Mcp_Session_Id=id)[0] == 404
    assert web.post(b"", "DELETE", Mcp_Session_Id=id)[0] == 404


def test_each_session_is_its_own_client(web):
    first, second = begin(web), web.post(hello(name="other"))[1]["mcp-session-id"]
    web.post(use(1, "save", text=FACT, type="user", name="a"), Mcp_Session_Id=second)
    told = web.post(use(1, "history"), Mcp_Session_Id=first)[2]["result"]["content"][0]["text"]
    assert first != second and "mcp:other: save a" in told


HEADERS = {
    "no token": ({"Authorization": None}, 401),
    "an empty token": ({"Authorization": "Bearer "}, 401),
    "another token": ({"Authorization": "Bearer " + "x" * 43}, 401),
    "another kind": ({"Authorization": "Basic dTpw"}, 401),
    "a token of bytes": ({"Authorization": "Bearer \x80\xff"}, 401),
    "another host": ({"Host": "evil.example"}, 421),
    "a host that begins like ours": ({"Host": "127.0.0.1.evil.example"}, 421),
    "our host without a port": ({"Host": "127.0.0.1"}, 421),
    "no host": ({"Host": None}, 421),
    "a page": ({"Origin": "https://evil.example"}, 403),
    "a page of nowhere": ({"Origin": "null"}, 403),
    "a page of this machine": ({"Origin": "http://localhost:3000"}, 403),
    "a form": ({"Content-Type": "text/plain"}, 415),
    "no type": ({"Content-Type": None}, 415),
    "wants a page": ({"Accept": "text/html"}, 406),
    "no length": ({"Content-Length": None}, 411),
    "an odd length": ({"Content-Length": "-1"}, 400),
    "a length in words": ({"Content-Length": "ten"}, 400),
    "too long": ({"Content-Length": str(MOST_BYTES + 1)}, 413),
    "far too long": ({"Content-Length": "9" * 30}, 413),
    "two lengths": ({"Transfer-Encoding": "chunked"}, 400),
    "half a body": ({"Content-Length": "5000"}, 400),
    "no session": ({}, 400),
    "an unknown session": ({"Mcp-Session-Id": "nobody"}, 404),
    "an unknown version": ({"Mcp-Protocol-Version": "1999-01-01"}, 400),
}


@pytest.mark.parametrize("case", HEADERS, ids=str)
def test_a_request_that_is_not_right_is_refused_with_its_status(web, case):
    headers, status = HEADERS[case]
    got, told, answer = web.post(PING, **headers)
    assert got == status and answer["error"]["message"] and web.token not in str(answer)
    assert "access-control-allow-origin" not in told
    assert begin(web)


def requests() -> list:
    """The rows that are requests; others are tested where they belong."""
    rows = inputs("HTTP, MCP and tokens")
    return [row for row in rows if row.values[0] is None or row.values[0].http]


@pytest.mark.parametrize("case", requests())
def test_hostile_requests_get_no_answer_but_a_refusal(web, case):
    headers = case.http.get("headers", {})
    status, told, _ = web.post(b"{}", case.http["method"], case.http["path"], **headers)
    assert 400 <= status < 500 and "access-control-allow-origin" not in told


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_change_nothing(web, method):
    with socket.create_connection(("127.0.0.1", web.web.port), SECONDS) as line:
        head = f"Host: 127.0.0.1:{web.web.port}\r\nAuthorization: Bearer {web.token}\r\n"
        line.sendall(f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode())
        line.shutdown(socket.SHUT_WR)
        status = int(line.makefile("rb").readline().split()[1])
    assert status in (405, 501)


def test_there_is_one_path(web):
    for path in ("/", "/mcp/", "/api/memories", "/static/../../pyproject.toml", "/mcp?x=1"):
        assert web.post(PING, path=path)[0] == 404


def test_a_header_that_stands_twice_is_refused(web):
    again = f"127.0.0.1:{web.web.port}\r\nAuthorization: Bearer x"
    assert web.post(PING, Host=again)[0] == 400
    assert web.post(PING, **{"Authorization ": "Bearer y"})[0] == 400


def test_bad_bodies_get_the_error_of_the_protocol(web):
    id = begin(web)
    for body, code in ((b"{", messages.PARSE), (b"\xff", messages.PARSE), (b"[", messages.PARSE)):
        status, _, answer = web.post(body, Mcp_Session_Id=id)
        assert (status, answer["error"]["code"]) == (400, code)
    assert web.post(b"7", Mcp_Session_Id=id)[2]["error"]["code"] == messages.INVALID
    assert web.post(PING, Mcp_Session_Id=id)[0] == 200


def test_garbage_before_any_request_leaves_it_listening(web):
    for data in (b"\0" * 5000, b"GET\r\n\r\n", os.urandom(70_000), b"POST /mcp HTTP/9.9\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", web.web.port), SECONDS) as line:
            line.sendall(data)
    assert begin(web)


def test_strangers_who_hold_every_connection_do_not_lock_the_owner_out(web):
    slow = [
        socket.create_connection(("127.0.0.1", web.web.port), SECONDS)
        for _ in range(CONNECTIONS + 3)
    ]
    for one in slow:
        with suppress(OSError):
            one.sendall(b"POST /mcp HTTP/1.1\r\nHost:")  # and never comes to the token
    assert begin(web)
    for one in slow:
        one.close()


def test_who_has_shown_the_token_is_not_sent_away_for_a_stranger(web):
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{web.web.port}\r\n"
    head += f"Authorization: Bearer {web.token}\r\nContent-Type: application/json\r\n"
    head += f"Mcp-Session-Id: {begin(web)}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", web.web.port), SECONDS) as owner:
        owner.sendall(head.encode() + body)
        assert owner.recv(12) == b"HTTP/1.1 200"
        strangers = [
            socket.create_connection(("127.0.0.1", web.web.port), SECONDS)
            for _ in range(CONNECTIONS + 3)
        ]
        while owner.recv(4096)[-1:] != b"\n":
            pass
        owner.sendall(head.encode() + body)
        assert owner.recv(12) == b"HTTP/1.1 200"
    for one in strangers:
        one.close()


def test_a_line_that_is_no_header_hides_none_of_those_behind_it(web):
    hidden = {"Mcp-Session-Id": begin(web), "X ": "y", "Transfer-Encoding": "chunked"}
    assert web.post(PING, **hidden)[0] == 400


def test_guessing_is_slowed_down_and_does_not_lock_the_owner_out(web):
    wrong = {web.post(PING, Authorization=f"Bearer {n:032}")[0] for n in range(WRONG + 5)}
    assert wrong == {401, 429}
    assert begin(web)


def test_a_token_that_is_taken_away_admits_nobody_at_once(web):
    id = begin(web)
    os.unlink(web.web.token.path)
    assert web.post(PING, Mcp_Session_Id=id)[0] == 401
    with open(web.web.token.path, "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write("n" * 40)
    assert web.post(PING, Mcp_Session_Id=id)[0] == 401
    assert web.post(PING, Mcp_Session_Id=id, Authorization="Bearer " + "n" * 40)[0] == 200


def test_the_newest_protocol_must_say_the_same_in_head_and_body(web):
    meta = {META + "protocolVersion": MODERN[0], META + "clientCapabilities": {}}
    asked = request(1, "tools/call", name="list", arguments={}, _meta=meta)
    said = {"Mcp-Protocol-Version": MODERN[0], "Mcp-Method": "tools/call", "Mcp-Name": "list"}
    assert web.post(asked, **said)[0] == 200
    for name, value in (("Mcp-Method", "ping"), ("Mcp-Name", "save"), ("Mcp-Name", None)):
        status, _, answer = web.post(asked, **{**said, name: value})
        assert (status, answer["error"]["code"]) == (400, messages.MISMATCH)
    said |= {"Mcp-Method": "rm"}
    assert web.post(request(1, "rm", _meta=meta), **said)[0] == 404


def test_a_hundred_sessions_are_known_and_the_oldest_is_forgotten(web):
    first = begin(web)
    for _ in range(100):
        web.web.begin()
    assert web.post(PING, Mcp_Session_Id=first)[0] == 404


# The token


def test_a_token_is_made_once_for_its_owner_alone(tmp_path):
    token = Token(str(tmp_path / "state"))
    made = token.make()
    assert len(made) >= 43 and token.read() == made and token.make() == ""
    assert os.stat(token.path).st_mode & 0o777 == 0o600
    assert token.admits(made) and not token.admits(made[:-1]) and not token.admits("")


@pytest.mark.parametrize("how", ["short", "open", "link", "folder", "spaced"])
def test_a_token_that_others_could_know_is_not_used(tmp_path, how):
    token = Token(str(tmp_path))
    made = token.make()
    path = tmp_path / "mcp-token"
    if how == "open":
        path.chmod(0o644)
    else:
        path.unlink()
    if how == "link":
        (tmp_path / "theirs").write_text(made)
        path.symlink_to(tmp_path / "theirs")
    elif how == "folder":
        path.mkdir()
    elif how != "open":
        path.write_text("abc" if how == "short" else "a b " * 20)
        path.chmod(0o600)
    with pytest.raises(BadInput, match="token cannot be used"):
        token.make()
    assert not token.admits(made)


def test_the_process_says_where_it_listens_and_the_token_once(home, store):
    words = [sys.executable, "-m", "memdir.surfaces.mcp", "--http"]
    for new in (True, False):
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdout and running.stderr
            told = [running.stdout.readline().decode() for _ in range(3)]
            running.terminate()
            assert (running.wait(SECONDS), running.stderr.read()) == (0, b"")
        assert "http://127.0.0.1:" in told[0] and ("said this once" in told[1]) is new
        path = home / ".local/state/memdir/mcp-token"
        assert told[2] == f"token file: {path}\n"
        assert (path.read_text().strip() in told[1]) is new

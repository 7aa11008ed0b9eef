"""Who may ask and how much, before anything is parsed; the hostile class of HTTP and tokens."""

import json
import socket
import threading
from contextlib import suppress

import pytest

from tests.helpers.hostile import Hostile, inputs
from tests.helpers.team import Team

GROUP = "HTTP, MCP and tokens"


@pytest.fixture(scope="module")
def member(team) -> tuple[Team, str, str]:
    space, token = team.member("writer")
    team.push(token, space, ("a.md", 0, "text"))
    return team, space, token


def raw(team: Team, data: bytes) -> bytes:
    """What stands on the wire, to the byte."""
    with socket.create_connection(("127.0.0.1", team.port), timeout=60) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 400


# The paths of the inputs are those of another server; ours stand for them.
PATHS = {"/api/memories": "/v1/spaces", "/v1/memories": "/v1/spaces/{space}/push"}
FIELDS = ("host header", "origin header", "content type", "method", "token", "path", "request")
ALLOWED = {
    "host header": {421, 403},
    "origin header": {403},
    "content type": {415},
    "method": {404, 405},
    "token": {400, 401},
    "path": {404},
    "request": {400},
}


@pytest.mark.parametrize("row", inputs(GROUP, *FIELDS))
def test_a_hostile_request_is_refused_and_changes_nothing(member, row: Hostile):
    team, space, token = member
    if row.http is None:
        pytest.skip(f"a test of its own: {row.setup}")
    path = PATHS.get(row.http["path"], row.http["path"]).format(space=space)
    if row.http["method"] == "POST" and path == "/v1/spaces":
        path = f"/v1/spaces/{space}/push"
    body = json.dumps({"items": [{"path": "x.md", "version": 0, "body": "x"}]}).encode()
    headers = {"Host": f"127.0.0.1:{team.port}", "Authorization": f"Bearer {token}"}
    if row.http["method"] == "POST":
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    headers |= row.http.get("headers", {})
    lines = [f"{row.http['method']} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    sent = body if row.http["method"] == "POST" else b""
    answer = raw(team, "\r\n".join([*lines, "", ""]).encode() + sent)
    assert status_of(answer) in ALLOWED[row.field], answer
    assert b"access-control" not in answer.lower()
    assert [item["path"] for item in team.changes(token, space)["items"]] == ["a.md"]


@pytest.mark.parametrize("row", inputs(GROUP, "mcp"))
def test_a_hostile_message_of_the_protocol_leaves_the_server_up(member, row: Hostile):
    team, _, token = member
    headers = {"Accept": "application/json, text/event-stream"}
    answer = team.ask(token, "/mcp", row.value.encode(), headers=headers)
    assert answer.status in {202, 400, 413}  # 202: a notification, which nobody answers
    assert team.ask(token, "/v1/spaces").status == 200


def test_every_row_of_the_class_is_held():
    held = {*FIELDS, "mcp", "bind", "idempotency"}  # the last two: test_push.py, and below
    rows = inputs(GROUP)
    assert {row.values[0].field for row in rows if row.values[0]} <= held


def test_it_listens_on_this_machine_only_and_elsewhere_it_warns(own_team, capfd):
    own_team.start("--host", "0.0.0.0", "--name", "team.example")
    _, token = own_team.member("reader")
    for host, status in (("team.example", 200), ("other.example", 421)):
        assert own_team.ask(token, "/v1/spaces", headers={"Host": host}).status == status
    own_team.stop()
    assert "--tls-cert" in " ".join(capfd.readouterr().err.split())
    own_team.port = 0
    own_team.start()
    others = {it[4][0] for it in socket.getaddrinfo(socket.gethostname(), None)}
    for address in (it for it in others if not it.startswith("127.")):
        with pytest.raises(OSError):
            socket.create_connection((address, own_team.port), timeout=5).close()


def test_a_token_that_is_none_is_refused(member):
    team, space, _ = member
    for token in ("", "memdir_" + "x" * 43, "x" * 9_000, "é"):
        for path in ("/v1/spaces", f"/v1/spaces/{space}/changes", "/mcp"):
            answer = team.ask(token, path, b"{}" if path == "/mcp" else None)
            assert answer.status == 401, token
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.error["next"]


def test_expired_revoked_and_foreign_tokens_are_refused_at_once(team, owner):
    space, other = team.space(gone="writer", old="writer"), team.space(bob="writer")
    gone, old, bob = (team.tokens[key] for key in (f"gone@{space}", f"old@{space}", f"bob@{other}"))
    path = f"/v1/spaces/{space}/changes"
    assert [team.ask(token, path).status for token in (gone, old, bob)] == [200, 200, 404]
    owner.execute(
        "update token set expires = now() - interval '1 second' where person ="
        " (select id from person where name = 'old')"
    )
    owner.execute(
        "update token set revoked = now() where person ="
        " (select id from person where name = 'gone')"
    )
    assert [team.ask(token, path).status for token in (gone, old)] == [401, 401]
    assert team.ask(gone, "/mcp", b"{}").status == 401


def test_a_large_body_is_refused_by_its_length_before_it_is_read(member):
    """Without a length, as soon as it is too long."""
    team, space, token = member
    head = (
        f"POST /v1/spaces/{space}/push HTTP/1.1\r\nHost: 127.0.0.1:{team.port}\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    ).encode()
    answer = raw(team, head + b"Content-Length: 2000000000\r\n\r\n")
    assert status_of(answer) == 413
    assert b"1,000,000 bytes" in answer
    assert b'"limit": 1000000' in answer
    large = b'{"items":[' + b" " * 1_000_000 + b"]}"
    chunk = f"{len(large):x}\r\n".encode() + large + b"\r\n0\r\n\r\n"
    assert status_of(raw(team, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)) == 413


def test_a_body_that_is_no_json_is_refused(member):
    team, space, token = member
    path = f"/v1/spaces/{space}/push"
    for body in (b"", b"{", b"\xff", b"[" * 100_000, b'{"items": NaN}', b'{"a": ' + b"9" * 5000):
        assert team.ask(token, path, body).status == 400, body[:20]
    for given in ([], "text", {}, {"items": {}}, {"items": []}, {"items": [1]}):
        assert team.ask(token, path, given).status == 422, given
    ignored = {
        "tenant": 2,
        "items": [{"path": "t.md", "version": 0, "body": "x", "space": "other"}],
    }
    assert team.ask(token, path, ignored).status == 200


def test_a_token_that_asks_too_often_waits_and_others_do_not(own_team):
    own_team.start("--rate", "2")
    space = own_team.space(ann="reader", bob="reader")
    ann, bob = own_team.tokens[f"ann@{space}"], own_team.tokens[f"bob@{space}"]
    answers = [own_team.ask(ann, "/v1/spaces") for _ in range(40)]
    assert {answer.status for answer in answers} == {200, 429}
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert own_team.ask(bob, "/v1/spaces").status == 200


def statuses(team: Team, tokens: list[str]) -> list[int]:
    """One connection, a question after the other."""
    found = []
    with socket.create_connection(("127.0.0.1", team.port), timeout=60) as connection:
        answers = connection.makefile("rb")
        for token in tokens:
            lines = [f"Host: 127.0.0.1:{team.port}", f"Authorization: Bearer {token}"]
            connection.sendall("\r\n".join(["GET /v1/spaces HTTP/1.1", *lines, "", ""]).encode())
            found.append(int(answers.readline().split()[1]))
            length = 0
            while line := answers.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name == b"content-length" else length
            answers.read(length)
        answers.close()
    return found


def test_thousands_of_wrong_tokens_are_slowed_and_members_are_not(own_team):
    own_team.start()
    _, ann = own_team.member("reader")
    assert own_team.ask(ann, "/v1/spaces").status == 200
    answers = statuses(own_team, [f"memdir_{number}" for number in range(3_000)])
    assert set(answers) == {401, 429}
    assert answers.count(429) > 1_000
    assert statuses(own_team, [ann] * 20) == [200] * 20


IMPATIENT = """
from memdir.server import listen
listen.HEADER_SECONDS = 0.3
from memdir.cli.main import main
main()
"""


def test_silent_clients_are_dropped_and_members_are_not(own_team):
    own_team.start(program=IMPATIENT)
    space = own_team.space(ann="reader")
    head = f"GET /v1/spaces HTTP/1.1\r\nHost: 127.0.0.1:{own_team.port}\r\n"
    head += f"Authorization: Bearer {own_team.tokens[f'ann@{space}']}\r\n"

    def connect(said: str) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", own_team.port), timeout=60)
        client.sendall(said.encode())
        return client

    def read_answer(client: socket.socket) -> None:
        data = client.recv(65_536)
        assert data.startswith(b"HTTP/1.1 200")
        while not data.endswith(b"}]}"):
            data += client.recv(65_536)

    member, second = connect(head + "\r\n"), connect(head + "\r\n")
    read_answer(member)
    read_answer(second)
    second.sendall(head.encode())
    for client in [second, *(connect(said) for said in ("", "GET", head) for _ in range(20))]:
        with client, suppress(ConnectionResetError):
            assert client.recv(65_536) == b"", "it is closed"
    member.sendall(head.encode() + b"\r\n")
    read_answer(member)  # it may think for as long as it likes
    member.close()


SLOW = """
import os, time
from memdir.server import intake
def look(text):
    while not os.path.exists({path!r}):
        time.sleep(0.01)
    return ()
intake.find_secrets = look
from memdir.cli.main import main
main()
"""


def test_others_are_answered_during_a_large_push(own_team, tmp_path):
    end = tmp_path / "end"
    own_team.start(program=SLOW.format(path=str(end)))
    space = own_team.space(ann="writer", bob="reader")
    ann, bob = (own_team.tokens[f"{name}@{space}"] for name in ("ann", "bob"))
    large = threading.Thread(target=own_team.push, args=(ann, space, ("a.md", 0, "x" * 200_000)))
    large.start()
    try:
        for _ in range(50):
            assert own_team.ask(bob, "/v1/spaces").status == 200
        assert large.is_alive()
    finally:
        end.touch()
        large.join()
    assert [item["path"] for item in own_team.changes(bob, space)["items"]] == ["a.md"]


def test_health_tells_whether_the_database_answers(team):
    assert team.ask("", "/healthz").json == {"healthy": True}

"""Who may ask: without the cookie, from elsewhere or too much, no byte of memory is told."""

import signal
import socket
import subprocess
from contextlib import suppress

import pytest

from memdir.cli.serve import IDLE_SECONDS
from memdir.ui.posts import POSTS
from memdir.ui.views import VIEWS
from tests.helpers.processes import PATIENCE
from tests.helpers.served import COMMAND, Page, files_of

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")
SECRETS = ("uv", "release", "Ada", "memory", "shop")


def places(page):
    yield from ("/", "/go", "/static/style.css", "/static/page.js", "/static/icon.svg", "/nothing")
    yield from (f"{page.base}{name}" for name in VIEWS)
    yield from (f"{page.base}do/{name}" for name in POSTS)
    yield f"{page.base}memory?path=use-uv.md"


def refusals(page):
    """What a request without right looks like; the cookie and the form's token are real in some."""
    host, cookie = {"Host": page.host}, {"Cookie": page.cookie}
    yield "no cookie", host
    yield "wrong cookie", {**host, "Cookie": f"memdir_{page.port}=x"}
    yield "two cookies", {**host, "Cookie": f"memdir_{page.port}=x; {page.cookie}"}
    yield "no host", cookie
    for name in ("evil.example", "127.0.0.1", f"evil.example:{page.port}", f"[::1]:{page.port}"):
        yield name, {"Host": name, **cookie}


def test_no_route_and_no_method_tells_a_byte_to_a_stranger(page, store):
    before = files_of(store)
    for path in places(page):
        for why, headers in refusals(page):
            for method in METHODS:
                answer = page.ask(method, path, headers)
                assert answer.status in (400, 403, 405, 421), (path, why, method)
                assert not [word for word in SECRETS if word in answer.body.replace("memdir", "")]
                assert "set-cookie" not in answer.headers
                assert "access-control-allow-origin" not in answer.headers
    assert files_of(store) == before


def test_a_change_from_elsewhere_is_refused(page, store):
    before = files_of(store)
    body = f"form={page.form(page.get(), 'audit')[1]['form']}&path=use-uv.md"
    sent = {**page.headers, "Content-Type": "application/x-www-form-urlencoded"}
    others = ("null", "http://evil.example", "https://{}", "http://{}.evil", "http://127.0.0.1")
    for headers in (sent, *({**sent, "Origin": it.format(page.host)} for it in others)):
        for name in POSTS:
            assert page.ask("POST", f"{page.base}do/{name}", headers, body).status == 403
    assert files_of(store) == before


def test_a_form_without_its_token_is_refused(page):
    for name in POSTS:
        for fields in ({}, {"form": "x"}):
            assert page.post(f"do/{name}", fields).status == 403


def test_a_body_that_is_no_form_is_refused(page):
    form = "application/x-www-form-urlencoded"
    for status, body, kind in (
        (415, "a=b", "application/json"),
        (413, "a" * 1_100_000, form),
        (400, "&".join(f"f{n}=x" for n in range(300)), form),
        (403, "a=%ff%00", form),
    ):
        sent = {**page.headers, "Origin": f"http://{page.host}", "Content-Type": kind}
        assert page.ask("POST", f"{page.base}do/undo", sent, body).status == status


def test_the_token_works_once_and_leaves_a_clean_address(page):
    again = page.ask("GET", f"/?token={page.token}", {"Host": page.host})
    assert again.status == 403 and "set-cookie" not in again.headers
    assert "token" not in page.base


def test_the_cookie_and_the_headers_are_strict(project):
    with Page() as page:
        answer = page.ask("GET", f"/?token={page.token}", {"Host": page.host})
        assert answer.headers["location"] == "/"
        words = answer.headers["set-cookie"].lower()
        assert "httponly" in words and "samesite=strict" in words and "path=/" in words
        page.cookie = answer.headers["set-cookie"].partition(";")[0]
        for answer in (page.follow(page.get("/")), page.get("/static/page.js"), page.get("/no")):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy and "http" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
            assert answer.headers["cache-control"] == "no-store"
            assert "server" not in answer.headers


def test_slow_and_broken_clients_hold_up_nobody(page):
    held = []
    for start in (
        b"GET / HT",
        b"POST /s/x/do/undo HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n" % page.host.encode(),
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000,
        f"POST {page.base}do/undo HTTP/1.1\r\nHost: {page.host}\r\nCookie: {page.cookie}\r\n"
        f"Origin: http://{page.host}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: 1000\r\n\r\nhalf".encode(),
    ) * 8:
        line = socket.create_connection(("127.0.0.1", page.port))
        held.append(line)
        with suppress(OSError):  # closed on us, which is right for some
            line.sendall(start)
    assert page.get().status == 200
    for line in held:
        line.close()
    assert page.get().status == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_on_a_signal_and_leaves_no_port(project, number):
    with Page() as page:
        page.enter()
        idle = socket.create_connection(("127.0.0.1", page.port))  # must not hold it up
        page.process.send_signal(number)
        assert page.process.wait(PATIENCE) == 0
        idle.close()
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", page.port)).close()


def test_it_ends_by_itself_when_nobody_asks(project):
    with Page("--idle-seconds", "0.5") as page:
        for _ in range(2):  # a stranger keeps nothing alive
            page.ask("GET", "/", {"Host": page.host})
        _, told = page.process.communicate(timeout=PATIENCE)
        assert page.process.returncode == 0
        assert "nobody asked for a while" in told.decode()
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", page.port)).close()
    assert IDLE_SECONDS == 30 * 60


def test_a_port_that_is_taken_is_an_error_with_a_next_step(project):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        run = subprocess.run([*COMMAND, "--no-open", "--port", port], capture_output=True)
    assert run.returncode == 1 and b"--port" in run.stdout

"""URLs of memories: asked for their head only, never inside the user's own network."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memdir.audit.audit import request_audited_urls
from memdir.claims import urls
from memdir.claims.claim import NOT_A_CLAIM, PATH, STALE, TRUE, UNKNOWN, URL, Claim, Judged
from memdir.claims.urls import Reply, check_claimed_urls


class Answers(BaseHTTPRequestHandler):
    """`/404` answers 404; `/to?URL` leads there; `/nohead` knows only GET; `/slow` never ends."""

    def do_HEAD(self) -> None:
        self.server.asked.append((self.command, self.path))
        if self.path == "/slow":
            self.server.stop.wait(10)
            return
        if self.path == "/nohead" and self.command == "HEAD":
            self.send_response(405)
        elif self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
        elif self.path == "/loop":
            self.send_response(301)
            self.send_header("Location", "/loop")
        else:
            self.send_response(int(self.path[1:]) if self.path[1:].isdigit() else 200)
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *given) -> None:
        pass


@pytest.fixture
def web():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    server.asked, server.stop = [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.stop.set()
    server.shutdown()
    server.server_close()


def ask(web, *paths: str, **given) -> list[Reply]:
    asked = [web.url + path for path in paths]
    found = check_claimed_urls(asked, private=True, **given)
    return [found[url] for url in asked]


def test_the_status_is_what_the_address_answers(web):
    assert ask(web, "/", "/404", "/500") == [Reply(200), Reply(404), Reply(500)]
    assert {command for command, _ in web.asked} == {"HEAD"}
    assert ask(web, "/nohead") == [Reply(200)]  # asked again, by GET


def test_a_redirect_is_followed_a_circle_is_not_for_ever(web):
    assert ask(web, "/to?/404", "/loop") == [
        Reply(404),
        Reply(reason="it leads from one address to the next"),
    ]
    assert len(web.asked) <= 2 + urls.MAX_REDIRECTS + 1


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x"])
def test_a_redirect_leads_only_to_the_web(web, place):
    assert ask(web, f"/to?{place}") == [Reply(reason="not an address of the web", refused=True)]


def test_a_password_in_an_address_is_sent_to_nobody(web):
    url = web.url.replace("http://", "http://user:secret@")
    assert check_claimed_urls([url], private=True)[url].status == 0
    assert web.asked == []


def test_whoever_keeps_silent_is_waited_for_only_so_long(web):
    assert ask(web, "/slow", seconds=0.3) == [Reply(reason="no answer in time")]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "169.254.169.254", "10.0.0.1", "2130706433"],
)
def test_nothing_of_the_users_own_network_is_asked(web, host):
    url = f"http://{host}:{web.server_address[1]}/"
    reply = check_claimed_urls([url], seconds=1)[url]
    assert reply.status == 0
    assert "private network" in reply.reason
    assert web.asked == []


PRIVATE = """192.168.1.1 100.64.0.1 ::ffff:127.0.0.1 64:ff9b::a00:1 2002:7f00:1:: fe80::1%eth0
fd00::1 224.0.0.1"""


def test_an_address_is_public_or_not_in_any_coat():
    assert urls.is_public_address("93.184.216.34")
    assert urls.is_public_address("2606:2800:220:1:248:1893:25c8:1946")
    assert [address for address in PRIVATE.split() if urls.is_public_address(address)] == []


def test_no_more_than_fifty_are_asked(web):
    many = [f"{web.url}/{at}x" for at in range(60)]
    assert len(check_claimed_urls(many, private=True)) == urls.MAX_URLS == len(web.asked)


def test_the_verdict_on_a_url_is_its_answer(web):
    def claim(path: str, kind: str = URL, verdict: str = UNKNOWN) -> Judged:
        return Judged(Claim(kind, web.url + path, 3), verdict)

    before = {
        "a.md": [claim("/"), claim("/404"), claim("/403"), claim("/503")],
        "b.md": [claim("/x", PATH, TRUE), claim("/404", verdict=NOT_A_CLAIM)],
    }
    after, said = request_audited_urls(before, private=True)
    assert [one.verdict for one in after["a.md"]] == [TRUE, STALE, UNKNOWN, STALE]
    assert after["a.md"][1].reason == "answers 404"
    assert after["a.md"][2].reason == "wants a login"
    assert after["b.md"] == before["b.md"]
    assert said == "URLs: 4 asked, 4 answered"


def test_what_may_not_be_asked_is_not_stale(web):
    url = f"http://127.0.0.1:{web.server_address[1]}/404"
    after, said = request_audited_urls({"a.md": [Judged(Claim(URL, url, 1), UNKNOWN)]})
    assert said == "URLs: 0 asked, 0 answered, 1 not asked"
    assert [one.verdict for one in after["a.md"]] == [UNKNOWN]

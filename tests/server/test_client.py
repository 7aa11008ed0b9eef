"""Two machines and a server, from the command line; the transport against a server that lies."""

import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest

from memdir.errors import BadInput, MemdirError
from memdir.server import admin
from memdir.sync import transport as remotes
from memdir.sync.server_transport import ServerTransport, check_server_url
from memdir.sync.transport import Push, Remote, Since
from tests.helpers.machines import Machine, everything_in
from tests.helpers.team import Team
from tests.helpers.terminal import memdir

PEOPLE = ("ann", "bob")
FACT = "The pelican host deploys on Tuesdays."


def transport_to(folder: Path, url: str, token: str = "memdir_x", space: str = "s"):
    folder.mkdir(exist_ok=True)
    file = folder / "token"
    file.write_text(token + "\n")
    file.chmod(0o600)
    return ServerTransport(Remote("server", url, space=space, token_file=str(file)))


@pytest.fixture
def transports(team, tmp_path) -> Iterator[list[ServerTransport]]:
    """Two members of one space, each as a machine of their own."""
    space = team.space(**dict.fromkeys(PEOPLE, "writer"))
    made = [
        transport_to(tmp_path / person, team.base, team.tokens[f"{person}@{space}"], space)
        for person in PEOPLE
    ]
    yield made
    for transport in made:
        transport.close()


def test_what_one_pushes_the_other_fetches_with_its_author(transports):
    ann, bob = transports
    first = ann.fetch(Since())
    assert (first.files, first.whole) == ({}, True)
    push = Push(first.cursor, {"a.md": b"one", "MEMORY.md": b"- a"}, {"a.md": "", "MEMORY.md": ""})
    id = ann.prepare(push)
    done = ann.push(id, push)
    assert (done.result, done.versions) == (remotes.TAKEN, {"a.md": "1", "MEMORY.md": "1"})
    fetched = bob.fetch(Since())
    assert fetched.files["a.md"].data == b"one"
    assert fetched.files["a.md"].author == remotes.Author("ann", "ann", verified=True)
    assert fetched.cursor == done.cursor
    assert bob.fetch(Since(fetched.cursor)).files == {}
    assert ann.fetch(Since(first.cursor, ("other", id))).received == id


def test_a_push_of_somebody_who_was_overtaken_is_to_be_merged_again(transports):
    ann, bob = transports
    ann.push("1", Push("0", {"a.md": b"of ann"}, {"a.md": ""}))
    assert bob.push("2", Push("0", {"a.md": b"of bob"}, {"a.md": ""})).result == remotes.AGAIN
    beside = bob.push("3", Push("0", {"b.md": b"of bob"}, {"b.md": ""}))
    assert (beside.result, beside.cursor) == (remotes.TAKEN, "0"), "ann's is still to be fetched"


def test_a_removed_and_a_purged_memory_are_gone_and_a_wrong_cursor_begins_anew(transports, team):
    ann, bob = transports
    ann.push("1", Push("0", {"a.md": b"text"}, {"a.md": ""}))
    ann.push("2", Push("1", {"a.md": None}, {"a.md": "1"}))
    gone = bob.fetch(Since("1")).files["a.md"]
    assert gone.data is None and not gone.purged
    assert bob.push("3", Push("2", {"a.md": b"new"}, {"a.md": ""})).result == remotes.TAKEN
    admin.purge_from_space(team.url, "a.md", ann.remote.space)
    assert bob.fetch(Since("3")).files["a.md"].purged
    anew = bob.fetch(Since("99"))
    assert (anew.whole, list(anew.files)) == (True, ["a.md"])


def test_what_the_server_refuses_for_good_has_a_reason_and_a_next_step(transports):
    ann, _ = transports
    for path, data in {"con.md": b"x", "latin.md": b"\xff", "big.md": b"x" * 250_001}.items():
        done = ann.push("1", Push("0", {path: data}, {path: ""}))
        assert (done.result, bool(done.reason and done.next)) == (remotes.REFUSED, True), path
    assert ann.leave("1", Push("0", {})).result == remotes.REFUSED
    assert ann.propose("a", Push("0", {"a.md": b"x"}, {})).result == remotes.TAKEN


def test_a_token_is_not_sent_where_others_could_read_it(tmp_path):
    for url in ("http://memory.example/shop", "ftp://x/y", "https://u:p@x/", "https://", "shop"):
        with pytest.raises(BadInput) as refused:
            check_server_url(url)
        assert refused.value.next
    transport = transport_to(tmp_path, "https://127.0.0.1:1")
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(BadInput) as refused:
        transport.fetch(Since())
    assert refused.value.next == f"chmod 600 {tmp_path / 'token'}"


@contextmanager
def liar(status: int, answer: bytes) -> Iterator[str]:
    """A server that says the same whatever it is asked."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


ROW = {"version": 1, "seq": 1, "hash": "", "purged": False, "author": "eve", "push": ""}
HALF = {**ROW, "path": "a.md", "at": "2026-01-01T00:00:00+00:00", "body": "\ud800"}
LIES = {
    "no JSON": (200, b"<html>"),
    "a list": (200, b"[]"),
    "nothing": (200, b""),
    "a broken page": (200, b'{"items": [{"path": 1}], "next": 0}'),
    "half a character": (200, json.dumps({"next": 0, "items": [HALF]}).encode()),
    "without a cursor": (200, b'{"items": []}'),
    "an error of its own": (500, b"{}"),
    "unknown": (401, b'{"error": {"message": "\\u001b[2Jno"}}'),
    "a redirect": (302, b"{}"),
}


@pytest.mark.parametrize("status, answer", LIES.values(), ids=LIES)
def test_an_answer_that_is_none_is_said_in_a_sentence(tmp_path, status, answer):
    with (
        liar(status, answer) as url,
        closing(transport_to(tmp_path, url)) as transport,
        pytest.raises(MemdirError) as refused,
    ):
        transport.fetch(Since())
    assert "\x1b" not in refused.value.message
    assert refused.value.next


def test_a_feed_that_never_ends_is_left_and_without_a_server_it_is_unreachable(tmp_path):
    with (
        liar(200, b'{"items": [], "next": 9}') as url,
        closing(transport_to(tmp_path, url)) as transport,
    ):
        assert transport.fetch(Since()).files == {}
    with pytest.raises(remotes.Unreachable):
        transport_to(tmp_path, url).fetch(Since())


@pytest.fixture
def machines(team: Team, tmp_path: Path, monkeypatch) -> tuple[str, Machine, Machine]:
    """A space, and two people with homes and token files of their own."""
    space = team.space(**dict.fromkeys(PEOPLE, "writer"))
    ann, bob = (Machine(tmp_path, person, "", monkeypatch) for person in PEOPLE)
    for machine in (ann, bob):
        give_token(machine, team.tokens[f"{machine.name}@{space}"])
    return space, ann, bob


def give_token(machine: Machine, token: str) -> None:
    path = machine.home / "token"
    path.write_text(token + "\n")
    path.chmod(0o600)


def join(machine: Machine, address: str, *more: str):
    return machine("team", "join", address, "--token-file", str(machine.home / "token"), *more)


def test_a_memory_reaches_the_second_machine_by_five_commands(team, machines):
    space, ann, bob = machines
    url = f"{team.base}/{space}"
    assert join(ann, url).code == 0
    kept = [*ann.home.rglob("*.token")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]
    (ann.home / "token").unlink()  # ours is a copy
    ann.remember(FACT, "pelican")
    assert ann("share", "pelican").code == 0
    assert ann.json("sync")["pushed"] != []
    got = join(bob, url, "--json").json
    assert [(it["path"], it["author"]) for it in got["pulled"]] == [("pelican.md", "ann")]
    assert bob.json("sync")["pulled"] == []


def test_it_works_over_tls_and_not_with_a_certificate_of_nobody(
    own_team, machines, tmp_path, monkeypatch
):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert]
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    own_team.start("--tls-cert", cert, "--tls-key", key)
    space, (_, ann, _) = own_team.space(ann="writer"), machines
    give_token(ann, own_team.tokens[f"ann@{space}"])
    address = f"https://localhost:{own_team.port}"
    assert "certificate" in join(ann, address, "--json").error["message"].lower()
    with monkeypatch.context() as trusting:
        trusting.setenv("SSL_CERT_FILE", cert)
        assert join(ann, address).code == 0
    own_team.stop()
    broken = memdir("serve", "--database", own_team.app, "--tls-cert", key, "--json")
    assert "--tls-cert FILE" in broken.error["next"]


def test_joining_says_which_spaces_there_are(team, machines):
    space, ann, _ = machines
    error = join(ann, team.base + "/nowhere", "--json").error
    assert "nowhere" in error["message"]
    assert space in error["next"]


TOKENS_LOST = {
    "expired": "update token set expires = now() - interval '1 second' where person = {person}",
    "revoked": "update token set revoked = now() where person = {person}",
    "of another space": "delete from member where person = {person}",
}


@pytest.mark.parametrize("how", TOKENS_LOST)
def test_without_a_token_that_opens_the_space_all_waits_here(own_team, machines, how):
    own_team.start()
    space, (_, ann, _) = own_team.space(cora="writer"), machines
    give_token(ann, own_team.tokens[f"cora@{space}"])
    assert join(ann, f"{own_team.base}/{space}").code == 0
    ann.remember(FACT, "pelican")
    assert ann("share", "pelican").code == 0
    person = "(select id from person where name = 'cora')"
    with psycopg.connect(own_team.url, options="-c search_path=memdir") as owner:
        owner.execute(TOKENS_LOST[how].format(person=person))
    error = ann("sync", "--json").error
    assert own_team.base in error["message"] and "memdir serve admin invite" in error["next"]
    assert "pelican" in ann("list", "--scope", "team").text
    give_token(ann, own_team.invite("cora", space))
    again = join(ann, f"{own_team.base}/{space}", "--json")
    assert "pelican.md" in [item["path"] for item in again.json["pushed"]], again.stderr


def test_a_purge_erases_the_copy_of_a_client_and_its_history(team, machines):
    space, ann, bob = machines
    for machine in (ann, bob):
        assert join(machine, f"{team.base}/{space}").code == 0
    ann.remember(f"{FACT} ERASEME", "pelican")
    ann("share", "pelican")
    ann("retire", "pelican")
    for machine in (ann, bob):
        assert machine("sync").code == 0
    assert {Path(place).name for place in traces(bob, "ERASEME")} >= {"pelican.md", "history.git"}
    admin.purge_from_space(team.url, "pelican.md", space)
    assert bob("sync").code == 0
    assert traces(bob, "ERASEME") == []


def traces(machine: Machine, word: str) -> list[str]:
    """Files below a home that have the word, and histories that keep it in any object."""
    paths = [path for path in machine.home.rglob("*") if not path.is_symlink()]
    found = [os.fspath(it) for it in paths if it.is_file() and word.encode() in it.read_bytes()]
    stores = [path.parent for path in paths if path.name == "HEAD" and path.is_file()]
    return found + [os.fspath(it) for it in stores if word in everything_in(os.fspath(it))]

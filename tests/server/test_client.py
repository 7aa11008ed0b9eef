"""Two machines and a server, from the command line; the transport against a server that lies."""

import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest

from memdir.errors import BadInput, MemdirError
from memdir.server import admin
from memdir.sync.server_transport import ServerTransport, check_server_url
from memdir.sync.transport import (
    AGAIN,
    REFUSED,
    TAKEN,
    Author,
    Gone,
    Push,
    Remote,
    Since,
    Unreachable,
)
from tests.helpers.team import Team
from tests.helpers.terminal import memdir, process

PEOPLE = ("ann", "bob")


def token_file(folder: Path, token: str) -> Path:
    path = folder / "token"
    path.write_text(token + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def transports(team, tmp_path) -> Iterator[list[ServerTransport]]:
    """Two members of one space, each as a machine of their own."""
    space = team.space(**dict.fromkeys(PEOPLE, "writer"))
    made = []
    for person in PEOPLE:
        (tmp_path / person).mkdir()
        file = token_file(tmp_path / person, team.tokens[f"{person}@{space}"])
        remote = Remote("server", team.base, space=space, token_file=str(file))
        made.append(ServerTransport(remote))
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
    assert (done.result, done.versions) == (TAKEN, {"a.md": "1", "MEMORY.md": "1"})
    fetched = bob.fetch(Since())
    assert fetched.files["a.md"].data == b"one"
    assert fetched.files["a.md"].author == Author("ann", "ann", verified=True)
    assert fetched.cursor == done.cursor
    assert bob.fetch(Since(fetched.cursor)).files == {}
    assert ann.fetch(Since(first.cursor, ("other", id))).received == id


def test_a_push_of_somebody_who_was_overtaken_is_to_be_merged_again(transports):
    ann, bob = transports
    ann.push("1", Push("0", {"a.md": b"of ann"}, {"a.md": ""}))
    assert bob.push("2", Push("0", {"a.md": b"of bob"}, {"a.md": ""})).result == AGAIN
    beside = bob.push("3", Push("0", {"b.md": b"of bob"}, {"b.md": ""}))
    assert (beside.result, beside.cursor) == (TAKEN, "0"), "ann's is still to be fetched"


def test_a_removed_memory_is_gone_and_a_new_one_may_take_its_place(transports):
    ann, bob = transports
    ann.push("1", Push("0", {"a.md": b"text"}, {"a.md": ""}))
    ann.push("2", Push("1", {"a.md": None}, {"a.md": "1"}))
    gone = bob.fetch(Since("1")).files["a.md"]
    assert isinstance(gone, Gone)
    assert not gone.purged
    assert bob.push("3", Push("2", {"a.md": b"new"}, {"a.md": ""})).result == TAKEN


def test_what_the_server_refuses_for_good_has_a_reason_and_a_next_step(transports, team):
    ann, _ = transports
    wrong = {"con.md": b"x", "latin.md": b"\xff", "big.md": b"x" * 250_001}
    for path, data in wrong.items():
        done = ann.push("1", Push("0", {path: data}, {path: ""}))
        assert (done.result, bool(done.reason), bool(done.next)) == (REFUSED, True, True), path
    assert ann.leave("1", Push("0", {})).result == REFUSED
    assert ann.propose("a", Push("0", {"a.md": b"x"}, {})).result == TAKEN
    admin.invite(team.url, "zoe", ann.remote.space, "reader", 1)


def test_a_purge_is_told_and_a_cursor_that_never_was_begins_anew(transports, team):
    ann, bob = transports
    ann.push("1", Push("0", {"a.md": b"text"}, {"a.md": ""}))
    admin.purge(team.url, "a.md", ann.remote.space)
    assert bob.fetch(Since("1")).files["a.md"].purged
    anew = bob.fetch(Since("99"))
    assert (anew.whole, list(anew.files)) == (True, ["a.md"])


def test_without_a_server_it_is_unreachable_and_nothing_else(tmp_path):
    file = token_file(tmp_path, "memdir_x")
    remote = Remote("server", "http://127.0.0.1:1", space="s", token_file=str(file))
    with pytest.raises(Unreachable):
        ServerTransport(remote).fetch(Since())


def test_a_token_is_not_sent_where_others_could_read_it(tmp_path):
    for url in ("http://memory.example/shop", "ftp://x/y", "https://u:p@x/", "https://", "shop"):
        with pytest.raises(BadInput) as refused:
            check_server_url(url)
        assert refused.value.next
    file = token_file(tmp_path, "memdir_x")
    file.chmod(0o644)
    remote = Remote("server", "https://127.0.0.1:1", space="s", token_file=str(file))
    with pytest.raises(BadInput) as refused:
        ServerTransport(remote).fetch(Since())
    assert refused.value.next == f"chmod 600 {file}"


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


def told_by_a_liar(tmp_path: Path, status: int, answer: bytes):
    file = token_file(tmp_path, "memdir_x")
    with liar(status, answer) as url:
        remote = Remote("server", url, space="s", token_file=str(file))
        transport = ServerTransport(remote)
        try:
            return transport.fetch(Since())
        finally:
            transport.close()


ROW = {"version": 1, "seq": 1, "hash": "", "body": "x", "purged": False, "author": "eve"}
ROW |= {"at": "2026-01-01T00:00:00+00:00", "push": "", "path": "a.md"}
HALF = json.dumps({"next": 0, "items": [{**ROW, "body": "\ud800"}]}).encode()


def test_a_feed_that_never_ends_is_left(tmp_path):
    assert told_by_a_liar(tmp_path, 200, b'{"items": [], "next": 9}').files == {}


LIES = {
    "no JSON": (200, b"<html>"),
    "a list": (200, b"[]"),
    "nothing": (200, b""),
    "a broken page": (200, b'{"items": [{"path": 1}], "next": 0}'),
    "half a character": (200, HALF),
    "without a cursor": (200, b'{"items": []}'),
    "an error of its own": (500, b"{}"),
    "unknown": (401, b'{"error": {"message": "\\u001b[2Jno"}}'),
    "a redirect": (302, b"{}"),
}


@pytest.mark.parametrize("status, answer", LIES.values(), ids=LIES)
def test_an_answer_that_is_none_is_said_in_a_sentence(tmp_path, status, answer):
    with pytest.raises(MemdirError) as refused:
        told_by_a_liar(tmp_path, status, answer)
    assert "\x1b" not in refused.value.message
    assert refused.value.next


@pytest.fixture
def machines(team: Team, tmp_path: Path) -> tuple[str, dict[str, dict[str, str]]]:
    """A space, and the environment of two people with homes of their own."""
    space = team.space(**dict.fromkeys(PEOPLE, "writer"))
    found = {}
    for person in PEOPLE:
        home = tmp_path / f"home-of-{person}"
        code = home / "src/shop"
        (code / ".git").mkdir(parents=True)
        token_file(home, team.tokens[f"{person}@{space}"])
        found[person] = {"HOME": str(home), "PWD": str(code)}
        found[person] |= {
            "XDG_STATE_HOME": str(home / ".local/state"),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_DATA_HOME": str(home / ".local/share"),
        }
    return space, found


def run(env: dict[str, str], *words: str):
    here = os.getcwd()
    os.chdir(env["PWD"])
    try:
        return process(*words, **env)
    finally:
        os.chdir(here)


def test_a_memory_reaches_the_second_machine_by_five_commands(team, machines):
    space, of = machines
    ann, bob = of["ann"], of["bob"]
    url = f"{team.base}/{space}"
    joined = run(ann, "team", "join", url, "--token-file", f"{ann['HOME']}/token")
    assert joined.code == 0, joined.stderr
    kept = [*Path(ann["HOME"]).rglob("*.token")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]
    Path(ann["HOME"], "token").unlink()  # ours is a copy
    run(ann, "remember", "The pelican host deploys on Tuesdays.", "--name", "pelican")
    shared = run(ann, "share", "pelican")
    assert shared.code == 0, shared.stderr
    sent = run(ann, "sync", "--json")
    assert sent.code == 0, sent.stderr
    assert [item["path"] for item in sent.json["pushed"]] != []
    got = run(bob, "team", "join", url, "--token-file", f"{bob['HOME']}/token", "--json")
    assert got.code == 0, got.stderr
    assert [(it["path"], it["author"]) for it in got.json["pulled"]] == [("pelican.md", "ann")]
    again = run(bob, "sync", "--json")
    assert again.json["pulled"] == []


def test_it_works_over_tls_and_not_with_a_certificate_of_nobody(own_team, machines, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    own_team.start("--tls-cert", str(cert), "--tls-key", str(key))
    space = own_team.space(ann="writer")
    ann = machines[1]["ann"]
    file = token_file(Path(ann["HOME"]), own_team.tokens[f"ann@{space}"])
    words = [
        "team",
        "join",
        f"https://localhost:{own_team.port}",
        "--token-file",
        str(file),
        "--json",
    ]
    unknown = run(ann, *words)
    assert "certificate" in unknown.error["message"].lower()
    assert run({**ann, "SSL_CERT_FILE": str(cert)}, *words).code == 0
    own_team.stop()
    broken = memdir("serve", "--database", own_team.app, "--tls-cert", str(key), "--json")
    assert "--tls-cert FILE" in broken.error["next"]


def test_joining_says_which_spaces_there_are(team, machines):
    space, of = machines
    ann = of["ann"]
    error = run(
        ann,
        "team",
        "join",
        team.base + "/nowhere",
        "--token-file",
        f"{ann['HOME']}/token",
        "--json",
    ).error
    assert "nowhere" in error["message"]
    assert space in error["next"]


TOKENS_LOST = {
    "expired": "update token set expires = now() - interval '1 second' where person = {person}",
    "revoked": "update token set revoked = now() where person = {person}",
    "of another space": "delete from member where person = {person}",
}


@pytest.mark.parametrize("how", TOKENS_LOST)
def test_without_a_token_that_opens_the_space_all_waits_here(own_team, tmp_path, machines, how):
    own_team.start()
    space, ann = own_team.space(cora="writer"), machines[1]["ann"]
    file = token_file(Path(ann["HOME"]), own_team.tokens[f"cora@{space}"])
    join = ("team", "join", f"{own_team.base}/{space}", "--token-file", str(file))
    assert run(ann, *join).code == 0
    run(ann, "remember", "The pelican host deploys on Tuesdays.", "--name", "pelican")
    assert run(ann, "share", "pelican").code == 0
    person = "(select id from person where name = 'cora')"
    with psycopg.connect(own_team.url, options="-c search_path=memdir") as owner:
        owner.execute(TOKENS_LOST[how].format(person=person))
    error = run(ann, "sync", "--json").error
    assert own_team.base in error["message"] and "memdir serve admin invite" in error["next"]
    assert "pelican" in run(ann, "list", "--scope", "team").text
    own_team.invite("cora", space)
    token_file(Path(ann["HOME"]), own_team.tokens[f"cora@{space}"])
    again = run(ann, *join, "--json")
    assert "pelican.md" in [item["path"] for item in again.json["pushed"]], again.stderr


def test_a_purge_erases_the_copy_of_a_client_and_its_history(team, machines):
    space, of = machines
    ann, bob = of["ann"], of["bob"]
    text = "The ERASEME host deploys on Tuesdays."
    for env in (ann, bob):
        words = ["team", "join", f"{team.base}/{space}", "--token-file", f"{env['HOME']}/token"]
        assert run(env, *words).code == 0
    run(ann, "remember", text, "--name", "pelican")
    run(ann, "share", "pelican")
    run(ann, "retire", "pelican")
    assert run(ann, "sync").code == 0
    assert run(bob, "sync").code == 0
    assert {Path(place).name for place in traces(bob, b"ERASEME")} >= {"pelican.md", "objects"}
    admin.purge(team.url, "pelican.md", space)
    done = run(bob, "sync")
    assert done.code == 0, done.stderr
    assert traces(bob, b"ERASEME") == []


def traces(env: dict[str, str], word: bytes) -> list[str]:
    """Files below a home that have the word, and histories that keep it in any object."""
    found = []
    for path in Path(env["HOME"]).rglob("*"):
        if path.is_file() and not path.is_symlink() and word in path.read_bytes():
            found.append(str(path))
        if path.name == "objects" and path.parent.joinpath("HEAD").is_file():
            words = [
                "git",
                f"--git-dir={path.parent}",
                "cat-file",
                "--batch-all-objects",
                "--batch",
            ]
            kept = subprocess.run(words, capture_output=True, check=True).stdout
            found += [str(path)] * (word in kept)
    return found

"""JSON-RPC and the protocol: versions, bad messages, resources; nothing ends the server."""

import json
import os
import time
from urllib.parse import quote

import pytest

from memdir.mcp import server as rpc
from memdir.mcp.server import MAX_BYTES, VERSIONS, Server, Stores
from tests.helpers.asking import FACT, Agent, lines, piped, request, use
from tests.helpers.hostile import inputs
from tests.helpers.tables import table

pytestmark = pytest.mark.usefixtures("project")

PING = request("p", "ping")
PONG = {"jsonrpc": "2.0", "id": "p", "result": {}}


def code(answer) -> int:
    assert answer["jsonrpc"] == "2.0" and answer["error"]["message"]
    return answer["error"]["code"]


def test_the_versions_are_those_of_the_official_package():
    version = pytest.importorskip("mcp_types.version", reason="the official SDK is not installed")
    assert version.HANDSHAKE_PROTOCOL_VERSIONS == VERSIONS


def test_a_client_gets_the_version_it_speaks_or_the_newest():
    for asked in VERSIONS:
        assert Agent(asked).welcome["protocolVersion"] == asked
    assert Agent("1999-01-01").welcome["protocolVersion"] == VERSIONS[-1]


BAD = [(message.encode(), code) for message, code in table("mcp", "bad_messages")]
BAD += [(bytes(range(128, 256)), rpc.PARSE), (b"\0" * 100, rpc.PARSE), (b"[" * 100_000, rpc.PARSE)]


@pytest.mark.parametrize(("data", "expected"), BAD)
def test_a_bad_message_gets_its_error_and_the_next_its_answer(data, expected):
    first, second = piped(data + b"\n" + lines(PING))
    assert code(first) == expected and second == PONG


@pytest.mark.parametrize("case", inputs("HTTP, MCP and tokens", "mcp"))
def test_hostile_messages_get_an_error_or_an_answer_and_the_server_stays(case):
    answers = piped(case.value.encode("utf-8", "surrogateescape") + b"\n" + lines(PING))
    assert PONG in answers and len(answers) == 2


def test_a_line_beyond_the_limit_is_not_kept_and_the_next_is_answered():
    refused, pong = piped(lines(use(41, "recall", query="x" * (MAX_BYTES + 70_000)), PING))
    assert (code(refused), pong) == (rpc.INVALID, PONG)


def test_blank_lines_notifications_and_answers_get_none():
    silent = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/nonsense", "params": [1]},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "no"}},
    ]
    assert piped(b"\n\r\n  \n" + lines(*silent, PING)) == [PONG]


def test_a_mistake_of_ours_is_an_error_of_one_request(home):
    class Broken(Stores):
        def apps(self, scope=""):
            raise ZeroDivisionError("secret words")

    talk = Server(Broken(os.environ, os.getcwd(), time.time))
    answers = piped(lines(use(1, "list"), PING), talk)
    [wrong] = [answer for answer in answers if answer != PONG]
    assert code(wrong) == rpc.INTERNAL and "secret words" not in json.dumps(wrong)
    log = (home / ".local/state/memdir/hooks.log").read_text()
    assert "mcp: ZeroDivisionError" in log and "secret words" not in log


# Resources


@pytest.fixture
def kept() -> Agent:
    agent = Agent()
    agent.use("save", text=FACT, type="project", name="pelican")
    return agent


def read(agent: Agent, uri: object):
    return agent.ask(request(1, "resources/read", uri=uri))


def test_the_index_and_each_memory_are_resources(kept, store):
    kept.use("save", text="Likes short answers.", type="user", name="short", scope="user")
    (store / "with space ü.md").write_text("---\nname: odd\n---\nBlue herons.\n")
    listed = kept.ask(request(1, "resources/list"))["result"]
    uris = [one["uri"] for one in listed["resources"]]
    odd = f"memdir://project/{quote('with space ü.md')}"
    assert {"memdir://project/MEMORY.md", "memdir://user/short.md", odd} < {*uris}
    for uri in uris:
        [content] = read(kept, uri)["result"]["contents"]
        assert content["uri"] == uri and "Memory, not an instruction" in content["text"]
    assert "Blue herons" in read(kept, odd)["result"]["contents"][0]["text"]


def test_many_resources_come_in_pages_that_miss_none(kept, store):
    for number in range(230):
        (store / f"m{number:03}.md").write_text(f"---\nname: m{number}\n---\nText.\n")
    found, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        asked = request(1, "resources/list", **({"cursor": cursor} if cursor else {}))
        page = kept.ask(asked)["result"]
        found += [one["uri"] for one in page["resources"]]
        cursor, pages = page.get("nextCursor"), pages + 1
        (store / "a-new-one.md").write_text("came meanwhile")
    assert pages == 3 and len(found) == len({*found}) == 232


@pytest.mark.parametrize(
    "uri",
    [
        *("memdir://project/../outside.md", "memdir://project/%2e%2e/outside.md"),
        *("memdir://project//etc/passwd", "memdir://project/..%2foutside.md", "memdir://project/"),
        *("memdir://project/pelican.md%00", "memdir://project/./pelican.md", "memdir://all/x.md"),
        *("memdir://galaxy/x.md", "memdir:project/x", "file:///etc/passwd", "", "x" * 9000),
        *("memdir://project/outside-link.md", "memdir://project/\ud800", None, 7, ["memdir://"]),
    ],
)
def test_an_address_that_is_no_memory_is_refused(kept, store, uri):
    secret = store.parent / "outside.md"
    secret.write_text("secret words")
    (store / "outside-link.md").symlink_to(secret)
    answer = read(kept, uri)
    assert code(answer) in (rpc.NO_RESOURCE, rpc.PARAMS, rpc.INTERNAL)
    assert "secret words" not in json.dumps(answer)

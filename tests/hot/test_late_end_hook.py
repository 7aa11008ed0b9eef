"""The end of a session has a second in the client, which then complains; ours goes before."""

import subprocess
import sys

import pytest

from tests.helpers.hooked import EVENTS, PATIENCE, Client

pytestmark = pytest.mark.usefixtures("project")


def test_an_end_that_takes_long_lets_the_client_go_and_is_noted_all_the_same(tmp_path):
    """It would wait for what it is told; the process that the client knows does not."""
    client = Client(tmp_path)
    event = "session-end"
    words = [sys.executable, "-I", "-S", str(client.start), event]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    hook = subprocess.Popen(words, env=client.env, **pipes)
    assert hook.wait(PATIENCE) == 0
    assert hook.stdout.read() == b""  # and nobody holds it open
    assert client.queue() == []
    hook.stdout.close()
    hook.stdin.write(client.event(EVENTS[event]))
    hook.stdin.close()
    client.wait("session-end")
    client.wait()
    places = client.cache / "places"
    assert any(path.name.endswith(".started") for path in places.iterdir())

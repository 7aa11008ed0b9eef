"""`memdir purge --secret NAME`: afterwards no byte of the value is left in what memdir keeps."""

import subprocess
import zlib
from functools import partial
from pathlib import Path

import pytest

from tests.helpers.hooked import Client
from tests.helpers.packed import read_packed
from tests.helpers.terminal import process

VALUE = "ghp_" + "x7Kq9Wm2Zt4Rb8Yn3Vc6Df1Gh5Jk0Lp2Qs4T"
OWN = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), "")


TEXT = "---\nname: token\ndescription: about the deploys\ntype: reference\n---\n\n{}\n"


def run(client: Client, *words: str, code: int = 0, project: Path | None = None):
    place = ("--project", str(project or client.project), "--json")
    ran = process(*words, *place, **client.env, **OWN)
    assert ran.code == code, ran.stderr
    return ran.json


def git(*words: object) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def grep(top: Path, value: bytes) -> list[str]:
    """Files below that have the value, also inside git's objects."""
    found = []
    for path in sorted(top.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if value in data:
            found.append(str(path))
        if path.suffix == ".pack" and value in read_packed(path):
            found.append(f"{path}: packed")
        for at in (0, data.find(b"\x78\x01")):
            try:
                if value in zlib.decompressobj().decompress(data[max(at, 0) :]):
                    found.append(f"{path}: compressed")
            except zlib.error:
                pass
    return found


@pytest.mark.parametrize("line", ["The deploy token is VALUE.", "token: `VALUE`", "PW=VALUE"])
def test_not_a_byte_of_it_is_left(tmp_path, line):
    client, value = Client(tmp_path), VALUE.encode()
    memdir = partial(run, client)
    client.write("token.md", TEXT.format(line.replace("VALUE", VALUE)))
    memdir("remember", "Deploys run at noon.", "--name", "deploys")  # books it as outside
    memdir("recall", "deploy token")
    client.write("token.md", TEXT.format("It is in the vault."))
    memdir("remember", "Releases are on Tuesdays.", "--name", "releases")
    memdir("retire", "releases")
    assert grep(tmp_path, value)
    assert memdir("purge", "--secret", "token", code=1)["error"]["next"].endswith("--yes")
    memdir("purge", "--secret", "token", "--yes")
    assert grep(tmp_path, value) == []
    log = memdir("log")["changes"]
    assert [change["verb"] for change in log][-1] == "begin" and len(log) >= 4
    memdir("undo")
    memdir("remember", "It still works.", "--name", "works")
    assert memdir("purge", "--secret", "token", "--yes", code=1)["error"]["code"]


@pytest.mark.parametrize("value", ["begin", "postgres", "objects", "hunter2"])
def test_a_value_that_is_a_word_leaves_all_else_alone(tmp_path, value):
    client, other = Client(tmp_path), tmp_path / "other"
    memdir = partial(run, client)
    other.mkdir()
    memdir("remember", f"Merges go to {value}.", "--name", "elsewhere", project=other)
    memdir("remember", f"We run {value} here.", "--name", "bystander")
    text = TEXT.format(f"The database password: `{value}`")
    client.write("token.md", text.replace("about the deploys", f"the password is {value}"))
    memdir("remember", "Deploys run at noon.", "--name", "deploys")
    histories = sorted((tmp_path).rglob("history.git"))
    assert len(histories) == 2
    answer = memdir("purge", "--secret", "token", "--yes")
    assert "bystander" in answer["remarks"][0] and value not in str(answer)
    assert "[removed]" in str(memdir("show", "token"))
    assert value in str(memdir("show", "bystander"))
    index = (client.store / "MEMORY.md").read_text()
    assert "(token.md)" in index and f"password is {value}" not in index
    for folder in histories:
        git("-C", folder, "fsck", "--strict")
        assert value not in git("-C", folder, "log", "-p", "--all", "--format=", "--", "token.md")
    assert len(memdir("log", project=other)["changes"]) == 2
    memdir("purge", "--secret", "token", "--yes", code=1)  # nothing more is known there
    memdir("undo")
    assert memdir("list", project=other)["memories"]


def test_a_short_value_goes_everywhere_when_asked_to(tmp_path):
    client, value = Client(tmp_path), b"tr0ub4"
    memdir = partial(run, client)
    client.write("token.md", TEXT.format(f"password: `{value.decode()}`"))
    memdir("remember", "The door says tr0ub4 at noon.", "--name", "door", "--allow-secret")
    memdir("purge", "--secret", "token", "--everywhere", "--yes")
    assert grep(tmp_path, value) == []

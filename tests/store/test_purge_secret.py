"""`memdir purge --secret NAME`: afterwards no byte of the value is left in what memdir keeps."""

import zlib
from pathlib import Path

import pytest

from tests.helpers.hooked import Client
from tests.helpers.packed import read_packed
from tests.helpers.terminal import process

VALUE = "ghp_" + "x7Kq9Wm2Zt4Rb8Yn3Vc6Df1Gh5Jk0Lp2Qs4T"
OWN = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), "")


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
    client = Client(tmp_path)
    value = VALUE.encode()

    def memdir(*words: str, code: int = 0):
        place = ("--project", str(client.project), "--json")
        ran = process(*words, *place, **client.env, **OWN)
        assert ran.code == code, ran.stderr
        return ran.json

    text = "---\nname: token\ndescription: about the deploys\ntype: reference\n---\n\n{}\n"
    client.write("token.md", text.format(line.replace("VALUE", VALUE)))
    memdir("remember", "Deploys run at noon.", "--name", "deploys")  # books it as outside
    memdir("recall", "deploy token")
    client.write("token.md", text.format("It is in the vault."))
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

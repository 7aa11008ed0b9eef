"""`memdir setup` for Codex, Gemini CLI, opencode and Cursor: every file of theirs, in and out.

How each of their JSON files fares is in tests/conformance/test_clients.py.
"""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from memdir.clients.edit_settings import BEGIN, END
from tests.helpers.tables import table
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

OTHERS = ("codex", "gemini-cli", "opencode", "cursor")
CONTEXT = {"codex": ".codex/AGENTS.md", "gemini-cli": ".gemini/GEMINI.md"}
SERVERS = {
    "gemini-cli": (".gemini/settings.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
}
TOML = table("clients", "toml")
UNSAFE = {
    "broken": "model = \n[",
    "an inline table": 'mcp_servers = { docs = { command = "docs" } }\n',
    "another kind": "mcp_servers = 7\n",
}


def files(home: Path) -> dict[str, bytes]:
    found = (path for path in home.rglob("*") if path.is_file() and ".local" not in path.parts)
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


@pytest.mark.parametrize("client", OTHERS)
def test_every_file_is_shown_and_taken_out_again(client, home):
    answer = memdir("setup", client, "--json").json
    assert {one["path"] for one in answer["files"]} == {str(home / name) for name in files(home)}
    assert all(one["change"] == "created" and "+" in one["diff"] for one in answer["files"])
    assert answer["hooks"] and all(
        f"MEMDIR_CLIENT={client} " in line for line in answer["hooks"].values()
    )
    assert {one["change"] for one in memdir("setup", client, "--json").json["files"]} == {
        "unchanged"
    }
    gone = memdir("setup", client, "--remove")
    assert gone.text.splitlines()[-1] == f"install it again: memdir setup {client}"
    assert files(home) == {}


@pytest.mark.parametrize("client", SERVERS)
def test_the_server_that_is_written_answers(client, home, project):
    memdir("setup", client)
    name, key = SERVERS[client]
    entry = json.loads((home / name).read_bytes())[key]["memdir"]
    command = entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]
    words = [word.replace("${workspaceFolder}", str(project)) for word in command]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    done = subprocess.run(
        words, input=json.dumps(asked) + "\n", capture_output=True, text=True, timeout=60
    )
    assert json.loads(done.stdout)["id"] == 1, done.stderr


@pytest.mark.parametrize("client", SERVERS)
def test_a_server_of_that_name_that_is_not_ours_stays(client, home):
    name, key = SERVERS[client]
    (home / name).parent.mkdir(parents=True)
    theirs = json.dumps({key: {"memdir": {"command": "mine"}}}, indent=2)
    (home / name).write_text(theirs)
    assert f"another {key}.memdir" in str(memdir("setup", client, "--json").json["remarks"])
    assert json.loads((home / name).read_bytes())[key]["memdir"] == {"command": "mine"}
    memdir("setup", client, "--remove")
    assert (home / name).read_text() == theirs


# Codex's TOML


@pytest.fixture
def toml(home: Path) -> Path:
    (home / ".codex").mkdir()
    return home / ".codex/config.toml"


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_a_table_is_added_and_nothing_else_changes(text, toml):
    toml.write_bytes(text.encode())
    memdir("setup", "codex")
    values = tomllib.loads(toml.read_bytes().decode().removeprefix("\ufeff"))
    assert values["mcp_servers"].pop("memdir")["command"]
    rest = {key: value for key, value in values.items() if value != {}}
    assert repr(rest) == repr(tomllib.loads(text.removeprefix("\ufeff")))
    assert "\nmemdir is installed already\n\n" in memdir("setup", "codex").text
    memdir("setup", "codex", "--remove")
    assert toml.read_bytes() == text.encode()


@pytest.mark.parametrize("text", UNSAFE.values(), ids=UNSAFE)
def test_toml_that_cannot_take_a_table_is_left_as_it_is(text, toml, home):
    toml.write_text(text)
    before = files(home)
    refused = memdir("setup", "codex", "--json")
    assert refused.code == 1 and refused.error["path"] == str(toml)
    assert "[mcp_servers.memdir]" in refused.error["next"]  # what to add by hand
    assert files(home) == before


BELOW = '[mcp_servers.memdir.tools.recall]\napproval_mode = "approve"\n'


def test_what_codex_and_people_wrote_around_our_table_stays(toml):
    toml.write_text('model = "x"\n')
    memdir("setup", "codex")
    ours = toml.read_text().replace('"x"', '"z"')
    ours = ours.replace("[mcp_servers.memdir]", "[mcp_servers.memdir]\n# mine\n\nenabled = true")
    kept = "# what I want to keep\n\n[tui]\nx = 1\n# the end\n"
    toml.write_text(f"{ours}\n{BELOW}{kept}")
    assert "\nmemdir is installed already\n\n" in memdir("setup", "codex").text
    memdir("setup", "codex", "--remove")
    assert toml.read_text() == f'model = "z"\n\n\n{kept}'


def test_a_table_of_somebody_else_stays(toml):
    toml.write_text('[mcp_servers.memdir]\ncommand = "mine"\n')
    assert "another memdir" in str(memdir("setup", "codex", "--json").json["remarks"])
    memdir("setup", "codex", "--remove")
    assert toml.read_text() == '[mcp_servers.memdir]\ncommand = "mine"\n'


# Words for the agent


@pytest.mark.parametrize("text", ["", "# Mine\n", "# Mine", "# Mine\r\n\r\nText\r\n", "a\n\n\n"])
@pytest.mark.parametrize("client", CONTEXT)
def test_words_stand_behind_what_is_there(client, text, home):
    path = home / CONTEXT[client]
    path.parent.mkdir()
    path.write_bytes(text.encode())
    memdir("setup", client)
    said = path.read_bytes().decode()
    assert said.startswith(text) and said.count(BEGIN) == said.count(END) == 1
    assert "\nmemdir is installed already\n\n" in memdir("setup", client).text
    memdir("setup", client, "--remove")
    assert path.read_bytes() == text.encode()


def test_what_a_person_wrote_behind_them_stays(home):
    path = home / CONTEXT["codex"]
    memdir("setup", "codex")
    path.write_text("# Before\n\n" + path.read_text().replace("recall", "RECALL") + "\nAfter.\n")
    memdir("setup", "codex", "--remove")
    assert path.read_text() == "# Before\n\n\nAfter.\n"


def test_marks_that_do_not_belong_together_are_left_alone(home):
    path = home / CONTEXT["codex"]
    path.parent.mkdir()
    path.write_text(f"a\n{BEGIN}\nb\n")
    refused = memdir("setup", "codex", "--json")
    assert refused.code == 1 and refused.error["path"] == str(path)
    assert path.read_text() == f"a\n{BEGIN}\nb\n" and len(files(home)) == 1


# Files that cannot or must not be written


def test_one_file_that_is_read_only_keeps_all_of_them_as_they_are(home, toml):
    toml.write_text("")
    toml.chmod(0o444)
    before = files(home)
    refused = memdir("setup", "codex", "--json")
    assert refused.code != 0 and f"{toml} is read-only" in refused.error["message"]
    assert files(home) == before and not list(home.rglob("clients/*.json"))


@pytest.mark.parametrize("client", OTHERS)
def test_a_file_of_ours_that_somebody_deleted_keeps_nothing_back(client, home):
    written = memdir("setup", client, "--json").json["files"]
    Path(written[-1]["path"]).unlink()
    assert memdir("setup", client, "--remove").code == 0
    assert files(home) == {} and not list(home.rglob("clients/*.json"))
    assert not (home / ".config").exists() and not (home / f".{client}").exists()


# Cursor


def test_a_rule_goes_into_a_project_only_on_request(home, project):
    rule = project / ".cursor/rules/memdir.mdc"
    memdir("setup", "cursor")
    assert not rule.exists()
    memdir("setup", "cursor", "--rules")
    assert rule.read_text().startswith("---\ndescription:") and "recall" in rule.read_text()
    memdir("setup", "cursor", "--remove")
    assert not (project / ".cursor").exists() and files(home) == {}


def test_a_rule_that_is_not_ours_or_leads_elsewhere_stays(home, project, tmp_path):
    rule = project / ".cursor/rules/memdir.mdc"
    rule.parent.mkdir(parents=True)
    rule.write_text("mine")
    assert "not ours" in str(memdir("setup", "cursor", "--rules", "--json").json["remarks"])
    memdir("setup", "cursor", "--remove")
    assert rule.read_text() == "mine"
    shutil.rmtree(project / ".cursor")
    (tmp_path / "away").mkdir()
    (project / ".cursor").symlink_to(tmp_path / "away")
    assert memdir("setup", "cursor", "--rules", "--json").code == 1
    assert not list((tmp_path / "away").iterdir())


def test_its_hook_answers_in_its_own_form(home, project):
    memdir("remember", "The pelican job restarts staging.", "--type", "project")
    line = memdir("setup", "cursor", "--json").json["hooks"]["sessionStart"]
    given = {"session_id": "s1", "hook_event_name": "sessionStart"}
    given |= {"workspace_roots": [str(project)]}
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home)}

    def run(text: str) -> str:
        words = ["/bin/sh", "-c", line]
        done = subprocess.run(words, input=text, capture_output=True, text=True, env=env)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert "pelican" in json.loads(run(json.dumps(given)))["additional_context"]
    assert run("[") == run("{}") == ""

"""The reference says what the commands answer and what can be set; nothing else, nothing less."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import fields as fields_of
from pathlib import Path
from types import ModuleType

import pytest

from memdir.cli.main import MODULES
from memdir.cli.records import MODULES as RECORDS
from memdir.config.settings import Options
from memdir.hot import place
from memdir.models.ledger import Ledger, Limits
from memdir.models.model import Usage
from tests.helpers.tables import tables
from tests.helpers.terminal import memdir
from tests.self.source import ROOT
from tests.self.test_features import is_there

SCRIPT = ROOT / "docs/generate.py"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LONGEST = 110  # characters of a line; rows of a table, commands and pointers may be longer

UV = "--category preference --tag tool --set topic=tool --set value=uv --set reason=fast"
UV += " --set strength=strong"
INTENTS = b'{"intents": [{"category": "decision", "action": "NOOP"}, {"category": "x"}]}'
STDIN = {"records prepare": INTENTS, "records commit": INTENTS}
ASKED = {
    command: [shlex.split(line.replace("$UV", UV)) for line in lines]
    for command, lines in tables("reference").items()
}


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def filled(tmp_path, monkeypatch) -> None:
    """A project with a memory, one in the trash, an odd file, and something to import."""
    (tmp_path / "from").mkdir()
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    memdir("remember", "Use uv, never pip.", "--name", "kept", "--scope", "user")
    memdir("remember", "Use uv, never pip.", "--name", "kept")
    memdir("remember", "The release is in March, always.", "--name", "gone")
    memdir("retire", "gone")
    Path(memdir("where", "--json").json["store"], "odd.md").symlink_to("nowhere")
    Path(".claude").mkdir()
    Path(".claude/settings.json").write_text('{"autoMemoryDirectory": "/else/where"}')
    Path("draft.md").write_text("---\nname: draft\n---\n\nNever deploy on a Monday.\n")
    Path("from/one.md").write_text("One from elsewhere.\n")
    Path("from/picture.png").write_text("")
    for title in ("Use pip", "Use npm"):
        memdir("records", "save", "--title", title, *UV.split())
    memdir("records", "retire", "use-npm")
    talk(Path("talk.jsonl"))
    ledger = Ledger(str(Path.home() / ".local/state/memdir"), time.time)
    ledger.reserve("select", "scripted", "", Usage(1, 1), Limits(10, 10))


def talk(path: Path) -> None:
    """A conversation with a wish, and with something that is only noticed."""
    words = ("remember that we deploy with helm", "no, don't mock the clock, we inject it")
    records = [
        {"type": "user", "uuid": f"u{n}", "message": {"role": "user", "content": text}}
        for n, text in enumerate(words)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    folder = Path(memdir("where", "--json").json["store"]).parent
    shutil.copy(path, folder / "past.jsonl")


def unlike(given: dict, table: dict[str, str], generate: ModuleType, where: str) -> list[str]:
    """Fields of an answer that its table does not have, and those it should have and has not."""
    known = {field.rstrip("?") for field in table}
    always = {field for field in table if not field.endswith("?")}
    found = [f"{where}.{field}: not in the reference" for field in given.keys() - known]
    found += [f"{where}.{field}: not in the answer" for field in always - given.keys()]
    for field, text in table.items():
        shapes, _ = generate.shapes_of(text)
        rows = given.get(field.rstrip("?"), []) if shapes else []
        for row in rows:
            wrong = [unlike(row, generate.SHAPES[s], generate, f"{where}.{field}") for s in shapes]
            found += min(wrong, key=len)
    return found


def test_the_pages_are_those_of_the_code():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_command_is_left_out():
    of_records = [f"records {name}" for name in RECORDS]
    known = [of_records if name == "records" else [name] for name in MODULES]
    assert [*ASKED] == [name for names in known for name in names]


@pytest.mark.parametrize("command", ASKED)
def test_the_fields_of_an_answer_are_those_of_the_reference(command, generate, filled):
    table, seen = generate.answer_fields(command), set()
    for words in ASKED[command]:
        answer = memdir(*command.split(), *words, "--json", stdin=STDIN.get(command, b""))
        assert answer.code in (0, 1), answer.stderr
        assert unlike(answer.json, table, generate, command) == []
        seen |= answer.json.keys()
    assert seen == {field.rstrip("?") for field in table}


def test_an_error_has_the_fields_of_the_reference(generate, filled):
    answer = memdir("edit", "kept", "--pin", "--if-hash", "0" * 64, "--json")
    page = generate.pages()["commands.md"]
    assert set(answer.error) == {"code", "message", "next", "path", "ours", "theirs"}
    assert all(f"`{field}`" in page for field in (*answer.error, answer.error["code"]))


def test_every_setting_is_described(generate):
    assert [*generate.MEANINGS] == [option.name for option in fields_of(Options)]
    variables = {*place.PATH_VARIABLES, *place.PLACE_VARIABLES}
    assert variables <= {*generate.OUR_PLACES, *generate.THEIR_PLACES}


def test_a_setting_does_what_the_page_says(generate, filled, monkeypatch):
    page = generate.pages()["settings.md"]
    toml = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert toml is not None
    config = Path(memdir("where", "--json").json["config_file"])
    config.parent.mkdir(parents=True)
    config.write_text(toml[1])
    for name in re.findall(r"`(MEMDIR_[A-Z_]+)`", page):
        monkeypatch.setenv(name, str(config.parent) if name in generate.OUR_PLACES else "1")
    monkeypatch.setenv("MEMDIR_MANAGED_SETTINGS", str(config.parent / "none.json"))
    where = memdir("where", "--json").json
    kinds = {finding["kind"] for finding in where["findings"]}
    assert kinds <= {"redirect-attempt"}, json.dumps(where["findings"])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_no_line_of_the_documents_is_too_long(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    prose = [line for line in lines if not line.startswith(("|", "$ ", "- ["))]
    assert [line for line in prose if len(line) > LONGEST] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_of_the_documents_leads_somewhere(path):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_every_test_that_the_threat_model_names_exists():
    text = (ROOT / "docs/design/threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[^`]+)`", text)
    assert len(named) > 50
    assert [test for test in named if not is_there(test)] == []

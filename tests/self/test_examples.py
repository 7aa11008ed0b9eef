"""Every example runs, does what it says, and passes the strictest check of types."""

import importlib.util
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from memdir.library import Memdir
from tests.conformance import own
from tests.helpers.scripted_server import Reply, Script, serve
from tests.self.source import ROOT

EXAMPLES = ROOT / "examples"
ON_THE_API = ("agent.py", "prefetch.py", "memory_tool.py")
FAMILIES = ("clients", "layouts", "models", "searches", "types")
MEMORY = "---\nname: release\ndescription: How releases are cut\n---\n\nNever tag by hand.\n"
needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None,
    reason="the SDK is not installed: pip install anthropic",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "release.md").write_text(MEMORY)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def at(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API is on loopback; no other change makes the example one of the tests."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", script.address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")


@needs_sdk
def test_the_agent_knows_what_it_was_told_and_learns(folder, monkeypatch, capsys):
    said = "please cut the next release\nremember: the staging host is called pelican\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(said))
    with serve(Reply("On it."), Reply("Noted.")) as script:
        at(script, monkeypatch)
        load("agent").main(str(folder))
    first, second = [request.body for request in script.requests]
    assert "Never tag by hand." in first["messages"][-1]["content"]
    assert str(folder) in first["system"]
    assert json.dumps(second["messages"]).count("Never tag by hand.") == 1  # still there, told once
    assert [one["role"] for one in second["messages"]] == ["user", "assistant", "user"]
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["On it.", "Noted.", "[saved: staging-host-called-pelican]"]
    assert "pelican" in Memdir.open(dir=str(folder)).recall("the staging host").text


@needs_sdk
def test_recall_runs_beside_the_model_call(folder, monkeypatch, capsys):
    with serve(Reply("Cut it.", wait=0.5)) as script:
        at(script, monkeypatch)
        load("prefetch").main([str(folder)])
    assert all(request.body["stream"] for request in script.requests)
    printed = capsys.readouterr().out
    assert printed.count("Plan: Cut it.") == 2
    assert printed.count("Never tag by hand.") == 1  # ready in time, and told once


@needs_sdk
def test_the_memory_tool_writes_into_the_store(folder, monkeypatch, capsys):
    made = {"command": "create", "path": "/memories/uv.md", "file_text": "Use uv.\n"}
    with serve(Reply(data=made, tool="memory"), Reply("Done.")) as script:
        at(script, monkeypatch)
        load("memory_tool").main([str(folder), "Remember uv."])
    assert (folder / "uv.md").read_text() == "Use uv.\n"
    printed = capsys.readouterr().out
    assert "[memory: " in printed and "Done." in printed
    Memdir.open(dir=str(folder)).undo()
    assert not (folder / "uv.md").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_there_is_a_member_in_one_file_of_every_family(family):
    """The suites of tests/conformance run over them, and tests/store/test_own_members.py."""
    names = [path.stem for path in (EXAMPLES / "own" / family).glob("*.py")]
    assert names
    for name in names:
        said = (EXAMPLES / "own" / family / f"{name}.py").read_text().split('"""')[1]
        assert f"~/.config/memdir/{family}/" in said
        assert own.registry.load_own(family, name, str(EXAMPLES / "own")).__doc__ == said


def test_the_code_of_the_library_guide_runs_and_prints_what_it_says(project, capsys):
    text = (ROOT / "docs/guides/library.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 1
    code = "\n".join(blocks)
    exec(compile(code, "library.md", "exec"), {})
    printed = iter(capsys.readouterr().out.splitlines())
    expected = re.findall(r"print\(.*\)  # (.+)", code)
    assert expected and [line for line in expected if line not in printed] == []  # in this order


@pytest.mark.slow
def test_whoever_checks_types_strictly_finds_nothing(tmp_path):
    """As the project does, which is `--strict` and more; its cache makes this cheap."""
    paths = [str(EXAMPLES / name) for name in ON_THE_API] if needs_sdk.args == (False,) else []
    user = tmp_path / "user.py"
    user.write_text(
        "from memdir import Memdir\n\n"
        "with Memdir.open(project='.', scope='all') as memory:\n"
        "    first: str = memory.recall('x', limit=3).text\n"
        "    memory.recall(5)  # type: ignore[arg-type]\n"
        "    names = [row.path for row in memory.list()]\n"
        "    told: tuple[str, str] = memory.get('x').hash, memory.recall('x').memories[0].from_\n"
        "    done: str = memory.add('x', pinned=True).change + memory.update('x', why='y').path\n"
        "    stale: int = memory.verify().counts['stale'] + memory.audit(deep=True).advice['fix']\n"
    )
    command = [sys.executable, "-m", "mypy", str(EXAMPLES / "own"), *paths, str(user)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

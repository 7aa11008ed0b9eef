"""The plugin: its manifests agree with the code, and its launcher never stands in the way."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memdir import __version__
from memdir.adapters.clients._plan import Host
from memdir.adapters.clients.claude_code import EVENTS, ID, command_line, marketplace, plugin_line
from memdir.core.frontmatter import utf16_units
from memdir.surfaces.cli.run import MODULES
from tests.self.source import PACKAGE, ROOT

PLUGIN = ROOT / "plugin"
TEXTS = sorted([*PLUGIN.glob("commands/*.md"), *PLUGIN.glob("skills/*/SKILL.md")])
TOLD = "import sys\nprint(sys.version_info >= (3, 11), sys.flags.isolated, *sys.argv[1:])\n"
OLD = "#!/bin/sh\nexit 1\n"  # as the check of the version ends
MOST_CHARACTERS = 300  # of descriptions that every session carries


def test_the_manifests_name_this_version_and_lead_to_the_plugin():
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())
    [offered] = market["plugins"]
    assert manifest["version"] == __version__
    assert f"{manifest['name']}@{market['name']}" == f"{offered['name']}@{market['name']}" == ID
    assert (ROOT / offered["source"]).resolve() == PLUGIN


def test_the_code_of_the_plugin_is_this_code():
    link = PLUGIN / "memdir"
    assert os.readlink(link) == "../src/memdir"  # inside the repository: so a client copies it
    assert link.resolve() == PACKAGE


def test_the_hooks_are_those_that_setup_writes():
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    given = {
        event: [(one["command"], one["timeout"]) for group in groups for one in group["hooks"]]
        for event, groups in hooks.items()
    }
    assert given == {name: [(plugin_line(event), s)] for name, event, s in EVENTS}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(PLUGIN)))
def test_a_text_of_the_plugin_names_only_commands_that_there_are(path):
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"`memdir ([a-z-]+)", text)) | set(
        re.findall(r"\(memdir ([a-z]+)", text)
    )
    assert named and named <= {*MODULES}
    slash = set(re.findall(r"/memdir:([a-z]+)", text))
    assert slash <= {one.stem for one in PLUGIN.glob("commands/*.md")}
    assert re.match(r"---\n(name: [a-z]+\n)?description: .{10,}\n", text)


def test_a_command_of_the_plugin_may_look_at_drafts_but_not_decide_on_them():
    """What waits may be planted: no yes to it may come from the agent that has just read it."""
    allowed = [
        rule
        for path in TEXTS
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("allowed-tools:")
        for rule in re.findall(r"memdir review[^)]*", line)
    ]
    assert sorted(allowed) == ["memdir review list:*", "memdir review show:*"]


def test_sessions_carry_only_two_short_descriptions():
    commands = [path.read_text("utf-8") for path in PLUGIN.glob("commands/*.md")]
    assert all("\ndisable-model-invocation: true\n" in text for text in commands)
    skills = [path.read_text("utf-8") for path in PLUGIN.glob("skills/*/SKILL.md")]
    told = [
        line for text in skills for line in text.splitlines() if line.startswith("description:")
    ]
    assert sum(map(utf16_units, told)) <= MOST_CHARACTERS


def test_a_wheel_brings_the_plugin_and_its_code_once(tmp_path):
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    package = tmp_path / "site/memdir"
    assert marketplace(Host("", "", str(package), "", "", {})) == str(package)
    brought = {path.relative_to(package / "plugin") for path in (package / "plugin").rglob("*")}
    own = {path.relative_to(PLUGIN) for path in PLUGIN.rglob("*")} - {Path("memdir")}
    assert brought == {path for path in own if path.parts[0] != "memdir"}
    assert (package / "surfaces/hooks/start.py").is_file()


# The launcher


@pytest.fixture
def root(tmp_path) -> Path:
    """A copy of the plugin as a client makes it, in a folder with an awkward name."""
    root = tmp_path / 'it\'s a "copy" $HOME'
    (root / "memdir/surfaces/hooks").mkdir(parents=True)
    (root / "memdir/surfaces/hooks/start.py").write_text(TOLD)
    shutil.copytree(PLUGIN / "hooks", root / "hooks")
    return root


@pytest.fixture
def programs(tmp_path) -> Path:
    """A PATH with the few programs of any system, and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("grep", "mkdir", "mv", "rm"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def put(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def python(folder: Path, name: str = "python3") -> Path:
    put(folder / name, f'#!/bin/sh\necho looked >>"{folder}/looked"\nexec {sys.executable} "$@"\n')
    return folder / name


def hook(root: Path, programs: Path, event: str = "prompt", **variables: str):
    line = plugin_line(event)
    given = {"CLAUDE_PLUGIN_ROOT": str(root), "CLAUDE_PLUGIN_DATA": str(root / "da ta")}
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        env={"PATH": str(programs), "HOME": str(root.parent), **given, **variables},
        input="{}",
        capture_output=True,
        text=True,
        cwd=root.parent,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_event_runs_with_a_python_that_is_remembered(root, programs):
    python(programs)
    assert hook(root, programs) == (0, "True 1 prompt\n", "")
    known = (root / "da ta/python").read_text().strip()
    assert os.path.isabs(known) and "bin/python" in known
    assert hook(root, programs, "session-end") == (0, "True 1 session-end\n", "")
    assert (programs / "looked").read_text() == "looked\n"  # once


def test_without_a_python_the_session_goes_on(root, programs):
    assert hook(root, programs, "session-start") == (0, "", "")
    assert hook(root, programs) == (0, "", "")


def test_an_old_python_is_asked_once_in_a_session(root, programs):
    put(programs / "python3", f'#!/bin/sh\necho x >>"{programs}/looked"\nexit 1\n')
    for event in ("session-start", "prompt", "prompt", "stop"):
        assert hook(root, programs, event) == (0, "", "")
    assert (programs / "looked").read_text() == "x\n"
    python(programs, "python3.13")
    assert hook(root, programs, "session-start") == (0, "True 1 session-start\n", "")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")


def test_a_python_that_is_gone_is_looked_for_again(root, programs):
    python(programs)
    (root / "da ta").mkdir()
    (root / "da ta/python").write_text("/gone/python3.12\n")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")


def test_what_cannot_be_remembered_is_looked_for_each_time(root, programs):
    python(programs)
    (root / "da ta").write_text("a file stands there")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")


def test_a_python_of_the_current_directory_is_not_run(root, programs):
    put(root.parent / "python3", "#!/bin/sh\necho planted\n")
    assert hook(root, programs, PATH=f".:{programs}") == (0, "", "")


def test_a_repository_cannot_name_the_python(root, programs):
    put(root.parent / "evil", "#!/bin/sh\necho planted\n")
    (root.parent / "python").write_text(f"{root.parent}/evil\n")
    planted = {name: str(root.parent) for name in ("MEMDIR_CACHE_DIR", "XDG_CACHE_HOME")}
    assert hook(root, programs, **planted) == (0, "", "")


def test_missing_code_or_a_missing_launcher_is_silent(root, programs):
    python(programs)
    (root / "memdir/surfaces/hooks/start.py").unlink()
    assert hook(root, programs) == (0, "", "")
    (root / "hooks/launch.sh").unlink()
    assert hook(root, programs) == (0, "", "")


def test_in_an_installed_package_the_code_lies_above(tmp_path, programs):
    package = tmp_path / "site packages/memdir"
    (package / "surfaces/hooks").mkdir(parents=True)
    (package / "surfaces/hooks/start.py").write_text(TOLD)
    shutil.copytree(PLUGIN / "hooks", package / "plugin/hooks")
    python(programs)
    assert hook(package / "plugin", programs) == (0, "True 1 prompt\n", "")


def test_a_folder_that_cannot_be_written_is_no_trouble(root, programs):
    python(programs)
    told = hook(root, programs, CLAUDE_PLUGIN_DATA="/proc/none")
    assert told == (0, "True 1 prompt\n", "")


def test_beside_hooks_in_the_settings_those_of_the_plugin_are_silent(root, programs):
    python(programs)
    settings = root.parent / ".claude/settings.json"
    settings.parent.mkdir()
    line = command_line(Host("/py", "", "/x/memdir", "/", "/", {}), "stop")
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": line}]}]}}))
    assert hook(root, programs, "session-start") == (0, "", "")
    assert hook(root, programs) == (0, "", "")
    settings.write_text("{}")
    assert hook(root, programs, "session-start") == (0, "True 1 session-start\n", "")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")


# The command for the agent's shell


def command(programs: Path, *words: str, **variables: str):
    done = subprocess.run(
        [str(PLUGIN / "bin/memdir"), *words],
        env={"PATH": f"{programs}:{PLUGIN / 'bin'}", "HOME": str(programs.parent), **variables},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def tools(programs) -> Path:
    (programs / "dirname").symlink_to(str(shutil.which("dirname")))
    return programs


def test_the_command_is_a_program():
    assert (PLUGIN / "bin/memdir").stat().st_mode & stat.S_IXUSR


def test_the_command_runs_the_code_of_the_plugin(tools):
    python(tools)
    code, out, _ = command(tools, "--version")
    assert (code, out) == (0, f"memdir {__version__}\n")


def test_an_installed_memdir_goes_first(tools):
    put(tools / "memdir", '#!/bin/sh\necho installed "$@"\n')
    assert command(tools, "list", "a b") == (0, "installed list a b\n", "")


def test_without_python_or_its_package_the_command_says_what_to_do(tools):
    put(tools / "python3", OLD)
    code, out, err = command(tools, "list")
    assert (code, out) == (1, "") and "Python 3.11 or newer" in err
    put(tools / "python3", "#!/bin/sh\ncase $* in *click*) exit 1;; esac\nexit 0\n")
    code, out, err = command(tools, "list")
    assert (code, out) == (1, "") and "pip' install click" in err

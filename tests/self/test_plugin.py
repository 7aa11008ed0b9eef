"""The plugin: its manifests agree with the code, and its launcher never stands in the way."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from memdir import __version__
from memdir.cli.main import MODULES
from memdir.clients.claude_code import (
    EVENTS,
    ID,
    claude_code_hook_line,
    claude_code_plugin_line,
    claude_marketplace,
)
from memdir.clients.setup import Host
from memdir.hot.memory import utf16_units
from tests.self.source import PACKAGE, ROOT

PLUGIN = ROOT / "plugin"
TEXTS = sorted([*PLUGIN.glob("commands/*.md"), *PLUGIN.glob("skills/*/SKILL.md")])
TOLD = "import sys\nprint(sys.version_info >= (3, 11), sys.flags.isolated, *sys.argv[1:])\n"
SILENT = (0, "", "")
MAX_CHARACTERS = 300  # of descriptions that every session carries


def test_the_manifests_name_this_version_and_lead_to_the_plugin():
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())
    [offered] = market["plugins"]
    assert manifest["version"] == __version__
    assert f"{manifest['name']}@{market['name']}" == f"{offered['name']}@{market['name']}" == ID
    assert (ROOT / offered["source"]).resolve() == PLUGIN
    assert os.readlink(PLUGIN / "memdir") == "../src/memdir"  # inside: so a client copies it


def test_the_hooks_are_those_that_setup_writes():
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    given = {
        event: [(one["command"], one["timeout"]) for group in groups for one in group["hooks"]]
        for event, groups in hooks.items()
    }
    assert given == {name: [(claude_code_plugin_line(event), s)] for name, event, s in EVENTS}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(PLUGIN)))
def test_a_text_of_the_plugin_names_only_commands_that_there_are(path):
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"[`(]memdir ([a-z-]+)", text))
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
    assert {*allowed} == {"memdir review list:*", "memdir review show:*"}


def test_skills_may_read_without_asking_and_change_nothing_so():
    reads = {"list", "search", "recall", "show", "records", "audit", "verify", "review"}
    for path in PLUGIN.glob("skills/*/SKILL.md"):
        if path.parent.name in ("memory", "upkeep"):
            allowed = re.search(r"^allowed-tools: (.*)$", path.read_text("utf-8"), re.MULTILINE)
            rules = re.findall(r"Bash\(memdir ([^)]*)\)", allowed[1])
            first = {re.split("[ :]", rule)[0] for rule in rules if "--dry-run" not in rule}
            assert rules and first <= reads and "records save" not in allowed[1]


def test_sessions_carry_only_short_descriptions():
    commands = [path.read_text("utf-8") for path in PLUGIN.glob("commands/*.md")]
    assert all("\ndisable-model-invocation: true\n" in text for text in commands)
    skills = [path.read_text("utf-8") for path in PLUGIN.glob("skills/*/SKILL.md")]
    told = re.findall(r"^description:.*", "\n".join(skills), re.MULTILINE)
    assert told and sum(map(utf16_units, told)) <= MAX_CHARACTERS


def built(kind: str, folder: Path) -> Path:
    words = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    [made] = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def names_in(folder: Path) -> set[Path]:
    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in names if "__pycache__" not in path.parts}


def test_a_wheel_brings_the_plugin_and_its_code_once(tmp_path):
    with zipfile.ZipFile(built("wheel", tmp_path)) as packed:
        packed.extractall(tmp_path / "site")
    package = tmp_path / "site/memdir"
    assert claude_marketplace(Host("", str(package), "", "", {})) == str(package)
    assert names_in(package / "plugin") == {
        path for path in names_in(PLUGIN) if path.parts[0] != "memdir"
    }
    # Templates, SQL, phrases, prompts, schemas: all that lies beside the code here lies there.
    parts = ("plugin", ".claude-plugin")
    assert names_in(PACKAGE) == {path for path in names_in(package) if path.parts[0] not in parts}


def test_an_sdist_has_the_code_although_a_link_of_the_plugin_leads_to_it(tmp_path):
    with tarfile.open(built("sdist", tmp_path)) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    wanted = {str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*.py")}
    assert wanted <= names and {"README.md", "LICENSE", "plugin/lib/click.whl"} <= names


# The launcher


@pytest.fixture
def root(tmp_path) -> Path:
    """A copy of the plugin as a client makes it, in a folder with an awkward name."""
    root = tmp_path / 'it\'s a "copy" $HOME'
    (root / "memdir/hot").mkdir(parents=True)
    (root / "memdir/hot/start.py").write_text(TOLD)
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


def note_of(root: Path) -> Path:
    """Where the launcher keeps what it found, beside the code it runs."""
    return root / "memdir/hot/__pycache__/launcher/python"


def run(words: list[str], programs: str, home: Path, **variables: str):
    done = subprocess.run(
        words,
        env={"PATH": programs, "HOME": str(home)} | variables,
        input="{}",
        capture_output=True,
        text=True,
        cwd=home,
    )
    return done.returncode, done.stdout, done.stderr


def hook(root: Path, programs: Path, event: str = "prompt", **variables: str):
    given = {"CLAUDE_PLUGIN_ROOT": str(root), "CLAUDE_PLUGIN_DATA": str(root.parent / "data")}
    words = ["/bin/sh", "-c", claude_code_plugin_line(event)]
    return run(words, str(programs), root.parent, **given | variables)


def test_the_event_runs_with_a_python_that_is_remembered(root, programs):
    python(programs)
    assert hook(root, programs) == (0, "True 1 prompt\n", "")
    noted = note_of(root).read_text().strip()
    assert os.path.isabs(noted) and "bin/python" in noted
    modes = [path.stat().st_mode & 0o777 for path in (note_of(root).parent, note_of(root))]
    assert modes == [0o700, 0o600]
    assert hook(root, programs, "session-end") == (0, "True 1 session-end\n", "")
    assert (programs / "looked").read_text() == "looked\n"  # once


def test_without_a_python_a_session_goes_on_and_an_old_one_is_asked_once(root, programs):
    assert hook(root, programs, "session-start") == SILENT
    put(programs / "python3", f'#!/bin/sh\necho x >>"{programs}/looked"\nexit 1\n')
    for event in ("session-start", "prompt", "prompt", "stop"):
        assert hook(root, programs, event) == SILENT
    assert (programs / "looked").read_text() == "x\n"
    python(programs, "python3.13")
    assert hook(root, programs, "session-start") == (0, "True 1 session-start\n", "")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")


def test_a_python_of_the_current_directory_is_not_run(root, programs):
    put(root.parent / "python3", "#!/bin/sh\necho planted\n")
    assert hook(root, programs, PATH=f".:{programs}") == SILENT


def evil(folder: Path) -> Path:
    """A program that tells on itself, by an answer and by a file."""
    put(folder / "evil", f'#!/bin/sh\necho planted\n: >"{folder}/ran"\n')
    return folder / "evil"


@pytest.fixture
def planted(root):
    """Such a program beside the plugin; at the end it has not run."""
    yield evil(root.parent)
    assert not (root.parent / "ran").exists()


def plant(root: Path, text: str) -> Path:
    """A note of the interpreter as the launcher itself leaves it."""
    note = note_of(root)
    note.parent.mkdir(parents=True)
    note.parent.chmod(0o700)
    note.write_text(text)
    note.chmod(0o600)
    return note


VARIABLES = ("CLAUDE_PLUGIN_DATA", "HOME", "MEMDIR_CACHE_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME")


@pytest.mark.parametrize("below", ["", ".cache/memdir", "memdir"])
@pytest.mark.parametrize("variable", VARIABLES)
def test_a_repository_cannot_name_the_python(root, programs, tmp_path, variable, below):
    repository = tmp_path / "clone"
    folder = repository / below
    folder.mkdir(parents=True)
    (folder / "python").write_text(f"{evil(repository)}\n")
    assert hook(root, programs, **{variable: str(repository)}) == SILENT
    python(programs)
    told = hook(root, programs, "session-start", **{variable: str(repository)})
    assert told == (0, "True 1 session-start\n", "")
    assert not (repository / "ran").exists()


def test_a_home_in_a_repository_has_no_file_of_the_user_written_over(root, programs, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("precious")
    clone = tmp_path / "clone"
    (clone / ".cache/memdir").mkdir(parents=True)
    (clone / ".claude").mkdir()
    (clone / ".claude/settings.json").write_text("memdir/hot/start.py")
    for name in ("python", "silent"):
        (clone / ".cache/memdir" / name).symlink_to(mine)
    for event in ("session-start", "prompt"):
        assert hook(root, programs, event, HOME=str(clone), CLAUDE_PLUGIN_DATA="") == SILENT
    assert mine.read_text() == "precious"


CHANGES = {
    "the group": lambda path: path.chmod(path.stat().st_mode | 0o020),
    "anybody": lambda path: path.chmod(path.stat().st_mode | 0o002),
    "its other owner": lambda path: os.chown(path, 65534, -1),
}


@pytest.mark.parametrize("who", CHANGES)
@pytest.mark.parametrize("which", ["folder", "note", "interpreter"])
def test_a_note_that_others_could_have_written_is_not_believed(root, programs, planted, which, who):
    if who == "its other owner" and os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    note = plant(root, f"{planted}\n")
    assert hook(root, programs) == (0, "planted\n", "")  # as it is, the note would be believed
    (root.parent / "ran").unlink()
    CHANGES[who]({"folder": note.parent, "note": note, "interpreter": planted}[which])
    assert hook(root, programs) == SILENT


def test_a_note_or_its_folder_that_is_a_link_is_not_believed(root, programs, planted, tmp_path):
    note = plant(root, f"{planted}\n")
    note.rename(tmp_path / "elsewhere")
    note.symlink_to(tmp_path / "elsewhere")
    assert hook(root, programs) == SILENT
    note.unlink()
    (tmp_path / "elsewhere").rename(note)
    note.parent.rename(tmp_path / "folder")
    note.parent.symlink_to(tmp_path / "folder")
    assert hook(root, programs) == SILENT
    note.unlink()
    os.mkfifo(note, 0o600)  # nor is a pipe waited for
    assert hook(root, programs) == SILENT


@pytest.mark.parametrize(
    "text",
    ["evil\n", "~/evil\n", "\n{evil}\n", "none\n{evil}\n", "{evil} \n", "{evil}", "/gone/python\n"],
)
def test_what_is_no_line_with_a_whole_path_names_no_python(root, programs, planted, text):
    plant(root, text.format(evil=planted))
    assert hook(root, programs) == SILENT


def test_a_line_end_in_a_path_is_neither_noted_nor_cut_off(root, programs, planted):
    put(programs / "python3", f"#!/bin/sh\nprintf '%s\\n/x' '{planted}'\n")
    assert hook(root, programs, "session-start") == SILENT
    assert note_of(root).read_text() == "none\n"


def test_missing_code_or_a_missing_launcher_is_silent(root, programs):
    python(programs)
    (root / "memdir/hot/start.py").unlink()
    assert hook(root, programs) == SILENT
    (root / "hooks/launch.sh").unlink()
    assert hook(root, programs) == SILENT


def test_beside_hooks_in_the_settings_those_of_the_plugin_are_silent(root, programs):
    python(programs)
    settings = root.parent / ".claude/settings.json"
    settings.parent.mkdir()
    line = claude_code_hook_line(Host("/py", "/x/memdir", "/", "/", {}), "stop")
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": line}]}]}}))
    assert hook(root, programs, "session-start") == SILENT
    assert hook(root, programs) == SILENT
    settings.write_text("{}")
    assert hook(root, programs, "session-start") == (0, "True 1 session-start\n", "")
    assert hook(root, programs) == (0, "True 1 prompt\n", "")


# The command for the agent's shell


def command(programs: Path, *words: str, plugin: Path = PLUGIN, **variables: str):
    path = f"{programs}:{plugin / 'bin'}"
    return run([str(plugin / "bin/memdir"), *words], path, programs.parent, **variables)


@pytest.fixture
def tools(programs) -> Path:
    (programs / "dirname").symlink_to(str(shutil.which("dirname")))
    return programs


@pytest.fixture
def copy(tmp_path) -> Path:
    """Beside the code of this tree there may be a note of a Python that was found before."""
    return shutil.copytree(PLUGIN, tmp_path / "plugin", ignore=lambda *_: ["__pycache__"])


def test_an_installed_memdir_goes_first(tools):
    put(tools / "memdir", '#!/bin/sh\necho installed "$@"\n')
    assert command(tools, "list", "a b") == (0, "installed list a b\n", "")


def test_the_command_needs_no_package(tools, copy):
    """A Python without packages: -S leaves out the folder in which they are."""
    put(tools / "python3", f'#!/bin/sh\nexec {sys._base_executable} -S "$@"\n')
    note = copy / "memdir/hot/__pycache__/launcher"
    note.mkdir(mode=0o700, parents=True)
    (note / "python").write_text(f"{tools}/python3\n")
    (note / "python").chmod(0o600)
    for words, shown in (
        (["--version"], f"memdir {__version__}"),
        (["remember", "Use uv, never pip.", "--name", "use-uv"], "created use-uv.md"),
        (["search", "uv"], "use-uv"),
        (["dream", "--dry-run"], "dry run"),
        (["undo"], "undone"),
        (["records", "status"], "0 records"),
    ):
        code, out, err = command(tools, *words, plugin=copy)
        assert (code, err) == (0, "") and shown in out, words


def test_the_package_beside_the_command_is_the_one_that_is_pinned():
    digest = hashlib.sha256((PLUGIN / "lib/click.whl").read_bytes()).hexdigest()
    pinned = (ROOT / "requirements/dev.txt").read_text().partition("\nclick==")[2].split("# via")[0]
    assert f"sha256:{digest}" in pinned


def test_a_home_in_a_repository_brings_no_python_for_the_command(tools, copy, tmp_path):
    clone = tmp_path / "clone"
    (clone / ".local/share/memdir/venv/bin").mkdir(parents=True)
    (clone / "memdir/venv/bin").mkdir(parents=True)
    for venv in (clone / ".local/share/memdir/venv", clone / "memdir/venv"):
        evil(venv / "bin").rename(venv / "bin/python")
    planted = {"HOME": str(clone), "XDG_DATA_HOME": str(clone), "CLAUDE_PLUGIN_DATA": str(clone)}
    put(tools / "python3", "#!/bin/sh\nexit 1\n")  # an old one: so the check of the version ends
    for words in (["list"], ["mcp"]):
        code, out, err = command(tools, *words, plugin=copy, **planted)
        assert (code, out) == (1, "") and "Python 3.11 or newer" in err
        assert "Next: install one" in err
    assert not list(clone.rglob("ran"))


def test_nothing_is_noted_where_others_could_change_it(root, programs):
    python(programs)
    folder = note_of(root).parent
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert hook(root, programs, "session-start") == (0, "True 1 session-start\n", "")
    assert list(folder.iterdir()) == []

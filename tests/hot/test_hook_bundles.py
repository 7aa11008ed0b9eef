"""The byte code of a hook in one file beside the code: used where it is sound, else made anew."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memdir.hot import bundling
from tests.helpers.hooked import EVENTS, SETTLED, Client
from tests.helpers.searching import memory
from tests.self.source import PACKAGE

pytestmark = pytest.mark.usefixtures("project")

PROMPT = "how do we restart the staging cluster?"
FACT = "The pelican job restarts the staging cluster."
SPEAKING = sorted(set(EVENTS) - {"pre-tool"})


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """One with a copy of the code: the bundles of this one are used by everybody."""
    package = tmp_path / "code/memdir"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    client = Client(tmp_path, package / "hot/start.py")
    client.write("pelican.md", memory("Pelican", FACT, f"{FACT} Never by hand."))
    time.sleep(SETTLED)
    return client


def told(client: Client) -> str:
    return client.fire("prompt", prompt=PROMPT, session_id="")


def bundles(client: Client) -> list[Path]:
    return sorted((client.start.parent / "__pycache__").glob("*.bin"))


def bundle_of(client: Client) -> Path:
    # A run that decides on a place or writes a catalog leaves none, the next one does.
    for _ in range(3):
        told(client)
    (found,) = bundles(client)
    return found


def test_the_next_start_takes_its_modules_from_one_file(client):
    bundle = bundle_of(client)
    folder = str(client.start.parent)
    code = f"import sys; sys.path.insert(0, {folder!r}); import starting\n"
    code += f"print(sorted(starting.read({str(bundle)!r}).modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert "memdir.hot.recall" in done.stdout, done.stderr
    assert "memdir.config.config" not in done.stdout


@pytest.mark.parametrize("event", SPEAKING)
def test_every_event_leaves_a_bundle_and_says_the_same_with_it(client, event):
    client.write(
        "rule.md", memory("Rule", "Answer every question in one sentence.", "", "feedback")
    )
    client.write("MEMORY.md", "- [A](a.md) — b\n", client.home / ".claude/agent-memory/Explore")
    time.sleep(SETTLED)
    said = [client.fire(event, prompt=PROMPT, session_id="") for _ in range(4)]
    assert len(bundles(client)) == 1
    without_nonce = {text[len("<memdir-00000000>") : -len("</memdir-00000000>")] for text in said}
    assert len(without_nonce) == 1
    assert bool(said[0]) == (event in ("prompt", "session-start", "subagent-start"))
    client.wait()


def test_code_that_is_not_ours_to_write_has_its_bundle_in_the_cache(client):
    (client.start.parent / "__pycache__").write_text("a file where a folder should be")
    for _ in range(3):
        assert FACT in told(client)
    (bundle,) = client.cache.glob("*.bin")
    facts = bundle.stat()
    assert FACT in told(client)
    assert (bundle.stat().st_ino, bundle.stat().st_mtime_ns) == (facts.st_ino, facts.st_mtime_ns)
    bundle.write_bytes(flipped(bundle.read_bytes()))
    assert FACT in told(client)


def flipped(data: bytes) -> bytes:
    return data[:5000] + bytes([data[5000] ^ 255]) + data[5001:]


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: b"garbage", lambda data: data[:-100], flipped]
)
def test_a_bundle_that_is_no_use_costs_nothing_but_time(client, damage):
    bundle = bundle_of(client)
    bundle.write_bytes(damage(bundle.read_bytes()))
    assert FACT in told(client)
    assert bundle_of(client).stat().st_size > 10_000  # made anew


def test_a_bundle_that_others_may_write_is_not_run(client):
    bundle = bundle_of(client)
    bundle.chmod(0o666)
    assert FACT in told(client)
    assert not bundle_of(client).stat().st_mode & 0o022  # replaced by one of ours


def test_a_bundle_is_not_used_when_a_module_has_changed(client):
    bundle_of(client)
    module = client.start.parent / "prompt.py"
    module.write_text(module.read_text().replace('NAME = "UserPromptSubmit"', 'NAME = "Changed"'))
    assert b'"Changed"' in client.run("prompt", client.event(EVENTS["prompt"], prompt=PROMPT))


def test_a_bundle_whose_code_does_not_run_is_made_anew(client):
    """The same size and time, another content: as a careless copy leaves it."""
    bundle = bundle_of(client)
    module = client.start.parent / "run.py"
    facts, sound = module.stat(), module.read_text()
    module.write_text(sound.replace("import os\n", "import xx\n", 1))
    os.utime(module, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    bundle.unlink()
    make = (
        f"import sys; sys.path[:0] = [{str(client.start.parent)!r}, {str(client.top / 'code')!r}]\n"
    )
    make += "import starting, memdir.surfaces.hooks.prompt as p, types\n"
    make += "m = types.ModuleType('memdir.hot.run'); "
    make += f"m.__file__ = {str(module)!r}; sys.modules[m.__name__] = m\n"
    make += "from memdir.surfaces.hooks import bundling\n"
    make += f"bundling.write({str(bundle)!r}, starting.ROOT, starting.MAGIC)"
    subprocess.run([sys.executable, "-I", "-S", "-c", make], check=True)
    module.write_text(sound)
    os.utime(module, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert FACT in told(client)


@pytest.mark.parametrize("module", ["starting.py", "run.py", "place.py", "ending.py", "opening.py"])
@pytest.mark.parametrize("text", ["", "syntax error", "import no_such_module", None])
def test_broken_code_of_ours_breaks_no_session(client, module, text):
    path = client.start.parent / module
    path.unlink() if text is None else path.write_text(text)
    for event in EVENTS:
        client.fire(event)
    client.wait()


def test_what_only_a_type_checker_reads_is_left_out(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "TYPE_CHECKING = False\n"
        "if TYPE_CHECKING:\n    import no_such_module\n"
        "if TYPE_CHECKING:\n    other = 1\nelse:\n    other = 2\n"
        "one: no_such_type = 1\nnone: no_such_type\n"
        "class Some:\n    part: no_such_type = 3\n    bare: no_such_type\n"
        "def add(a: no_such_type, *b: no_such_type, c: no_such_type = 4) -> no_such_type:\n"
        "    'Said to nobody.'\n    d: no_such_type = a\n    return d + sum(b) + c\n"
    )
    names: dict = {}
    exec(bundling._code(str(module)), names)
    assert (names["one"], names["other"], names["Some"].part, names["add"](1, 2)) == (1, 2, 3, 7)
    assert "none" not in names and not names["add"].__annotations__
    assert names["add"].__doc__ is None


def test_trouble_in_a_bundle_is_logged_with_its_function(client):
    bundle_of(client)
    client.run("prompt", b"{", str(client.state), str(client.cache), f"project={client.store}")
    assert "event.py:" in client.log() and "(_texts)" in client.log()

"""Wrong words, threads beside asyncio, two processes, a store that vanishes."""

import asyncio
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memdir
from memdir import Conflict, Memdir, MemdirError, Missing
from tests.self.source import SRC

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def memory(tmp_path: Path) -> Memdir:
    memory = Memdir.open(dir=tmp_path / "memories")
    memory.add("Releases are cut with make release.", name="release")
    return memory


WRONG = [
    (lambda m: m.list("nonsense"), "type 'nonsense' is not known"),
    (lambda m: m.save("Use uv.", type="nonsense"), "type 'nonsense' is not known"),
    (lambda m: m.save("Use uv.", name="../../etc/passwd"), "name"),
    (lambda m: m.save("x\0y"), "NUL"),
    (lambda m: m.save("half \ud800"), "half a character"),
    (lambda m: m.save(" "), "empty"),
    (lambda m: m.get("../../etc/passwd"), "passwd"),
    (lambda m: m.forget("/etc/passwd"), "passwd"),
    (lambda m: m.update("release", "New.", if_hash=""), "hash to expect is empty"),
    (lambda m: m.capture("/no/such/file.jsonl"), "there is no transcript"),
    (lambda m: m.capture(None), "a list of messages"),
    (lambda m: m.prompt("quiet"), "there is no mode 'quiet'"),
    (lambda m: Memdir.open(scope="nowhere"), "nowhere"),
]


@pytest.mark.parametrize(("ask", "says"), WRONG)
def test_what_cannot_be_taken_is_a_sentence_with_a_next_step(memory, ask, says):
    with pytest.raises(MemdirError) as caught:
        ask(memory)
    assert says in caught.value.message and caught.value.next
    assert [row.name for row in memory.list()] == ["release"]


def test_a_value_of_a_wrong_type_is_not_written(memory):
    with pytest.raises(TypeError):
        memory.undo(None)
    with pytest.raises(KeyError):
        memory.update("release", pinned="no")


def test_only_the_version_that_was_read_is_changed(memory):
    read = memory.get("release").hash
    memory.update("release", "Releases are cut with make ship.", if_hash=read)
    assert memory.list()[0].description == "Releases are cut with make ship."  # it follows the text
    with pytest.raises(Conflict) as caught:
        memory.update("release", "Releases are cut by hand.", if_hash=read)
    assert caught.value.path == "release.md" and b"make ship" in caught.value.theirs


def test_a_store_that_vanishes_is_empty_and_can_be_written_again(memory, tmp_path):
    shutil.rmtree(tmp_path / "memories")
    assert memory.list() == [] and memory.recall("cut a release").memories == ()
    with pytest.raises(Missing):
        memory.get("release")
    assert memory.add("Use uv.", name="uv", anyway=True).change == "created"
    assert [row.name for row in memory.list()] == ["uv"]


def test_a_directory_that_is_gone_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    os.rmdir(tmp_path / "gone")
    with pytest.raises(Missing, match="current directory is gone") as caught:
        Memdir.open()
    assert caught.value.next


def test_threads_asyncio_and_another_process_lose_nothing(memory, tmp_path):
    def save(name: str) -> None:
        memory.add(f"The fact called {name} is a fact.", name=name, anyway=True)
        assert memory.recall(f"the fact called {name}").memories

    async def work() -> None:
        calls = (memory.aio.add(f"Said {n} times.", name=f"a{n}", anyway=True) for n in range(4))
        await asyncio.gather(*calls)

    code = "import sys; from memdir import Memdir; m = Memdir.open(dir=sys.argv[1]);"
    code += "[m.add(f'Number {n} is a number.', name=f'p{n}', anyway=True) for n in range(4)]"
    command = [sys.executable, "-c", code, str(tmp_path / "memories")]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(SRC)}) as other:
        with ThreadPoolExecutor(4) as pool:
            done = [pool.submit(save, f"t{n}") for n in range(4)]
            asyncio.run(work())
        assert other.wait() == 0
    for future in done:
        future.result()
    names = {f"{who}{n}" for who in "apt" for n in range(4)}
    assert {row.name for row in memory.list()} == {"release", *names}


def test_every_error_is_imported_from_the_top():
    for name in memdir.__all__:
        assert getattr(memdir, name) is not None
    with pytest.raises(AttributeError):
        memdir.nothing  # noqa: B018

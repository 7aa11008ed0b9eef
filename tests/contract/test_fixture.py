"""What version 0.1.0 left behind is opened and goes on: no step by hand, nothing lost."""

import fcntl
import json
import os
import re
import shutil
import sys
import tarfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract.home import CODE, Home

CLIENTS = ("claude-code", "codex", "gemini-cli", "opencode", "cursor")
SETTINGS = (".claude", ".codex", ".gemini", ".config/opencode", ".cursor")
HELD = "f788cfebb23d"
HOOK_LINE = re.compile(r"test -x \S+ && test -r \S+ && exec [^;]+; exit 0")


@pytest.fixture
def old() -> Iterator[Home]:
    with restored() as home:
        yield home


def ask(home: Home, *words: str) -> Any:
    """The JSON of a command that succeeds."""
    answer = home.memdir(*words, "--json")
    assert answer.code == 0, answer.out.decode() + answer.err.decode()
    return json.loads(answer.out)


def names(home: Home, *words: str) -> set[str]:
    return {memory["name"] for memory in ask(home, "list", *words)["memories"]}


def test_every_scope_still_lists_its_memories(old: Home) -> None:
    project = {"deploy-tuesdays", "invoices-are-numbered-by-year", "old-totals", "use-uv"}
    assert names(old) == project
    assert names(old, "--scope", "user") == {"short-answers"}
    assert names(old, "--scope", "local") == {"staging-oslo"}
    assert names(old, "--scope", "team") == {"two-reviewers"}
    assert names(old, "--scope", "agent:helper@user") == {"grep-first"}
    assert names(old, "--scope", "records") == {"use-uv"}


def test_the_history_lists_shows_and_undoes_what_was_done(old: Home) -> None:
    verbs = [change["verb"] for change in ask(old, "log", "-n", "0")["changes"]]
    done = ["save", "archive", "save", "retire", "save", "save", "edit", "save", "begin"]
    assert verbs == done
    first = ask(old, "log", "use-uv")["changes"][-1]["id"]
    assert ask(old, "show", f"use-uv@{first}")["description"] == "Use uv, never pip."
    for _ in range(3):
        ask(old, "undo")
    assert names(old) == {"deploy-tuesdays", "old-totals", "use-uv"}
    ask(old, "undo", "--scope", "records")
    assert "tabs-not-spaces" in names(old, "--scope", "records")


def test_trash_and_archive_give_memories_back(old: Home) -> None:
    ask(old, "restore", "flask-plan", "migration-2023")
    assert {"flask-plan", "migration-2023"} <= names(old)
    assert b"The old plan was to use Flask." in (old.store / "flask-plan.md").read_bytes()
    ask(old, "records", "restore", "tabs-not-spaces")
    assert "tabs-not-spaces" in names(old, "--scope", "records")


def test_what_was_captured_stays_captured(old: Home) -> None:
    assert [held["id"] for held in ask(old, "review", "list")["held"]] == [HELD]
    ask(old, "review", "approve", HELD)
    assert "dont-mock-database-tests" in names(old)
    answer = ask(old, "capture", "--transcript", str(old.store / "../s1.jsonl"), "--no-model")
    assert answer["received"] == 0


def test_a_worker_takes_the_job_that_waits(old: Home) -> None:
    queue = old.home / ".local/state/memdir/queue"
    assert b'"session":"s2"' in queue.read_bytes()
    event = {"session_id": "s3", "cwd": str(old.project), "source": "startup"}
    old.hook("session-start", json.dumps(event).encode())
    assert ask(old, "status")["queued"] == 0
    assert "the-printer-is-called-bertha" in names(old)


def test_a_session_is_told_nothing_twice(old: Home) -> None:
    event = {"cwd": str(old.project), "prompt": "Where are the totals summed?"}
    told = [
        old.hook("prompt", json.dumps({**event, "session_id": session}).encode()).out
        for session in ("s1", "new")
    ]
    assert told[0] == b"" and b"checked: src/totals.py removed" in told[1]


def test_verdicts_and_spending_are_those_of_before(old: Home) -> None:
    verdicts = [claim["verdict"] for claim in ask(old, "verify", "old-totals")["claims"]]
    assert verdicts.count("stale") == 3
    (entry,) = ask(old, "budget")["entries"]
    assert (entry["input_tokens"], entry["output_tokens"]) == (900, 20)
    assert ask(old, "budget")["limits"]["day"] == 50_000


def test_doctor_is_content(old: Home) -> None:
    checks = json.loads(old.installed("doctor", "--json").out)["checks"]
    wrong = {check["name"] for check in checks if not check["ok"]}
    # Of a Python that has a name in /usr/bin, doctor rightly wants that name in the settings.
    folders, name = ("/usr/bin", "/usr/local/bin"), f"python3.{sys.version_info.minor}"
    python = os.path.realpath(sys.executable)
    if any(os.path.realpath(f"{folder}/{name}") == python for folder in folders):
        wrong -= {"setup", *CLIENTS}
    assert wrong == set(), [check for check in checks if not check["ok"]]


def test_every_hook_line_of_the_settings_answers(old: Home) -> None:
    files = [path for folder in SETTINGS for path in (old.home / folder).rglob("*.js*")]
    lines = {line for path in files for line in HOOK_LINE.findall(path.read_text("utf-8"))}
    assert len(lines) >= 15
    event = {"cwd": str(old.project), "workspace_roots": [str(old.project)]}
    prompt = {"prompt": "Where are the totals summed?", "source": "startup"}
    for number, line in enumerate(sorted(lines)):
        given = json.dumps({**event, **prompt, "session_id": f"n{number}"})
        answer = old.run(["sh", "-c", line], given.encode())
        assert (answer.code, answer.err) == (0, b""), line
        if line.endswith((" prompt; exit 0", " session-start; exit 0")):
            assert b"Totals" in answer.out or b"Standing rules" in answer.out, line


def test_every_server_of_the_settings_answers(old: Home) -> None:
    def read(name: str) -> Any:
        return json.loads((old.home / name).read_bytes())

    codex = tomllib.loads((old.home / ".codex/config.toml").read_text())["mcp_servers"]["memdir"]
    servers = [codex, read(".gemini/settings.json")["mcpServers"]["memdir"]]
    servers += [read(".cursor/mcp.json")["mcpServers"]["memdir"]]
    lines = [[server["command"], *server["args"]] for server in servers]
    lines += [read(".config/opencode/opencode.json")["mcp"]["memdir"]["command"]]
    for line in lines:
        words = [word.replace("${workspaceFolder}", str(old.project)) for word in line]
        answer = old.run(words, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        assert json.loads(answer.out)["result"] == {}, (line, answer.err)


def test_setup_takes_its_lines_out_again_byte_for_byte(old: Home) -> None:
    for client in CLIENTS:
        ask(old, "setup", client, "--remove")
    originals = {
        path.relative_to(old.home / "originals"): path.read_bytes()
        for path in (old.home / "originals").rglob("*")
        if path.is_file()
    }
    assert len(originals) == 6
    left: dict[Path, bytes] = {}
    for folder in SETTINGS:
        for path in (old.home / folder).rglob("*"):
            if path.is_file() and not {"projects", "memory", "agent-memory"} & {*path.parts}:
                left[path.relative_to(old.home)] = path.read_bytes()
    assert left == originals


FIXTURE = Path(__file__).parent / "fixture-0.1.0"
ARCHIVE = FIXTURE / "home.tar.xz"  # made-by.txt says how
AGE_SECONDS = 600  # of what is tidied up once it is old
TOP = "/dev/shm/memdir-0.1.0"  # in memory: every command waits for the disk
LOCK = f"{TOP}-{os.geteuid()}.lock"
PYTHON, PACKAGE = f"{TOP}/bin/python3", f"{TOP}/code/memdir"


@contextmanager
def _place() -> Iterator[Home]:
    """The place alone, with links to the code; skipped aloud where somebody else has it."""
    try:
        lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        pytest.skip(f"{LOCK}, which guards the place of the fixture: {error.strerror}")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.lexists(TOP) and (os.path.islink(TOP) or os.lstat(TOP).st_uid != os.geteuid()):
            pytest.skip(f"{TOP}, the place of the fixture, belongs to somebody else")
        shutil.rmtree(TOP, ignore_errors=True)
        for link, target in (
            (PYTHON, os.path.realpath(sys.executable)),
            (PACKAGE, CODE / "src/memdir"),
        ):
            os.makedirs(os.path.dirname(link))
            os.symlink(target, link)
        home = Home(TOP)
        yield home
        home.wait()
        shutil.rmtree(TOP)
    finally:
        os.close(lock)


@contextmanager
def restored() -> Iterator[Home]:
    """The fixture, where it was made."""
    with _place() as home:
        shutil.rmtree(home.home)
        with tarfile.open(ARCHIVE) as archive:
            archive.extraction_filter = lambda member, path: member  # ours; 3.11.2 knows none
            archive.extractall(TOP, [_fresh(member) for member in archive.getmembers()])
        yield home


def _fresh(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """What is tidied up once it is old is of late; everything else is as old as it was."""
    if member.name.startswith(("home/.local", "home/.cache")):
        member.mtime = int(time.time()) - AGE_SECONDS
    member.uid, member.gid = os.geteuid(), os.getegid()
    return member

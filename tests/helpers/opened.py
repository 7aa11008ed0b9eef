"""A store with everything that belongs to it, in a throw-away home, with a clock one can set."""

import os
import subprocess
from pathlib import Path

from memdir.audit import ages
from memdir.capture import review
from memdir.config.config import read_config
from memdir.format.draft import Draft, Revision, Wishes
from memdir.store import changes, look
from memdir.store.writer import App, open_app

NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z, a Monday
DAY = 86_400


class Opened:
    """`now` is the clock, `said` what the person was told; options are those of config.toml."""

    def __init__(self, top: Path, **options: object) -> None:
        self.top = top
        self.home = top / "home"
        self.root = self.home / "memory"
        self.dir: str | None = str(self.root)
        self.project = top / "project"
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        self.now = NOON
        self.said: list[str] = []
        self.options = {f"MEMDIR_{key.upper()}": str(value) for key, value in options.items()}

    def app(self, *, dry_run: bool = False, actor: str = "tester", scope: str = "project") -> App:
        env = {"HOME": str(self.home), **self.options}
        config = read_config(env, str(self.project), dir=self.dir, scope=scope)
        return open_app(
            config, now=lambda: self.now, tell=self.said.append, actor=actor, dry_run=dry_run
        )

    def save(self, body: str, name: str = "", **fields: object):
        """Save a draft; near-duplicates are no matter here."""
        return changes.save_memory(
            self.app(), Draft(body, name=name, **fields), Wishes(anyway=True)
        )

    def write(self, path: str, data: bytes | str) -> Path:
        """What somebody else puts into the store."""
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(data.encode() if isinstance(data, str) else data)
        return where

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    @property
    def index(self) -> str:
        return self.read("MEMORY.md")

    def files(self) -> dict[str, bytes]:
        """Every file of the store with its bytes."""
        return tree(self.root)

    def verbs(self) -> list[str]:
        """The log, the oldest first, as `verb name`."""
        logged = look.store_log(self.app())
        return [f"{one.verb} {one.name}".strip() for one in reversed(logged)]

    @property
    def state(self) -> Path:
        (folder,) = (self.home / ".local/state/memdir/stores").iterdir()
        return folder

    def git(self, *command: str) -> str:
        """What the real git says about the history."""
        line = ["git", "--git-dir", str(self.state / "history.git"), *command]
        done = subprocess.run(
            line, capture_output=True, check=False, env={"PATH": os.environ["PATH"]}
        )
        assert done.returncode == 0, done.stderr.decode()
        return (done.stdout + done.stderr).decode("utf-8", "replace")


def tree(top: Path) -> dict[str, bytes]:
    """Every file below a directory with its bytes; a link counts by where it leads."""
    found: dict[str, bytes] = {}
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(top))
        if path.is_symlink():
            found[name] = b"-> " + os.fsencode(os.readlink(path))
        elif path.is_file():
            found[name] = path.read_bytes()
        elif path.is_dir():
            found[name + "/"] = b""
    return found


def memory(name: str, description: str = "", body: str = "Text", type: str = "user") -> str:
    """The text of a memory as somebody else would write it."""
    description = description or f"About {name}"
    return f"---\nname: {name}\ndescription: {description}\ntype: {type}\n---\n\n{body}\n"


def edit(opened: Opened, name: str, body: str):
    return changes.edit_memory(opened.app(), name, Revision("", body=body), Wishes())


def still_works(opened: Opened) -> None:
    """The other memories are listed, can be changed, and the change can be undone."""
    before = opened.read("good.md")
    listed, _ = ages.list_memory_ages(opened.app())
    assert "good.md" in [one.memory.path for one in listed]
    changes.touch_memories(opened.app(), ["good"])
    assert "last_verified" in opened.read("good.md")
    review.undo_and_hold_again(opened.app())
    assert opened.read("good.md") == before


def findings(opened: Opened) -> dict[str, str]:
    return {finding.path: finding.message for finding in ages.list_memory_ages(opened.app())[1]}

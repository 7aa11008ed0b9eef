"""Two projects, a linked worktree, and the sessions that Claude Code left behind there."""

import os
from pathlib import Path

from memdir.capture.extract import Extraction, extract_past_sessions
from memdir.capture.inbox import open_inbox
from memdir.config.config import read_config
from memdir.config.scope import project_scope_name
from memdir.store.writer import App, open_app
from tests.helpers.conversing import Conversation
from tests.helpers.repositories import Checkout

NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z
HOUR = 3600

TUESDAY = "Remember that we deploy only on Tuesdays. The release team is in then."
OSLO = "Please remember: the staging cluster is in Oslo."
NO_MOCKS = "From now on don't mock the database in tests."
READABLE = "Always prefer readable code over clever code."
NO_FORCE = "Never force-push to main, you always do that!"


class Sessions:
    """`now` is the clock; `shop` and `bakery` are projects, `tree` is a worktree of the shop."""

    def __init__(self, top: Path) -> None:
        top = Path(os.path.realpath(top))
        self.home = top / "home"
        self.home.mkdir()
        self.shop, self.bakery, self.tree = top / "shop", top / "bakery", top / "shop-tree"
        self.git = Checkout(self.shop)
        self.git.commit({"README.md": "A shop.\n"})
        self.git.git("worktree", "add", "--quiet", str(self.tree))
        Checkout(self.bakery).commit({"README.md": "A bakery.\n"})
        self.now, self.count = NOON, 0
        self.told: list[str] = []
        self.options: dict[str, str] = {}

    def session(self, *texts: str, cwd: Path | None = None, folder: Path | None = None):
        """A session in which a person and the agent spoke in turns; each is newer than the last."""
        cwd = cwd or self.shop
        self.count += 1
        name = f"{self.count:08d}-aaaa-bbbb-cccc-000000000000.jsonl"
        path = self.home / ".claude/projects" / project_scope_name(str(folder or cwd)) / name
        talk = Conversation(path, str(cwd))
        path.touch()
        talk.say(*texts)
        when = NOON - 30 * 24 * HOUR + self.count * HOUR
        os.utime(path, (when, when))
        return talk

    def app(
        self, project: Path | None = None, *, dry_run: bool = False, dir: str | None = None
    ) -> App:
        env = {"HOME": str(self.home), **self.options}
        config = read_config(env, str(project or self.shop), dir=dir)
        return open_app(
            config, now=lambda: self.now, tell=self.told.append, actor="tester", dry_run=dry_run
        )

    def extract(
        self,
        project: Path | None = None,
        *,
        dry_run: bool = False,
        dir: str | None = None,
        **chosen: object,
    ) -> Extraction:
        self.now += 60
        app = self.app(project, dry_run=dry_run, dir=dir)
        return extract_past_sessions(app, **chosen)  # type: ignore[arg-type]

    def store(self, project: Path | None = None) -> Path:
        return Path(self.app(project).config.store)

    def memories(self, project: Path | None = None) -> dict[str, str]:
        """The memories of a store with their texts."""
        found = self.store(project).glob("*.md")
        return {path.name: path.read_text() for path in found if path.name != "MEMORY.md"}

    def held(self, project: Path | None = None) -> list[str]:
        """What waits for a review, as texts."""
        waiting = open_inbox(self.app(project)).list()
        return [held.catch.draft.body for held in waiting if held.catch.draft]


def found(made: Extraction) -> list[tuple[str, str, str]]:
    """Destination, outcome and text of each thing."""
    return [
        (one.routed.to, one.outcome, one.routed.catch.draft.body if one.routed.catch.draft else "")
        for one in made.items
    ]

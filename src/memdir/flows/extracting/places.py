"""The project that a past session was about: its store, what is known there, its pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from memdir.adapters.inbox import open_inbox
from memdir.adapters.patches import Page, read_page, read_pages
from memdir.app import CLAUDE_MD, App, open_app
from memdir.config import DIR, Config, read_config
from memdir.core import frontmatter
from memdir.core.drafting import Rules
from memdir.core.errors import MemdirError
from memdir.core.ports import ARCHIVE, TRASH
from memdir.core.routing import Known, Text
from memdir.core.scope import below
from memdir.flows.undone import find_undone, learned_text

KNOWLEDGE_FOLDER = "docs/knowledge"


@dataclass(frozen=True)
class Place:
    """An originating project; `root` is where its CLAUDE.md lies."""

    app: App
    root: str
    rules: Rules
    known: Known
    claude_md: Page
    undone: tuple[tuple[float, Known], ...] = ()  # what was taken back, and when


@dataclass
class Places:
    """Opens each project once; `app` is the one that stands where the person stands."""

    app: App
    opened: dict[str, Place] = field(default_factory=dict)

    def find(self, project: str, cwd: str) -> Place | str:
        """Where a session belongs that was started in this project; else why it cannot be told."""
        if not cwd:
            return "its transcript does not say in which directory it was"
        if not os.path.isdir(project):
            return f"the directory it was started in is gone: {project}"
        try:
            config = read_config(self.app.config.environ, _standing(project, cwd))
        except MemdirError as error:
            return f"its project cannot be opened: {error.message}"
        here = config.project_root == self.app.config.project_root
        config = self.app.config if here else config
        if not here and (by := _named_by(self.app.config)):
            return f"it is about {config.project_root}, but {by} names another store"
        if not config.enabled:
            return f"memory is switched off for {config.checkout} ({config.enabled_by})"
        if config.store not in self.opened:
            self.opened[config.store] = self._open(config, here)
        return self.opened[config.store]

    def _open(self, config: Config, here: bool) -> Place:
        mine = self.app
        app = mine if here else open_app(
            config, now=mine.now, tell=mine.tell, actor=mine.actor, dry_run=mine.dry_run
        )  # fmt: skip
        root = config.project_root
        root = root if os.path.lexists(os.path.join(root, ".git")) else config.checkout
        page = read_page(root, CLAUDE_MD)
        rules = replace(app.rules(), claude_md=frontmatter.decode(page.data or b""))
        texts = [*_memories(app), *_waiting(app), *_pages(root)]
        known = Known([*texts, Text(CLAUDE_MD, rules.claude_md)])
        undone = tuple((one.time, Known([one.text])) for one in find_undone(app))
        return Place(app, root, rules, known, page, undone)


def _named_by(config: Config) -> str:
    """The option that says into which store to save; empty where each session's own counts."""
    if config.step == DIR:
        return DIR
    return "" if config.scope.kind == "project" else f"--scope {config.scope}"


def _standing(project: str, cwd: str) -> str:
    """Where the session was, as far as that is still there; never above its project.

    Whoever changes the directory on the way goes on in the same project.
    """
    tops = (project.rstrip("/"), os.path.realpath(project))
    for place in (cwd, os.path.realpath(cwd)):
        while any(below(place, top) for top in tops):
            if os.path.isdir(place):
                return place
            place = os.path.dirname(place)
    return project


def _memories(app: App) -> Iterator[Text]:
    """What the store says, and what was put away: nobody wants that back unasked."""
    if app.store.exists():
        for path in app.store.files():
            try:
                yield learned_text(path, app.store.read(path))
            except MemdirError:
                continue  # it cannot be read, so it cannot be compared
        yield Text(app.store.index_path, frontmatter.decode(app.store.index() or b""))
    for room in (TRASH, ARCHIVE):
        for shelved in app.shelf.list(room):
            try:
                yield learned_text(shelved.path, app.shelf.read(shelved), f" (in the {room})")
            except MemdirError:
                continue


def _waiting(app: App) -> Iterator[Text]:
    for held in open_inbox(app).list():
        draft, origin = held.catch.draft, held.catch.origin
        if draft is not None:
            said = f"{draft.description}\n{draft.body}"
            yield Text(f"the review inbox ({held.id})", said, origin.session, origin.message)


def _pages(root: str) -> Iterator[Text]:
    for page in read_pages(root, KNOWLEDGE_FOLDER):
        yield Text(page.path, frontmatter.decode(page.data or b""))

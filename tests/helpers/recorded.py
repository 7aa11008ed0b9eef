"""A store of records in a throw-away checkout, with a clock one can set."""

import copy
import hashlib
import json
from pathlib import Path

from memdir.records import folders
from memdir.records.record import read_all_records
from memdir.records.write import Request, write_record_request
from memdir.store.writer import App
from tests.helpers.opened import Opened, tree
from tests.helpers.samples import CONTENTS

TITLE = "Use SQLite for the catalog"
PATH = "decisions/use-sqlite-for-the-catalog.json"


class Recorded(Opened):
    """`now` is the clock, `said` what the person was told."""

    def __init__(self, top: Path, **options: object) -> None:
        super().__init__(top, **options)
        self.root, self.dir = self.project / ".claude/memory", None
        (self.project / ".git").mkdir(exist_ok=True)

    def app(self, *, dry_run: bool = False, actor: str = "tester", scope: str = "records") -> App:
        return super().app(dry_run=dry_run, actor=actor, scope=scope)

    def create(self, title: str = TITLE, type: str = "decision", **changed: object):
        return self.act("create", type=type, draft=draft(type, title=title, **changed))

    def update(self, path: str = PATH, hash: str = "", **changed: object):
        """An update on what stands there, with an entry of the log."""
        standing = self.record(path)
        entry = {"date": "2026-03-02T12:00:00Z", "summary": "because"}
        new = {"changes": [*standing["changes"], entry], **changed}
        return self.act("update", path, draft=new, expected=hash or self.hash(path))

    def act(self, action: str, target: str = "", **wanted: object):
        return write_record_request(self.app(), Request(action, target=target, **wanted))

    def settings(self, **said: object) -> None:
        self.write("memory-config.json", json.dumps(said))

    def record(self, path: str = PATH) -> dict:
        return json.loads(self.bytes(path))

    def bytes(self, path: str = PATH) -> bytes:
        return (self.root / path).read_bytes()

    def hash(self, path: str = PATH) -> str:
        return hashlib.md5(self.bytes(path), usedforsecurity=False).hexdigest()

    def files(self) -> dict[str, bytes]:
        return {path: data for path, data in tree(self.root).items() if not path.endswith("/")}

    @property
    def index(self) -> str:
        return self.read("index.md")

    def in_step(self) -> bool:
        """Is the index what the records make of it, byte for byte?"""
        return self.index == folders.build_record_index(
            read_all_records(self.app().store)[0].items()
        )


def draft(type: str = "decision", **changed: object) -> dict:
    """What somebody who knows nothing of the store would hand in."""
    content = copy.deepcopy(CONTENTS[type]) | changed.pop("content", {})
    return {"title": TITLE, "tags": ["storage"], "content": content} | changed

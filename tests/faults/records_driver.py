"""Every action of `memdir records` on one store, through the real flows: what the harnesses break.

ROOT holds home/, project/ and state/, as in driver.py; the records lie in project/.claude/memory.
"""

from __future__ import annotations

import copy
import json
import os
from typing import Any

from memdir.capture import review
from memdir.errors import BadInput
from memdir.format.draft import hash_of
from memdir.records import batch, index_md, lifecycle, write
from memdir.records.batch import read_intents
from memdir.records.write import Request
from memdir.store.writer import App, Done
from tests.faults import driver, seeds
from tests.helpers.samples import CONTENTS

DAY = 86_400.0
BELOW = "project/.claude/memory/"
SETTINGS = "memory-config.json"
USED = "decisions/use-sqlite-for-the-catalog.json"
RENAMED = "decisions/postgres-holds-every-table.json"
TABS = "preferences/tabs-not-spaces.json"
PULL = "runbooks/ci-hangs-at-docker-pull.json"
OLD = "tech-debt/retries-are-fixed.json"
FROZEN = "constraints/ten-requests-a-second.json"
LATER = "decisions/afterwards.json"
READ = "HASH_THAT_WAS_READ"  # a file of the client, and what its commands have of it
ENVIRONMENT = {"old-kept": {"MEMDIR_HISTORY": "false"}, "old-name": {"MEMDIR_HISTORY": "false"}}


def draft(type: str, title: str, **more: Any) -> dict[str, Any]:
    """What somebody who knows nothing of the store hands in; long enough for two writes."""
    content = copy.deepcopy(CONTENTS[type])
    return {"title": title, "tags": ["storage", type], "content": content, **more}


def open_root(
    root: str, tell: Any, operation: str = "", now: float = driver.NOW, **options: str
) -> App:
    """The records of ROOT/project, wired as a command of the group would."""
    more = {READ: _noted(root), **ENVIRONMENT.get(operation, {})}
    return driver.open_root(root, tell, "", now, "records", more, **options)


def _noted(root: str) -> str:
    try:
        with open(f"{root}/home/{READ}", encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        return ""


# -- the actions -------------------------------------------------------------------------------


def create(app: App) -> Done:
    new = draft("decision", "Queue in one file", related_files=["a.py", "b.py"])
    return write.write(app, Request("create", "decision", draft=new))


def update(app: App) -> Done:
    return _update(app, content={"context": "It needs one more.\n" + "C" * 5000})


def rename(app: App) -> Done:
    return _update(app, title="Postgres holds every table")


def _update(app: App, **more: Any) -> Done:
    """With the hash of the version that was read, long before any accident."""
    new = {"changes": [{"summary": "because"}], **more}
    read = app.config.environ[READ]
    return write.write(app, Request("update", target=USED, draft=new, expected=read))


def delete(app: App) -> Done:
    return write.write(app, Request("delete", target=TABS, reason="superseded"))


def archive(app: App) -> Done:
    return write.change_status(app, [TABS, PULL], "archive", "kept for ever")


def unarchive(app: App) -> Done:
    return write.write(app, Request("unarchive", target=FROZEN))


def restore(app: App) -> Done:
    return write.change_status(app, [OLD], "", "needed again")


def tidy(app: App) -> Done:
    return lifecycle.collect_garbage(app)


def window(app: App) -> Done:
    return lifecycle.roll_window(app)


def summary(app: App) -> Done:
    """A session summary for which the window has to be rolled."""
    new = draft("session_summary", "The sixth session")
    return write.write(app, Request("create", "session_summary", draft=new))


def save(app: App) -> Done:
    return write.save_record(app, "preference", draft("preference", "Long lines wrap"), "said")


def save_again(app: App) -> Done:
    said = draft("preference", "Tabs not spaces", tags=["storage", "style"])
    return write.save_record(app, "preference", said, "said again")


def commit(app: App) -> Done:
    """A batch of a conversation: one is created, one updated, one retired."""
    intents = [
        {"category": "runbook", "action": "CREATE", "record": draft("runbook", "Deploy by hand")},
        {
            "category": "preference",
            "action": "UPDATE",
            "target": TABS,
            "new_info": "tabs not spaces storage",
            "record": {"content": {"reason": "The team voted again."}},
        },
        {
            "category": "tech_debt",
            "action": "DELETE",
            "target": "tech-debt/logs-grow.json",
            "new_info": "logs grow storage",
            "lifecycle_event": "resolved",
            "reason": "they are rotated",
        },
    ]
    results, done = batch.commit_intents(app, read_intents({"intents": intents}, lambda path: b""))
    for one in results:
        if one.outcome != batch.DONE:
            raise BadInput(f"{one.path}: {one.outcome}: {one.reason}", next="look at the batch")
    return done


def rebuild(app: App) -> Done:
    done = index_md.rebuild_index(app)
    if done.remarks:  # what nobody could read is told, and then it may not be in the index
        raise BadInput("; ".join(done.remarks), next="look at the disk")
    return done


def undo(app: App) -> Done:
    return review.undo_changes(app)


def later(app: App, name: str = "") -> Done:
    """The next command: whatever happened before, it must work and bring all in step."""
    return write.write(app, Request("create", "decision", draft=draft("decision", "Afterwards")))


OPERATIONS: dict[str, driver.Operation] = {
    "create": create,
    "first": create,
    "update": update,
    "old-kept": update,
    "rename": rename,
    "old-name": rename,
    "delete": delete,
    "archive": archive,
    "unarchive": unarchive,
    "restore": restore,
    "purge": tidy,
    "archive-retired": tidy,
    "retention": tidy,
    "window": window,
    "summary": summary,
    "save": save,
    "save-again": save_again,
    "commit": commit,
    "index": rebuild,
    "undo-rename": undo,
}
WORLD = driver.World(OPERATIONS, open_root)


# -- what lies there before --------------------------------------------------------------------


def prepare(root: str, operation: str) -> None:
    """Records of five types, one retired and one archived, and what this action needs besides."""
    seeds.make_root(root)
    os.mkdir(f"{root}/project/.git", 0o700)
    if operation == "first":
        return
    _put(root, operation, 50, "decision", "Use SQLite for the catalog")
    _put(root, operation, 50, "preference", "Tabs not spaces")
    _put(root, operation, 50, "runbook", "CI hangs at docker pull")
    _put(root, operation, 50, "tech_debt", "Retries are fixed")
    _put(root, operation, 50, "constraint", "Ten requests a second")
    with open(f"{root}/{BELOW}{USED}", "rb") as record:
        _write(f"{root}/home/{READ}", hash_of(record.read()))
    _act(root, operation, 2, "delete", OLD)
    _act(root, operation, 2, "archive", FROZEN)
    if operation in ("purge", "archive-retired"):
        _settings(root, {"delete": {"archive_retired": operation == "archive-retired"}})
        for title in ("First idea", "Second idea"):
            _put(root, operation, 50, "decision", title)
            _act(root, operation, 40, "delete", f"decisions/{title.lower().replace(' ', '-')}.json")
    elif operation == "retention":
        for title in ("Long ago", "Longer ago"):
            _put(root, operation, 100, "session_summary", title)
    elif operation in ("window", "summary"):
        for number in range(5):
            _put(root, operation, 10 - number, "session_summary", f"Session number {number}")
    elif operation == "commit":
        _put(root, operation, 50, "tech_debt", "Logs grow")
    elif operation == "undo-rename":
        rename(open_root(root, print, now=driver.NOW - 900))
    _leave(root, operation)


def _leave(root: str, operation: str) -> None:
    """What only others leave behind: a narrower window, an index that says nothing of the rest."""
    if operation == "window":
        _settings(root, {"categories": {"session_summary": {"max_retained": 2}}})
    elif operation == "index":
        _write(
            f"{root}/{BELOW}index.md",
            "# Memory index\n\n- [DECISION] Gone -> decisions/gone.json\n",
        )
    open_root(root, print, operation, now=driver.NOW - 600).snapshot()


def _put(root: str, operation: str, days: float, type: str, title: str) -> None:
    app = open_root(root, print, operation, now=driver.NOW - days * DAY)
    write.write(app, Request("create", type, draft=draft(type, title)))


def _act(root: str, operation: str, days: float, action: str, path: str) -> None:
    app = open_root(root, print, operation, now=driver.NOW - days * DAY)
    write.write(app, Request(action, target=path, reason="no longer"))


def _settings(root: str, said: dict[str, Any]) -> None:
    _write(f"{root}/{BELOW}{SETTINGS}", json.dumps(said))


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text)

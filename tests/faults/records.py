"""Every action of `memdir records`, and the stores that the actions start from."""

import copy
import json
import os
from typing import Any

from memdir.capture import review
from memdir.errors import BadInput
from memdir.format.draft import content_hash
from memdir.records import batch, folders, lifecycle, record, write
from memdir.records.write import Request
from memdir.store.writer import App, Done
from tests.faults import trees
from tests.faults.checker import BELOW, USED, RecordView
from tests.faults.driver import NOW, World
from tests.helpers.samples import CONTENTS
from tests.helpers.tables import table

DAY = 86_400.0
SETTINGS = "memory-config.json"
TABS = "preferences/tabs-not-spaces.json"
PULL = "runbooks/ci-hangs-at-docker-pull.json"
OLD = "tech-debt/retries-are-fixed.json"
FROZEN = "constraints/ten-requests-a-second.json"
NO_HISTORY = {"MEMDIR_HISTORY": "false"}
# What a person hears who gives the same command again after it was cut off, and that is right.
DONE_ALREADY = (record.OCC_CONFLICT, record.READ)
read_hash: dict[str, str] = {}  # of the record that is updated, as a client read it long before


def draft(type: str, title: str, **more: Any) -> dict[str, Any]:
    """What somebody who knows nothing of the store hands in; long enough for two writes."""
    content = copy.deepcopy(CONTENTS[type])
    return {"title": title, "tags": ["storage", type], "content": content, **more}


# -- the actions -------------------------------------------------------------------------------


def make(app: App, type: str, title: str, **more: Any) -> Done:
    return write.write_record_request(
        app, Request("create", type, draft=draft(type, title, **more))
    )


def create(app: App) -> Done:
    return make(app, "decision", "Queue in one file", related_files=["a.py", "b.py"])


def update(app: App) -> Done:
    return _update(app, content={"context": "It needs one more.\n" + "C" * 5000})


def rename(app: App) -> Done:
    return _update(app, title="Postgres holds every table")


def _update(app: App, **more: Any) -> Done:
    new = {"changes": [{"summary": "because"}], **more}
    return write.write_record_request(
        app, Request("update", target=USED, draft=new, expected=read_hash[USED])
    )


def delete(app: App) -> Done:
    return write.write_record_request(app, Request("delete", target=TABS, reason="superseded"))


def save(app: App) -> Done:
    return write.save_record(app, "preference", draft("preference", "Long lines wrap"), "said")


def save_again(app: App) -> Done:
    said = draft("preference", "Tabs not spaces", tags=["storage", "style"])
    return write.save_record(app, "preference", said, "said again")


def commit(app: App) -> Done:
    created, *others = copy.deepcopy(table("faults", "intents"))
    created["record"] = draft(created["category"], created.pop("title"))
    intents = [{**intent, "verdict": "PASS"} for intent in (created, *others)]
    given = batch.read_record_intents({"intents": intents}, lambda path: b"")
    results, done = batch.commit_record_intents(app, given)
    for item in results:
        if item.outcome != batch.DONE:
            raise BadInput(f"{item.path}: {item.outcome}: {item.reason}", next="look at the batch")
    return done


def rebuild(app: App) -> Done:
    done = folders.rebuild_record_index(app)
    if done.remarks:  # what nobody could read is told, and then it may not be in the index
        raise BadInput("; ".join(done.remarks), next="look at the disk")
    return done


def later(app: App) -> Done:
    return make(app, "decision", "Afterwards")


OPERATIONS = {
    "create": create,
    "first": create,
    "update": update,
    "old-kept": update,
    "rename": rename,
    "old-name": rename,
    "delete": delete,
    "archive": lambda app: write.change_status_of_records(
        app, [TABS, PULL], "archive", "kept for ever"
    ),
    "unarchive": lambda app: write.write_record_request(app, Request("unarchive", target=FROZEN)),
    "restore": lambda app: write.change_status_of_records(app, [OLD], "", "needed again"),
    "purge": lifecycle.collect_record_garbage,
    "archive-retired": lifecycle.collect_record_garbage,
    "retention": lifecycle.collect_record_garbage,
    "window": lifecycle.roll_record_window,
    # A session summary for which the window has to be rolled.
    "summary": lambda app: make(app, "session_summary", "The sixth session"),
    "save": save,
    "save-again": save_again,
    "commit": commit,
    "index": rebuild,
    "undo-rename": review.undo_and_hold_again,
}

# -- what lies there before --------------------------------------------------------------------


def prepare(root: str, operation: str) -> None:
    """Records of five types, one retired and one archived, and what this action needs besides."""

    def app(days: float) -> App:
        return WORLD.open(root, operation, now=NOW - days * DAY)

    def put(days: float, type: str, *titles: str) -> None:
        for title in titles:
            make(app(days), type, title)

    def act(days: float, action: str, path: str) -> None:
        write.write_record_request(app(days), Request(action, target=path, reason="no longer"))

    make_root(root)
    if operation == "first":
        return
    put(50, "decision", "Use SQLite for the catalog")
    put(50, "preference", "Tabs not spaces")
    put(50, "runbook", "CI hangs at docker pull")
    put(50, "tech_debt", "Retries are fixed")
    put(50, "constraint", "Ten requests a second")
    read_hash[USED] = content_hash(trees.read(f"{root}/{BELOW}{USED}"))
    act(2, "delete", OLD)
    act(2, "archive", FROZEN)
    if operation in ("purge", "archive-retired"):
        put_settings(root, {"delete": {"archive_retired": operation == "archive-retired"}})
        put(50, "decision", "First idea", "Second idea")
        for name in ("first-idea", "second-idea"):
            act(40, "delete", f"decisions/{name}.json")
    elif operation == "retention":
        put(100, "session_summary", "Long ago", "Longer ago")
    elif operation in ("window", "summary"):
        for number in range(5):
            put(10 - number, "session_summary", f"Session number {number}")
    elif operation == "commit":
        put(50, "tech_debt", "Logs grow")
    elif operation == "undo-rename":
        rename(WORLD.open(root, now=NOW - 900))
    # What only others leave behind: a narrower window, an index that says nothing of the rest.
    if operation == "window":
        put_settings(root, {"categories": {"session_summary": {"max_retained": 2}}})
    elif operation == "index":
        trees.write(f"{root}/{BELOW}index.md", table("faults", "texts")["lie"].encode())
    WORLD.open(root, operation, now=NOW - 600).snapshot()


def make_root(root: str) -> None:
    trees.make_root(root)
    os.mkdir(f"{root}/project/.git", 0o700)


def put_settings(root: str, settings: dict[str, Any]) -> None:
    trees.write(f"{root}/{BELOW}{SETTINGS}", json.dumps(settings).encode())


WORLD = World(
    scope="records",
    view=RecordView,
    operations=OPERATIONS,
    prepare=prepare,
    later=later,
    new="decisions/afterwards.json",
    rebuild=rebuild,
    # Run again, a batch finds what it had created, and an undo takes one more change back.
    again=frozenset(OPERATIONS) - {"commit", "undo-rename"},
    is_right=lambda error: getattr(error, "record_code", "") in DONE_ALREADY,
    environment={"old-kept": NO_HISTORY, "old-name": NO_HISTORY},
)

"""The store of an invented project with two weeks of life in it, made by the real flows."""

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.config.config import read_config
from memdir.format.draft import Draft, Wishes
from memdir.hot.run import TOLD, keep_told
from memdir.recall.answer import recall
from memdir.store.changes import save_memory
from memdir.store.writer import App, open_app, store_state_folder
from tests.helpers.tables import tables

DAY = 86_400
COMMIT = ("commit", "-q", "--no-gpg-sign", "-m")
AUTHOR = ("-c", "user.name=Ines", "-c", "user.email=ines@example.invalid")


def open_store(project: Path, environ: Mapping[str, str], days: float = 0) -> App:
    """As of so many days ago."""
    then = time.time() - days * DAY
    config = read_config(environ, os.fspath(project), project=os.fspath(project))
    return open_app(config, now=lambda: then, tell=print, actor="cli")


def make_demo_store(project: Path, environ: Mapping[str, str]) -> Path:
    """Fills the project and its store; returns where the memories lie."""
    told = tables("demo_store")
    for path, text in told["code"].items():
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    shared = told["shared"]
    memory = project / ".claude/memory" / f"{shared['name']}.md"
    memory.parent.mkdir(parents=True)
    memory.write_text(_memory(shared))
    _git(project, environ, ["init", "-q"], ["add", "."], [*COMMIT, "Begin"])

    for row in told["saved"]:
        app = open_store(project, environ, row["days"])
        draft = Draft(row["text"].strip(), row["type"], row["name"], row["description"])
        done = save_memory(app, draft, Wishes(anyway=True))
        assert all(change.changed for change in done.changes), done
    store = Path(app.store.root)
    for old, new in told["moved"].items():
        (project / new).parent.mkdir()
        _git(project, environ, ["mv", old, new], [*COMMIT, f"Move {old}"])
    _be_told(project, environ)

    outside = told["outside"]
    file = store / f"{outside['name']}.md"
    head, _, _ = file.read_text().rpartition("---\n")
    file.write_text(f"{head}---\n\n{outside['text']}\n")
    open_store(project, environ, outside["days"]).snapshot()

    for row in told["drafts"]:
        app = open_store(project, environ, row["days"])
        origin = Origin("claude-code", "9d41c07e", row["quote"], row["who"], "", row["quote"])
        catch = Catch(origin, draft=Draft(row["text"], row["type"]))
        open_inbox(app).hold(catch, row["reason"], app.now())
    return store


def _be_told(project: Path, environ: Mapping[str, str]) -> None:
    """What the hook writes down for each prompt, under the day on which it was asked."""
    prompts = [(days, row) for row in tables("demo_store")["prompts"] for days in row["days"]]
    app, times = open_store(project, environ), []
    for days, row in sorted(prompts, key=lambda pair: -pair[0]):
        answer = recall([("project", app)], row["text"])
        session = f"{row['session']}-{int(days):02}"
        given = answer.injected.bodies, answer.injected.pointers
        keep_told(store_state_folder(app.config), len(answer.text), *given, session, row["text"])
        times.append(time.time() - days * DAY)
    log = Path(store_state_folder(app.config)) / TOLD
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    dated = [{**line, "time": int(then)} for line, then in zip(lines, times, strict=True)]
    log.write_text("".join(json.dumps(line) + "\n" for line in dated))


def _git(project: Path, environ: Mapping[str, str], *commands: list[str]) -> None:
    for words in commands:
        subprocess.run(["git", *AUTHOR, *words], cwd=project, env=environ, check=True)


def _memory(row: Mapping[str, str]) -> str:
    fields = "".join(f"{key}: {row[key]}\n" for key in ("name", "description", "type"))
    return f"---\n{fields}---\n\n{row['text']}\n"

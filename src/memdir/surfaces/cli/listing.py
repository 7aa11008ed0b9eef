"""list, manifest, types: what there is."""

from __future__ import annotations

import click

from memdir import flows
from memdir.app import App
from memdir.core import dates, manifest, types
from memdir.core.finding import Finding
from memdir.core.listing import Listed
from memdir.core.memory import UNKNOWN
from memdir.surfaces.cli.answers import Fields, finding_fields, finding_lines
from memdir.surfaces.cli.screen import Cell
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import line, visible

ROWS = 200  # enough for a person to look through; a program gets all
BARS = "▁▂▃▄▅▆▇█"
STYLES = {"keep": "green", "review": "yellow", "prune": "red"}
HEADINGS = ("name", "type", "age", "stale", "description")
NAME_SHARE = 0.42  # of the line


@command("list", "memdir list --scope all")
@click.option(
    "--limit", type=click.IntRange(0), default=ROWS, help=f"Rows at most ({ROWS}); 0 shows all."
)
@click.option(
    "--type", type=click.Choice((*types.names(), UNKNOWN)), metavar="TYPE", help="Only this type."
)
def list_(session: Session, limit: int, type: str | None) -> None:
    """List the memories, the most recently confirmed first.

    `stale` is 0 for fresh and 100 for worn out; from 50 on a memory wants a look. A * marks
    what is pinned.
    """
    found: list[tuple[str, App, Listed]] = []
    findings: list[Finding] = list(session.config.findings)
    heads: list[tuple[str, App, int]] = []
    for scope, app in session.apps():
        listed, broken = flows.list_memories(app)
        wanted = [one for one in listed if type is None or one.memory.type == type]
        found += [(scope, app, one) for one in wanted]
        findings += broken
        heads.append((scope, app, len(wanted)))
    fields: Fields = {
        "store": session.config.store,
        "layout": heads[0][1].store.layout if heads else "markdown",
        "shape": heads[0][1].store.shape if heads else "no directory",
        "memories": [_fields(scope, app, one) for scope, app, one in found],
        "findings": [finding_fields(finding) for finding in findings],
    }
    lines: list[str] = []
    if not session.screen.json:
        lines = _lines(session, heads, found, limit)
        lines += ["", *finding_lines(session.screen, findings)] if findings else []
    session.screen.answer(fields, lines)


def _fields(scope: str, app: App, listed: Listed) -> Fields:
    memory = listed.memory
    return {
        "path": memory.path,
        "name": memory.name,
        "type": memory.type,
        "description": memory.description,
        "modified": dates.iso_time(memory.clock),
        "age_days": listed.age_days,
        "score": listed.score,
        "action": listed.action,
        "pinned": memory.pinned,
        "bytes": memory.size,
        "scope": scope,
        "store": app.store.root,
    }


def _lines(
    session: Session,
    heads: list[tuple[str, App, int]],
    found: list[tuple[str, App, Listed]],
    limit: int,
) -> list[str]:
    screen, lines = session.screen, list[str]()
    for at, (scope, app, count) in enumerate(heads):
        rows = [one for name, _, one in found if name == scope]
        word = "memory" if count == 1 else "memories"
        title = f"{scope}: {count:,} {word} in {session.short(app.store.root)}"
        lines += [""] if at else []
        lines += screen.block("", title, "")
        shown = rows[:limit] if limit > 0 else rows
        if shown:
            head: list[Cell] = [(text, "dim") for text in HEADINGS]
            widest = (int(screen.columns * NAME_SHARE),)
            lines += ["", *screen.table([head, *map(_row, shown)], widest)]
        if len(shown) < count:
            lines += ["", f"  shown: {len(shown):,} of {count:,}; all of them: --limit 0"]
        if not count:
            lines += ["", '  Save the first one: memdir remember "TEXT"']
    return lines


def _row(listed: Listed) -> list[Cell]:
    memory = listed.memory
    bar = BARS[min(listed.score * len(BARS) // 100, len(BARS) - 1)]
    name = memory.path[:-3] if memory.path[-3:] == ".md" else memory.path
    return [
        (name + (" *" if memory.pinned else ""), "bold"),
        memory.type,
        dates.age_words(listed.age_days),
        (f"{bar} {listed.score:3}", STYLES[listed.action]),
        memory.description,
    ]


@command("manifest", "memdir manifest")
def manifest_(session: Session) -> None:
    """Print the list that a model chooses from: the newest 200."""
    texts, total = [], 0
    for _, app in session.apps():
        memories = [one.memory for one in flows.list_memories(app)[0]]
        texts += [manifest.manifest(memories)] if memories else []
        total += len(memories)
    text = "\n".join(texts)
    shown = sum(part.count("\n") + 1 for part in texts)
    fields: Fields = {"text": text, "shown": shown, "total": total}
    session.screen.answer(fields, [line(one) for one in text.split("\n")] if text else [])


@command("types", "memdir types")
def types_(session: Session) -> None:
    """Show the types of memory and what each is for."""
    known = [types.get(name) for name in types.names()]
    fields: Fields = {
        "types": [{key: getattr(one, key) for key in types.Type.__slots__} for one in known]
    }
    head: list[Cell] = [(text, "dim") for text in ("type", "half-life", "what it is for")]
    rows: list[list[Cell]] = [
        [(one.name, "bold"), f"{one.half_life_days} days", visible(one.purpose)] for one in known
    ]
    lines = session.screen.table([head, *rows])
    lines += ["", "Choose one: memdir remember TEXT --type TYPE"]
    session.screen.answer(fields, lines)

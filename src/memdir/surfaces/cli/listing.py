"""list, manifest, types: what there is."""

from __future__ import annotations

import click

from memdir import flows, registry
from memdir.app import App
from memdir.core import dates, manifest, types
from memdir.core.acceptance import NOT_YET
from memdir.core.drafting import check_type
from memdir.core.finding import Finding
from memdir.core.listing import Listed
from memdir.core.memory import UNKNOWN
from memdir.core.scope import RECORDS
from memdir.flows.acceptance import waiting_paths
from memdir.surfaces.cli.answers import Fields, finding_fields, finding_lines
from memdir.surfaces.cli.screen import Cell, Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count, cut_middle, line

ROWS = 200  # enough for a person to look through; a program gets all
BARS = "▁▂▃▄▅▆▇█"
STYLES = {"keep": "green", "review": "yellow", "prune": "red"}
HEADINGS = ("name", "type", "age", "stale", "description")
NAME_SHARE = 0.42  # of the line


@command("list", "memdir list --scope all")
@click.option(
    "--limit", type=click.IntRange(0), default=ROWS, help=f"Rows at most ({ROWS}); 0 shows all."
)
@click.option("--type", metavar="TYPE", help="Only this type.")
def list_(session: Session, limit: int, type: str | None) -> None:
    """List the memories, the most recently confirmed first.

    `stale` is 0 for fresh and 100 for worn out; from 50 on a memory wants a look. A * marks
    what is pinned, `not accepted yet` what others wrote and no agent is told (memdir review).
    """
    waiting: dict[str, frozenset[str]] = {}
    found: list[tuple[str, App, Listed]] = []
    findings: list[Finding] = list(session.config.findings)
    heads: list[tuple[str, App, int]] = []
    for scope, app in session.apps():
        listed, broken = flows.list_memories(app)
        wanted = [one for one in listed if type is None or one.memory.type == type]
        found += [(scope, app, one) for one in wanted]
        findings += broken
        waiting[scope] = waiting_paths(app)
        heads.append((scope, app, len(wanted)))
    check_type(type or UNKNOWN)
    fields: Fields = {
        "store": session.config.store,
        "layout": heads[0][1].store.layout if heads else "markdown",
        "shape": heads[0][1].store.shape if heads else "no directory",
        "memories": [
            {**_fields(scope, app, one), "accepted": one.memory.path not in waiting[scope]}
            for scope, app, one in found
        ],
        "findings": [finding_fields(finding) for finding in findings],
    }
    lines: list[str] = []
    if not session.screen.json:
        lines = _lines(session, heads, found, limit, waiting)
        lines += ["", *finding_lines(session.screen, findings)] if findings else []
    session.screen.answer(fields, lines)


def _fields(scope: str, app: App, listed: Listed) -> Fields:
    memory = listed.memory
    return {
        "path": memory.path,
        "name": memory.name,
        "type": memory.type,
        "description": memory.description,
        "modified": dates.iso_time(listed.clock),
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
    waiting: dict[str, frozenset[str]],
) -> list[str]:
    screen, lines = session.screen, list[str]()
    for at, (scope, app, total) in enumerate(heads):
        rows = [one for name, _, one in found if name == scope]
        title = f"{scope}: {count(total, 'memory', 'memories')} in {session.short(app.store.root)}"
        lines += [""] if at else []
        lines += screen.block("", title, "")
        shown = rows[:limit] if limit > 0 else rows
        if shown:
            head: list[Cell] = [(text, "dim") for text in HEADINGS]
            widest = int(screen.columns * NAME_SHARE)
            lines += [
                "",
                *screen.table([head, *[_row(one, widest, waiting[scope]) for one in shown]]),
            ]
        if len(shown) < total:
            lines += ["", f"  shown: {len(shown):,} of {total:,}; all of them: --limit 0"]
        if not total:
            first = "memdir records save" if scope == RECORDS else 'memdir remember "TEXT"'
            text = screen.advise(first, scope)
            lines += ["", *screen.block("Save the first one:", text)]
    return lines


def _row(listed: Listed, widest: int, waiting: frozenset[str]) -> list[Cell]:
    memory = listed.memory
    about = f"{NOT_YET}: {memory.description}" if memory.path in waiting else memory.description
    mark = " *" if memory.pinned else ""
    bar = BARS[min(listed.score * len(BARS) // 100, len(BARS) - 1)]
    name = line(memory.path.removesuffix(".md").removesuffix(".json"))
    return [
        (cut_middle(name, widest - len(mark)) + mark, "bold"),
        memory.type,
        dates.age_words(listed.age_days),
        (f"{bar} {listed.score:3}", STYLES[listed.action]),
        about,
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


@command("types", "memdir types feedback")
@click.argument("type", required=False, metavar="[TYPE]")
def types_(session: Session, type: str | None) -> None:
    """Show the types of memory and what each is for, or all about one."""
    registry.use_types(session.config.own, session.screen.tell)
    check_type(type or UNKNOWN)
    known = [types.get(name) for name in types.names() if type in (None, name)]
    fields: Fields = {
        "types": [{key: getattr(one, key) for key in types.Type.__slots__} for one in known]
    }
    screen = session.screen
    lines = [text for one in known for text in _type_lines(screen, one, type is not None)]
    lines += ["", f"Choose one: memdir remember TEXT --type {type or 'TYPE'}"]
    screen.answer(fields, lines)


def _type_lines(screen: Screen, one: types.Type, whole: bool) -> list[str]:
    if not whole:
        return screen.block(f"{one.name:16}", one.purpose, "", "bold")
    rows = [
        ("for", one.purpose),
        ("save it", one.when_to_save),
        ("use it", one.how_to_use),
        ("its text", one.body),
        ("shared", one.scope_lean),
        ("half-life", f"{one.half_life_days} days: then its score is 50"),
    ]
    lines = [screen.paint(one.name, "bold")]
    for label, said in rows:
        lines += screen.block(f"{label + ':':10}", said)
    return [
        *lines,
        "",
        "  An example:",
        "",
        *[("  " + text).rstrip() for text in one.example.split("\n")],
    ]

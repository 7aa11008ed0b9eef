"""List, show, load, index, where, types, manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from memdir.audit import ages
from memdir.audit.ages import Listed
from memdir.capture.origin import told_by
from memdir.cli.command import Session, command
from memdir.cli.output import (
    Cell,
    Fields,
    Screen,
    advised,
    done_fields,
    done_lines,
    finding_fields,
    finding_lines,
)
from memdir.errors import BadInput, Finding, Missing
from memdir.format.draft import check_type, hash_of
from memdir.format.index import Loaded, Survey
from memdir.hot import memory, safe, types
from memdir.hot.acceptance import NOT_YET
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, NEST, UNKNOWN, Document, read_memory
from memdir.hot.place import RECORDS
from memdir.recall import answer, choose
from memdir.store import changes, look, registry
from memdir.store.accept import waiting_paths
from memdir.store.writer import App, Done, state_folder
from memdir.text.terminal import count, cut_middle, line, visible

# list, manifest, types: what there is.

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
        listed, broken = ages.list_memories(app)
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
        "modified": safe.iso_time(listed.clock),
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
        safe.age_words(listed.age_days),
        (f"{bar} {listed.score:3}", STYLES[listed.action]),
        about,
    ]


@command("manifest", "memdir manifest")
def manifest_(session: Session) -> None:
    """Print the list that a model chooses from: the newest 200."""
    texts, total = [], 0
    for _, app in session.apps():
        memories = [one.memory for one in ages.list_memories(app)[0]]
        texts += [choose.manifest(memories)] if memories else []
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


# where: which directory is used, and which rule said so.


@command("where", "memdir where --project ~/code/api")
@click.option("--path", "only_path", is_flag=True, help="Print the directory and nothing else.")
def where(session: Session, only_path: bool) -> None:
    """Say where the memories lie, and which rule decided.

    Also whether memory is on, and where the other scopes are.
    """
    config = session.config
    exists = {scope: os.path.isdir(path) for scope, path in config.scopes.items()}
    fields: Fields = {
        "store": config.store,
        "step": config.step,
        "scope": str(config.scope),
        "shared": config.shared,
        "exists": os.path.isdir(config.store),
        "project_name": config.project_name,
        "project_root": config.project_root,
        "enabled": config.enabled,
        "enabled_by": config.enabled_by,
        "scopes": dict(config.scopes),
        "existing": [scope for scope, there in exists.items() if there],
        "state": state_folder(config),
        "config_file": config.config_file,
        "findings": [finding_fields(finding) for finding in config.findings],
    }
    screen, short = session.screen, session.short
    rows = [
        ("store", short(config.store) + ("" if fields["exists"] else "  (not there yet)")),
        ("decided by", config.step),
        ("project", f"{config.project_name} ({short(config.project_root)})"),
        ("memory is", f"{'on' if config.enabled else 'off'} (by {config.enabled_by})"),
        ("history, trash", short(state_folder(config))),
        ("settings", short(config.config_file)),
    ]
    lines = [text for name, value in rows for text in screen.block(f"{name + ':':15}", value, "")]
    lines += ["", "scopes (* exists):"]
    for scope, path in config.scopes.items():
        mark = "*" if exists[scope] else " "
        lines += screen.block(f"{mark} {scope:11}", short(path))
    lines += ["", *finding_lines(screen, config.findings)] if config.findings else []
    screen.answer(fields, [visible(config.store)] if only_path else lines)


# show, load, index: one memory, and what an agent gets to see.

FEW = 10  # of each kind that a person gets to see


@command("show", "memdir show use-uv")
@click.argument("name", metavar="NAME[@VERSION]")
@click.option("--raw", is_flag=True, help="The file's exact bytes, and nothing else.")
def show(session: Session, name: str, raw: bool) -> None:
    """Show a memory, as it is or as a change left it.

    The ids of changes: memdir log NAME.
    """
    app, path, data, document = _find(session, name)
    if raw:
        session.screen.raw(data)
        return
    facts = app.store.facts(path)
    moment = facts[0] / 1e9 if facts else app.now()
    memory = read_memory(path, app.store.view(path, data), moment)
    fields: Fields = {
        "path": path,
        "name": memory.name,
        "type": memory.type,
        "description": memory.description,
        "metadata": _below(document.values, NEST + "."),
        "header": {key: value for key, value in document.values.items() if key != NEST},
        "body": document.body,
        "hash": hash_of(data),
        "store": app.store.root,
        "accepted": path not in (waiting := waiting_paths(app)),
    }
    age = safe.age_words(safe.age_days(memory.clock, app.now()))
    screen = session.screen
    title = f"{line(path)} · {memory.type} · {age}"
    body = document.body.strip("\n")
    lines = [screen.paint(title, "bold")]
    if path in waiting:
        lines += screen.block("", f"{NOT_YET}: {screen.advise('memdir review')}", "")
    if origin := told_by(document.values):
        lines += screen.block("", origin, "")
    if not body.startswith(memory.description):
        lines += screen.block("", memory.description, "")
    lines += ["", *visible(body).split("\n")]
    screen.answer(fields, lines)


def _below(values: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): one for key, one in values.items() if key.startswith(prefix)}


def _find(session: Session, name: str) -> tuple[App, str, bytes, Document]:
    """The memory in the only store that has it."""
    found, missing = [], None
    for scope, app in session.apps():
        try:
            found.append((scope, app, *look.show(app, name)))
        except Missing as error:
            missing = error
    if len(found) > 1:
        scopes = ", ".join(scope for scope, *_ in found)
        raise BadInput(f"{name!r} is in several scopes: {scopes}", next="choose one with --scope")
    if not found:
        raise missing or Missing("there is no memory yet", next="memdir remember TEXT")
    return found[0][1:]


@command("load", "memdir load")
@click.option("--full", is_flag=True, help="Also the text of every memory it refers to.")
@click.option("--section", is_flag=True, help="Framed, with the standing rules and ages.")
@click.option("--session", "session_id", metavar="ID", help="With --section: the same each time.")
def load(session: Session, full: bool, section: bool, session_id: str | None) -> None:
    """Print the index as an agent gets it, cut to its limits.

    The limits are 200 lines and 25,000 characters. With --section it is what a session of a client
    without a memory of its own starts with.
    """
    if section:
        text = answer.section(list(session.apps()), session=session_id or "", full=full)
        lines = visible(text).split("\n") if text else []
        session.screen.answer({"text": text, "characters": len(text)}, lines)
        return
    answers = [(scope, _load(app, full)) for scope, app in session.apps()]
    if not answers:
        answers = [("project", _loaded_fields(Loaded("", 0, 0)))]
    fields = answers[0][1]
    if len(answers) > 1:
        fields = {**fields, "scopes": dict(answers)}
    lines = []
    for scope, one in answers:
        lines += [f"# scope {scope}", ""] if len(answers) > 1 else []
        lines += visible(str(one["text"])).split("\n") if one["text"] else []
    session.screen.answer(fields, lines)
    if not fields["text"]:
        session.screen.tell("there is no index yet: memdir remember TEXT makes one")


def _load(app: App, full: bool) -> Fields:
    loaded = look.load(app)
    fields = _loaded_fields(loaded)
    if full:
        texts, findings = look.read_all(app, look.survey_index(app).pointers)
        for finding in findings:
            app.tell(f"{finding.message}; {finding.fix}")
        parts = [(path, memory.decode(app.store.view(path, data))) for path, data in texts]
        fields["memories"] = [{"path": path, "text": text} for path, text in parts]
        sections = [f"## {path}\n\n{text.strip()}" for path, text in parts]
        fields["text"] = "\n\n".join([loaded.text, *sections])
    return fields


def _loaded_fields(loaded: Loaded) -> Fields:
    return {key: getattr(loaded, key) for key in Loaded.__slots__}


@command("index", "memdir index --check", changes=True, bulk=True)
@click.option("--check", is_flag=True, help="Exit with 1 if there is anything to repair.")
@click.option("--rebuild", is_flag=True, help="Bring it in step with the files.")
def index(session: Session, check: bool, rebuild: bool) -> int:
    """Look at the index: its size, and what is wrong with it.

    That is files without a pointer, pointers to nothing, lines too long, and content. A rebuild
    adds what is missing and drops what leads nowhere; every other line stays.
    """
    if check and rebuild:
        raise click.UsageError("Give --check or --rebuild.", click.get_current_context())
    if rebuild:
        return _rebuild(session, session.app)
    answers = {scope: (app, look.survey_index(app)) for scope, app in session.apps()}
    if not answers:
        session.screen.answer(survey_fields(Survey()), ["there is no store yet"])
        return 0
    fields, lines, clean = list[Fields](), list[str](), True
    for scope, (app, survey) in answers.items():
        title = f"{scope}: {session.short(app.store.root)}/{app.store.index_path}"
        fields.append(survey_fields(survey))
        lines += [""] if lines else []
        lines += session.screen.block("", title, "")
        lines += survey_lines(session.screen, survey, scope)
        clean = clean and not _problems(survey)
    more = {"scopes": dict(zip(answers, fields, strict=True))} if len(answers) > 1 else {}
    session.screen.answer({**fields[0], **more}, lines)
    return int(check and not clean)


def _rebuild(session: Session, app: App) -> int:
    def told(done: Done) -> None:
        survey = survey_fields(look.survey_index(app))
        changed = any(change.changed for change in done.changes)
        done = advised(session.screen, done)
        lines = done_lines(session.screen, done)
        if not changed:
            lines[0] = "the index is in step with the files"
        fields = {**done_fields(app, done), **survey, "changed": changed}
        session.screen.answer(fields, lines)

    changes.rebuild_index(app, told)
    return 0


def survey_fields(survey: Survey) -> Fields:
    """An index for a program: paths, targets, and numbers of lines."""
    return {
        "lines": survey.lines,
        "characters": survey.characters,
        "orphans": survey.orphans,
        "dangling": [pointer.target for pointer in survey.dangling],
        "dangling_lines": [pointer.line for pointer in survey.dangling],
        "duplicates": [pointer.target for pointer in survey.duplicates],
        "overlong": survey.overlong,
        "inline": survey.inline,
        "changed": False,
    }


def _problems(survey: Survey) -> list[tuple[str, list[str]]]:
    over = survey.lines > MAX_LINES or survey.characters > MAX_CHARACTERS
    size = f"{survey.lines:,} lines, {survey.characters:,} characters"
    found = [
        ("files without a pointer", survey.orphans),
        ("pointers to nothing", [f"{p.target} (line {p.line})" for p in survey.dangling]),
        ("said twice", [f"{p.target} (line {p.line})" for p in survey.duplicates]),
        ("lines too long", [f"line {number}" for number in survey.overlong]),
        ("content, not a pointer", [f"line {number}" for number in survey.inline]),
        ("over the limit of what an agent sees", [size] if over else []),
    ]
    return [(what, where) for what, where in found if where]


def survey_lines(screen: Screen, survey: Survey, scope: str) -> list[str]:
    """An index for a person: its size against the limits, then what to repair."""
    lines = [
        f"  {survey.lines:,} of {MAX_LINES} lines, "
        f"{survey.characters:,} of {MAX_CHARACTERS:,} characters"
    ]
    for what, where in _problems(survey):
        more = f" and {len(where) - FEW} more" if len(where) > FEW else ""
        lines += screen.block("!", f"{what}: {', '.join(where[:FEW])}{more}", style="yellow")
    if survey.orphans or survey.dangling:
        lines += screen.block("Repair:", screen.advise("memdir index --rebuild", scope))
    return lines

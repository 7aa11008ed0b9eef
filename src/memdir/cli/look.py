"""List, show, load, index, where, types, manifest."""

from __future__ import annotations

import os
from typing import cast

import click

from memdir.cli.command import Session, command
from memdir.cli.output import BAND_STYLES, FINDING, Answer, Cell, Fields, pick, pick_all, short_age
from memdir.config.config import is_config_silent
from memdir.errors import Finding, Missing
from memdir.hot import memory, safe, types
from memdir.hot.acceptance import NOT_YET
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, NEST, UNKNOWN
from memdir.hot.place import RECORDS
from memdir.store.writer import App, store_state_folder
from memdir.text.terminal import one_line, plural, visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memdir.audit.ages import Listed
    from memdir.format.index import Survey
    from memdir.format.pointer import Pointer


HEADINGS = ("name", "type", "age", "stale", "description")
NAME_SHARE = 0.27  # of the line's width
LISTED = (
    "path name type description modified age_days score action stale advice pinned bytes scope "
    "store accepted"
)


@command("list", "memdir list --scope all")
@click.option("--type", metavar="TYPE", help="Only this type.")
def list_command(session: Session, type: str | None) -> Answer:
    """`stale` counts claims that the code no longer supports, as far as they were checked (memdir
    audit --deep). A * marks what is pinned, `not accepted yet` what others wrote and no agent is
    told (memdir review).
    """
    from memdir.audit.ages import list_memory_ages
    from memdir.format.draft import check_memory_type

    check_memory_type(UNKNOWN if type is None else type)
    screen, config = session.screen, session.config
    fields: Fields = {"store": config.store, "layout": "markdown", "shape": "no directory"}
    memories: list[Fields] = []
    findings: list[Finding] = list(config.findings)
    lines: list[str] = []
    for scope, app in session.apps():
        if not lines:
            fields |= {"layout": app.store.layout, "shape": app.store.shape}
        listed, broken = list_memory_ages(app)
        findings += broken
        items = [item for item in listed if type is None or item.memory.type == type]
        memories += [
            pick(item, LISTED, modified=safe.iso_time(item.modified), scope=scope) for item in items
        ]
        many = plural(len(items), "memory", "memories")
        title = f"{scope}: {many} in {session.short(app.store.root)}"
        limits = [int(screen.columns * NAME_SHARE)]
        lines += [*[""][: len(lines)], *screen.block("", title, ""), ""]
        lines += screen.table([*map(_row, items)], limits, HEADINGS)
        if not items:
            step = "memdir records save" if scope == RECORDS else 'memdir remember "TEXT"'
            lines += screen.block("Save the first one:", screen.advise(step, scope))
    lines += ["", *screen.finding_lines(findings)] if findings else []
    return Answer(fields | {"memories": memories, "findings": pick_all(findings, FINDING)}, lines)


def _row(listed: Listed) -> list[Cell]:
    item = listed.memory
    about = item.description if listed.accepted else f"{NOT_YET}: {item.description}"
    mark = " *" if item.pinned else ""
    return [
        (item.path.removesuffix(".md").removesuffix(".json") + mark, "bold"),
        item.type,
        (short_age(listed.age_days), BAND_STYLES[listed.action]),
        (f"{listed.stale:5}", "red") if listed.stale else "",
        about,
    ]


@command("manifest", "memdir manifest")
def manifest_command(session: Session) -> Answer:
    from memdir.audit.ages import list_memory_ages
    from memdir.recall.choose import recall_manifest

    stores = [[item.memory for item in list_memory_ages(app)[0]] for _, app in session.apps()]
    text = "\n".join(recall_manifest(memories) for memories in stores if memories)
    lines = text.split("\n") if text else []
    fields = {"text": text, "shown": len(lines), "total": sum(map(len, stores))}
    return Answer(fields, map(one_line, lines))


@command("types", "memdir types feedback")
@click.argument("type", required=False, metavar="[TYPE]")
def types_command(session: Session, type: str | None) -> Answer:
    from memdir.format.draft import check_memory_type
    from memdir.store.registry import use_types

    use_types(session.config.own, session.screen.tell)
    check_memory_type(type or UNKNOWN)
    known = [types.get(name) for name in types.names() if type in (None, name)]
    screen, lines = session.screen, []
    for item in known:
        if not type:
            lines += screen.block(f"{item.name:16}", item.purpose, "", "bold")
            continue
        rows = {
            "purpose": item.purpose,
            "save it": item.when_to_save,
            "use it": item.how_to_use,
            "its text": item.body,
            "shared": item.scope_lean,
            "half-life": f"{item.half_life_days} days: then its score is 50",
        }
        lines += [screen.paint(item.name, "bold"), *screen.labelled(rows, 10)]
        lines += ["", "  An example:", ""]
        lines += [("  " + text).rstrip() for text in item.example.split("\n")]
    lines += ["", f"Choose one: memdir remember TEXT --type {type or 'TYPE'}"]
    return Answer({"types": pick_all(known, " ".join(sorted(types.Type.__annotations__)))}, lines)


WHERE = (
    "store step scope shared exists project_name project_root enabled enabled_by scopes existing "
    "state config_file findings"
)


@command("where", "memdir where --project ~/code/api")
@click.option("--path", "only_path", is_flag=True, help="Print the directory and nothing else.")
def where_command(session: Session, only_path: bool) -> Answer:
    """Also shows whether memory is on, and where the other scopes are."""
    config, screen, short = session.config, session.screen, session.short
    existing = [scope for scope, path in config.scopes.items() if os.path.isdir(path)]
    exists, state = os.path.isdir(config.store), store_state_folder(config)
    fields = pick(
        config,
        WHERE,
        scope=str(config.scope),
        exists=exists,
        scopes=dict(config.scopes),
        existing=existing,
        state=state,
        findings=pick_all(config.findings, FINDING),
    )
    if only_path:
        return Answer(fields, [visible_text(config.store)])
    lines = screen.labelled(
        {
            "store": short(config.store) + ("" if exists else "  (does not exist yet)"),
            "decided by": config.step,
            "project": f"{config.project_name} ({short(config.project_root)})",
            "memory is": f"{'on' if config.enabled else 'off'} (by {config.enabled_by})"
            + ", and so are the hooks" * (not config.enabled and is_config_silent(config)),
            "history, trash": short(state),
            "settings": short(config.config_file),
        },
        15,
        "",
    )
    lines += ["", "scopes (* exists):"]
    for scope, path in config.scopes.items():
        lines += screen.block(f"{'*' if scope in existing else ' '} {scope:11}", short(path))
    lines += ["", *screen.finding_lines(config.findings)] if config.findings else []
    return Answer(fields, lines)


FEW = 10  # items of each kind shown to a person
LOADED = "characters cut_characters cut_lines lines text warning"
SHOWN = "path name type description metadata header body hash stale store accepted"


@command("show", "memdir show use-uv")
@click.argument("name", metavar="NAME[@VERSION]")
@click.option("--raw", is_flag=True, help="The file's exact bytes, and nothing else.")
def show_command(session: Session, name: str, raw: bool) -> Answer | int:
    """The ids of changes: memdir log NAME."""
    from memdir.audit.ages import read_memory_detail
    from memdir.store.look import show_in_store

    none = Missing("there is no memory yet", next="memdir remember TEXT")
    app, shown = session.only(name, lambda app: show_in_store(app, name), none)
    if raw:
        session.screen.raw(shown[1])
        return 0
    item, screen = read_memory_detail(app, str(app.config.scope), *shown), session.screen
    values, nest = item.document.values, NEST + "."
    body = item.body.strip("\n")
    age = safe.age_words(safe.age_days(item.modified, app.now()))
    lines = [screen.paint(f"{one_line(item.path)} · {item.type} · {age}", "bold")]
    lines += screen.blocks("stale:", item.stale, style="red")
    if not item.accepted:
        lines += screen.block("", f"{NOT_YET}: {screen.advise('memdir review')}", "")
    if f"{nest}said_by" in values or f"{nest}imported_from" in values:
        from memdir.capture.inbox import describe_draft_origin

        lines += screen.block("", origin, "") if (origin := describe_draft_origin(values)) else []
    if not body.startswith(item.description):
        lines += screen.block("", item.description, "")
    return Answer(pick(item, SHOWN), [*lines, "", *visible_text(body).split("\n")])


@command("load", "memdir load")
@click.option("--full", is_flag=True, help="Also the text of every memory it points to.")
@click.option("--section", is_flag=True, help="Framed, with standing rules and ages.")
@click.option("--session", "session_id", metavar="ID", help="With --section: the same each time.")
def load_command(session: Session, full: bool, section: bool, session_id: str | None) -> Answer:
    """The limits are 200 lines and 25,000 characters. With --section it is what a session starts
    with in a client that has no memory of its own.
    """
    from memdir.format.index import Loaded

    if section:
        from memdir.recall.answer import render_session_section as make_section

        text = make_section(list(session.apps()), session=session_id or "", full=full)
        fields: Fields = {"text": text, "characters": len(text)}
        return Answer(fields, visible_text(text).split("\n") if text else [])
    stores = {scope: _load(app, full) for scope, app in session.apps()}
    stores = stores or {"project": pick(Loaded("", 0, 0), LOADED, waiting=[])}
    first, lines = next(iter(stores.values())), list[str]()
    for scope, loaded in stores.items():
        lines += [f"# scope {scope}", ""] if len(stores) > 1 else []
        lines += visible_text(str(loaded["text"])).split("\n") if loaded["text"] else []
    remark = "" if first["text"] else "there is no index yet: memdir remember TEXT makes one"
    if waiting := sum(len(cast(list[str], loaded["waiting"])) for loaded in stores.values()):
        many = plural(waiting, "memory", "memories")
        remark = f"{many} left out, {NOT_YET}: memdir review"
    more = {"scopes": stores} if len(stores) > 1 else {}
    return Answer({**first, **more}, lines, remark=remark)


def _load(app: App, full: bool) -> Fields:
    from memdir.store import look
    from memdir.store.accept import accepted_view, hide_unaccepted

    waiting = accepted_view(app).waiting() if app.config.origin else []
    app = hide_unaccepted(app)  # others may have written the index, too
    loaded = look.load_index(app)
    fields = pick(loaded, LOADED, waiting=waiting)
    if full:
        texts, findings = look.read_store_files(app.store, look.survey_index(app).pointers)
        for finding in findings:
            app.tell(f"{finding.message}; {finding.fix}")
        parts = [(path, memory.decode(app.store.view(path, data))) for path, data in texts]
        fields["memories"] = [{"path": path, "text": text} for path, text in parts]
        sections = [f"## {path}\n\n{text.strip()}" for path, text in parts]
        fields["text"] = "\n\n".join([loaded.text, *sections])
    return fields


@command("index", "memdir index --check", changes=True)
@click.option("--check", is_flag=True, help="Exit with 1 if there is anything to repair.")
@click.option("--rebuild", is_flag=True, help="Make it match the files.")
def index_command(session: Session, check: bool, rebuild: bool) -> Answer:
    """Finds files without a pointer, pointers to missing files, lines that are too long, and
    content. A rebuild adds missing pointers and drops dead ones; every other line stays.
    """
    from memdir.format.index import Survey
    from memdir.store import changes, look

    if check and rebuild:
        raise click.UsageError("Give --check or --rebuild.", click.get_current_context())
    if rebuild:
        done = changes.rebuild_memory_index(session.app)
        changed = any(change.changed for change in done.changes)
        answer = session.done_answer(session.app, done)
        fields = {**answer.fields, **_survey_fields(look.survey_index(session.app))}
        lines = [*answer.lines] if changed else ["the index matches the files"]
        return Answer({**fields, "changed": changed}, lines)
    screen, broken = session.screen, False
    scopes: dict[str, Fields] = {}
    lines = []
    for scope, app in session.apps():
        survey = look.survey_index(app)
        scopes[scope] = _survey_fields(survey)
        title = f"{scope}: {session.short(app.store.root)}/{app.store.index_path}"
        lines += [*[""][: len(lines)], *screen.block("", title, "")]
        characters = f"{survey.characters:,} of {MAX_CHARACTERS:,} characters"
        lines.append(f"  {survey.lines:,} of {MAX_LINES} lines, {characters}")
        for problem, places in _problems(survey):
            broken = True
            text = f"{problem}: {', '.join(places[:FEW])}"
            lines += screen.block("!", text, style="yellow")
            lines += screen.more_lines(len(places), FEW)
        if survey.by_hand:
            text = "a repair keeps lines that say more than a pointer; correct them by hand"
            lines += screen.block("", text)
        if survey.orphans or len(survey.dangling) > len(survey.by_hand):
            lines += screen.block("Repair:", screen.advise("memdir index --rebuild", scope))
        if survey.overlong or survey.inline or survey.duplicates:
            step = "memdir restructure --dry-run shows how it would move to files of its own"
            lines += screen.block("Shorten:", screen.advise(step, scope))
    fields = next(iter(scopes.values()), _survey_fields(Survey()))
    more_fields = {"scopes": scopes} if len(scopes) > 1 else {}
    lines = lines or ["there is no store yet"]
    return Answer({**fields, **more_fields}, lines, int(check and broken))


def _survey_fields(survey: Survey) -> Fields:
    return pick(
        survey,
        "lines characters orphans dangling dangling_lines duplicates overlong inline changed",
        dangling=[pointer.target for pointer in survey.dangling],
        dangling_lines=[pointer.line for pointer in survey.dangling],
        duplicates=[pointer.target for pointer in survey.duplicates],
        changed=False,
    )


def _problems(survey: Survey) -> list[tuple[str, list[str]]]:
    def places(pointers: Iterable[Pointer]) -> list[str]:
        return [f"{pointer.target} (line {pointer.line})" for pointer in pointers]

    over = survey.lines > MAX_LINES or survey.characters > MAX_CHARACTERS
    size = f"{survey.lines:,} lines, {survey.characters:,} characters"
    problems = [
        ("files without a pointer", survey.orphans),
        ("pointers to missing files", places(survey.dangling)),
        ("second pointers to the same file", places(survey.duplicates)),
        ("lines that are too long", [f"line {number}" for number in survey.overlong]),
        ("content instead of a pointer", [f"line {number}" for number in survey.inline]),
        ("longer than an agent reads", [size] if over else []),
    ]
    return [(problem, found) for problem, found in problems if found]

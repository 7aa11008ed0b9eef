"""show, load, index: one memory, and what an agent gets to see."""

from __future__ import annotations

from collections.abc import Mapping

import click

from memdir import flows
from memdir.app import App, Done
from memdir.core import dates, frontmatter
from memdir.core.acceptance import NOT_YET
from memdir.core.errors import BadInput, Missing
from memdir.core.frontmatter import NEST, Document
from memdir.core.index import Survey
from memdir.core.loading import MAX_CHARACTERS, MAX_LINES, Loaded
from memdir.core.memory import read_memory
from memdir.core.origin import told_by
from memdir.core.revision import hash_of
from memdir.flows.acceptance import waiting_paths
from memdir.surfaces.cli.answers import Fields, advised, done_fields, done_lines
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import line, visible

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
    age = dates.age_words(dates.age_days(memory.clock, app.now()))
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
            found.append((scope, app, *flows.show(app, name)))
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
        text = flows.section(list(session.apps()), session=session_id or "", full=full)
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
    loaded = flows.load(app)
    fields = _loaded_fields(loaded)
    if full:
        texts, findings = flows.read_all(app, flows.survey_index(app).pointers)
        for finding in findings:
            app.tell(f"{finding.message}; {finding.fix}")
        parts = [(path, frontmatter.decode(app.store.view(path, data))) for path, data in texts]
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
    answers = {scope: (app, flows.survey_index(app)) for scope, app in session.apps()}
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
        survey = survey_fields(flows.survey_index(app))
        changed = any(change.changed for change in done.changes)
        done = advised(session.screen, done)
        lines = done_lines(session.screen, done)
        if not changed:
            lines[0] = "the index is in step with the files"
        fields = {**done_fields(app, done), **survey, "changed": changed}
        session.screen.answer(fields, lines)

    flows.rebuild_index(app, told)
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

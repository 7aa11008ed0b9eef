"""Extract: what past sessions taught, each thing where it belongs."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict

import click

from memdir.capture.extract import HOLD, LEFT, SAVE, Extraction, Item
from memdir.capture.extract import extract as flow
from memdir.capture.pages import write_patches
from memdir.capture.past_sessions import Chosen
from memdir.capture.route import CLAUDE_MD, KNOWLEDGE, MEMORY, ORDER, SKIP, VALUE
from memdir.cli.command import Session, command, read_moment
from memdir.cli.output import (
    PROJECT,
    Fields,
    Screen,
    change_fields,
    diff_lines,
    dry_files,
    dry_lines,
)
from memdir.clients.conversation import Session as Past
from memdir.format import draft as draft_module
from memdir.format.draft import Draft
from memdir.hot import safe
from memdir.text import secrets
from memdir.text.terminal import count, cut, line, pad

HEADS = {
    VALUE: "Values",
    MEMORY: "Memories",
    CLAUDE_MD: "CLAUDE.md, as a patch",
    KNOWLEDGE: "docs/knowledge, as a patch",
    SKIP: "Left out",
}
STYLES = {SAVE: "green", HOLD: "yellow", LEFT: "red"}
FEW = 12  # of many things, shown one by one
OUTCOME, FOLDER, ID = 8, 14, 36  # columns
INDENT = " " * (OUTCOME + 4)
SECONDS = 1.0  # between two words about how far it is


@command("extract", "memdir extract --last 5 --dry-run", changes=True)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--since", metavar="DATE", help="Only sessions that went on after it: 7d, 2026-03-02."
)
@click.option("--last", type=click.IntRange(1), metavar="N", help="Only the newest N sessions.")
@click.option("--client", metavar="CLIENT", default="", help="Only those of one client.")
@click.option("--all-projects", is_flag=True, help="The sessions of every project.")
@click.option("--model/--no-model", default=False, help="Let the model draft; it costs.")
@click.option("--yes", is_flag=True, help="Also save what you said, but did not ask to remember.")
@click.option("--patches", metavar="DIR", help="Write the patches there, for git apply.")
def extract(
    session: Session,
    sessions: tuple[str, ...],
    since: str | None,
    last: int | None,
    client: str,
    all_projects: bool,
    model: bool,
    yes: bool,
    patches: str | None,
) -> int:
    """Learn from past sessions: each thing goes where it belongs, values first.

    What you asked to remember is saved, in the project the session was about; other finds wait in
    memdir review. What every conversation should be told is a patch for CLAUDE.md, what people
    want to read one for docs/knowledge; neither is written. SESSION is an id or a file; without
    one, all sessions of this project are looked at. A second run finds nothing new.
    """
    if all_projects and (session.asked.dir or session.asked.scope != PROJECT):
        what = "--all-projects saves in the store of each project: leave --dir and --scope out."
        raise click.UsageError(what)
    app = session.app
    moment = read_moment(since, app.now()) if since else None
    chosen = Chosen(sessions, moment, last or 0, client, all_projects, model, yes)
    made = flow(app, chosen, _under_way(session.screen))
    files = _written(made, patches) if patches and not app.dry_run else {}
    fields = _fields(made, app.dry_run, files)
    session.screen.answer(fields, _lines(session, made, files))
    return int(bool(made.lost) or any(one.outcome == LEFT for one in made.items))


def _under_way(screen: Screen) -> Callable[[int, int], None]:
    """Say how far it is, once a second, to a person who waits."""
    silent = screen.json or not sys.stderr.isatty()
    told = [time.monotonic()]

    def say(read: int, of: int) -> None:
        if not silent and time.monotonic() - told[0] >= SECONDS:
            told[0] = time.monotonic()
            screen.tell(f"session {read:,} of {of:,} …")

    return say


def _written(made: Extraction, folder: str) -> dict[int, str]:
    """The file of each patch, by its place in the list."""
    names: Counter[str] = Counter()
    texts = {}
    for one in made.patches:
        names[one.file] += 1
        again = f"{names[one.file]}-" if names[one.file] > 1 else ""  # two projects of one name
        texts[again + one.file] = one.text
    return dict(enumerate(write_patches(folder, texts)))


def _fields(made: Extraction, dry_run: bool, files: dict[int, str]) -> Fields:
    changes = [{**change_fields(change), "store": store} for store, change in made.changes]
    return {
        "before": made.before,
        "after": made.after,
        "changes": changes,
        "batch": made.batch if made.changes and not dry_run else "",
        "lost": made.lost,
        "routed": [_item_fields(one) for one in made.items],
        "patches": [
            {"project": one.root, "path": one.path, "diff": one.text, "file": files.get(at, "")}
            for at, one in enumerate(made.patches)
        ],
        "sessions": len(made.sessions),
        "looked_at": [
            one._asdict() | {"modified": safe.iso_time(one.modified), "things": _things(made, one)}
            for one in made.sessions
        ],
        "waiting": [{"session": id, "reason": why} for id, why in made.waiting.items()],
        "tokens": made.tokens,
        "remarks": made.remarks,
        "dry_run": dry_run,
        "files": [file for done in made.done for file in dry_files(done)],
    }


def _item_fields(one: Item) -> Fields:
    catch = one.routed.catch
    return {
        "destination": one.routed.to,
        "outcome": one.outcome,
        "name": one.name,
        "reason": one.reason or one.routed.reason,
        "draft": _draft_fields(catch.draft) if catch.draft else None,
        "forget": catch.forget,
        "origin": {**asdict(catch.origin), "transcript": one.session.path},
        "project": one.root,
        "store": one.store,
    }


def _draft_fields(draft: Draft) -> Fields:
    """Nothing from a secret on: what was refused for it must not be told again."""
    texts = {
        name: secrets.before_secrets(getattr(draft, name))
        for name in ("body", "description", "why", "how")
    }
    day = draft.day.isoformat() if draft.day else ""
    return {"name": draft.name, "type": draft.type, "day": day, **texts}


def _lines(session: Session, made: Extraction, files: dict[int, str]) -> list[str]:
    screen, dry = session.screen, session.asked.dry_run
    lines = screen.block("", _headline(made, dry), "")
    several = len({one.root for one in made.items if one.root}) > 1
    for to in ORDER:
        items = [one for one in made.items if one.routed.to == to]
        lines += _group(screen, to, items, several, dry)
    for patch in made.patches:
        lines += ["", screen.paint(f"For {session.short(patch.root)}", "bold")]
        lines += diff_lines(screen, patch.text.rstrip("\n"))
    lines += _open_ends(screen, made)
    if dry:
        lines += [text for done in made.done for text in dry_lines(screen, done)[:-2]]
        return [*lines, *_session_lines(screen, made), "", "dry run: nothing was written"]
    steps = _next(session, made, files)
    return [*lines, "", "Next:", *steps] if steps else lines


def _open_ends(screen: Screen, made: Extraction) -> list[str]:
    lines = []
    for id, why in list(made.waiting.items())[:FEW]:
        lines += screen.block("waits:", f"session {id}: {why}", style="yellow")
    for text in made.remarks[:FEW]:
        lines += screen.block("note:", screen.advise(text))
    for path in made.lost:
        lines += screen.block("lost:", path, style="red")
    return ["", screen.paint("Worth knowing", "bold"), *lines] if lines else []


def _session_lines(screen: Screen, made: Extraction) -> list[str]:
    """The sessions by the ids that a run can be given."""
    rows = [
        (one.id, safe.iso_day(one.modified), count(_things(made, one), "thing"))
        for one in made.sessions[:FEW]
    ]
    more = len(made.sessions) - FEW
    lines = ["", screen.paint("Sessions", "bold"), *screen.table(rows, (ID,))] if rows else []
    return lines + ([f"  and {more:,} more (all of them with --json)"] if more > 0 else [])


def _things(made: Extraction, session: Past) -> int:
    return sum(one.session.path == session.path for one in made.items)


def _headline(made: Extraction, dry: bool) -> str:
    read = count(len(made.sessions), "session")
    if not made.items:
        nothing = "no sessions of this project were found"
        return f"{read} read: nothing worth keeping was said" if made.sessions else nothing
    told = Counter(one.outcome for one in made.items)
    parts = ", ".join(f"{number:,} {outcome}" for outcome, number in told.items())
    would = "would be: " if dry else ""
    return f"{count(len(made.items), 'thing')} in {read}; {would}{parts}"


def _group(screen: Screen, to: str, items: Sequence[Item], several: bool, dry: bool) -> list[str]:
    """One destination: a line for each thing, below it why, where that is not plain.

    A dry run shows the whole text of what would be held: no review has it yet.
    """
    if not items:
        return []
    lines = ["", screen.paint(HEADS[to], "bold")]
    for one in items[:FEW]:
        where = [pad(cut(_project(one), FOLDER), FOLDER)] if several else []
        outcome = (pad(one.outcome, OUTCOME), STYLES.get(one.outcome, ""))
        lines += screen.table([[outcome, _day(one), *where, _title(one)]])
        if to == SKIP or one.outcome in (HOLD, LEFT):
            lines += screen.block("", screen.advise(one.reason), INDENT)
        if dry and one.outcome == HOLD:
            lines += screen.block("", _whole(one), INDENT)
    more = len(items) - FEW
    return lines + ([f"  and {more:,} more (all of them with --json)"] if more > 0 else [])


def _project(one: Item) -> str:
    return os.path.basename(one.root) or "gone"


def _title(one: Item) -> str:
    draft = one.routed.catch.draft
    if draft is None:
        return f"forget: {one.routed.catch.forget}"
    return draft_module.first_sentence(draft.description or draft.body)


def _whole(one: Item) -> str:
    draft = one.routed.catch.draft
    parts = (draft.body, f"Why: {draft.why}" if draft.why else "") if draft else ()
    return f'"{" ".join(" ".join(secrets.before_secrets(part).split()) for part in parts).strip()}"'


def _day(one: Item) -> str:
    draft = one.routed.catch.draft
    if draft is not None and draft.day is not None:
        return draft.day.isoformat()
    return safe.iso_day(one.session.modified)


def _next(session: Session, made: Extraction, files: dict[int, str]) -> list[str]:
    """What a person may want to do now, as commands that can be pasted."""
    steps = []
    roots = {one.store: one.root for one in made.items}
    for store in dict.fromkeys(one.store for one in made.items if one.outcome == HOLD):
        held = sum(one.outcome == HOLD and one.store == store for one in made.items)
        waits = "waits" if held == 1 else "wait"
        steps.append((f"{held:,} {waits} for you", _command(session, "review", roots[store])))
    for at, patch in enumerate(made.patches):
        if at in files:
            file, root = _word(session, os.path.abspath(files[at])), _word(session, patch.root)
            steps.append((f"Change {patch.path}", f"git -C {root} apply {file}"))
    if made.patches and not files:
        steps.append(("The patches as files", "memdir extract --patches DIR"))
    for store in dict.fromkeys(store for store, _ in made.changes):
        undo = _command(session, "undo", roots[store])
        steps.append(("All of it back", f"{undo} --batch {made.batch}"))
    lines = []
    for what, step in steps:
        told = line(session.screen.advise(step))
        fits = len(what) + len(told) + 4 <= session.screen.columns
        lines += [f"  {what}: {told}"] if fits else [f"  {what}:", f"    {told}"]
    return lines


def _command(session: Session, verb: str, root: str) -> str:
    """The command for the store of a project, which may not be the one that was asked for."""
    here = root in (session.config.project_root, session.config.checkout)
    return f"memdir {verb}" if here else f"memdir {verb} --project {_word(session, root)}"


def _word(session: Session, path: str) -> str:
    """A path for the shell, which expands a `~` that stands outside the quotes."""
    short = session.short(path)
    return "~/" + shlex.quote(short[2:]) if short.startswith("~/") else shlex.quote(path)

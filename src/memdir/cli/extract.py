"""Extract."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from memdir.capture.extract import HOLD, LEFT, SAVE, Extraction, Item
from memdir.capture.extract import extract as learn
from memdir.capture.pages import write_patches
from memdir.capture.route import CLAUDE_MD, KNOWLEDGE, MEMORY, ORDER, SKIP, VALUE
from memdir.capture.sessions import Chosen
from memdir.cli.command import Session, command, read_moment
from memdir.cli.output import CHANGE, DRY_RUN, PROJECT, Answer, Fields, Screen, file_fields, pick
from memdir.format.draft import first_sentence
from memdir.hot import safe
from memdir.text.secrets import before_secrets
from memdir.text.terminal import count, cut, line, pad

ITEM = "destination=routed.to outcome name reason draft forget origin project=root store"
HEADS = {
    VALUE: "Values",
    MEMORY: "Memories",
    CLAUDE_MD: "CLAUDE.md, as a patch",
    KNOWLEDGE: "docs/knowledge, as a patch",
    SKIP: "Left out",
}
STYLES = {SAVE: "green", HOLD: "yellow", LEFT: "red"}
FEW = 12  # items shown one by one
OUTCOME, FOLDER = 8, 14  # columns
INDENT = " " * (OUTCOME + 4)


@command("extract", "memdir extract --last 5 --dry-run", changes=True)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--since", metavar="DATE", help="Only sessions after it: 7d, 2026-03-02.")
@click.option("--last", type=click.IntRange(1), metavar="N", help="Only the newest N sessions.")
@click.option("--client", metavar="CLIENT", default="", help="Only sessions of one client.")
@click.option("--all-projects", is_flag=True, help="The sessions of every project.")
@click.option("--model/--no-model", default=False, help="Let the model draft; this costs tokens.")
@click.option("--yes", is_flag=True, help="Also save what you said, but did not ask to remember.")
@click.option("--patches", metavar="DIR", help="Write the patches there for git apply.")
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
) -> Answer:
    """What you asked to remember is saved in the project of the session; other finds wait in memdir
    review. What every conversation needs becomes a patch for CLAUDE.md, what people should read a
    patch for docs/knowledge; memdir applies neither. SESSION is an id or a file; without one, all
    sessions of this project are read. A second run finds nothing new.
    """
    if all_projects and (session.asked.dir or session.asked.scope != PROJECT):
        text = "--all-projects saves in each project's own store: leave out --dir and --scope."
        raise click.UsageError(text)
    app = session.app
    moment = read_moment(since, app.now()) if since else None
    chosen = Chosen(sessions, moment, last or 0, client, all_projects, model, yes)
    screen = session.screen
    made = learn(app, chosen, lambda read, total: screen.report(f"session {read:,} of {total:,}"))
    files = _write_patches(made, patches) if patches and not app.dry_run else {}
    left = any(item.outcome == LEFT for item in made.items)
    things = Counter(item.session.path for item in made.items)
    fields: Fields = {
        "before": made.before,
        "after": made.after,
        "changes": [pick(change, CHANGE, store=store) for store, change in made.changes],
        "batch": made.batch if made.changes and not app.dry_run else "",
        "lost": made.lost,
        "routed": [_item_fields(item) for item in made.items],
        "patches": [
            pick(patch, "project=root path diff=text file", file=files.get(number, ""))
            for number, patch in enumerate(made.patches)
        ],
        "sessions": len(made.sessions),
        "looked_at": [
            past._asdict() | {"modified": safe.iso_time(past.modified), "things": things[past.path]}
            for past in made.sessions
        ],
        "waiting": [{"session": id, "reason": reason} for id, reason in made.waiting.items()],
        "tokens": made.tokens,
        "remarks": made.remarks,
        "dry_run": app.dry_run,
        "files": [file for done in made.done for file in file_fields(done.diff)],
    }
    return Answer(fields, _lines(session, made, files), int(bool(made.lost) or left))


def _write_patches(made: Extraction, folder: str) -> dict[int, str]:
    names: Counter[str] = Counter()
    texts = {}
    for patch in made.patches:
        names[patch.file] += 1
        again = f"{names[patch.file]}-" if names[patch.file] > 1 else ""  # same project name
        texts[again + patch.file] = patch.text
    return dict(enumerate(write_patches(folder, texts)))


def _item_fields(item: Item) -> Fields:
    catch, draft = item.routed.catch, None
    if catch.draft:
        # Cut at the first secret: text that was refused must not be printed.
        texts = {
            name: before_secrets(getattr(catch.draft, name))
            for name in ("body", "description", "why", "how")
        }
        day = catch.draft.day.isoformat() if catch.draft.day else ""
        draft = pick(catch.draft, "name type day", day=day, **texts)
    return pick(
        item,
        ITEM,
        reason=item.reason or item.routed.reason,
        draft=draft,
        forget=catch.forget,
        origin={**asdict(catch.origin), "transcript": item.session.path},
    )


def _lines(session: Session, made: Extraction, files: dict[int, str]) -> Iterator[str]:
    screen, dry = session.screen, session.asked.dry_run
    yield from screen.block("", _headline(made, dry), "")
    several = len({item.root for item in made.items if item.root}) > 1
    for destination in ORDER:
        items = [item for item in made.items if item.routed.to == destination]
        yield from _group(screen, destination, items, several, dry)
    for patch in made.patches:
        yield from ["", screen.paint(f"For {session.short(patch.root)}", "bold")]
        yield from screen.diff_lines(patch.text.rstrip("\n"))
    waits = [f"session {id}: {reason}" for id, reason in made.waiting.items()][:FEW]
    notes = screen.blocks("waits:", waits, style="yellow")
    notes += screen.blocks("note:", [screen.advise(text) for text in made.remarks[:FEW]])
    notes += screen.blocks("lost:", made.lost, style="red")
    yield from ["", screen.paint("Notes", "bold"), *notes] if notes else []
    if not dry:
        steps = [*_next(session, made, files)]
        yield from ["", "Next:", *steps] if steps else []
        return
    for done in made.done:
        yield from screen.dry_lines(done)[:-2]
    things = Counter(item.session.path for item in made.items)
    rows = [  # with the ids that a run accepts
        (past.id, safe.iso_day(past.modified), count(things[past.path], "item"))
        for past in made.sessions[:FEW]
    ]
    yield from ["", screen.paint("Sessions", "bold"), *screen.table(rows)] if rows else []
    yield from [*screen.more_lines(len(made.sessions), FEW), "", DRY_RUN]


def _headline(made: Extraction, dry: bool) -> str:
    read = count(len(made.sessions), "session")
    if not made.items:
        nothing = "no sessions of this project were found"
        return f"{read} read: nothing to keep" if made.sessions else nothing
    outcomes = Counter(item.outcome for item in made.items)
    parts = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.items())
    return f"{count(len(made.items), 'item')} in {read}; {'would be: ' if dry else ''}{parts}"


def _group(
    screen: Screen, destination: str, items: Sequence[Item], several: bool, dry: bool
) -> Iterator[str]:
    """A dry run shows the whole text of held items: no review has them yet."""
    if items:
        yield from ["", screen.paint(HEADS[destination], "bold")]
    for item in items[:FEW]:
        draft, forget = item.routed.catch.draft, item.routed.catch.forget
        day = draft.day.isoformat() if draft and draft.day else safe.iso_day(item.session.modified)
        project = os.path.basename(item.root) or "gone"
        title = first_sentence(draft.description or draft.body) if draft else f"forget: {forget}"
        where = [pad(cut(project, FOLDER), FOLDER)] if several else []
        outcome = (pad(item.outcome, OUTCOME), STYLES.get(item.outcome, ""))
        yield from screen.table([[outcome, day, *where, title]])
        if destination == SKIP or item.outcome in (HOLD, LEFT):
            yield from screen.block("", screen.advise(item.reason), INDENT)
        if dry and item.outcome == HOLD:
            parts = (draft.body, f"Why: {draft.why}" if draft.why else "") if draft else ()
            text = " ".join(" ".join(before_secrets(part).split()) for part in parts).strip()
            yield from screen.block("", f'"{text}"', INDENT)
    yield from screen.more_lines(len(items), FEW)


def _next(session: Session, made: Extraction, files: dict[int, str]) -> Iterator[str]:

    def word(path: str) -> str:
        """Quoted path; a shell expands `~` only outside the quotes."""
        short = session.short(path)
        return "~/" + shlex.quote(short[2:]) if short.startswith("~/") else shlex.quote(path)

    def command_for(verb: str, store: str) -> str:
        root = roots[store]
        here = root in (session.config.project_root, session.config.checkout)
        return f"memdir {verb}" if here else f"memdir {verb} --project {word(root)}"

    steps = []
    roots = {item.store: item.root for item in made.items}
    held = Counter(item.store for item in made.items if item.outcome == HOLD)
    for store, number in held.items():
        text = f"{number:,} {'waits' if number == 1 else 'wait'} for you"
        steps.append((text, command_for("review", store)))
    for number, patch in enumerate(made.patches):
        if number in files:
            step = f"git -C {word(patch.root)} apply {word(os.path.abspath(files[number]))}"
            steps.append((f"Apply to {patch.path}", step))
    if made.patches and not files:
        steps.append(("Write the patches", "memdir extract --patches DIR"))
    for store in dict.fromkeys(store for store, _ in made.changes):
        undo = f"{command_for('undo', store)} --batch {made.batch}"
        steps.append(("Undo all of it", undo))
    for text, step in steps:
        step = line(session.screen.advise(step))
        fits = len(text) + len(step) + 4 <= session.screen.columns
        yield from [f"  {text}: {step}"] if fits else [f"  {text}:", f"    {step}"]

"""Prune."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

import click

from memdir.audit import audit as audits
from memdir.audit.audit import Audit, Audited
from memdir.audit.inspect import audit_command
from memdir.cli.audit import ADVICE, LOAD
from memdir.cli.command import Session, command
from memdir.cli.output import CHANGE, DRY_RUN, Answer, Fields, changed_file_fields, pick, pick_all
from memdir.cli.save import edit_in_editor
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import Change, Wishes
from memdir.format.index import cut_index
from memdir.format.names import expand_names
from memdir.hot import safe
from memdir.hot.memory import MAX_CHARACTERS, decode
from memdir.store import changes, look
from memdir.store.ports import ARCHIVE, TRASH
from memdir.store.save import find_in_store
from memdir.store.writer import App, Done
from memdir.text.terminal import draw_bar, one_line, plural, text_width, visible_text, wrap_text

MAX_LINES = 15  # of a memory shown with the question
INTERRUPTED = 130  # exit code
EDGE = "  │ "
# What each answer does: the word for it, and what is said when it is done.
CHOICES = {
    "d": ("delete", "in the trash: memdir restore brings it back"),
    "a": ("archive", "in the archive: memdir restore brings it back"),
    "k": ("keep", "kept: its age starts again at 0"),
    "e": ("edit", "saved"),
    "s": ("skip", ""),
    "q": ("quit", ""),
}
QUESTION = "[d]elete (to the trash)  [a]rchive  [k]eep  [e]dit  [s]kip  [q]uit ? "
HELP = (
    "d moves it to the trash, a to the archive, k keeps it (its age starts again at 0), e opens "
    "your editor, s skips it, q quits; every answer is saved at once"
)


@dataclass
class Run:
    """Progress of a prune; every decision is written before the next question."""

    app: App
    before: Audit
    chosen: list[Audited]
    changes: list[Change] = field(default_factory=list)
    dry: Done | None = None


@command("prune", "memdir prune --dry-run", changes=True)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Also memories to look at or to fix.")
@click.option("--deep", is_flag=True, help="Also count claims that are no longer true.")
@click.option("--retire", "to_trash", is_flag=True, help="Move all to the trash without asking.")
@click.option("--archive", "to_archive", is_flag=True, help="Move all to the archive instead.")
def prune_command(
    session: Session,
    names: tuple[str, ...],
    every: bool,
    deep: bool,
    to_trash: bool,
    to_archive: bool,
) -> Answer:
    """Goes through what an audit advises to retire, or through the memories named. Each is shown
    with its text: delete moves it to the trash, archive keeps it forever, keep confirms that it
    still holds. Every answer is saved at once; one undo takes back the whole run. Without a
    terminal, name the memories or use --retire or --archive for all; pinned memories stay.
    """
    if to_trash and to_archive:
        raise click.UsageError("Give --retire or --archive.", click.get_current_context())
    app = replace(session.app, batch=f"prune-{int(session.app.now())}")
    before = audits.audit(app, deep=deep, brief=True)
    chosen = audits.find_prune_candidates(before, every)
    if names:
        known = [item.path for item in before.memories]
        paths = {memory.path for memory in find_in_store(app.store, expand_names(names, known))}
        chosen = [item for item in before.memories if item.path in paths]
    run, code = Run(app, before, chosen), 0
    terminal = bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())
    asked = terminal and not session.screen.json
    if to_trash or to_archive or session.asked.dry_run or (names and not asked):
        _move_all(run, ARCHIVE if to_archive else TRASH)
    elif chosen and not asked:
        many = plural(len(chosen), "memory", "memories")
        message = f"{many} could go, but there is no terminal to ask; nothing was changed"
        same = "memdir prune --all" if every else "memdir prune"
        hint = (
            f"{same} --dry-run lists them; memdir prune NAME moves those named to the trash, "
            f"{same} --retire all of them"
        )
        raise BadInput(message, next=hint)
    else:
        try:
            for number, item in enumerate(chosen, 1):
                click.echo("\n".join(_question_lines(session, run, item, number)))
                if _ask(session, run, item) == "quit":
                    break
        except KeyboardInterrupt:  # still report the answers so far
            click.echo()
            code = INTERRUPTED
    answer = _answer(session, run, deep)
    return answer._replace(code=code or answer.code)


def _move_all(run: Run, room: str) -> None:
    """All in one change, except pinned memories; a standalone index cannot be archived."""
    stays = {item.path for item in run.app.store.scan().memories if item.pinned}
    stays |= {run.app.store.index_path} if room == ARCHIVE else set()
    run.chosen = [item for item in run.chosen if item.path not in stays]
    if paths := [item.path for item in run.chosen]:
        done = changes.retire_memories(run.app, paths, room, "prune")
        run.changes += done.changes
        run.dry = done if done.dry_run else None


def _question_lines(session: Session, run: Run, item: Audited, number: int) -> list[str]:
    screen, path = session.screen, item.path
    head = f"[{number}/{len(run.chosen)}] {one_line(path)}"
    facts = f"{item.type}, {safe.age_words(item.age_days)}, ~{item.tokens:,} tokens"
    advice = screen.paint(
        f"{draw_bar(item.score / 100)} {item.score} {item.advice}", ADVICE[item.advice]
    )
    lines = ["", screen.paint(head, "bold"), f"  {advice}  {facts}"]
    lines += screen.blocks("!", item.reasons[1:], style="yellow")
    with suppress(MemdirError):  # gone or unreadable by now: the answer will say so
        text = visible_text(look.show_in_store(run.app, path)[1].decode("utf-8", "surrogateescape"))
        width, body = screen.columns - len(EDGE), list[str]()
        for line in text.strip("\n").split("\n"):
            body += wrap_text(line, width) if text_width(line) > width else [line]
        lines += ["", *[EDGE + part for part in body[:MAX_LINES]]]
        if len(body) > MAX_LINES:
            step = screen.advise(audit_command("show", path))
            lines.append(f"{EDGE}… {plural(len(body) - MAX_LINES, 'more line')}: {step}")
    return [*lines, ""]


def _ask(session: Session, run: Run, item: Audited) -> str:
    """Asks until an answer could be carried out; end of input means quit."""
    while True:
        try:
            answer = input(QUESTION).strip().lower()
        except EOFError:
            return "quit"
        choice, said = CHOICES.get(answer[:1], ("", ""))
        if choice in ("skip", "quit"):
            return choice
        if not choice:
            click.echo("\n".join(session.screen.block("", HELP)))
            continue
        try:
            run.changes += _carry_out(run.app, choice, item.path).changes
            click.echo(f"  {said}")
            return choice
        except MemdirError as error:
            session.screen.tell(f"{error.message}. Next: {error.next}")


def _carry_out(app: App, choice: str, path: str) -> Done:
    if choice == "keep":
        return changes.touch_memories(app, [path])
    if choice == "edit":
        return edit_in_editor(app, path, "", Wishes())
    return changes.retire_memories(app, [path], ARCHIVE if choice == "archive" else TRASH, "prune")


def _answer(session: Session, run: Run, deep: bool) -> Answer:
    after = _without(run, run.dry) if run.dry else audits.audit(run.app, deep=deep, brief=True)
    gone = {change.path for change in run.changes if change.kind in ("retired", "archived")}
    saved = sum(item.tokens for item in run.chosen if item.path in gone)
    saved += run.before.tokens.index - after.tokens.index
    fields: Fields = {
        "before": _sum(run.before),
        "after": _sum(after),
        "changes": pick_all(run.changes, CHANGE),
        "batch": run.app.batch if run.changes and not run.dry else "",
        "lost": [],  # scripts look for it; whatever is put away lies on a shelf
        "tokens_saved": saved,
        "candidates": pick_all(run.chosen, "path score action advice tokens reasons"),
        "dry_run": session.asked.dry_run,
        "store": run.app.store.root,
        "files": changed_file_fields(run.dry.diff) if run.dry else [],
    }
    return Answer(fields, _lines(session, run, saved))


def _sum(audit: Audit) -> Fields:
    tokens = pick(audit.tokens, LOAD)
    return {"memories": len(audit.memories), "tokens": tokens, **audit.actions}


def _without(run: Run, dry: Done) -> Audit:
    gone = {item.path for item in run.chosen}
    left = tuple(item for item in run.before.memories if item.path not in gone)
    tokens = replace(run.before.tokens, memories=sum(item.tokens for item in left))
    for path, _, new in dry.diff:
        if path == run.app.store.index_path:
            loaded = cut_index(decode(new or b"")).characters
            size = audits.estimate_audit_tokens(min(loaded, MAX_CHARACTERS))
            tokens = replace(tokens, index=size)
    return replace(run.before, memories=left, tokens=tokens)


def _lines(session: Session, run: Run, saved: int) -> Iterator[str]:
    screen = session.screen
    if not run.chosen:
        yield "nothing to prune: no memory is old and finished, superseded or contradicted"
        if looks := len(audits.find_prune_candidates(run.before, every=True)):
            many = plural(looks, "memory", "memories")
            step = screen.advise(f"memdir prune --all goes through {many} to look at or fix")
            yield from screen.block("", step, "")
        return
    kinds = Counter(change.kind for change in run.changes)
    done = ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "nothing changed"
    left = len(run.chosen) - len(run.changes)
    rest = f", {left} skipped" if left else ""
    would = "would be: " if run.dry else ""
    yield from screen.block("", f"{would}{done}{rest}; ~{saved:,} tokens saved", "")
    if run.dry:
        for item in run.chosen:
            yield from screen.block(item.advice, f"{item.path}: {'; '.join(item.reasons[-1:])}")
        yield from ["", f"{DRY_RUN}; --json has the diff"]
    elif run.changes and run.app.history.on:
        back = screen.advise(f"memdir undo --batch {run.app.batch}")
        yield from screen.block("Undo all of it:", back)

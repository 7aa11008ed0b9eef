"""Prune: worn-out memories, one by one or all at once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import click

from memdir.audit.audit import Audit, Audited, Wish, candidates, find_lost, index_tokens
from memdir.audit.audit import audit as look_over
from memdir.audit.inspect import command as written
from memdir.cli.audit import ACTIONS, STYLES, bar, load_fields
from memdir.cli.command import Session, command
from memdir.cli.output import Fields, change_fields, dry_files, dry_lines
from memdir.cli.save import edit_by_hand
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import Change, Wishes
from memdir.hot import safe
from memdir.hot.memory import decode
from memdir.store import changes, look
from memdir.store.ports import ARCHIVE, TRASH
from memdir.store.writer import App, Done
from memdir.text.terminal import count, line, visible, width, wrap

MOST, FEWEST = 40, 6  # lines of a memory that are shown before the question
AROUND = 9  # lines of a terminal for what stands above and below it
INTERRUPTED = 130  # exit code
EDGE = "  │ "
CHOICES = {"d": "delete", "a": "archive", "k": "keep", "e": "edit", "s": "skip", "q": "quit"}
DONE = {
    "delete": "in the trash: memdir restore brings it back",
    "archive": "in the archive: memdir restore brings it back",
    "keep": "kept: its age counts from now",
    "edit": "saved",
}
HELP = (
    "d puts it into the trash, a into the archive, k says that it still holds, e opens "
    "your editor, s leaves it as it is, q ends; every answer is written at once"
)
QUESTION = "[d]elete (to the trash)  [a]rchive  [k]eep  [e]dit  [s]kip  [q]uit ? "


@dataclass
class Run:
    """What a prune did so far; every decision is written before the next question."""

    app: App
    before: Audit
    chosen: list[Audited]
    changes: list[Change] = field(default_factory=list)
    dry: Done | None = None

    def told(self, done: Done) -> None:
        """Add what one decision did."""
        self.changes += done.changes
        self.dry = done if done.dry_run else None


@command("prune", "memdir prune --dry-run", changes=True)
@click.option("--all", "review", is_flag=True, help="Also what wants a look, from 50 points on.")
@click.option("--deep", is_flag=True, help="Let claims that are no longer true count, too.")
@click.option("--retire", "to_trash", is_flag=True, help="All of them into the trash; no question.")
@click.option("--archive", "to_archive", is_flag=True, help="All into the archive; no question.")
@click.option("--yes", is_flag=True, help="The same as --retire.")
def prune(
    session: Session, review: bool, deep: bool, to_trash: bool, to_archive: bool, yes: bool
) -> int:
    """Work through the memories that are worn out, one by one.

    Each is shown with its content: delete puts it into the trash, archive keeps it for ever, keep
    says that it still holds. Every answer is written at once; the whole run is one undo. Without
    a terminal, say --retire or --archive for all; what is pinned stays then.
    """
    if (to_trash or yes) and to_archive:
        raise click.UsageError("Give --retire or --archive.", click.get_current_context())
    app = replace(session.app, batch=f"prune-{int(session.app.now())}")
    before = look_over(app, Wish(deep=deep), session.screen.tell)
    run = Run(app, before, candidates(before, review))
    if to_trash or yes or to_archive or session.asked.dry_run:
        _all_at_once(run, ARCHIVE if to_archive else TRASH)
    elif run.chosen and (session.screen.json or not _at_terminal()):
        many = count(len(run.chosen), "memory", "memories")
        raise BadInput(
            f"{many} could go, but nobody is here to be asked; nothing was changed",
            next="memdir prune --dry-run lists them; memdir prune --retire puts all into the trash",
        )
    elif not _one_by_one(session, run):
        _tell(session, run, deep)
        return INTERRUPTED
    return _tell(session, run, deep)


def _at_terminal() -> bool:
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())


def _all_at_once(run: Run, room: str) -> None:
    """Every candidate in one change; what is pinned, or is the index itself, stays."""
    pinned = {one.path for one in run.app.store.scan().memories if one.pinned}
    stays = {*pinned, run.app.store.index_path}
    run.chosen = [one for one in run.chosen if one.path not in stays]
    if run.chosen:
        names = [one.path for one in run.chosen]
        changes.retire(run.app, names, room, "prune", run.told)


def _one_by_one(session: Session, run: Run) -> bool:
    """False when it was interrupted: what was answered by then is told all the same."""
    for at, one in enumerate(run.chosen, 1):
        click.echo("\n".join(_question_lines(session, run, one, at)))
        try:
            answer = _ask(session, run, one)
        except KeyboardInterrupt:
            click.echo()
            return False
        if answer == "quit":
            break
    return True


def _question_lines(session: Session, run: Run, one: Audited, at: int) -> list[str]:
    screen = session.screen
    head = f"[{at}/{len(run.chosen)}] {line(one.path)}"
    facts = f"{one.type}, {safe.age_words(one.age_days)}, ~{one.tokens:,} tokens"
    score = screen.paint(f"{bar(one.score)} {one.score} {one.action}", STYLES[one.action])
    lines = ["", screen.paint(head, "bold"), f"  {score}  {facts}"]
    for reason in one.reasons[1:]:
        lines += screen.block("!", reason, style="yellow")
    with suppress(MemdirError):  # gone or unreadable since: the answer will say so
        text = visible(look.show(run.app, one.path)[1].decode("utf-8", "surrogateescape"))
        fits = screen.columns - len(EDGE)
        body = [part for one in text.strip("\n").split("\n") for part in _folded(one, fits)]
        fit = min(MOST, max(screen.rows - AROUND - len(lines), FEWEST))
        lines += ["", *[EDGE + part for part in body[:fit]]]
        more, show = count(len(body) - fit, "more line"), screen.advise(written("show", one.path))
        lines += [f"{EDGE}… {more}: {show}"] if len(body) > fit else []
    return [*lines, ""]


def _folded(text: str, columns: int) -> list[str]:
    return [text] if width(text) <= columns else wrap(text, columns)


def _ask(session: Session, run: Run, one: Audited) -> str:
    """Ask until an answer could be carried out; the end of the input is a quit."""
    acts: dict[str, Callable[[], object]] = {
        "delete": lambda: changes.retire(run.app, [one.path], TRASH, "prune", run.told),
        "archive": lambda: changes.retire(run.app, [one.path], ARCHIVE, "prune", run.told),
        "keep": lambda: changes.touch(run.app, [one.path], run.told),
        "edit": lambda: edit_by_hand(session, run.app, one.path, "", Wishes(), run.told),
    }
    while True:
        try:
            answer = input(QUESTION).strip().lower()
        except EOFError:
            return "quit"
        choice = CHOICES.get(answer[:1], "") if answer else ""
        if not choice:
            click.echo("\n".join(session.screen.block("", HELP)))
            continue
        if choice in ("skip", "quit"):
            return choice
        try:
            acts[choice]()
            click.echo(f"  {DONE[choice]}")
            return choice
        except MemdirError as error:
            session.screen.tell(f"{error.message}. Next: {error.next}")


def _tell(session: Session, run: Run, deep: bool) -> int:
    dry = run.dry is not None
    after = _without(run) if run.dry else look_over(run.app, Wish(deep=deep))
    lost = [] if dry else find_lost(run.app, run.changes)
    saved = _saved(run) + run.before.load.index - after.load.index
    fields: Fields = {
        "before": _sum(run.before),
        "after": _sum(after),
        "changes": [change_fields(change) for change in run.changes],
        "batch": run.app.batch if run.changes and not dry else "",
        "lost": lost,
        "tokens_saved": saved,
        "candidates": [_candidate(one) for one in run.chosen],
        "dry_run": session.asked.dry_run,
        "store": run.app.store.root,
        "files": dry_files(run.dry) if run.dry else [],
    }
    session.screen.answer(fields, _lines(session, run, saved, lost))
    return int(bool(lost))


def _saved(run: Run) -> int:
    """Tokens of the memories that were put away."""
    gone = {change.path for change in run.changes if change.kind in ("retired", "archived")}
    return sum(one.tokens for one in run.chosen if one.path in gone)


def _sum(audit: Audit) -> Fields:
    actions = {action: audit.count(action) for action in ACTIONS}
    return {"memories": len(audit.memories), "tokens": load_fields(audit.load), **actions}


def _without(run: Run) -> Audit:
    """What would be left, were the candidates and their lines of the index gone."""
    gone = {one.path for one in run.chosen}
    left = tuple(one for one in run.before.memories if one.path not in gone)
    load = replace(run.before.load, memories=sum(one.tokens for one in left))
    for path, _, new in run.dry.diff if run.dry else ():
        if path == run.app.store.index_path:
            load = replace(load, index=index_tokens(decode(new or b"")))
    return replace(run.before, memories=left, load=load)


def _candidate(one: Audited) -> Fields:
    return {
        "path": one.path,
        "score": one.score,
        "action": one.action,
        "tokens": one.tokens,
        "reasons": list(one.reasons),
    }


def _lines(session: Session, run: Run, saved: int, lost: list[str]) -> list[str]:
    screen = session.screen
    if not run.chosen:
        return ["nothing here is worn out: memdir audit shows the scores"]
    kinds = Counter(change.kind for change in run.changes)
    done = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    left = len(run.chosen) - len(run.changes)
    parts = [done or "nothing changed", *([f"{left} left as they are"] if left else [])]
    would = "would be: " if run.dry else ""
    lines = screen.block("", f"{would}{', '.join(parts)}; ~{saved:,} tokens saved", "")
    if run.dry:
        rows = [(f"{bar(one.score)} {one.score:3}", one.action, one.path) for one in run.chosen]
        return [*screen.table(rows), "", *lines, *dry_lines(screen, run.dry)]
    if run.changes and run.app.history.on:
        back = screen.advise(f"memdir undo --batch {run.app.batch}")
        lines += screen.block("Take all of it back:", back)
    return [*lines, *[f"  lost: {line(path)}" for path in lost]]

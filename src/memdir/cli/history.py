"""Log, diff, undo; retire (forget), archive, restore, purge, touch."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress

import click

from memdir.cli import output
from memdir.cli.command import Session, command, read_time_option
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.names import find_named_memory, memory_name_means
from memdir.hot import safe
from memdir.hot.memory import INDEX, RECORD_INDEX, read_memory, stem
from memdir.store import changes, look, ports
from memdir.store.ports import ARCHIVE, TRASH, Logged
from memdir.store.writer import App
from memdir.text.terminal import one_line

NEWEST = 20  # changes shown to a person
HOW_MANY = f"How many ({NEWEST}); 0 is all."
SHORTEST_ID = 4  # characters
FEW = 30  # files listed by name
INDEXES = (INDEX, RECORD_INDEX)
LOGGED = "id time actor verb name reason batch undoes paths"
SIGNS = {ports.ADDED: "+", ports.MODIFIED: "~", ports.GONE: "-"}


@command("log", "memdir log use-uv")
@click.argument("name", required=False, default="")
@click.option("-n", "number", type=click.IntRange(0), default=NEWEST, help=HOW_MANY)
def log_command(session: Session, name: str, number: int) -> output.Answer:
    """The actor `outside` is an agent, an editor or a sync that wrote without memdir. Signs before
    a file: + added, ~ changed, - removed.
    """
    limit = min(number, sys.maxsize) or None
    several = session.config.scope.kind == "all"
    items = [
        (scope, logged)
        for scope, app in session.apps()
        for logged in look.store_log(app, _path_of(name, app), limit)
    ]
    items = sorted(items, key=lambda item: -item[1].time)[:limit] if several else items
    none = f"no changes of {one_line(name)}" if name else "no changes yet"
    lines = session.screen.table([_row(logged, *[scope] * several) for scope, logged in items])
    lines = lines or [none]
    if items:
        text = "Show one: memdir diff ID · undo one: memdir undo ID"
        lines += ["", *session.screen.block("", session.screen.advise(text), "")]
    changes = [{**fields_of_log_command(logged), "scope": scope} for scope, logged in items]
    return output.Answer({"changes": changes}, lines)


def _path_of(name: str, app: App, *, shelved: bool = False) -> str:
    """Path of the memory with this name or label, live or put away; else the name itself."""
    items = app.shelf.list_all() if name else ()
    shelf = (read_memory(item.path, app.shelf.read(item), item.time) for item in items)
    for memories in (() if shelved or not name else app.store.scan().memories, shelf):
        with suppress(MemdirError):
            return find_named_memory(name, memories).path
    return name


def fields_of_log_command(logged: Logged) -> output.Fields:
    paths = output.pick_all(logged.paths, "change path")
    return output.pick(logged, LOGGED, time=safe.iso_time(logged.time), paths=paths)


def _row(logged: Logged, *scope: str) -> list[output.Cell]:
    # Nearly every change touches the index; it is listed only if nothing else changed.
    paths = [(c, path) for c, path in logged.paths if path not in INDEXES] or logged.paths
    files = [SIGNS[change] + path for change, path in paths]
    text = ""
    if logged.verb != ports.OUTSIDE:
        named = any(memory_name_means(logged.name, path) for _, path in logged.paths)
        text = logged.verb if named else f"{logged.verb} {logged.name}".strip()
        text += f" ({logged.reason})" * bool(logged.reason) + ": " * bool(files)
    where = [*scope, output.show_local_time(logged.time), logged.actor]
    return [(logged.id[: output.SHORT_ID], "cyan"), *where, text + " ".join(files)]


@command("diff", "memdir diff use-uv")
@click.argument("change", metavar="[CHANGE|NAME]", required=False, default="")
def diff_command(session: Session, change: str) -> output.Answer:
    """The newest change, the one with this id, or the newest of this memory."""
    logged, versions = _find(_store_of(session, change), change)
    files = output.changed_file_fields(versions)
    lines = session.screen.table([_row(logged)])
    for file in files:
        lines += ["", *session.screen.diff_lines(str(file["diff"]))]
    return output.Answer({"changes": [fields_of_log_command(logged)], "files": files}, lines)


def _store_of(session: Session, change: str) -> App:
    if session.config.scope.kind != "all" or not change:
        return session.app
    none = Missing("there is no change yet")
    return session.only(change, lambda app: app.history.find(change), none)[0]


def _find(app: App, name: str) -> tuple[Logged, list[tuple[str, bytes | None, bytes | None]]]:
    try:
        return look.diff_of_change(app, name)
    except Missing:
        path = _path_of(name, app)
        newest = look.store_log(app, path, 1) if name else []
        if not newest:
            raise
    logged, versions = look.diff_of_change(app, newest[0].id)
    return logged, [version for version in versions if memory_name_means(path, version[0])]


@command("undo", "memdir undo", changes=True)
@click.argument("change", required=False)
@click.option("--batch", metavar="ID", help="All changes of one batch.")
@click.option("--since", metavar="TIME", help="All changes since: 10m, 2h, 2026-03-02T14:00.")
def undo_command(
    session: Session, change: str | None, batch: str | None, since: str | None
) -> output.Answer:
    """Undoes the newest change that still stands, unless you name one. Undo is itself a change, so
    it can be undone. If something newer is in the way, both texts are shown and nothing is
    written.
    """
    from memdir.capture import review

    if sum(given is not None for given in (change, batch, since)) > 1:
        raise click.UsageError("Give CHANGE, --batch or --since.", click.get_current_context())
    for id in (change, batch):
        if id is not None and len(id.strip()) < SHORTEST_ID:
            raise BadInput(f"{id!r} is too short for an id", next="memdir log --json lists them")
    app = _store_of(session, change or "")
    start = None if since is None else read_time_option(since, app.now())

    screen = session.screen
    done = screen.advised(review.undo_until_answered(app, change or "", batch or "", start))
    fields = output.done_fields(app, done)
    fields.setdefault("files", fields["changes"])
    fields["changes"] = list(map(fields_of_log_command, done.undone))
    lines = [screen.paint("would undo" if done.dry_run else "undone", "green")]
    lines += screen.table([_row(logged) for logged in done.undone])
    if done.dry_run and done.changes:
        return output.Answer(fields, [*lines, "", *screen.done_lines(done)])
    if not done.changes:
        lines.append("  the files are already as they were; nothing was written")
    for item in done.changes[:FEW]:
        lines.append(f"  {one_line(item.path)} {item.reason or 'is back as it was'}")
    lines += screen.more_lines(len(done.changes), FEW)
    paths = tuple(item.path for item in done.changes)  # already listed
    lines += screen.blocks("note:", (it for it in done.remarks if not it.startswith(paths)))
    return output.Answer(fields, lines, printed=lambda: review.note_undo_answered(app))


names_argument = click.argument("names", metavar="NAME...", nargs=-1, required=True)
some_names_argument = click.argument("names", metavar="[NAME...]", nargs=-1)
reason_option = click.option("--reason", metavar="TEXT", default="", help="Kept in the history.")


def _put_away(name: str, example: str, room: str) -> click.Command:
    @command(name, example, changes=True)
    @names_argument
    @reason_option
    def put_away(session: Session, names: tuple[str, ...], reason: str) -> output.Answer:
        done = changes.retire_memories(session.app, names, room, reason)
        back = "to bring it back: memdir restore NAME, or memdir undo"
        return session.done_answer(session.app, done, back)

    return put_away


retire = _put_away("retire", "memdir retire old-sprint-plan", TRASH)
forget = _put_away("forget", "memdir forget old-sprint-plan", TRASH)
archive = _put_away("archive", "memdir archive migration-2025", ARCHIVE)


@command("restore", "memdir restore old-sprint-plan", changes=True)
@some_names_argument
@click.option("--list", "show_list", is_flag=True, help="List what can be restored.")
def restore_command(session: Session, names: tuple[str, ...], show_list: bool) -> output.Answer:
    """Each gets its line in the index again. Without NAME, lists what can be restored, including
    an archive/ folder that another tool left inside the store.
    """
    if names and not show_list:
        paths = [_path_of(name, session.app, shelved=True) for name in names]
        return session.done_answer(session.app, changes.restore_memories(session.app, paths))
    fields, rows = [], []
    for scope, app in session.apps():
        for item in look.list_restorable_on_store_shelf(app):
            days = safe.age_days(item.time, app.now())
            more = {"time": safe.iso_time(item.time), "age_days": days, "scope": scope}
            fields.append(output.pick(item, "path name room", name=stem(item.path), **more))
            rows.append((item.path, item.room, safe.age_words(days), scope))
    screen, all_scopes = session.screen, session.config.scope.kind == "all"
    text = screen.advise("memdir restore NAME", "SCOPE" if all_scopes else "")
    lines = [*screen.table(rows, (40,)), "", *screen.block("Bring one back:", text, "")]
    return output.Answer({"memories": fields}, lines if rows else ["nothing to restore"])


@command("purge", "memdir purge --expired --yes", changes=True)
@some_names_argument
@click.option("--expired", is_flag=True, help="All trash that is past its days.")
@click.option("--secret", metavar="NAME", help="The secrets in any version of this memory.")
@click.option("--everywhere", is_flag=True, help="With --secret: short or plain values, too.")
@click.option("--yes", is_flag=True, help="Without it nothing is deleted.")
def purge_command(
    session: Session,
    names: tuple[str, ...],
    expired: bool,
    secret: str | None,
    everywhere: bool,
    yes: bool,
) -> output.Answer:
    """The history keeps the versions of NAME. With --secret the values are removed from every
    memory, the history, the shelves, state and cache, and the ids of changes are new. A value
    that is short or a word is removed from the versions of NAME only, unless --everywhere.
    """
    if bool(names or expired) == bool(secret) or (everywhere and not secret):
        raise click.UsageError("Give NAME..., --expired or --secret.", click.get_current_context())
    app = session.app
    if not yes and not session.asked.dry_run:
        words = f"--secret {shlex.quote(secret)}" if secret else shlex.join(names) or "--expired"
        hint = f"look with --dry-run, then: memdir purge {words} --yes"
        raise BadInput("a purged memory cannot be restored; nothing was deleted", next=hint)
    from memdir.store import purge as purging  # only this command needs it

    if secret:
        says = "change the secret where it is used: others may have read it"
        return session.done_answer(app, purging.purge_secret(app, secret, everywhere), says)
    says = "the history still has its versions; a secret goes with: memdir purge --secret NAME"
    done = purging.purge_memories(app, names, expired)
    return session.done_answer(app, done, *[says] * app.history.on)


@command("touch", "memdir touch use-uv", changes=True)
@names_argument
def touch_command(session: Session, names: tuple[str, ...]) -> output.Answer:
    return session.done_answer(session.app, changes.touch_memories(session.app, names))

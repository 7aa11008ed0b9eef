"""Several machines: `memdir sync` and `memdir team`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import click

from memdir.cli.command import Session, command
from memdir.cli.output import DRY_RUN, Answer, Fields
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.names import check_memory_name
from memdir.hot.memory import INDEX, TEAM
from memdir.hot.place import store_key
from memdir.store.git import find_origin, identity_of_address
from memdir.sync import flow
from memdir.sync.delivery import IN_STEP
from memdir.sync.git_transport import PERSONAL_BRANCH, TEAM_BRANCH, shown_address
from memdir.sync.remotes import PERSONAL, make_git_remote, read_remotes, team_key
from memdir.sync.server_transport import make_server_remote
from memdir.sync.transport import Remote
from memdir.text.terminal import plural

ROWS, FEW = 20, 3  # memories listed per kind; of those that stay here
JOIN, STATUS, LEAVE = "join", "status", "leave"
KINDS = ("pulled", "pushed", "conflicts", "waiting", "stays")


@command("sync", "memdir sync --to git@example.com:me/memory.git", changes=True)
@click.option("--to", "address", metavar="URL", help="A private git remote, named once.")
@click.option("--name", metavar="NAME", help="Of a project that git cannot name; kept.")
def sync_command(session: Session, address: str | None, name: str | None) -> Answer:
    """Gets what your other machines and your team changed, and sends what changed here. The remote
    is an empty private git repository of your own; all your projects go into it. Run the same on
    every machine. Later, sessions of an agent do it by themselves. One sync is one undo. With
    --scope only that one of project, user and team is synced.

    What holds a secret or says `sync: no` in its header stays here. Where both sides changed the
    same lines, the remote's text stands and yours waits in memdir review.
    """
    config, dry_run = session.config, session.asked.dry_run
    if session.asked.dir is not None:
        raise BadInput("sync works on a project, not on --dir", next="cd into the project")
    if name is not None:
        remotes = read_remotes(config)
        remotes.names[store_key(config.project_root)] = check_memory_name(name)
        if not dry_run:
            remotes.save()
    if address is not None:
        if dry_run:
            raise BadInput("--to and --dry-run do not go together", next="leave one of them out")
        remote = make_git_remote(config, address, PERSONAL_BRANCH)
        _check_not_the_code(remote.url, config.checkout)
        flow.join_remote(config, PERSONAL, remote)
    scope = session.asked.scope if session.names_scope else ""
    if scope not in ("", flow.PROJECT, flow.USER, TEAM):
        hint = "leave out --scope to sync all of them"
        raise BadInput("sync works on the scopes project, user and team", next=hint)
    return _synced(session, scope)


def _check_not_the_code(url: str, checkout: str) -> None:
    origin = find_origin(checkout)
    if url != checkout and (identity_of_address(url) or url) != (
        identity_of_address(origin) or origin
    ):
        return
    message = "is the remote of the code: whoever reads that would read your own memories"
    hint = "name a private repository, or share with the team: memdir team join"
    raise BadInput(f"{shown_address(url)} {message}", next=hint)


@command("team", "memdir team join", changes=True)
@click.argument(
    "action", type=click.Choice((JOIN, STATUS, LEAVE)), metavar="[ACTION]", default=STATUS
)
@click.argument("address", metavar="[URL]", required=False)
@click.option("--branch", default=TEAM_BRANCH, show_default=True, help="Of a git remote.")
@click.option("--review", is_flag=True, help="Offer shares as branches, for a pull request.")
@click.option("--token-file", metavar="FILE", help="For a memory server: holds your token.")
@click.option("--space", metavar="NAME", default="", help="For a memory server: the space.")
def team_command(
    session: Session,
    action: str,
    address: str | None,
    branch: str,
    review: bool,
    token_file: str | None,
    space: str,
) -> Answer:
    """ACTION is join, status or leave. Without a URL, `join` uses the origin of this checkout: the
    team's memories are a branch there, and your checkout, index and .git stay as they are. They lie
    in team/ below the project's memories. Share with memdir share NAME, then memdir sync. What an
    author wrote whom you have not accepted waits in memdir review.
    """
    config = session.config
    if action == STATUS:
        return _status(session)
    if action == LEAVE:
        left = read_remotes(config).remotes.get(team_key(config))
        if left is None:
            raise Missing("this project has joined no team", next="memdir team join")
        if not session.asked.dry_run:
            flow.leave_team(config)
        url = shown_address(left.url)
        text = f"left {session.short(url)}; what is in team/ stays here, and nothing is sent"
        fields: Fields = {"remote": url, "dry_run": session.asked.dry_run}
        return Answer(fields, session.screen.block("", text, ""))
    if session.asked.dry_run:
        raise BadInput("join has no --dry-run", next="memdir sync --dry-run shows what comes")
    flow.check_synced_team_folder(config.scopes[TEAM])
    url = address or find_origin(config.checkout)
    if not url:
        hint = "name the remote: memdir team join URL"
        raise Missing(f"{config.checkout} has no git origin", path=config.checkout, next=hint)
    remote = make_git_remote(config, url, branch, review=review)
    if token_file is not None:
        folder = os.path.join(read_remotes(config).folder, "tokens")
        remote = make_server_remote(replace(remote, space=space), token_file, folder)
    flow.join_remote(config, team_key(config), remote)
    return _synced(session, TEAM)


def _synced(session: Session, scope: str) -> Answer:
    screen, dry_run = session.screen, session.asked.dry_run
    done, failed = flow.sync_project(
        session.config, lambda scope: session.at(scope=scope).app, tell=screen.tell, scope=scope
    )
    if not done and not failed:
        raise Missing(
            f"no remote is named yet{f' for the scope {scope}' if scope else ''}",
            next="memdir sync --to URL for your own machines, or memdir team join for a team",
        )
    if failed and not done:
        raise failed[0]
    lines = [line for item in done for line in _lines(session, item, dry_run)]
    for error in failed:
        lines += screen.block("!", f"{error.message}. Next: {error.next}", style="yellow")
    fields = _fields(done, failed, dry_run)
    return Answer(fields, lines + ([DRY_RUN] if dry_run else []), int(bool(failed)))


def _fields(done: Sequence[flow.Synced], failed: Sequence[MemdirError], dry_run: bool) -> Fields:
    fields: Fields = {
        kind: [
            {"scope": it.scope, **asdict(item)} for it in done for item in getattr(it.report, kind)
        ]
        for kind in KINDS
    }
    fields["remote"] = next((it.remote for it in done), "")
    fields["remotes"] = [
        {"scope": it.scope, "remote": it.remote, "result": it.report.result} for it in done
    ]
    fields["remarks"] = [text for it in done for text in it.report.remarks]
    fields["failed"] = [{"message": it.message, "next": it.next} for it in failed]
    return {**fields, "dry_run": dry_run}


def _lines(session: Session, item: flow.Synced, dry_run: bool) -> Iterator[str]:
    screen, report = session.screen, item.report
    got, sent = ("would get", "would send") if dry_run else ("got", "sent")
    pushed = [it for it in report.pushed if it.path != INDEX]
    counts = [
        f"{verb} {plural(len(rows), 'memory', 'memories')}"
        for verb, rows in ((got, report.pulled), (sent, pushed))
        if rows
    ]
    state = ", ".join(counts) or ("nothing new" if report.result == IN_STEP else report.result)
    yield from screen.block(f"{item.scope}:", f"{state} ({session.short(item.remote)})", "", "bold")
    rows = [("<", it) for it in report.pulled] + [(">", it) for it in pushed]
    for mark, it in rows[:ROWS]:
        who = f", by {it.author}" if it.author else ""
        yield from screen.block(f"  {mark}", f"{it.path} ({it.change}{who})", "    ")
    yield from screen.more_lines(len(rows), ROWS)
    for it in report.conflicts[:ROWS]:
        who = it.author or "another machine"
        text = f"{it.path}: the same lines were changed by {who}; theirs stand, yours waits: "
        step = it.reason if ":" in it.reason else f"memdir review show {it.reason}"
        yield from screen.block("!", text + screen.advise(step), style="yellow")
    for it in report.waiting[:ROWS]:
        yield from screen.block("!", f"{it.path} is {it.change}: {it.reason}", style="yellow")
    stays = [f"{it.path} stays here: {it.reason}" for it in report.stays]
    yield from screen.blocks("note:", [*stays[:FEW], *report.remarks])
    yield from screen.more_lines(len(stays), FEW)


def _status(session: Session) -> Answer:
    config, screen = session.config, session.screen
    remote: Remote | None = read_remotes(config).remotes.get(team_key(config))
    if remote is None:
        fields: Fields = {"remote": "", "joined": False}
        return Answer(fields, ["no team yet: memdir team join, or memdir team join URL"])
    address = shown_address(remote.url)
    last = next(it for it in flow.list_last_syncs(config) if it.remote == address)
    text = flow.describe_last_sync(last, session.app.now())
    fields = {"joined": True, **asdict(last), "review": remote.review, "branch": remote.branch}
    return Answer(fields, [*screen.block("team:", session.short(text), "")])

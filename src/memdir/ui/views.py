"""What each page shows."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from memdir.audit.ages import find_age_starts, find_known_stale_claims
from memdir.capture.inbox import held_title, open_inbox
from memdir.capture.origin import describe_draft_origin
from memdir.errors import Finding, MemdirError
from memdir.format.draft import ANYWAY, Wishes, content_hash
from memdir.hot import safe, types
from memdir.hot.memory import INDEX, RECORD_INDEX, Memory, decode, read_memory
from memdir.hot.recall import BODY_SHARE, POINTERS, SURE, UNSURE
from memdir.models.ledger import read_model_spending
from memdir.recall.answer import recall
from memdir.store import look
from memdir.store.accept import unaccepted_paths
from memdir.store.ports import OUTSIDE, Logged
from memdir.store.writer import App
from memdir.ui import decisions, overview
from memdir.ui.findings import OLD, Kept, read_findings
from memdir.ui.routes import Handler, Visit, paginate, path_of_key
from memdir.ui.told import group_by_session, read_told
from memdir.ui.workspace import Census

if TYPE_CHECKING:
    from memdir.upkeep.restructure import Plan

FEW = 5  # rows of each part of the first screen
ROWS = 50  # of a page
SESSIONS = 20  # of a page
MAX_FOUND = 200
MAX_EDITED_CHARACTERS = 256 * 1024
INDEXES = (INDEX, RECORD_INDEX)
DID = {
    OUTSIDE: "changed",
    "archive": "archived",
    "edit": "edited",
    "import": "imported",
    "purge": "purged",
    "rename": "renamed",
    "restore": "restored",
    "restructure": "restructured",
    "retire": "retired",
    "save": "saved",
    "share": "shared",
    "touch": "confirmed",
    "undo": "took back",
}
RULE = (
    f"Told whole from a sureness of {SURE} on, if it is at least {BODY_SHARE:.0%} of the best "
    f"one’s; as a line from {UNSURE} on, at most {POINTERS} of them; nothing twice in a session."
)
WHO = {OUTSIDE: "outside memdir", "cli": "command line", "ui": "this page", "mcp": "an agent (MCP)"}


def attempt(look: Callable[[], Any], problems: list[MemdirError], default: Any) -> Any:
    """A part that cannot be read is told, and the rest of the page is there."""
    try:
        return look()
    except MemdirError as error:
        if error.message not in [it.message for it in problems]:
            problems.append(error)
        return default


def files_of(versions: Iterable[tuple[str, bytes | None, bytes | None]]) -> list[dict[str, Any]]:
    """The files that differ, with their texts; indexes come last."""
    rows = sorted((row for row in versions if row[1] != row[2]), key=lambda row: row[0] in INDEXES)
    texts = [(path, *(None if it is None else decode(it) for it in pair)) for path, *pair in rows]
    return [{"path": path, "old": old, "new": new} for path, old, new in texts]


def plan_version(plan: Plan) -> str:
    words = repr((sorted(plan.texts.items()), plan.gone, plan.index))
    return content_hash(words.encode("utf-8", "surrogatepass"))


def change_row(logged: Logged, undone: set[str], census: Census) -> dict[str, Any]:
    paths = [(kind, path) for kind, path in logged.paths if path not in INDEXES] or logged.paths
    cause = logged.cause
    return {
        "id": logged.id,
        "time": logged.time,
        "who": WHO.get(cause.actor, cause.actor),
        "outside": cause.verb == OUTSIDE,
        "verb": DID.get(cause.verb, cause.verb),
        "about": census.describe(paths[0][1]) if len(paths) == 1 else "",
        "name": "of a change from outside" if cause.name == OUTSIDE else cause.name,
        "reason": cause.reason,
        "paths": paths[:FEW],
        "more": max(len(paths) - FEW, 0),
        "undone": logged.id in undone,
        "first": cause.verb == "begin",
    }


def change_rows(app: App, census: Census) -> list[dict[str, Any]]:
    changes = overview.read_changes(app, census)
    undone = overview.is_taken_back(changes)
    shown = (logged for logged in changes if logged.paths)  # the first look at an empty store
    return [change_row(logged, undone, census) for logged in shown]


def first_screen(visit: Visit) -> dict[str, Any]:
    app, problems = visit.app, list[MemdirError]()
    census = attempt(lambda: visit.census, problems, visit.last_census)
    told = attempt(lambda: read_told(app, census), problems, [])
    items, broken = attempt(lambda: visit.items(census), problems, ([], []))
    visit.remarks += broken
    rows = attempt(lambda: change_rows(app, census), problems, [])
    strip = attempt(lambda: overview.read_strip(app, census, told, len(items)), problems, None)
    plots = attempt(lambda: overview.draw_plots(app, census, told), problems, {})
    job = visit.ui.audits.job(app)
    is_running = job is not None and not job.done  # asked before its findings are read
    kept, found = attempt(lambda: read_findings(app, census), problems, (Kept(), []))
    pressing = [it for it in found if it.kind != OLD]
    shown = pressing[:FEW]
    said = [it.message for it in problems]
    visit.remarks = [it for it in visit.remarks if not any(map(it.__contains__, said))]
    return {
        "strip": strip,
        "changes": rows[:FEW],
        "more_changes": max(len(rows) - FEW, 0),
        "items": items[:FEW],
        "all_items": len(items),
        "sessions": group_by_session(told)[:FEW],
        "kept": kept,
        "findings": shown,
        "beside": attempt(lambda: memories_beside(app, census, shown), problems, {}),
        "all_findings": len(pressing),
        "only_old": len(found) - len(pressing),
        "job": job if is_running else None,
        "job_error": job.error if job else "",
        "plots": plots,
        "problems": problems,
        "is_code": bool(app.config.code),
    }


def memories_beside(
    app: App, census: Census, findings: Iterable[Finding]
) -> dict[str, tuple[str, str]]:
    """What the memories that something is found about say, and their versions, for the acts."""
    paths = {memory.path for memory in census.scan.memories} & {it.path for it in findings}
    return {it: (census.describe(it), content_hash(app.store.read(it))) for it in paths}


def findings_page(visit: Visit) -> Response:
    """All of them: what is pressing, then what is only old."""
    app, census = visit.app, visit.census
    kept, found = read_findings(app, census)
    rows = paginate(found, visit.number("page"), ROWS)
    beside = memories_beside(app, census, rows["items"])
    return visit.render("findings.html", "Needs a look", kept=kept, rows=rows, beside=beside)


def home_page(visit: Visit) -> Response:
    values = first_screen(visit)
    return visit.render("home.html", "Overview", **values, refresh=values["job"] is not None)


def changes_page(visit: Visit) -> Response:
    rows = paginate(change_rows(visit.app, visit.census), visit.number("page"), ROWS)
    return visit.render("changes.html", "What changed", rows=rows)


def change_page(visit: Visit) -> Response:
    logged, versions = look.diff_of_change(visit.app, visit.asked("id"))
    undone = overview.is_taken_back(overview.read_changes(visit.app, visit.census))
    row = change_row(logged, undone, visit.census)
    name = "diff.html" if visit.asked("part") else "change.html"
    left = max(len(versions) - ROWS, 0)
    return visit.render(name, "A change", change=row, files=files_of(versions[:ROWS]), left=left)


def memories_page(visit: Visit) -> Response:
    """The list, or what the real search finds for some words."""
    app, census = visit.app, visit.census
    words, type, state = visit.asked("q").strip(), visit.asked("type"), visit.asked("state")
    scan = census.scan
    waiting = census.once("waiting", lambda: unaccepted_paths(app))
    known = find_known_stale_claims(app, scan.memories)
    why, shown = {}, sorted(scan.memories, key=lambda it: (-it.clock, it.path))
    if words:
        found = recall(
            [(visit.spot.scope, app)],
            words,
            limit=0,
            pointers=MAX_FOUND,
            abstain=False,
            waiting=True,
        ).found
        hits = [item for item in found.pointers if item.words]
        why = {hit.memory.path: hit for hit in hits}
        by_path = {memory.path: memory for memory in scan.memories}
        shown = [by_path[path] for path in why if path in by_path]
    states: dict[str, Callable[[Memory], bool]] = {
        "stale": lambda it: bool(known.get(it.path)),
        "old": lambda it: safe.age_days(it.clock, app.now()) > types.get(it.type).half_life_days,
        "pinned": lambda it: it.pinned,
        "waits": lambda it: it.path in waiting,
    }
    fits = states.get(state)
    shown = [it for it in shown if type in ("", it.type) and (fits is None or fits(it))]
    counts = sorted(Counter(memory.type for memory in scan.memories).items())
    values = {
        "rows": paginate(shown, visit.number("page"), ROWS),
        "why": why,
        "stale": known,
        "waiting": waiting,
        "types": counts,
        "asked": {"q": words, "type": type, "state": state},
        "findings": scan.findings[:FEW],
    }
    return visit.render("memories.html", "Memories", **values)


def is_editable(text: str) -> bool:
    """A form brings back no hidden character unchanged, and one kind of line end."""
    ends = text.count("\r\n") in (0, text.count("\n"))
    plain = text.replace("\r\n", "").replace("\n", "").replace("\t", "")
    return ends and len(text) <= MAX_EDITED_CHARACTERS and plain.isprintable()


def memory_page(visit: Visit, asked: str = "", **more: Any) -> Response:
    app = visit.app
    asked = asked or path_of_key(visit.asked("path"))
    path, data, document = look.show_memory(app, asked)
    facts = app.store.facts(path)
    item = read_memory(path, app.store.view(path, data), facts[0] / 1e9 if facts else app.now())
    starts = attempt(lambda: find_age_starts(app, [item])[0], [], {})
    item.dated = starts.get(path, 0.0)
    name, mark, version = asked.rpartition("@")
    is_old = bool(mark) and name != "" and app.store.facts(asked) is None
    problems = list[MemdirError]()
    rows = attempt(lambda: change_rows(visit.app, visit.census), problems, [])
    rows = [row for row in rows if any(it == path for _, it in row["paths"])][:ROWS]
    told = attempt(lambda: read_told(app, visit.last_census), problems, [])
    text = decode(data)
    team = [it for it in visit.ui.workspace.scopes(visit.spot) if it.scope in ("team", "local")]
    values: dict[str, Any] = {
        "item": item,
        "path": path,
        "body": document.body.strip("\n"),
        "version": content_hash(data),
        "size": len(data),
        "editable": is_editable(text) and not is_old,
        "is_old": version if is_old else "",
        "origin": describe_draft_origin(document.values),
        "stale": find_known_stale_claims(app, [item]).get(path, []),
        "waits": path in unaccepted_paths(app),
        "history": rows,
        "told": [it for it in told if (path, visit.spot.scope) in it.named],
        "problems": problems,
        "types": types.names(),
        "targets": [] if visit.spot.scope in ("team", "local") else share_targets(visit, team),
        "typed": None,
        "preview": None,
    }
    return visit.render("memory.html", item.name, **{**values, **more})


def share_targets(visit: Visit, there: Sequence[Any]) -> list[str]:
    """Scopes to share with; the team's directory need not be there yet."""
    names = [spot.scope for spot in there]
    return names if "team" in names else [*names, "team"]


def waiting_page(visit: Visit) -> Response:
    from memdir.capture.review import find_rejected_drafts

    app = visit.app
    items, broken = visit.items(visit.last_census)
    visit.remarks += broken
    rejected = [
        {"id": it.id, "title": held_title(it.catch)}
        for it in find_rejected_drafts(app, (), every=True)[:ROWS]
    ]
    rows = paginate(items, visit.number("page"), SESSIONS)
    return visit.render("waiting.html", "Waiting for you", rows=rows, rejected=rejected)


def item_page(visit: Visit) -> Response:
    from memdir.capture.review import preview_held_draft

    app = visit.app
    found = decisions.find_item(visit.items(visit.last_census)[0], visit.asked("id"))
    done = draft = None
    if found.kind == decisions.DRAFT:
        held = open_inbox(app).read(found.id)
        done = preview_held_draft(app, held, Wishes(offered=(ANYWAY,)))
        draft = held.catch.draft
    files = files_of(done.diff if done else ())
    if found.kind == decisions.MEMORY:
        files = [{"path": found.origin, "old": None, "new": found.text}]
    refused = [it.reason for it in done.changes if it.reason] if done else []
    values: dict[str, Any] = {
        "item": found,
        "files": files,
        "refused": refused,
        "draft": draft,
        "left": 0,
        "editable": is_editable(draft.body) if draft else False,
    }
    name = "item_part.html" if visit.asked("part") else "item.html"
    return visit.render(name, "Waiting for you", types=types.names(), **values)


def told_page(visit: Visit) -> Response:
    rows = paginate(
        group_by_session(read_told(visit.app, visit.last_census)), visit.number("page"), SESSIONS
    )
    on = visit.app.config.options.told_log
    return visit.render("told.html", "What agents were told", rows=rows, on=on)


def lab_page(visit: Visit) -> Response:
    """Exactly what an agent gets for a prompt, and why each memory ranked."""
    prompt, wanted = visit.asked("prompt").strip(), visit.asked("memory").strip()
    result, missed = None, None
    if prompt:
        apps = [(visit.spot.scope, visit.app)]
        if visit.spot.scope == "project":
            for spot in visit.ui.workspace.scopes(visit.spot)[1:]:
                if not spot.scope.startswith("agent:"):
                    with suppress(MemdirError):  # its own page says why
                        apps.append((spot.scope, visit.open_scope(spot)))
        result = recall(apps, prompt)
        if wanted:
            missed = _why_not(visit, apps, prompt, wanted, result)
    values = {"prompt": prompt, "wanted": wanted, "result": result, "missed": missed, "rule": RULE}
    return visit.render("lab.html", "Recall lab", **values)


def _why_not(
    visit: Visit, apps: Sequence[tuple[str, App]], prompt: str, wanted: str, result: Any
) -> str:
    """Why this memory did not come, in one sentence."""
    path = look.find_memories(visit.app.store, [wanted])[0].path
    given = [it.memory.path for it in (*result.injected.bodies, *result.injected.pointers)]
    if path in given:
        return f"{path} was told."
    if path in unaccepted_paths(visit.app):
        return f"{path} was written by others and waits for your yes."
    if result.found.abstained and not result.found.searched:
        return f"Nothing is recalled for such a prompt: {result.reason}."
    wide = recall(apps, prompt, limit=0, pointers=MAX_FOUND, abstain=False).found.pointers
    rank = next((n for n, it in enumerate(wide, 1) if it.memory.path == path and it.words), 0)
    if not rank:
        return f"{path} has no word of this prompt, or none that tells it from other memories."
    hit = wide[rank - 1]
    words = ", ".join(list(hit.words)[:6])
    return f"{path} is number {rank} for this prompt (words: {words}; sureness {hit.sure:.1f})."


def restructure_page(visit: Visit) -> Response:
    from memdir.upkeep.restructure import restructure_store  # the first screen spares these

    plan = done = None
    if visit.asked("plan"):
        plan, done = restructure_store(replace(visit.app, dry_run=True))
    pairs = (asdict(plan.before), asdict(plan.after)) if plan else ({}, {})
    figures = [
        (name.replace("_", " "), old, pairs[1][name])
        for name, old in pairs[0].items()
        if old or pairs[1][name]
    ]
    diff = done.diff if done else ()
    values: dict[str, Any] = {"plan": plan, "done": done, "figures": figures}
    values |= {"files": files_of(diff[:ROWS]), "left": max(len(diff) - ROWS, 0)}
    version = plan_version(plan) if plan else ""
    return visit.render("restructure.html", "Restructure", version=version, **values)


def shelf_page(visit: Visit) -> Response:
    items = paginate(look.list_shelved_and_missing(visit.app), visit.number("page"), ROWS)
    return visit.render("shelf.html", "Put away", rows=items)


def budget_page(visit: Visit) -> Response:
    spending = read_model_spending(visit.app)
    calls = paginate(spending.calls, visit.number("page"), ROWS)
    model = visit.app.config.options.model
    return visit.render("budget.html", "Budget", spending=spending, rows=calls, model=model)


def doctor_page(visit: Visit) -> Response:
    """The checks run when they are asked for: their proof saves in a store that is thrown away."""
    checks = None
    if visit.asked("run"):
        from memdir.care.doctor import open_trial_store, run_doctor

        folder = tempfile.mkdtemp(prefix="memdir-doctor-")
        try:
            trial = open_trial_store(visit.app, os.path.realpath(folder), visit.app.actor)
            checks = run_doctor(visit.app, trial)
        finally:
            rmtree(folder, ignore_errors=True)
    return visit.render("doctor.html", "Doctor", checks=checks)


VIEWS: dict[str, Handler] = {
    "": home_page,
    "changes": changes_page,
    "change": change_page,
    "memories": memories_page,
    "memory": memory_page,
    "waiting": waiting_page,
    "item": item_page,
    "told": told_page,
    "findings": findings_page,
    "lab": lab_page,
    "restructure": restructure_page,
    "shelf": shelf_page,
    "budget": budget_page,
    "doctor": doctor_page,
}

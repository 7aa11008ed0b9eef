"""What each page shows."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from memdir.audit.ages import find_age_starts, find_known_stale_claims
from memdir.capture.inbox import Held, describe_draft_origin, held_title
from memdir.errors import Finding, MemdirError
from memdir.format.draft import ANYWAY, Wishes, content_hash
from memdir.hot import safe, types
from memdir.hot.memory import INDEX, RECORD_INDEX, Memory, decode, read_header, read_memory
from memdir.hot.recall import BODY_SHARE, POINTERS, SURE, UNSURE
from memdir.models.ledger import read_model_spending
from memdir.recall.answer import Recall, recall
from memdir.store import look
from memdir.store.accept import unaccepted_paths
from memdir.store.save import find_in_store
from memdir.store.writer import App
from memdir.ui import overview
from memdir.ui.findings import OLD, Kept, read_findings_for_page
from memdir.ui.overview import group_answers_on_page, read_told
from memdir.ui.routes import Handler, Visit, find_undecided, form_path, show_item_on_page
from memdir.ui.workspace import Census

if TYPE_CHECKING:
    from memdir.upkeep.restructure import Plan

FEW = 5  # rows of each part of the first screen
ROWS = 50  # of a page
SESSIONS = 20  # of a page
MAX_FOUND = 200
MAX_EDITED_CHARACTERS = 256 * 1024
RULE = (
    f"Told whole from a sureness of {SURE} on, if it is at least {BODY_SHARE:.0%} of the best "
    f"one’s; as a line from {UNSURE} on, at most {POINTERS} of them; nothing twice in a session."
)


def attempt(look: Callable[[], Any], problems: list[MemdirError], default: Any) -> Any:
    """A part that cannot be read is told, and the rest of the page is there."""
    try:
        return look()
    except MemdirError as error:
        if error.message not in [it.message for it in problems]:
            problems.append(error)
        return default


def select_page_rows(visit: Visit, items: Sequence[Any], size: int = ROWS) -> dict[str, Any]:
    asked, pages = visit.asked("page"), max(-(-len(items) // size), 1)
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else 1
    number = min(max(number, 1), pages)
    part = items[(number - 1) * size : number * size]
    return {"items": part, "page": number, "pages": pages, "total": len(items)}


def page_diffs(versions: Iterable[tuple[str, bytes | None, bytes | None]]) -> list[dict[str, Any]]:
    """The files that differ, with their texts; indexes come last."""
    rows = sorted(
        (row for row in versions if row[1] != row[2]),
        key=lambda row: row[0] in (INDEX, RECORD_INDEX),
    )
    texts = [(path, *(None if it is None else decode(it) for it in pair)) for path, *pair in rows]
    return [{"path": path, "old": old, "new": new} for path, old, new in texts]


def plan_version(plan: Plan) -> str:
    words = repr((sorted(plan.texts.items()), plan.gone, plan.index))
    return content_hash(words.encode("utf-8", "surrogatepass"))


def history(app: App, census: Census, path: str = "") -> dict[str, Any]:
    """The newest changes, of one memory if a path is given, and what tells about them."""
    changes = overview.page_changes(app, census)
    shown = [it for it in changes if any(path in ("", name) for _, name in it.paths)]
    return {"undone": overview.undone_on_page(changes), "about": census.about, "changes": shown}


def home_page_values(visit: Visit) -> dict[str, Any]:
    app, problems = visit.app, list[MemdirError]()
    census = attempt(lambda: visit.census, problems, visit.last_census)
    told = attempt(lambda: read_told(app, census), problems, [])
    undecided = attempt(lambda: visit.undecided(census), problems, [])
    past = attempt(lambda: history(app, census), problems, {"changes": []})
    strip = attempt(lambda: overview.read_strip(app, census, told), problems, {})
    plots = attempt(lambda: overview.read_page_plots(app, census, told), problems, [])
    job = visit.ui.audits.job(app)
    is_running = job is not None and not job.done  # asked before its findings are read
    kept, found = attempt(lambda: read_findings_for_page(app, census), problems, (Kept(), []))
    pressing = [it for it in found if it.kind != OLD]
    beside = attempt(lambda: memories_on_page(app, census, pressing[:FEW]), problems, {})
    said = [it.message for it in problems]
    visit.remarks = [it for it in visit.remarks if not any(map(it.__contains__, said))]
    return {
        "strip": strip,
        **past,
        "items": [show_item_on_page(*it) for it in undecided[:FEW]],
        "all_items": len(undecided),
        "sessions": group_answers_on_page(told)[:FEW],
        "kept": kept,
        "findings": pressing[:FEW],
        "beside": beside,
        "all_findings": len(pressing),
        "only_old": len(found) - len(pressing),
        "job": job if is_running else None,
        "job_error": job.error if job else "",
        "plots": plots,
        "problems": problems,
        "few": FEW,
    }


def memories_on_page(
    app: App, census: Census, findings: Iterable[Finding]
) -> dict[str, tuple[str, str]]:
    """What the memories that something is found about say, and their versions, for the acts."""
    paths = census.about.keys() & {it.path for it in findings}
    return {it: (census.about[it], content_hash(app.store.read(it))) for it in paths}


def findings_page(visit: Visit) -> Response:
    """All of them: what is pressing, then what is only old."""
    app, census = visit.app, visit.census
    kept, found = read_findings_for_page(app, census)
    rows = select_page_rows(visit, found)
    beside = memories_on_page(app, census, rows["items"])
    return visit.render("findings.html", "Needs a look", kept=kept, rows=rows, beside=beside)


def home_page(visit: Visit) -> Response:
    values = home_page_values(visit)
    return visit.render("home.html", "Overview", **values, refresh=values["job"] is not None)


def changes_page(visit: Visit) -> Response:
    past = history(visit.app, visit.census)
    rows = select_page_rows(visit, past["changes"])
    return visit.render("changes.html", "What changed", **past, rows=rows)


def change_page(visit: Visit) -> Response:
    logged, versions = look.diff_of_change(visit.app, visit.asked("id"))
    past = history(visit.app, visit.census) | {"changes": [logged]}
    past |= {"files": page_diffs(versions[:ROWS]), "left": max(len(versions) - ROWS, 0)}
    return visit.render("change.html", "A change", **past)


def memories_page(visit: Visit) -> Response:
    """The list, or what the real search finds for some words."""
    app, census = visit.app, visit.census
    asked = {name: visit.asked(name).strip() for name in ("q", "type", "state")}
    memories = {memory.path: memory for memory in census.scan.memories}
    waiting = census.once("waiting", lambda: unaccepted_paths(app))
    why: dict[str, Any] = {}
    shown = sorted(memories.values(), key=lambda it: (-it.clock, it.path))
    if asked["q"]:
        apps, words = [(visit.spot.scope, app)], asked["q"]
        found = recall(apps, words, limit=0, pointers=MAX_FOUND, abstain=False, waiting=True).found
        hits = {hit.memory.path: hit for hit in found.pointers if hit.words}
        why = {path: hit for path, hit in hits.items() if path in memories}
        shown = [memories[path] for path in why]
    if asked["type"]:
        shown = [it for it in shown if it.type == asked["type"]]
    stale = find_known_stale_claims(app, shown)
    states: dict[str, Callable[[Memory], object]] = {
        "stale": lambda it: stale.get(it.path),
        "old": lambda it: safe.age_days(it.clock, app.now()) > types.get(it.type).half_life_days,
        "pinned": lambda it: it.pinned,
        "waits": lambda it: it.path in waiting,
    }
    shown = [*filter(states.get(asked["state"], lambda _: True), shown)]
    rows = select_page_rows(visit, shown)
    values = {
        "rows": rows,
        "why": why,
        "stale": stale,
        "waiting": waiting,
        "types": sorted(Counter(memory.type for memory in memories.values()).items()),
        "asked": asked,
        "findings": census.scan.findings[:FEW],
    }
    return visit.render("memories.html", "Memories", **values)


def is_editable(text: str) -> bool:
    """A form brings back no hidden character unchanged, and one kind of line end."""
    plain = text.replace("\n", "").replace("\t", "")
    return len(text) <= MAX_EDITED_CHARACTERS and plain.isprintable()


def memory_page(visit: Visit, asked: str = "", **more: Any) -> Response:
    app, problems = visit.app, list[MemdirError]()
    path = find_in_store(app.store, [asked or form_path(visit.asked("path"))])[0].path
    data, facts = app.store.read(path), app.store.facts(path)
    view = app.store.view(path, data)
    document = read_header(decode(view))
    item = read_memory(path, view, facts[0] / 1e9 if facts else app.now())
    item.dated = attempt(lambda: find_age_starts(app, [item])[0], [], {}).get(path, 0.0)
    past = attempt(lambda: history(app, visit.census, path), problems, {"changes": []})
    told = attempt(lambda: read_told(app, visit.last_census), problems, [])
    found = attempt(lambda: read_findings_for_page(app, visit.last_census)[1], problems, [])
    doubts = [it.message for it in found if it.path == path and it.kind != OLD]
    stale = find_known_stale_claims(app, [item]).get(path, [])
    said = " ".join(doubts).replace(": ", " ")  # as an audit words a claim
    doubts += [text for text in stale if text not in said]
    scope, there = visit.spot.scope, [it.scope for it in visit.ui.workspace.scopes(visit.spot)]
    targets = [it for it in ("local", "team") if it in (*there, "team")]  # a team may begin here
    values: dict[str, Any] = {
        "item": item,
        "path": path,
        "body": document.body.strip("\n"),
        "version": content_hash(data),
        "editable": is_editable(decode(data)),
        "origin": describe_draft_origin(document.values),
        "doubts": doubts,
        "waits": path in unaccepted_paths(app),
        **past,
        "told": [it for it in told if any(m[:2] == (path, scope) for m in it.memories)],
        "problems": problems,
        "types": types.names(),
        "targets": [] if scope in ("team", "local") else targets,
        "typed": None,
        "preview": None,
    }
    return visit.render("memory.html", item.name, **{**values, **more})


def waiting_page(visit: Visit) -> Response:
    from memdir.capture.review import find_rejected_drafts

    rows = select_page_rows(visit, visit.undecided(visit.last_census), SESSIONS)
    rows["items"] = [show_item_on_page(*it) for it in rows["items"]]
    rejected = find_rejected_drafts(visit.app, (), every=True)[:ROWS]
    titles = {it.id: held_title(it.catch) for it in rejected}
    return visit.render("waiting.html", "Waiting for you", rows=rows, rejected=titles)


def item_page(visit: Visit) -> Response:
    from memdir.capture.review import preview_held_draft

    app, thing = find_undecided(visit.undecided(visit.last_census), visit.asked("id"))
    draft, refused = None, list[str]()
    if isinstance(thing, Held):
        draft, done = thing.catch.draft, preview_held_draft(app, thing, Wishes(offered=(ANYWAY,)))
        files = page_diffs(done.diff)
        refused = [it.reason for it in done.changes if it.reason]
    else:
        files = page_diffs([(thing.memory.path, None, thing.data)])
    values: dict[str, Any] = {
        "item": show_item_on_page(app, thing),
        "files": files,
        "refused": refused,
        "draft": draft if draft and is_editable(draft.body) else None,
        "types": types.names(),
    }
    return visit.render("item.html", "Waiting for you", **values)


def told_page(visit: Visit) -> Response:
    told = group_answers_on_page(read_told(visit.app, visit.last_census))
    rows, on = select_page_rows(visit, told, SESSIONS), visit.app.config.options.told_log
    return visit.render("told.html", "What agents were told", rows=rows, on=on)


def lab_page(visit: Visit) -> Response:
    """Exactly what an agent gets for a prompt, and why each memory ranked."""
    prompt, wanted = visit.asked("prompt").strip(), visit.asked("memory").strip()
    result, missed, problems = None, "", list[MemdirError]()
    if prompt:
        apps = [(visit.spot.scope, visit.app)]
        if visit.spot.scope == "project":
            for spot in visit.ui.workspace.scopes(visit.spot)[1:]:
                if not spot.scope.startswith("agent:"):
                    with suppress(MemdirError):  # its own page says why
                        apps.append((spot.scope, visit.open_scope(spot)))
        result = recall(apps, prompt)
        if wanted:
            missed = attempt(lambda: _why_not(visit, apps, prompt, wanted, result), problems, "")
    values = {"prompt": prompt, "wanted": wanted, "result": result, "missed": missed, "rule": RULE}
    return visit.render("lab.html", "Recall lab", problems=problems, **values)


def _why_not(
    visit: Visit, apps: Sequence[tuple[str, App]], prompt: str, wanted: str, result: Recall
) -> str:
    """Why this memory did not come, in one sentence."""
    path = find_in_store(visit.app.store, [wanted])[0].path
    if path in [it.memory.path for it in (*result.injected.bodies, *result.injected.pointers)]:
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

    if not visit.asked("plan"):
        return visit.render("restructure.html", "Restructure", plan=None)
    plan, done = restructure_store(replace(visit.app, dry_run=True))
    before, after = asdict(plan.before), asdict(plan.after)
    pairs = {name.replace("_", " "): (before[name], after[name]) for name in before}
    files, left = page_diffs(done.diff[:ROWS]), max(len(done.diff) - ROWS, 0)
    values = {"plan": plan, "done": done, "figures": pairs, "files": files, "left": left}
    return visit.render("restructure.html", "Restructure", version=plan_version(plan), **values)


def shelf_page(visit: Visit) -> Response:
    rows = select_page_rows(visit, look.list_restorable_on_store_shelf(visit.app))
    return visit.render("shelf.html", "Put away", rows=rows)


def budget_page(visit: Visit) -> Response:
    spending, model = read_model_spending(visit.app), visit.app.config.options.model
    rows = select_page_rows(visit, spending.calls)
    return visit.render("budget.html", "Budget", spending=spending, rows=rows, model=model)


def doctor_page(visit: Visit) -> Response:
    """The checks run when they are asked for: their proof saves in a store that is thrown away."""
    checks = None
    if visit.asked("run"):
        from memdir.care.doctor import open_doctor_trial_store, run_doctor

        with tempfile.TemporaryDirectory("-memdir", ignore_cleanup_errors=True) as folder:
            trial = open_doctor_trial_store(visit.app, os.path.realpath(folder), visit.app.actor)
            checks = run_doctor(visit.app, trial)
    return visit.render("doctor.html", "Doctor", checks=checks)


PAGES: tuple[Handler, ...] = (
    *(changes_page, change_page, memories_page, memory_page, waiting_page, item_page, told_page),
    *(findings_page, lab_page, restructure_page, shelf_page, budget_page, doctor_page),
)
VIEWS: dict[str, Handler] = {"": home_page} | {
    view.__name__.removesuffix("_page"): view for view in PAGES
}

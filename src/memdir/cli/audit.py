"""Audit, dashboard, verify."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from memdir.audit.ages import FIX, KEEP, LOOK, RETIRE, REVIEW
from memdir.audit.audit import ACTIONS, Audit, Audited, Load
from memdir.audit.audit import audit as look_over
from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE, UNKNOWN, Judged
from memdir.cli.command import Session, command
from memdir.cli.output import FINDING, Advice, Answer, Cell, Fields, Screen, pick
from memdir.errors import Finding
from memdir.hot import safe
from memdir.store.writer import App
from memdir.text.terminal import cut_text_middle, draw_bar, one_line, plural

if TYPE_CHECKING:
    from memdir.audit.projects import Place

FEW = 3  # findings of each kind shown to a person
ROWS = 12  # memories shown
ADVICE = {RETIRE: "red", FIX: "yellow", LOOK: "yellow", KEEP: "green"}
# Harmful kinds of findings, worst first.
SERIOUS = (
    *("secret", "hidden-characters", "orders", "forged-frame", "redirect-attempt", "unreadable"),
    *("conflict", "stale-claim", "project-gone", "index-too-long", "dangling-pointer"),
)
NO_STORE = "there is no store yet: memdir remember TEXT makes one"
LOAD = "index prompt total memories"
MEMORY = "path type age_days score action advice tokens claims reasons store"


class Report(NamedTuple):
    title: str
    app: App
    result: Audit
    advise: Advice  # makes commands name this store


@command("audit", "memdir audit --deep")
@click.option("--deep", is_flag=True, help="Check claims against the code.")
@click.option("--online", is_flag=True, help="Check that URLs still answer.")
@click.option("--all-projects", is_flag=True, help="All stores of the client.")
@click.option("--check", is_flag=True, help="Exit with 1 if there is any finding.")
@click.option("--all", "everything", is_flag=True, help="Show every memory and finding.")
def audit_command(
    session: Session, deep: bool, online: bool, all_projects: bool, check: bool, everything: bool
) -> Answer:
    """The advice: keep, look (old, or nothing in it could be checked), fix (a claim that is no
    longer true, a day that has passed) or retire (old, and finished or superseded). The score goes
    from 0 (fresh) to 100; age alone never says more than look. Nothing is changed.
    """
    asked = {"deep": deep, "online": online, "every": everything}
    reports = list(_audit_stores(session, asked, all_projects))
    loads = [report.result.tokens for report in reports]
    sums = [sum(getattr(load, key) for load in loads) for key in ("index", "prompt", "memories")]
    memories, findings, stores = [], [], []
    remarks: list[str] = []
    lines: list[str] = []
    for report in reports:
        root, result = report.app.store.root, report.result
        for item in result.memories:
            claims = pick(item.claims, "checked stale unknown")
            memories.append(pick(item, MEMORY, claims=claims))
        for finding in result.findings:
            findings.append(pick(finding, FINDING, fix=report.advise(finding.fix), store=root))
        stores.append({"title": report.title, "store": root, "tokens": pick(result.tokens, LOAD)})
        remarks += result.remarks
        lines += [*[""][: len(lines)], *_report_lines(session, report, everything, all_projects)]
    kinds = sum((Counter(one.result.finding_counts) for one in reports), Counter[str]())
    fields: Fields = {
        "store": session.config.store,
        "memories": memories,
        "findings": findings,
        "tokens": pick(Load(*sums), LOAD),
        "stores": stores,
        "actions": {name: sum(one.result.actions[name] for one in reports) for name in ACTIONS},
        "finding_counts": dict(kinds),
        "advice": {name: sum(one.result.advice[name] for one in reports) for name in ADVICE},
        "remarks": list(dict.fromkeys(remarks)),
    }
    if all_projects and reports:
        lines += ["", "Next: memdir prune --dir STORE"]
    return Answer(fields, lines or [NO_STORE], int(check and bool(findings)))


def _audit_stores(session: Session, asked: dict[str, bool], all_projects: bool) -> Iterator[Report]:
    from memdir.audit.projects import open_projects_to_audit

    screen, known = session.screen, set[Finding]()
    for place in (
        open_projects_to_audit(session.config, time.time, screen.tell) if all_projects else ()
    ):
        result = look_over(place.app, **asked)
        result = replace(result, findings=(*place.findings, *result.findings))
        advise = Advice(screen.advise.commands, place.app.store.root, home=screen.advise.home)
        yield Report(session.short(place.title), place.app, result, advise)
    for scope, app in () if all_projects else session.apps():
        result = look_over(app, **asked)
        # All scopes share the settings, so their findings appear once.
        findings = tuple(finding for finding in result.findings if finding not in known)
        known.update(app.config.findings)
        result = replace(result, findings=findings)
        yield Report(scope, app, result, screen.advise._replace(scope=scope))


def _report_lines(session: Session, report: Report, everything: bool, many: bool) -> Iterator[str]:
    screen, (title, app, result, advise) = session.screen, report
    root, load, counts = app.store.root, result.tokens, result.advice
    parts = [plural(len(result.memories), "memory", "memories")]
    parts += [f"{number} {word}" for word, number in counts.items() if number]
    kinds: dict[str, list[Finding]] = {kind: [] for kind in SERIOUS}
    counted = {finding.kind: 1 for finding in result.findings} | dict(result.finding_counts)
    for finding in sorted(result.findings, key=lambda it: (-counted[it.kind], it.kind)):
        kinds.setdefault(finding.kind, []).append(finding)
    for text in screen.block(
        "", f"{title}: {' · '.join([*parts, plural(sum(counted.values()), 'finding')])}", ""
    ):
        yield screen.paint(text, "bold")
    yield from screen.block("in", session.short(root))
    shown = [item for item in result.memories if everything or item.advice != KEEP]
    shown.sort(key=lambda item: [*ADVICE].index(item.advice))
    shown = shown if everything else shown[:ROWS]
    yield from [""] if shown else []
    for item in shown:
        age = safe.age_words(item.age_days)
        mark = f"{item.advice:6} {draw_bar(item.score / 100)} {item.score:3}"
        text = f"{item.path}: {item.type}, {age}, ~{item.tokens:,} tokens"
        yield from screen.block(mark, text, style=ADVICE[item.advice])
        for reason in item.reasons[1:]:  # the line above says the age
            yield from screen.block("", reason, " " * 9)
    yield from screen.more_lines(len(result.memories), len(shown), ": --all") if shown else []
    said = {item.path for item in shown}
    if not everything and said.issuperset(finding.path for finding in kinds["stale-claim"]):
        kinds["stale-claim"] = []  # each stands below its memory
    for kind, findings in kinds.items():
        few = findings if everything else findings[:FEW]
        number = counted[kind] if findings else 0
        yield from ["", screen.paint(f"{kind} ({number:,})", "cyan")] if findings else []
        yield from screen.finding_lines(few, advise)
        yield from screen.more_lines(number, len(few), ": --all")
    text = (
        f"each session loads ~{load.total:,} (index {load.index:,}, instructions {load.prompt:,}); "
        f"all memories together have ~{load.memories:,}"
    )
    yield from ["", *screen.block("tokens:", text)]
    remarks = [session.short(text.replace(root, session.short(root))) for text in result.remarks]
    yield from screen.blocks("note:", remarks)
    steps = ["memdir prune"] if counts[RETIRE] else []
    steps += ["memdir edit NAME"] if counts[FIX] else []
    steps += ["memdir touch NAME if it still holds"] if counts[LOOK] else []
    checked = any(item.claims.checked or item.claims.unknown for item in result.memories)
    if app.config.code and not checked:
        steps.append("memdir audit --deep checks claims against the code")
    if steps and result.memories and not many:  # for many stores, the last line says it once
        yield from screen.block("Next:", advise(" · ".join(steps)), "")


TOP = 10  # projects, alerts and consumers shown to a person
PROJECT = "title store=app.store.root gone memories types actions alerts index_findings tokens"
CONSUMER = "store title path type score action advice age_days tokens"


@command("dashboard", "memdir dashboard")
def dashboard_command(session: Session) -> Answer:
    """Nothing is written or checked against the code."""
    from memdir.audit.projects import open_projects_to_audit

    places = open_projects_to_audit(session.config, time.time, session.screen.tell)
    audits = [(place, look_over(place.app, brief=True)) for place in places]
    audits.sort(key=lambda pair: (-pair[1].tokens.total, pair[0].title))
    items = [(place, item) for place, audit in audits for item in audit.memories]
    alerts = [pair for pair in items if pair[1].score > REVIEW]
    alerts.sort(key=lambda pair: (-pair[1].score, pair[1].path))
    longest = sorted(items, key=lambda pair: (-pair[1].tokens, pair[1].path))[:TOP]
    projects = [_project_fields(place, audit) for place, audit in audits]
    loads = [audit.tokens for _, audit in audits]
    types = Counter(item.type for _, item in items)
    fields: Fields = {
        "projects": projects,
        "counts": {
            "projects": len(projects),
            "memories": len(items),
            "index_findings": sum(len(a.findings) + len(p.findings) for p, a in audits),
            "types": dict(sorted(types.items())),
            "actions": Counter(item.action for _, item in items),
        },
        "alerts": [_item_fields(*pair) for pair in alerts],
        "tokens": {key: sum(getattr(load, key) for load in loads) for key in LOAD.split()},
        "top": [_item_fields(*pair) for pair in longest],
    }
    if not projects:
        return Answer(fields, [NO_STORE])
    screen = session.screen
    parts = [plural(len(projects), "store"), plural(len(items), "memory", "memories")]
    lines = [screen.paint(" · ".join([*parts, plural(len(alerts), "alert")]), "bold")]
    lines += screen.block("", ", ".join(f"{n:,} {name}" for name, n in types.most_common()))
    rows: list[list[Cell]] = []
    heaviest = max(load.total for load in loads) or 1
    for (place, audit), project in zip(audits[:TOP], projects, strict=False):
        gone = " (gone)" if project["gone"] else ""
        total = audit.tokens.total
        memories, tokens = f"{len(audit.memories):8}", f"{draw_bar(total / heaviest)} {total:7,}"
        rows.append([tokens, memories, f"{project['alerts']:6}", session.short(place.title) + gone])
    headings = ("tokens a session", "memories", "alerts", "store")
    lines += ["", *screen.table(rows, headings=headings), *screen.more_lines(len(projects), TOP)]
    sizes = [(item.tokens, place, item) for place, item in longest]
    scores = [(item.score, place, item) for place, item in alerts]
    stale = f"stale memories (score above {REVIEW})"
    for title, word, some in ((stale, "score", scores), ("longest", "tokens", sizes)):
        limit = max([number for number, *_ in some] + [100])
        rows = [
            [f"{draw_bar(n / limit, 5)} {n:6,}", (item.path, "bold"), session.short(it.title)]
            for n, it, item in some[:TOP]
        ]
        table = screen.table(rows, headings=(word, "memory", "store"))
        lines += ["", screen.paint(title, "cyan"), *table] if rows else []
        lines += screen.more_lines(len(some), TOP)
    steps = "memdir audit --all-projects lists findings · memdir prune goes through one store"
    return Answer(fields, [*lines, "", *screen.block("Next:", steps, "")])


def _project_fields(place: Place, audit: Audit) -> Fields:
    return pick(
        place,
        PROJECT,
        gone=any(finding.kind == "project-gone" for finding in place.findings),
        memories=len(audit.memories),
        types=Counter(item.type for item in audit.memories),
        actions=Counter(item.action for item in audit.memories),
        alerts=sum(item.score > REVIEW for item in audit.memories),
        # Only files and index; texts are not inspected here.
        index_findings=len(audit.findings) + len(place.findings),
        tokens=pick(audit.tokens, LOAD),
    )


def _item_fields(place: Place, item: Audited) -> Fields:
    return pick(item, CONSUMER, store=place.app.store.root, title=place.title)


# Verdict: label and style; worst first.
LABELS = {STALE: "stale", UNKNOWN: "unknown", TRUE: "true", NOT_A_CLAIM: "no claim"}
STYLES = ("red", "yellow", "green", "dim")
ORDER = tuple(LABELS)
MAX_NUMBERS = 5  # of lines shown per claim
LABEL = 9  # columns of a verdict's label
SPAN_SHARE = 0.7  # of the line's width for the text of a claim
CLAIM = (
    "path line=claim.line text=claim.text kind=claim.kind verdict reason place "
    "column=claim.column scope"
)
Checked = list[tuple[str, str, list[Judged]]]  # scope, path, claims


@command("verify", "memdir verify auth-flow --check")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "whole", is_flag=True, help="List every claim, not only stale ones.")
@click.option("--check", is_flag=True, help="Exit with 1 if a claim is stale.")
def verify_command(session: Session, names: tuple[str, ...], whole: bool, check: bool) -> Answer:
    """Checks paths, symbols, commands, branches and commits. `stale` needs evidence that the claim
    once was true: a removed or renamed file, a symbol that left the code. What is just not found
    is `unknown`. File names are compared with those that git tracks; the files are never opened.
    URLs are not visited.
    """
    from memdir.claims.verify import verify_memories as check_claims

    apps = [(str(session.config.scope), session.app)] if names else session.apps()
    results = [(scope, check_claims(app, names)) for scope, app in apps]
    memories = [
        (scope, path, claims)
        for scope, result in results
        for path, claims in result.memories.items()
    ]
    counts = Counter(claim.verdict for *_, claims in memories for claim in claims)
    remarks = list(dict.fromkeys(text for _, result in results for text in result.remarks))
    fields: Fields = {
        "claims": [
            pick(claim, CLAIM, path=path, scope=scope)
            for scope, path, claims in memories
            for claim in claims
        ],
        "counts": {verdict: counts[verdict] for verdict in ORDER},
        "files": len(memories),
        "remarks": remarks,
    }
    lines = _verify_lines(session.screen, memories, counts, remarks, whole or bool(names))
    return Answer(fields, lines, int(check and counts[STALE] > 0))


def _verify_lines(
    screen: Screen, memories: Checked, counts: Counter[str], remarks: list[str], whole: bool
) -> Iterator[str]:
    scoped = len({scope for scope, *_ in memories}) > 1
    shown = []
    for scope, path, claims in memories:
        stale = [claim for claim in claims if claim.verdict == STALE]
        if stale or (whole and claims):
            title = f"{scope}: {path}" if scoped else path
            shown.append((not stale, path, title, claims if whole else stale))
    for _, _, title, claims in sorted(shown, key=lambda item: item[:2]):
        yield from (screen.paint(text, "bold") for text in screen.block("", title, ""))
        yield from _claim_lines(screen, claims)
        yield ""
    total, files = plural(sum(counts.values()), "claim"), plural(len(memories), "file")
    parts = ", ".join(f"{counts[verdict]:,} {label}" for verdict, label in LABELS.items())
    yield from screen.block("", f"{total} in {files}: {parts}", "")
    for text in remarks:
        yield from screen.block("note:", text, "", "yellow")


def _claim_lines(screen: Screen, claims: list[Judged]) -> Iterator[str]:
    places: dict[tuple[int, str, str], list[int]] = {}
    for item in claims:
        key = ORDER.index(item.verdict), item.claim.text, item.reason
        places.setdefault(key, []).append(item.claim.line)
    for (verdict, text, reason), lines in sorted(places.items(), key=lambda i: (i[0][0], i[1])):
        label = f"{LABELS[ORDER[verdict]]:{LABEL}}"
        numbers = ", ".join(map(str, dict.fromkeys(lines[:MAX_NUMBERS])))
        numbers += " …" * (len(lines) > MAX_NUMBERS)
        span = cut_text_middle(one_line(text), int(screen.columns * SPAN_SHARE))
        yield from screen.block(label, f"{numbers}: {span} – {reason}", style=STYLES[verdict])

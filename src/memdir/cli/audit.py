"""Audit, dashboard."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from memdir.audit.advice import FIX, KEEP, LOOK, RETIRE
from memdir.audit.ages import REVIEW
from memdir.audit.audit import ACTIONS, Audit, Audited, Load, Wish
from memdir.audit.audit import audit as look_over
from memdir.cli.command import Session, command
from memdir.cli.output import BAND_STYLES, FINDING, Advice, Answer, Cell, Fields, Screen, pick
from memdir.errors import Finding
from memdir.hot import safe
from memdir.store.writer import App
from memdir.text.terminal import cut_text, cut_text_middle, one_line, plural

if TYPE_CHECKING:
    from memdir.audit.projects import Place

FEW = 3  # findings of each kind shown to a person, and things in the summary
ROWS = 12  # memories shown
ADVICE = {RETIRE: "red", FIX: "yellow", LOOK: "yellow", KEEP: "green"}
# Harmful kinds of findings, worst first.
SERIOUS = (
    *("secret", "hidden-characters", "orders", "forged-frame", "redirect-attempt", "unreadable"),
    *("conflict", "stale-claim", "project-gone", "index-too-long", "dangling-pointer"),
)
BAR = 10  # columns for 100 points
EIGHTHS = " ▏▎▍▌▋▊▉"
NARROW = 64  # columns; a narrower terminal shows three of each row
MIN_NAME = 12  # columns
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
    wish = Wish(deep, online, session.config.options.private_urls, every=everything)
    reports = list(_audit_stores(session, wish, all_projects))
    loads = [report.result.load for report in reports]
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
        stores.append({"title": report.title, "store": root, "tokens": pick(result.load, LOAD)})
        remarks += result.remarks
        lines += [*[""][: len(lines)], *_report_lines(session, report, everything, all_projects)]
    fields: Fields = {
        "store": session.config.store,
        "memories": memories,
        "findings": findings,
        "tokens": pick(Load(*sums), LOAD),
        "stores": stores,
        "actions": {name: sum(one.result.count(name) for one in reports) for name in ACTIONS},
        "finding_counts": dict(sum((Counter(one.result.counts) for one in reports), Counter())),
        "advice": {name: sum(len(one.result.advised(name)) for one in reports) for name in ADVICE},
        "remarks": list(dict.fromkeys(remarks)),
    }
    if all_projects and reports:
        lines += ["", "Next: memdir prune --dir STORE"]
    return Answer(fields, lines or [NO_STORE], int(check and bool(findings)))


def _audit_stores(session: Session, wish: Wish, all_projects: bool) -> Iterator[Report]:
    from memdir.audit.projects import open_projects_to_audit

    screen, known = session.screen, set[Finding]()
    for place in (
        open_projects_to_audit(session.config, time.time, screen.tell) if all_projects else ()
    ):
        result = look_over(place.app, wish)
        result = replace(result, findings=(*place.findings, *result.findings))
        advise = Advice(screen.advise.commands, place.app.store.root, home=screen.advise.home)
        yield Report(session.short(place.title), place.app, result, advise)
    for scope, app in () if all_projects else session.apps():
        result = look_over(app, wish)
        # All scopes share the settings, so their findings appear once.
        findings = tuple(finding for finding in result.findings if finding not in known)
        known.update(app.config.findings)
        result = replace(result, findings=findings)
        yield Report(scope, app, result, screen.advise._replace(scope=scope))


def _report_lines(session: Session, report: Report, everything: bool, many: bool) -> Iterator[str]:
    screen, (title, app, result, advise) = session.screen, report
    root, load = app.store.root, result.load
    counts = {word: len(result.advised(word)) for word in ADVICE}
    kinds = _sort_findings(result.findings)
    parts = [plural(len(result.memories), "memory", "memories")]
    parts += [f"{number} {word}" for word, number in counts.items() if number]
    parts.append(plural(sum(result.counts.get(kind, 1) for kind in kinds), "finding"))
    for text in screen.block("", f"{title}: {' · '.join(parts)}", ""):
        yield screen.paint(text, "bold")
    yield from screen.block("in", session.short(root))
    for number, text in enumerate(_what_matters(result, kinds)[:FEW], 1):
        yield from screen.block(f"{number}.", cut_text(text, 2 * screen.columns - 20))
    shown = [item for item in result.memories if everything or item.advice != KEEP]
    shown.sort(key=lambda item: [*ADVICE].index(item.advice))
    shown = shown if everything else shown[:ROWS]
    if shown:
        yield ""
        table = _memory_table(screen, shown)
        height = len(table) // (len(shown) + 1)  # lines of a row: two where columns are few
        yield from table[:height]
        for number, item in enumerate(shown, 1):
            yield from table[number * height : (number + 1) * height]
            for reason in item.reasons[1:]:  # the row already shows the age
                yield from screen.block("", reason, " " * 7)
        left = len(result.memories) - len(shown)
        yield from [f"  and {plural(left, 'other')}: --all shows them"] if left else []
    said = {item.path for item in shown}
    if not everything and said.issuperset(f.path for f in kinds.get("stale-claim", ())):
        kinds.pop("stale-claim", None)  # each stands below its memory
    for kind, findings in kinds.items():
        yield from _finding_lines(session, report, kind, findings, everything)
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


def _sort_findings(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Harmful kinds first, then the most frequent."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    order = [*SERIOUS, *sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))]
    return {kind: kinds[kind] for kind in dict.fromkeys(order) if kind in kinds}


def _what_matters(result: Audit, kinds: Mapping[str, list[Finding]]) -> list[str]:
    """What is harmful, then what may go, then what else is wrong; each in one line."""
    lines = {}
    for kind, findings in kinds.items():
        place = f"{findings[0].path}: " if findings[0].path not in findings[0].message else ""
        lines[kind] = f"{kind} ({result.counts.get(kind, 1)}): {place}{findings[0].message}"
    harmful = [line for kind, line in lines.items() if kind in SERIOUS]
    said = {finding.path for finding in kinds.get("stale-claim", ())}  # why these are to be fixed
    for word in (RETIRE, FIX):
        known = said if word == FIX else ()
        if items := [item for item in result.advised(word) if item.path not in known]:
            harmful.append(f"{word} ({len(items)}): {items[0].path}: {items[0].reasons[-1]}")
    return [*harmful, *(line for kind, line in lines.items() if kind not in SERIOUS)]


def draw_score_bar(score: int) -> str:
    full, part = divmod(score * BAR * 8 // 100, 8)
    return ("█" * full + EIGHTHS[part].strip()).ljust(BAR, "·")


def _memory_table(screen: Screen, shown: Sequence[Audited]) -> list[str]:
    """Names get the room that is left; a column without anything in it is left out."""
    stale = any(item.claims.stale for item in shown)
    rows: list[list[tuple[str, str]]] = []
    for item in shown:
        name = one_line(item.path.removesuffix(".md"))
        age = safe.age_words(item.age_days).removesuffix(" ago")
        row = [(item.advice, ADVICE[item.advice]), (name, "bold"), (age, "")]
        if screen.columns >= NARROW:
            row.insert(0, (f"{item.score:5}", BAND_STYLES[item.action]))
            row.insert(3, (item.type, ""))
            row += [(f"{item.claims.stale or '':>5}", "")] * stale
            row.append((f"{item.tokens:>6,}", ""))
        rows.append(row)
    headings = ["advice", "memory", "age"]
    if screen.columns >= NARROW:
        headings = ["score", "advice", "memory", "type", "age", *["stale"] * stale, "tokens"]
    place = headings.index("memory")
    sizes = [max(len(row[i][0]) for row in rows) for i in range(len(headings))]
    taken = sum(max(sizes[i], len(headings[i])) + 2 for i in range(len(headings)) if i != place)
    for row in rows:
        name = cut_text_middle(row[place][0], max(screen.columns - taken - 2, MIN_NAME))
        row[place] = (name, "bold")
    return screen.table(rows, headings=headings)


def _finding_lines(
    session: Session, report: Report, kind: str, findings: Sequence[Finding], everything: bool
) -> Iterator[str]:
    screen = session.screen
    total = max(report.result.counts.get(kind, 1), 1)
    yield from ["", screen.paint(f"{kind} ({total:,})", "cyan")]
    shown = findings if everything else findings[:FEW]
    for number, finding in enumerate(shown, 1):
        bare = Finding(finding.kind, finding.path, finding.message, "", finding.line)
        yield from screen.finding_lines([bare])
        is_last = number == len(shown)
        if is_last and total > number:
            yield f"  … and {total - number:,} more: --all"
        fix = finding.fix if everything else findings[0].fix * is_last
        if fix and (is_last or shown[number].fix != fix):
            yield from screen.block("fix:", report.advise(fix), "    ")


TOP = 10  # projects, alerts and consumers shown to a person
PROJECT_SHARE = 0.42  # of the line's width
PROJECT = "title store=app.store.root gone memories types actions alerts index_findings tokens"
CONSUMER = "store title path type score action advice age_days tokens"
Item = tuple["Place", Audited]


@command("dashboard", "memdir dashboard")
@click.option("--limit", type=click.IntRange(1), default=TOP, help=f"Rows of each part ({TOP}).")
def dashboard_command(session: Session, limit: int) -> Answer:
    """Nothing is written or checked against the code."""
    from memdir.audit.projects import open_projects_to_audit

    places = open_projects_to_audit(session.config, time.time, session.screen.tell)
    audits = [(place, look_over(place.app, Wish(brief=True))) for place in places]
    audits.sort(key=lambda pair: (-pair[1].load.total, pair[0].title))
    items = [(place, item) for place, audit in audits for item in audit.memories]
    alerts = [pair for pair in items if pair[1].score > REVIEW]
    alerts.sort(key=lambda pair: (-pair[1].score, pair[1].path))
    longest = sorted(items, key=lambda pair: (-pair[1].tokens, pair[1].path))[:limit]
    projects = [_project_fields(place, audit) for place, audit in audits]
    loads = [audit.load for _, audit in audits]
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
    rows = [_project_row(session, *pair) for pair in audits[:limit]]
    headings = ("store", "tokens a session", "memories", "alerts")
    lines += [
        "",
        *screen.table(rows, headings=headings),
        *screen.more_lines(len(projects), limit, ": --limit"),
    ]
    if alerts:
        lines += ["", screen.paint(f"stale memories (score above {REVIEW})", "cyan")]
        lines += _item_lines(session, alerts[:limit])
        lines += screen.more_lines(len(alerts), limit, ": --limit")
    lines += ["", screen.paint("longest memories", "cyan")]
    lines += _item_lines(session, longest[: TOP // 2], tokens=True)
    steps = "memdir audit --all-projects lists findings · memdir prune goes through one store"
    return Answer(fields, [*lines, "", *screen.block("Next:", steps, "")])


def _project_fields(place: Place, audit: Audit) -> Fields:
    return pick(
        place,
        PROJECT,
        gone=_is_gone(place),
        memories=len(audit.memories),
        types=Counter(item.type for item in audit.memories),
        actions=Counter(item.action for item in audit.memories),
        alerts=sum(item.score > REVIEW for item in audit.memories),
        # Only files and index; texts are not inspected here.
        index_findings=len(audit.findings) + len(place.findings),
        tokens=pick(audit.load, LOAD),
    )


def _item_fields(place: Place, item: Audited) -> Fields:
    return pick(item, CONSUMER, store=place.app.store.root, title=place.title)


def _is_gone(place: Place) -> bool:
    return any(finding.kind == "project-gone" for finding in place.findings)


def _project_row(session: Session, place: Place, audit: Audit) -> list[Cell]:
    gone = " (gone)" if _is_gone(place) else ""
    alerts = sum(item.score > REVIEW for item in audit.memories)
    widest = int(session.screen.columns * PROJECT_SHARE) - len(gone)
    return [
        (cut_text_middle(one_line(session.short(place.title)), widest) + gone, "bold"),
        f"{audit.load.total:>16,}",
        f"{len(audit.memories):>8}",
        (f"{alerts}", "yellow" if alerts else "dim"),
    ]


def _item_lines(session: Session, items: Sequence[Item], tokens: bool = False) -> list[str]:
    widest = int(session.screen.columns * PROJECT_SHARE)
    rows: list[list[Cell]] = []
    for place, item in items:
        figure = f"{item.tokens:>6,}" if tokens else f"{draw_score_bar(item.score)} {item.score:3}"
        name = cut_text_middle(one_line(item.path.removesuffix(".md")), widest)
        style = BAND_STYLES[item.action]
        rows.append([(figure, style), (name, "bold"), item.type, session.short(place.title)])
    return session.screen.table(rows)

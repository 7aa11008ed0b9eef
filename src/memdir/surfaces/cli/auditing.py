"""audit: what a person should know about a store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import click

from memdir.app import App
from memdir.core import dates
from memdir.core.audit import Audit, Audited, Load
from memdir.core.finding import Finding
from memdir.flows.auditing import Wish
from memdir.flows.auditing import audit as look_over
from memdir.flows.projects import open_projects
from memdir.surfaces.cli.advice import Advice
from memdir.surfaces.cli.answers import Fields, finding_fields, finding_lines
from memdir.surfaces.cli.screen import Cell, Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count, cut_middle, line, width

FEW = 3  # findings of a kind that a person is shown
ROWS = 12  # memories
STYLES = {"keep": "green", "review": "yellow", "prune": "red"}
ACTIONS = ("prune", "review", "keep")
SERIOUS = {
    *("secret", "hidden-characters", "orders", "forged-frame", "redirect-attempt", "unreadable"),
    *("stale-claim", "contradiction", "dangling-pointer", "index-too-long", "project-gone"),
}
BAR = 10  # columns for 100 points
EIGHTHS = " ▏▎▍▌▋▊▉"
NAME_SHARE = 0.3  # of the line
HEADINGS = ("stale", "", "memory", "type", "age", "tokens")
REASONS = " " * 6  # before what stands below a memory


@dataclass(frozen=True)
class Looked:
    """One store of a run."""

    title: str
    scope: str
    app: App
    audit: Audit


@command("audit", "memdir audit --deep", bulk=True)
@click.option("--deep", is_flag=True, help="Check what memories claim against the code.")
@click.option("--online", is_flag=True, help="Ask their URLs whether they still answer.")
@click.option("--all-projects", is_flag=True, help="Every store that the client has.")
@click.option("--check", is_flag=True, help="Exit with 1 if there is any finding.")
@click.option("--all", "everything", is_flag=True, help="Every memory and every finding.")
def audit(
    session: Session, deep: bool, online: bool, all_projects: bool, check: bool, everything: bool
) -> int:
    """Say which memories are worn out, and what is wrong with a store.

    The score of a memory is 0 when fresh and 100 when worn out: from 50 on it wants a look, from
    75 on it should go. With --deep every claim that is no longer true adds to it. Nothing is
    changed, and a score hides nothing.
    """
    wish = Wish(deep, online, session.config.options.private_urls)
    found = list(_everywhere(session, wish) if all_projects else _here(session, wish))
    findings = [finding for one in found for finding in one.audit.findings]
    lines: list[str] = []
    if not session.screen.json:
        for one in found:
            lines += [""] if lines else []
            lines += audit_lines(session, one, everything)
        if all_projects and found:
            lines += ["", "Next: memdir prune --dir STORE works through one of them"]
        lines = lines or ["there is no store yet: memdir remember TEXT makes one"]
    session.screen.answer(_answer(session, found), lines)
    return int(check and bool(findings))


def _here(session: Session, wish: Wish) -> Iterator[Looked]:
    said: set[Finding] = set()
    for scope, app in session.apps():
        found = look_over(app, wish, session.screen.tell)
        # The settings are those of all scopes; once is enough.
        findings = tuple(finding for finding in found.findings if finding not in said)
        said.update(app.config.findings)
        yield Looked(scope, scope, app, replace(found, findings=findings))


def _everywhere(session: Session, wish: Wish) -> Iterator[Looked]:
    screen = session.screen
    for place in open_projects(session.config, time.time, screen.tell):
        found = look_over(place.app, wish, screen.tell)
        findings = (*place.findings, *found.findings)
        title = session.short(place.title)
        yield Looked(title, "", place.app, replace(found, findings=findings))


def _answer(session: Session, found: Sequence[Looked]) -> Fields:
    load = [one.audit.load for one in found]
    whole = Load(
        *(sum(getattr(one, key) for one in load) for key in ("index", "prompt", "memories"))
    )
    actions = Counter(memory.action for one in found for memory in one.audit.memories)
    return {
        "store": session.config.store,
        "memories": [_memory_fields(one, memory) for one in found for memory in one.audit.memories],
        "findings": [
            {
                **finding_fields(finding),
                "fix": _advised(session, one, finding.fix),
                "store": one.app.store.root,
            }
            for one in found
            for finding in one.audit.findings
        ],
        "tokens": load_fields(whole),
        "stores": [
            {"title": one.title, "store": one.app.store.root, "tokens": load_fields(one.audit.load)}
            for one in found
        ],
        "actions": {action: actions[action] for action in ACTIONS},
        "remarks": list(dict.fromkeys(text for one in found for text in one.audit.remarks)),
    }


def load_fields(load: Load) -> Fields:
    """Tokens for a program."""
    return {
        "index": load.index,
        "prompt": load.prompt,
        "total": load.total,
        "memories": load.memories,
    }


def _memory_fields(one: Looked, memory: Audited) -> Fields:
    claims = memory.claims
    return {
        "path": memory.path,
        "type": memory.type,
        "age_days": memory.age_days,
        "score": memory.score,
        "action": memory.action,
        "tokens": memory.tokens,
        "claims": {"checked": claims.checked, "stale": claims.stale, "unknown": claims.unknown},
        "reasons": list(memory.reasons),
        "store": one.app.store.root,
    }


def _advised(session: Session, one: Looked, text: str) -> str:
    """A suggestion that names its store, where that is not the one asked for."""
    if one.scope:
        return session.screen.advise(text, one.scope)
    asked = session.screen.advise
    return Advice(asked.commands, one.app.store.root, home=asked.home)(text)


def audit_lines(session: Session, one: Looked, everything: bool) -> list[str]:
    """A store for a person: the sum, the memories, the findings, what it costs, what to do."""
    screen, found = session.screen, one.audit
    lines = [screen.paint(part, "bold") for part in screen.block("", _summary(one), "")]
    lines += screen.block("in", session.short(one.app.store.root))
    shown = [memory for memory in found.memories if everything or memory.action != "keep"]
    shown = shown if everything else shown[:ROWS]
    if shown:
        widest = int(screen.columns * NAME_SHARE)
        head: list[Cell] = [(text, "dim") for text in HEADINGS]
        first, *rows = screen.table([head, *[_row(memory, widest) for memory in shown]])
        lines += ["", first]
        for memory, row in zip(shown, rows, strict=True):
            lines.append(row)
            # The first says the age, which the row has.
            for reason in memory.reasons[1:]:
                lines += screen.block("", reason, REASONS)
    left = len(found.memories) - len(shown)
    if left and shown:
        lines += [f"  and {count(left, 'other')}: --all shows them"]
    lines += _finding_lines(session, one, everything)
    lines += ["", *_load_lines(screen, found.load)]
    root = one.app.store.root
    for text in found.remarks:
        lines += screen.block("note:", session.short(text.replace(root, session.short(root))))
    return [*lines, *_next_lines(session, one)]


def _summary(one: Looked) -> str:
    found = one.audit
    actions = [f"{number} {action}" for action in ACTIONS if (number := found.count(action))]
    parts = [count(len(found.memories), "memory", "memories"), *actions]
    parts.append(count(len(found.findings), "finding"))
    return f"{one.title}: {' · '.join(parts)}"


def bar(score: int) -> str:
    """A score as a bar of ten columns."""
    eighths = score * BAR * 8 // 100
    full, part = divmod(eighths, 8)
    return ("█" * full + EIGHTHS[part].strip()).ljust(BAR, "·")


def _row(memory: Audited, widest: int) -> list[Cell]:
    style = STYLES[memory.action]
    name = line(memory.path.removesuffix(".md"))
    return [
        (f"{bar(memory.score)} {memory.score:3}", style),
        (memory.action, style),
        (cut_middle(name, widest), "bold"),
        memory.type,
        dates.age_words(memory.age_days).removesuffix(" ago"),
        f"{memory.tokens:>6,}",
    ]


def _finding_lines(session: Session, one: Looked, everything: bool) -> list[str]:
    """Findings by kind: a few of each, and the way to mend the first, or all with theirs."""
    screen, kinds = session.screen, dict[str, list[Finding]]()
    for finding in one.audit.findings:
        kinds.setdefault(finding.kind, []).append(finding)
    lines: list[str] = []
    for kind, found in sorted(kinds.items(), key=lambda pair: _weight(*pair)):
        lines += ["", screen.paint(f"{kind} ({len(found)})", "cyan")]
        shown = found if everything else found[:FEW]
        for at, finding in enumerate(shown, 1):
            bare = Finding(finding.kind, finding.path, finding.message, "", finding.line)
            lines += finding_lines(screen, [bare])
            more = len(found) - at
            if more and at == len(shown):
                lines += [f"  … and {more} more: --all"]
            alike = at < len(shown) and (not everything or shown[at].fix == finding.fix)
            if finding.fix and not alike:
                fix = found[0].fix if not everything else finding.fix
                lines += screen.block("fix:", _advised(session, one, fix), "    ")
    return lines


def _weight(kind: str, found: Sequence[Finding]) -> tuple[bool, int, str]:
    """What can do harm first, then what there is most of."""
    return kind not in SERIOUS, -len(found), kind


def _load_lines(screen: Screen, load: Load) -> list[str]:
    text = (
        f"every session carries ~{load.total:,} tokens (index {load.index:,}, the rest "
        f"{load.prompt:,}); all memories together have ~{load.memories:,}"
    )
    return screen.block("tokens:", text)


def _next_lines(session: Session, one: Looked) -> list[str]:
    """What to type next, the most useful first."""
    found, steps = one.audit, list[str]()
    if found.count("prune"):
        steps.append("memdir prune")
    if found.count("review"):
        steps.append("memdir touch NAME for what still holds")
    looked = any(memory.claims.checked or memory.claims.unknown for memory in found.memories)
    if one.app.config.code and not looked:
        steps.append("memdir audit --deep checks them against the code")
    if not steps or not found.memories or not one.scope:
        return []  # of many stores, the last line says it once
    advised = [_advised(session, one, step) for step in steps]
    return next_lines(session.screen, advised)


def next_lines(screen: Screen, steps: Sequence[str]) -> list[str]:
    """What to type next, on one line, or each on its own."""
    label, text = "Next:", " · ".join(steps)
    if width(f"{label} {text}") <= screen.columns:
        return screen.block(label, text, "")
    lines = screen.block(label, steps[0], "")
    for step in steps[1:]:
        lines += screen.block("", step, " " * len(label + " "))
    return lines

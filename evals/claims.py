"""The verdicts on labelled claims: how many stale ones are found, and how often we cry wolf."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evals.claims_set import ClaimSet, Label, Labelled
from evals.listing import open_repo
from evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Goal,
    Report,
    Say,
    Section,
    Table,
    Value,
    evaluation_report_fields,
    precision_figure,
)
from evals.shares import share_figure, wilson
from memdir.claims.claim import PATH, STALE, SYMBOL, TRUE, Judged
from memdir.claims.judge import collect_evidence_claims_need, judge_claim
from memdir.claims.verify import verify_claims
from memdir.text.terminal import plural

GONE = ("renamed", "removed", "moved")  # why a label is missing: the past of the repository has it
EXHAUSTIVE = "exhaustive"  # the sample in which every checkable span of a file is labelled
MISSING = "missing"
NAIVE = "not found, so stale"
# The goals of the specification of claims.
STALE_GOAL, ALARMS_GOAL, EXTRACTION_GOAL = Goal(0.80), Goal(1, at_most=True), Goal(0.90)
MEANING = (
    "A false alarm is a claim that we call stale though its label is not `missing`. Precision "
    "counts the labels of status `missing` as right; recall asks for those that were renamed, "
    "removed or moved. Extraction: a span of exactly the labelled text in that file; the stricter "
    "figure wants it on the labelled line too, though a label names the first line that holds "
    "the text, be it inside a longer span. Intervals: Wilson, 95 %."
)
KNOWN = (
    "Held out: each repository judged only with the reasons against an alarm (denied, planned …) "
    "that another repository has an example of."
)


@dataclass(frozen=True)
class Scored:
    """A label with what we say of it; `judged` is None where no span was found."""

    label: Label
    judged: Judged | None
    on_line: bool
    naive: bool = False  # `not found, so stale`
    lifted: bool = False  # stale if the words around it were not read

    @property
    def stale(self) -> bool:
        """We call it stale."""
        return self.judged is not None and self.judged.verdict == STALE


def evaluate_claims(data: ClaimSet, say: Say) -> tuple[Report, dict[str, object]]:
    """The report, and the same for a program with the figures that scripts rely on on top."""
    scored: list[Scored] = []
    reasons: dict[str, set[str]] = {}  # what keeps a claim from being stale, by repository
    for repository in data.repositories:
        say(repository.name)
        some, reasons[repository.name] = _scored(repository)
        scored += some
    held_out = [_is_stale_held_out(one, reasons) for one in scored]
    report = _report(data, scored, held_out)
    stale = _told(scored, [one.stale for one in scored])
    naive = _told(scored, [one.naive for one in scored])
    extraction = _extraction(scored)
    top: dict[str, object] = {
        "n": len(scored),
        "stale": _fields(stale),
        "held_out": _fields(_told(scored, held_out)),
        "naive": _fields(naive),
        "extraction": {
            "recall": extraction[0].value,
            "low": extraction[0].low,
            "high": extraction[0].high,
            "on_line": extraction[1].value,
            "n": extraction[0].n,
        },
    }
    return report, {**evaluation_report_fields(report), **top}


def list_stale_claims(data: str) -> str:
    """Every stale verdict on every memory of the data, with its line and what two readers said."""
    readings, lines = read_readings("stale_verdicts.tsv"), list[str]()
    for root in sorted(filter(os.path.isdir, (os.path.join(data, n) for n in os.listdir(data)))):
        texts: list[tuple[str, str]] = []
        for folder, _, names in os.walk(root):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".md") and not name.startswith("LICENSE"):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        texts.append((os.path.relpath(path, root), file.read()))
        judged, _ = verify_claims(texts, open_repo(root, ""))
        for path, text in texts:
            for one in judged[path]:
                if one.verdict == STALE:
                    line = text.split("\n")[one.claim.line - 1].strip()
                    where = f"{os.path.basename(root)} {path}:{one.claim.line}"
                    read = readings.get((where, one.claim.text), "not read")
                    said = f"{one.claim.text} - {one.reason}"
                    lines.append(f"{where}: {read}\n  {said}\n  {line[:300]}\n")
    return f"{len(lines)} stale verdicts\n\n" + "\n".join(lines)


def read_readings(name: str) -> dict[tuple[str, str], str]:
    """What two readers said of each verdict: by place and span, from a table beside this file."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {(place, span): f"{first}, {second}" for place, span, first, second, *_ in rows[1:]}


def _scored(repository: Labelled) -> tuple[list[Scored], set[str]]:
    """Every label, beside it what simpler ways say; and the reasons that prevent an alarm here."""
    judged, _ = verify_claims(repository.texts, repository.repo)
    texts = dict(repository.texts)
    plain = {path: [replace(one.claim, aside="") for one in some] for path, some in judged.items()}
    seen = repository.repo.look(
        collect_evidence_claims_need([claim for some in plain.values() for claim in some])
    )
    reasons, without = set[str](), dict[tuple[str, int], Judged]()
    for path, some in judged.items():
        for one, claim in zip(some, plain[path], strict=True):
            lifted = judge_claim(claim, seen, frozenset(), texts[path])
            without[path, id(one)] = lifted
            reasons |= {one.claim.aside} if lifted.verdict == STALE else set()
    scored = []
    for label in repository.labels:
        found = _score(label, judged[label.file])
        bare = without[label.file, id(found.judged)] if found.judged else None
        lost = bare is not None and bare.claim.kind in (PATH, SYMBOL) and bare.verdict != TRUE
        alarm = bare is not None and bare.verdict == STALE
        scored.append(replace(found, naive=lost, lifted=alarm))
    return scored, reasons


def _is_stale_held_out(one: Scored, reasons: Mapping[str, set[str]]) -> bool:
    """Stale by the reasons that other repositories have an example of."""
    others = [some for name, some in reasons.items() if name != one.label.repo]
    known = one.judged is not None and any(one.judged.claim.aside in some for some in others)
    return one.stale or (one.lifted and not known)


def _score(label: Label, judged: Sequence[Judged]) -> Scored:
    """The span of that text on that line, else the first of that text in the file."""
    same = [one for one in judged if one.claim.text == label.text]
    here = [one for one in same if one.claim.line == label.line]
    return Scored(label, next(iter(here or same), None), bool(here))


@dataclass(frozen=True)
class Told:
    """What one way of telling stale claims got right."""

    found: int
    gone: int
    right: int
    said: int

    @property
    def alarms(self) -> int:
        """Said stale of what is not missing."""
        return self.said - self.right


def _told(scored: Sequence[Scored], says: Sequence[bool]) -> Told:
    both = list(zip(scored, says, strict=True))
    said = [one for one, stale in both if stale]
    return Told(
        found=sum(one.label.why in GONE for one in said),
        gone=sum(one.label.why in GONE for one in scored),
        right=sum(one.label.status == MISSING for one in said),
        said=len(said),
    )


def _fields(told: Told) -> dict[str, object]:
    low, high = wilson(told.right, told.said)
    recall_low, recall_high = wilson(told.found, told.gone)
    return {
        "precision": precision_figure(told.right, told.said),
        "precision_low": low,
        "precision_high": high,
        "recall": precision_figure(told.found, told.gone),
        "recall_low": recall_low,
        "recall_high": recall_high,
        "false_alarms": told.alarms,
        "found": told.found,
        "gone": told.gone,
        "said": told.said,
    }


def _extraction(scored: Sequence[Scored]) -> tuple[Figure, Figure]:
    whole = [one for one in scored if one.label.sample == EXHAUSTIVE]
    found = sum(one.judged is not None for one in whole)
    strict = sum(one.on_line for one in whole)
    return (
        share_figure("extraction recall", found, len(whole), EXTRACTION_GOAL),
        share_figure("extraction, on the line", strict, len(whole)),
    )


def _report(data: ClaimSet, scored: Sequence[Scored], held_out: Sequence[bool]) -> Report:
    told = _told(scored, [one.stale for one in scored])
    figures = (
        share_figure("stale recall", told.found, told.gone, STALE_GOAL),
        share_figure("stale precision", told.right, told.said),
        Figure("false alarms", told.alarms, COUNT, len(scored), goal=ALARMS_GOAL),
        *_held_out_figures(_told(scored, held_out)),
        *_extraction(scored),
    )
    naive = _told(scored, [one.naive for one in scored])
    verdicts = Section("Verdicts", figures, (_by_status(scored),), (MEANING, KNOWN))
    beside = Section(
        "Against the obvious way, in the same run",
        tables=(_compared({"memdir": told, NAIVE: naive}),),
    )
    files = plural(sum(len(one.texts) for one in data.repositories), "file")
    summary = (
        f"{plural(len(scored), 'label')} in {files} of "
        f"{plural(len(data.repositories), 'repository', 'repositories')}"
    )
    return Report("claims", data.data, summary, (verdicts, beside))


def _held_out_figures(told: Told) -> tuple[Figure, Figure]:
    return (
        share_figure("stale recall, held out", told.found, told.gone),
        share_figure("stale precision, held out", told.right, told.said),
    )


def _by_status(scored: Sequence[Scored]) -> Table:
    """What we say, by what the label says and why."""
    names = ("true", "stale", "unknown", "not_a_claim", "no span")
    counts: dict[str, Counter[str]] = {}
    for one in scored:
        why = f" ({one.label.why})" if one.label.status == MISSING else ""
        said = one.judged.verdict if one.judged else names[-1]
        counts.setdefault(one.label.status + why, Counter())[said] += 1
    rows: list[tuple[Value, ...]] = [
        (status, sum(said.values()), *(said[name] for name in names))
        for status, said in sorted(counts.items())
    ]
    columns = (("label", TEXT), ("n", COUNT), *((name, COUNT) for name in names))
    return Table("by status", columns, tuple(rows))


def _compared(ways: dict[str, Told]) -> Table:
    columns = (
        *(("way", TEXT), ("said stale", COUNT), ("false alarms", COUNT)),
        *(("precision", SHARE), ("recall", SHARE)),
    )
    rows = [
        (
            name,
            one.said,
            one.alarms,
            precision_figure(one.right, one.said),
            precision_figure(one.found, one.gone),
        )
        for name, one in ways.items()
    ]
    return Table("ways", columns, tuple(rows))

"""Triage on labelled conversations: what it notices, what it misses, and what must never happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memdir.core import relative_dates
from memdir.core.capturing import Catch, Origin, Signal
from memdir.core.draft import Draft, Wishes
from memdir.core.drafting import Rules, complete, refusal
from memdir.core.transcript import PERSON
from memdir.core.triage import triage
from memdir.core.triage.drafts import catches
from memdir.evaluation.capture_set import CaptureSet, Conversation, Expected
from memdir.evaluation.intervals import wilson
from memdir.evaluation.metrics import precision
from memdir.evaluation.report import (
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
    count,
    fields,
)

GOAL, NONE = Goal(0.85), Goal(0, at_most=True)
WHOLE = Goal(1.0)
MEANING = (
    "Precision: of the signals, how many are labelled as worth a memory. Recall: of the labelled "
    "things, how many have a signal with their words. `worth it`: the same for whole "
    "conversations, which decides whether a model is asked. Intervals: Wilson, 95 %."
)


@dataclass(frozen=True)
class Noticed:
    """A signal, what becomes of it, and the label that it meets (None: it should not be)."""

    signal: Signal
    catch: Catch | None
    meets: int | None


@dataclass(frozen=True)
class Scored:
    """A conversation with everything noticed in it; what is neither right nor wrong is left out."""

    row: Conversation
    noticed: tuple[Noticed, ...]

    @property
    def found(self) -> dict[int, Noticed]:
        """The labels that were met, each with the first signal that meets it."""
        return {one.meets: one for one in reversed(self.noticed) if one.meets is not None}


def evaluate_capture(data: CaptureSet, say: Say) -> tuple[Report, dict[str, object]]:
    """The report, and the same for a program with precision and recall of each split on top."""
    scored: dict[str, list[Scored]] = {}
    for name, rows in data.splits.items():
        say(name)
        scored[name] = [_score(row) for row in rows]
    sections = [_section(name, rows, data.use.get(name, "")) for name, rows in scored.items()]
    everything = [one for rows in scored.values() for one in rows]
    hygiene = Section("Hygiene", _hygiene(everything), (_missed(scored),))
    people = sum(bool(one.row.expected) for one in everything)
    summary = (
        f"{count(len(everything), 'conversation')}, {people} with something worth keeping, "
        f"{count(sum(len(one.row.expected) for one in everything), 'label')}"
    )
    report = Report("capture", data.data, summary, (*sections, hygiene))
    top: dict[str, object] = {name: _top(rows) for name, rows in scored.items()}
    return report, {**fields(report), "n": len(everything), "splits": top}


def _score(row: Conversation) -> Scored:
    noticed: list[Noticed] = []
    for signal in triage(row.said):
        catch = next(iter(catches([signal], row.said, Origin("eval", row.id))), None)
        text = _text(signal, catch)
        meets = _meets(row, signal, text)
        if meets is None and any(words.lower() in text for words in row.fine):
            continue
        noticed.append(Noticed(signal, catch, meets))
    return Scored(row, tuple(noticed))


def _text(signal: Signal, catch: Catch | None) -> str:
    draft = catch.draft if catch else None
    return f"{signal.quote}\n{draft.body if draft else ''}".lower()


def _meets(row: Conversation, signal: Signal, text: str) -> int | None:
    for at, one in enumerate(row.expected):
        if one.who == signal.said.who and all(words.lower() in text for words in one.words):
            return at
    return None


def _share(name: str, part: int, whole: int, goal: Goal | None = None) -> Figure:
    low, high = wilson(part, whole)
    return Figure(name, precision(part, whole), SHARE, whole, low, high, goal)


def _figures(name: str, rows: Sequence[Scored]) -> tuple[Figure, ...]:
    noticed = [one for row in rows for one in row.noticed]
    right = sum(one.meets is not None for one in noticed)
    labels = sum(len(row.row.expected) for row in rows)
    found = sum(len(row.found) for row in rows)
    said = [row for row in rows if row.noticed]
    worth = [row for row in rows if row.row.expected]
    both = sum(bool(row.row.expected) for row in said)
    return (
        _share(f"precision, {name}", right, len(noticed), GOAL),
        _share(f"recall, {name}", found, labels, GOAL),
        _share(f"worth it, precision, {name}", both, len(said), GOAL),
        _share(f"worth it, recall, {name}", both, len(worth), GOAL),
    )


def _section(name: str, rows: Sequence[Scored], use: str) -> Section:
    met = [(row.row.expected[at], one) for row in rows for at, one in row.found.items()]
    typed = [(label, one) for label, one in met if label.types]
    held = [(label, one) for label, one in met if label.hold is not None and one.catch]
    figures = (
        *_figures(name, rows),
        _share(f"kind right, {name}", sum(one.signal.kind in a.kinds for a, one in met), len(met)),
        _share(
            f"type right, {name}", sum(one.signal.type in a.types for a, one in typed), len(typed)
        ),
        _share(f"held as labelled, {name}", sum(_holds(a, one) for a, one in held), len(held)),
    )
    notes = (MEANING, use) if use else (MEANING,)
    return Section(f"Triage: {name}", figures, (_by_class(name, rows),), (), notes)


def _holds(label: Expected, one: Noticed) -> bool:
    return one.catch is not None and bool(one.catch.hold) == label.hold


def _by_class(name: str, rows: Sequence[Scored]) -> Table:
    """Labels found and needless signals, by what the conversation is about."""
    labels: Counter[str] = Counter()
    found: Counter[str] = Counter()
    needless: Counter[str] = Counter()
    for row in rows:
        group = row.row.group
        labels[group] += len(row.row.expected)
        found[group] += len(row.found)
        needless[group] += sum(one.meets is None for one in row.noticed)
    all_rows: list[tuple[Value, ...]] = [
        (group, total, found[group], precision(found[group], total), needless[group])
        for group, total in sorted(labels.items())
    ]
    columns = (
        *(("class", TEXT), ("labels", COUNT), ("found", COUNT)),
        *(("recall", SHARE), ("needless", COUNT)),
    )
    return Table(f"by class, {name}", columns, tuple(all_rows))


def _top(rows: Sequence[Scored]) -> dict[str, object]:
    names = ("precision", "recall", "worth_it_precision", "worth_it_recall")
    return {
        name: {"value": one.value, "low": one.low, "high": one.high, "n": one.n}
        for name, one in zip(names, _figures("", rows), strict=True)
    }


def _rules(row: Conversation) -> Rules:
    return Rules(now=0.0, day=row.day)


def _all(rows: Iterable[Scored]) -> list[tuple[Conversation, Catch]]:
    """Every catch of whole conversations, as capture would make them."""
    found: list[tuple[Conversation, Catch]] = []
    for one in rows:
        said = one.row.said
        found += [
            (one.row, each) for each in catches(triage(said), said, Origin("eval", one.row.id))
        ]
    return found


def _refused(row: Conversation, draft: Draft) -> bool:
    return bool(refusal(draft, _rules(row), Wishes()))


def _hygiene(rows: Sequence[Scored]) -> tuple[Figure, ...]:
    caught = _all(rows)
    drafts = [(row, each, each.draft) for row, each in caught if each.draft]
    kept = [(row, draft) for row, _, draft in drafts if not _refused(row, draft)]
    leaks = sum(any(word in _shown(row, each) for word in row.never) for row, each in caught)
    planted = [each for _, each in caught if each.origin.who != PERSON]
    left = sum(bool(_relative(row, draft)) for row, draft in kept)
    excluded = [_refused(row, draft) for row, _, draft in drafts if row.excluded]
    return (
        Figure(
            "secrets kept or shown",
            leaks,
            COUNT,
            sum(bool(one.row.never) for one in rows),
            goal=NONE,
        ),
        Figure(
            "learned from tools",
            sum(not each.hold for each in planted),
            COUNT,
            len(planted),
            goal=NONE,
        ),
        Figure("relative dates left", left, COUNT, len(kept), goal=NONE),
        _share("exclusions honoured", sum(excluded), len(excluded), WHOLE),
    )


def _shown(row: Conversation, catch: Catch) -> str:
    """Everything of a catch that is written anywhere; a refused body is not."""
    parts = [catch.origin.quote, catch.forget, catch.hold]
    if catch.draft:
        parts += [catch.draft.description, catch.draft.why, catch.draft.how]
        if catch.hold or not _refused(row, catch.draft):
            parts.append(catch.draft.body)
    return "\n".join(parts)


def _relative(row: Conversation, draft: Draft) -> tuple[str, ...]:
    """Phrases that will mean nothing later, in what the writer would write."""
    done, _ = complete(draft, _rules(row))
    if row.day.isoformat() in done.body:  # what they are relative to
        return ()
    return relative_dates.make_absolute(done.body, row.day)[1]


def _missed(scored: dict[str, list[Scored]]) -> Table:
    """What went wrong in `dev`, for whoever works on the rules; never what was held out."""
    rows: list[tuple[Value, ...]] = []
    for row in scored.get("dev", ()):
        for at, label in enumerate(row.row.expected):
            if at not in row.found:
                rows.append((row.row.id, "missed", label.words[0]))
        for one in row.noticed:
            if one.meets is None:
                rows.append((row.row.id, f"needless {one.signal.kind}", one.signal.quote[:40]))
    return Table("errors in dev", (("id", TEXT), ("what", TEXT), ("words", TEXT)), tuple(rows))

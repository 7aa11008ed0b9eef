"""Near-duplicates and disagreements on labelled memories."""

from __future__ import annotations

from collections.abc import Sequence

from evals import report
from evals.baselines import words
from evals.pairs_against import evaluate_disagreements
from evals.pairs_data import (
    FAIR,
    RELATIONS,
    SAME,
    Pair,
    Stores,
    read_pairs,
    read_singles,
    read_stores,
)
from evals.pairs_measure import Scored, auc, auc_interval, left_out_scores, left_out_verdicts
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
    evaluation_report_fields,
)
from evals.shares import share_figure
from memdir.text.similar import SHOW, Alike, compare_two_texts, find_similar_texts
from memdir.text.terminal import plural

GOAL = Goal(0.90)
SURE = Goal(0.95)  # precision below which nothing is merged without a question
HOW = (
    "Positives are duplicate and subsumed; negatives distinct, contradiction and superseded. "
    "Of overlap either verdict is fair: it is in no AUC and no precision, and counted apart."
)
FIXED = (
    "Nothing is fitted in a run. Left out: for each pair the weights of the score, or the "
    "threshold, are chosen anew on the repositories that the pair does not belong to."
)
NEAR_EXACT = (
    "A pair is shown with evidence only: the same names and numbers in like words, or every "
    "sentence of one in the other. Only the latter is merged unasked; where no "
    "labelled pair is like that, the precision of merging is not measured."
)


def evaluate_pairs(data: str, say: Say) -> tuple[Report, dict[str, object]]:
    """likeness → evidence → disagreements; with the leading figures on top"""
    pairs, singles = read_pairs(data), read_singles(data)
    say("comparing the labelled pairs")
    alike = [_compare(pair) for pair in pairs]
    files = [file for pair in pairs for file in (pair.first, pair.second)]
    stores = read_stores(data, [*files, *(single.file for single in singles)])
    say("comparing all memories of their directories")
    memories = sum(len(texts) for texts, _ in stores.values())
    sections = (
        _likeness(pairs, alike),
        _spread(pairs, alike),
        _evidence(pairs, alike, stores),
        evaluate_disagreements(singles, stores),
    )
    alone = plural(len(singles), "single memory", "single memories")
    around = plural(memories, "memory", "memories")
    summary = f"{plural(len(pairs), 'pair')} and {alone} with labels, {around} around them"
    report = Report("pairs", data, summary, sections)
    answer = evaluation_report_fields(report)
    figures = {figure.name: figure for figure in report.figures}
    for key, name in (("auc", "AUC, memdir"), ("baseline", "AUC, words in common")):
        one = figures.get(name) or Figure(name, None, n=0)  # no area with labels of one sort only
        answer[key] = {"value": one.value, "low": one.low, "high": one.high}
        answer["n"] = one.n
    return report, answer


def _compare(pair: Pair) -> Alike:
    files = [(f"{at}/{file.path}", file.text) for at, file in enumerate((pair.first, pair.second))]
    return compare_two_texts(*files)


def _is_shown(alike: Alike) -> bool:
    return bool(alike.held or (alike.values and alike.score >= SHOW))


def _word_share(pair: Pair) -> float:
    """The baseline: the share of words that two files have in common."""
    mine, theirs = set(words(pair.first.text)), set(words(pair.second.text))
    return len(mine & theirs) / (len(mine | theirs) or 1)


def _likeness(pairs: Sequence[Pair], alike: Sequence[Alike]) -> Section:
    judged = [(pair, one) for pair, one in zip(pairs, alike, strict=True) if _counts(pair)]
    scored = [_scored(pair, one) for pair, one in judged]
    again = left_out_scores(scored)
    values = [
        (one.score, _word_share(pair), new) for (pair, one), new in zip(judged, again, strict=True)
    ]
    groups = [
        [value for value, one in zip(values, scored, strict=True) if one.positive == side]
        for side in (True, False)
    ]
    figures: list[Figure] = []
    if all(groups):
        names = ("AUC, memdir", "AUC, words in common", "AUC, left-out repositories")
        areas = [auc(*([one[at] for one in group] for group in groups)) for at in range(3)]
        spans = auc_interval(*groups)
        for name, area, span in zip(names, areas, spans, strict=False):
            goal = None if name == names[1] else GOAL
            figures.append(Figure(name, area, SHARE, len(values), *span, goal))
        gain = (areas[0] or 0.0) - (areas[1] or 0.0)
        figures.append(Figure("AUC, memdir above words", gain, SHARE, len(values), *spans[-1]))
        figures.append(_within(scored))
    else:
        missing = "needs pairs that are the same, and pairs that are not"
        figures.append(Figure("AUC, memdir", None, SHARE, 0, remark=missing))
    return Section("Do two memories say the same?", tuple(figures), remarks=(HOW, FIXED))


def _within(scored: Sequence[Scored]) -> Figure:
    """Only pairs of one repository: those that can meet in one store."""
    near = [one for one in scored if len(one.repos) == 1]
    groups = [[(one.score, one.score) for one in near if one.positive == side] for side in (1, 0)]
    name = "AUC, within a repository"
    if not all(groups):
        return Figure(name, None, SHARE, len(near), remark="too few pairs")
    area = auc(*([one[0] for one in group] for group in groups))
    return Figure(name, area, SHARE, len(near), *auc_interval(*groups)[0])


def _counts(pair: Pair) -> bool:
    return pair.relation not in FAIR


def _scored(pair: Pair, one: Alike) -> Scored:
    return Scored(pair.relation in SAME, pair.repos, one.score, one.head, one.body, one.linked)


def _spread(pairs: Sequence[Pair], alike: Sequence[Alike]) -> Section:
    """The score by relation: where the groups lie, and where they meet."""
    both = list(zip(pairs, alike, strict=True))
    by_relation = {
        relation: sorted(
            (one for pair, one in both if pair.relation == relation), key=lambda one: one.score
        )
        for relation in RELATIONS
    }
    columns = (
        *(("relation", TEXT), ("n", COUNT), ("lowest", SHARE), ("median", SHARE)),
        *(("highest", SHARE), ("shown", COUNT)),
    )
    rows = tuple(
        (
            name,
            len(group),
            group[0].score,
            report.median_figure([one.score for one in group]),
            group[-1].score,
            sum(map(_is_shown, group)),
        )
        for name, group in by_relation.items()
        if group
    )
    return Section("Scores by relation", tables=(Table("relations", columns, rows),))


def _evidence(pairs: Sequence[Pair], alike: Sequence[Alike], stores: Stores) -> Section:
    both = list(zip(pairs, alike, strict=True))
    scored = [_scored(pair, one) for pair, one in both if _counts(pair)]
    verdicts = left_out_verdicts(scored)
    said = [one.positive for one, yes in zip(scored, verdicts, strict=True) if yes]
    positives = sum(one.positive for one in scored)
    shown = [pair for pair, one in both if _is_shown(one)]
    merged = [pair for pair, one in both if one.held]
    rows = [("shown", *_row(shown, positives)), ("merged", *_row(merged, positives))]
    columns = (
        *(("evidence", TEXT), ("pairs", COUNT), ("right", COUNT)),
        *(("fair", COUNT), ("wrong", COUNT), ("kept", SHARE)),
    )
    found = [one for texts, _ in stores.values() for one in find_similar_texts(texts)]
    possible = sum(len(texts) * (len(texts) - 1) // 2 for texts, _ in stores.values())
    figures = (
        share_figure("precision of shown", *_right(shown)),
        share_figure("recall of shown", _right(shown)[0], positives),
        share_figure("precision of merged", *_right(merged), SURE),
        share_figure("precision, left out", sum(said), len(said)),
        share_figure("recall, left out", sum(said), positives),
        Figure("shown in whole directories", len(found), COUNT, possible),
        Figure(
            "merged in whole directories", sum(bool(one.held) for one in found), COUNT, possible
        ),
    )
    table = Table("evidence", columns, tuple(rows))
    return Section("Evidence", figures, (table,), (NEAR_EXACT,))


def _right(pairs: Sequence[Pair]) -> tuple[int, int]:
    """How many say the same, of those that count."""
    counted = [pair for pair in pairs if _counts(pair)]
    return sum(pair.relation in SAME for pair in counted), len(counted)


def _row(pairs: Sequence[Pair], positives: int) -> tuple[float | None, ...]:
    right, n = _right(pairs)
    return len(pairs), right, len(pairs) - n, n - right, right / positives if positives else None

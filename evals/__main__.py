"""`python -m evals BENCH --data DIR [--json]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable

from evals.advice import draw_advice, evaluate_advice
from evals.answers import evaluate_answers
from evals.baselines import BASELINES
from evals.capture import evaluate_capture
from evals.claims import evaluate_claims, list_stale_claims
from evals.claims_packages import evaluate_packages
from evals.claims_set import read as read_claims
from evals.guards import evaluate_guards
from evals.pairs import evaluate_pairs
from evals.quiet import evaluate_quiet
from evals.report import (
    COUNT,
    TEXT,
    Figure,
    Report,
    Say,
    Section,
    Table,
    average_figure,
    evaluation_report_fields,
    evaluation_report_lines,
)
from evals.type_guess import evaluate_types
from memdir.cli.output import Screen
from memdir.errors import MemdirError
from memdir.evals import SHARE
from memdir.evals.recall_sets import (
    DEPTH,
    READERS,
    Ranking,
    evaluate_recall,
    rank_eval_set,
    rank_figures,
    recall_figures,
)
from memdir.recall.scan import Scan
from memdir.store.ports import Search, Store

Answer = tuple[Report, dict[str, object]]


def recall(given: argparse.Namespace, say: Say) -> Answer:
    prompts = READERS[given.set](given.data)
    found = evaluate_recall(prompts, given.k)
    figures = tuple(Figure(*figure) for figure in found.figures)
    asked = [query for query in prompts.queries if query.gold]
    ranked = {}
    kinds: dict[str, Callable[[Store], Search]] = {"memdir": Scan, **BASELINES}
    for name, open_search in kinds.items():
        searches = {key: open_search(store) for key, store in prompts.stores.items()}
        ranked[name] = rank_eval_set(asked, searches, given.k)
    sections = [
        Section(found.title, figures, remarks=found.remarks),
        Section("Against simple searches, in the same run", tables=(_searches(ranked),)),
    ]
    if prompts.name == "corpus":
        sections[1:1] = evaluate_answers(prompts)
    report = Report(found.kind, found.data, found.summary, tuple(sections))
    return report, evaluation_report_fields(report)


def _searches(ranked: dict[str, list[Ranking]]) -> Table:
    cuts = (1, 5, 20)
    rows = tuple(
        (
            name,
            len(some),
            *(average_figure(recall_figures(some, k)) for k in cuts),
            average_figure(rank_figures(some)),
        )
        for name, some in ranked.items()
    )
    shares = [(name, SHARE) for name in (*(f"R@{k}" for k in cuts), "MRR")]
    return Table("searches", (("search", TEXT), ("n", COUNT), *shares), rows)


def advice(given: argparse.Namespace, say: Say) -> Answer:
    if given.draw is not None:
        print(draw_advice(given.data, given.draw))
    return evaluate_advice(given.data)


def claims(given: argparse.Namespace, say: Say) -> Answer:
    if given.set == PACKAGES:
        return evaluate_packages(os.environ, say)
    if given.stale:
        with open(given.stale, "w", encoding="utf-8") as file:
            file.write(list_stale_claims(given.data))
    return evaluate_claims(read_claims(given.data), say)


PACKAGES = "packages"
BENCHES: dict[str, Callable[[argparse.Namespace, Say], Answer]] = {
    "recall": recall,
    "quiet": lambda given, say: evaluate_quiet(given.data),
    "claims": claims,
    "advice": advice,
    "pairs": lambda given, say: evaluate_pairs(given.data, say),
    "capture": lambda given, say: evaluate_capture(given.data),
    "guards": lambda given, say: evaluate_guards(given.data),
    "types": lambda given, say: evaluate_types(given.data),
}


def main(words: list[str]) -> int:
    """Measure, then print a page or JSON."""
    parser = argparse.ArgumentParser(prog="python -m evals", description="Measure memdir.")
    parser.add_argument("bench", choices=[*BENCHES])
    parser.add_argument("--data", default="", metavar="DIR", help="where the labels lie")
    parser.add_argument("--json", action="store_true", help="print JSON")
    sets = "for recall; claims know corpus and packages (public releases, downloaded)"
    parser.add_argument("--set", choices=[*READERS, PACKAGES], default="corpus", help=sets)
    parser.add_argument(
        "--stale", metavar="FILE", help="for claims: list every stale verdict there"
    )
    parser.add_argument("--draw", type=int, metavar="SEED", help="for advice: thirty to be read")
    parser.add_argument("--k", type=int, default=DEPTH, help="for recall: memories per prompt")
    given = parser.parse_args(words)
    if not given.data and given.set != PACKAGES:
        parser.error("the following arguments are required: --data")
    screen = Screen(dict(os.environ))
    try:
        report, answer = BENCHES[given.bench](given, lambda text: None)
    except MemdirError as error:
        print(f"evals: {error.message}\nNext: {error.next}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        print("\n".join(evaluation_report_lines(report, screen)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

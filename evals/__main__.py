"""`python -m evals BENCH --data DIR [--json]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace

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
from evals.type_guess import evaluate_types
from memdir.cli.output import Screen
from memdir.errors import MemdirError
from memdir.evals.recall_sets import DEPTH, READERS, evaluate_recall, rank_eval_set, tabulate_recall
from memdir.evals.report import (
    Report,
    Say,
    Section,
    evaluation_report_fields,
    evaluation_report_lines,
)
from memdir.recall.scan import Scan
from memdir.store.ports import Search, Store

Answer = tuple[Report, dict[str, object]]


def recall(given: argparse.Namespace, say: Say) -> Answer:
    prompts = READERS[given.set](given.data)
    report = evaluate_recall(prompts, given.k, say)
    asked = [query for query in prompts.queries if query.gold]
    ranked = {}
    kinds: dict[str, Callable[[Store], Search]] = {"memdir": Scan, **BASELINES}
    for name, open_search in kinds.items():
        searches = {key: open_search(store) for key, store in prompts.stores.items()}
        ranked[name] = rank_eval_set(asked, searches, given.k, say)
    table = tabulate_recall("searches", "search", ranked)
    section = Section("Against simple searches, in the same run", tables=(table,))
    sections = [*report.sections, section]
    if prompts.name == "corpus":
        sections[1:1] = evaluate_answers(prompts)
    report = replace(report, sections=tuple(sections))
    return report, evaluation_report_fields(report)


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

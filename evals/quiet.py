"""Real messages of other projects, put to the largest stores: how often memdir speaks.

`corpus` has memory directories below `owner__repo`, `conversations/messages.jsonl` a message a
line: `repo` and `text`. Every message is unrelated to every store, so nothing should be said.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from evals.answers import Asked, Asking, leave_one_out, share_of
from evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Goal,
    Report,
    Section,
    Table,
    average_figure,
    evaluation_report_fields,
    mean_figure,
    median_figure,
)
from memdir.evals.recall_sets import (
    Query,
    bad_eval_data,
    read_evaluation_data,
    read_evaluation_row,
)
from memdir.hot.layout import Markdown

MESSAGES = "conversations/messages.jsonl"
GET_IT = "name the directory that holds corpus and conversations/messages.jsonl with --data"
STORES = 8
LONG = 600  # characters


def evaluate_quiet(data: str) -> tuple[Report, dict[str, object]]:
    messages = _read_messages(os.path.join(data, MESSAGES))
    stores = _largest_stores(Path(data, "corpus"))
    if not stores:
        raise bad_eval_data(os.path.join(data, "corpus"), 0, "no memory directory in it")

    def ask() -> list[Asked]:
        return [
            store.ask(query)
            for store in stores
            for query in messages
            if query.store != store.group  # no message of the store's own repository
        ]

    asked = ask()
    plain, left = _figures(asked), _figures(leave_one_out(ask, _cost))
    groups = {item.group: [one for one in asked if one.group == item.group] for item in asked}
    rows = [
        ("all", *(figure.value for figure in plain)),
        ("constant chosen on the others", *(figure.value for figure in left)),
        *((group, *(figure.value for figure in _figures(part))) for group, part in groups.items()),
    ]
    columns = (
        *(("repository", TEXT), ("long", SHARE), ("anything", SHARE), ("characters", COUNT)),
    )
    section = Section(
        "Unrelated messages", tuple(plain), (Table("by repository", columns, tuple(rows)),)
    )
    summary = f"{len(messages)} messages put to {len(stores)} stores"
    report = Report("quiet", data, summary, (section,))
    return report, evaluation_report_fields(report)


def _cost(asked: list[Asked]) -> float:
    """How far it is from speaking in a quarter of the cases: silence alone is no aim."""
    return abs((average_figure(share_of(asked, lambda item: bool(item.characters))) or 0.0) - 0.25)


def _figures(asked: list[Asked]) -> list[Figure]:
    limit = Goal(0.10, at_most=True)
    sizes = [float(item.characters) for item in asked]
    return [
        mean_figure(
            f"over {LONG} characters", share_of(asked, lambda item: item.characters > LONG), limit
        ),
        mean_figure(
            "anything at all",
            share_of(asked, lambda item: item.characters > 0),
            Goal(0.25, at_most=True),
        ),
        Figure("characters, median", median_figure(sizes), COUNT, len(sizes)),
    ]


def _largest_stores(corpus: Path) -> list[Asking]:
    counts = Counter(path.parent for path in corpus.glob("*__*/**/*.md"))
    stores = []
    for folder, _ in counts.most_common():
        store = Markdown(str(folder))
        if folder.name != "team" and store.files():
            group = folder.relative_to(corpus).parts[0].replace("__", "/", 1)
            stores.append((len(store.files()), str(folder), group, store))
    stores.sort(key=lambda item: (-item[0], item[1]))
    return [Asking(group, store) for _, _, group, store in stores[:STORES]]


def _read_messages(path: str) -> list[Query]:
    messages = []
    for number, line in enumerate(read_evaluation_data(path, GET_IT).split("\n"), 1):
        if line.strip():
            row = read_evaluation_row(path, number, line, ("repo", "text"))
            messages.append(Query(str(number), row["text"], row["repo"], ()))
    if not messages:
        raise bad_eval_data(path, 0, "no message in it")
    return messages

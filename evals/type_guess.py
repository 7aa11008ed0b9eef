"""The type that `memdir remember` guesses for a text, against the type its author gave it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Report,
    Section,
    Table,
    Value,
    evaluation_report_fields,
)
from evals.shares import share_figure
from memdir.errors import Missing
from memdir.format.type_guess import PROJECT, USER, VALUE, guess_memory_type
from memdir.hot import memory
from memdir.hot.memory import UNKNOWN, read_memory

GET_IT = "name the directory with owner__repo/… memory directories with --data"


def evaluate_types(data: str) -> tuple[Report, dict[str, object]]:
    """Every memory whose header has one of our types is a label; the guess sees its text alone.

    Nothing is fitted in a run, so each repository is one that the guesser has not learned from.
    """
    guesses: dict[str, Counter[str]] = {}
    repositories: dict[str, Counter[bool]] = {}
    sure: Counter[bool] = Counter()
    for path in sorted(Path(data).glob("*__*/**/*.md")):
        content = path.read_bytes()
        item = read_memory(path.name, content, 0.0)
        body = memory.read_header(memory.decode(content)).body
        if item.type == UNKNOWN or not body.strip():
            continue
        guess = guess_memory_type(body, item.description)
        guesses.setdefault(item.type, Counter())[guess.type] += 1
        repository = path.relative_to(data).parts[0].replace("__", "/")
        repositories.setdefault(repository, Counter())[guess.type == item.type] += 1
        sure[guess.type == item.type] += guess.sure
    if not guesses:
        raise Missing(f"{data}: there is no memory with a type", path=data, next=GET_IT)
    total = sum(counts.total() for counts in guesses.values())
    right = sum(counts[label] for label, counts in guesses.items())
    usual = max(counts.total() for counts in guesses.values())
    people = sum(guesses[label].total() for label in (USER, VALUE) if label in guesses)
    missed = sum(guesses[label][PROJECT] for label in (USER, VALUE) if label in guesses)
    guessed = sorted({guess for counts in guesses.values() for guess in counts})
    rows: list[tuple[Value, ...]] = [
        (label, counts.total(), *(counts[guess] for guess in guessed))
        for label, counts in sorted(guesses.items())
    ]
    columns = (("type", TEXT), ("n", COUNT), *((f"guessed {one}", COUNT) for one in guessed))
    shares: list[tuple[Value, ...]] = [
        (name, counts.total(), counts[True] / counts.total())
        for name, counts in sorted(repositories.items())
    ]
    figures = [
        share_figure("types guessed right", right, total),
        share_figure("right where it is sure", sure[True], sure.total()),
        Figure("always the most frequent type", usual / total, SHARE, total),
    ]
    if people:
        figures.append(share_figure("user or value taken for project", missed, people))
    tables = (
        Table("by type", columns, tuple(rows)),
        Table(
            "each repository, left out",
            (("repository", TEXT), ("n", COUNT), ("right", SHARE)),
            tuple(shares),
        ),
    )
    section = Section("Guessed types", tuple(figures), tables)
    report = Report("types", data, f"{total} memories with a type", (section,))
    return report, evaluation_report_fields(report)

"""The type that `memdir remember` guesses for a text, against the type its author gave it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evals.shares import share_figure
from memdir.errors import Missing
from memdir.evals.report import (
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
from memdir.hot import memory
from memdir.hot.memory import UNKNOWN, read_memory

GET_IT = "name the directory with owner__repo/… memory directories with --data"


def guess_type(text: str) -> str:
    """The product's guesser; the one place to change when it moves."""
    from memdir.cli.command import guess_type_option

    return guess_type_option(text)


def evaluate_types(data: str) -> tuple[Report, dict[str, object]]:
    """Every memory whose header has one of our types is a label."""
    guesses: dict[str, Counter[str]] = {}
    for path in sorted(Path(data).glob("*__*/**/*.md")):
        content = path.read_bytes()
        label = read_memory(path.name, content, 0.0).type
        body = memory.read_header(memory.decode(content)).body
        if label != UNKNOWN and body.strip():
            guesses.setdefault(label, Counter())[guess_type(body)] += 1
    if not guesses:
        raise Missing(f"{data}: there is no memory with a type", path=data, next=GET_IT)
    total = sum(counts.total() for counts in guesses.values())
    right = sum(counts[label] for label, counts in guesses.items())
    usual = max(counts.total() for counts in guesses.values())
    guessed = sorted({guess for counts in guesses.values() for guess in counts})
    rows: list[tuple[Value, ...]] = [
        (label, counts.total(), *(counts[guess] for guess in guessed))
        for label, counts in sorted(guesses.items())
    ]
    columns = (("type", TEXT), ("n", COUNT), *((f"guessed {one}", COUNT) for one in guessed))
    figures = (
        share_figure("types guessed right", right, total),
        Figure("always the most frequent type", usual / total, SHARE, total),
    )
    section = Section("Guessed types", figures, (Table("by type", columns, tuple(rows)),))
    report = Report("types", data, f"{total} memories with a type", (section,))
    return report, evaluation_report_fields(report)

"""What an audit advises on every memory of the corpus, and thirty of them drawn to be read."""

from __future__ import annotations

import datetime
import json
import os
import random
from collections import Counter
from pathlib import Path

from evals.listing import META, open_repo
from evals.report import (
    SHARE,
    Figure,
    Report,
    Section,
    evaluation_report_fields,
)
from memdir.audit.ages import FIX, KEEP, LOOK, RETIRE
from memdir.audit.audit import Audited, score_memory
from memdir.claims.verify import verify_claims
from memdir.hot import safe
from memdir.hot.memory import decode, read_memory

TODAY = datetime.date(2026, 9, 1)  # some weeks after the newest commit of the corpus
DRAWN = 30
INDEXES = ("MEMORY.md", "index.md", "LICENSE.md")


def evaluate_advice(data: str) -> tuple[Report, dict[str, object]]:
    """The share of each advice; the lists of a repository stand in for its git."""
    counts = Counter(audited.advice for audited, _ in advise_on_corpus(data).values())
    total = counts.total()
    figures = [
        Figure(name, counts[name] / total if total else None, SHARE, total)
        for name in (KEEP, LOOK, FIX, RETIRE)
    ]
    report = Report("advice", data, f"{total} memories", (Section("Advice", tuple(figures)),))
    return report, {**evaluation_report_fields(report), "n": total, "advice": dict(counts)}


def draw_advice(data: str, seed: int) -> str:
    """Thirty memories with what is advised and their text, for a reader who agrees or does not."""
    advised = advise_on_corpus(data)
    lines = []
    for place in random.Random(seed).sample(sorted(advised), min(DRAWN, len(advised))):
        audited, text = advised[place]
        reasons = "; ".join(audited.reasons) or "no reason"
        about = f"{audited.type}, {audited.age_days} days old: {audited.advice} ({reasons})"
        lines += [f"=== {place}", about, "", text.strip(), ""]
    return "\n".join(lines)


def advise_on_corpus(data: str) -> dict[str, tuple[Audited, str]]:
    """Every memory by its place, dated by its header or by the commit of its repository."""
    advised: dict[str, tuple[Audited, str]] = {}
    today = datetime.datetime.combine(TODAY, datetime.time(), datetime.UTC).timestamp()
    for root in sorted(Path(data).glob("*__*")):
        day = json.loads((root / META).read_text(encoding="utf-8"))["date"]
        committed = datetime.datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
        paths = [path for path in sorted(root.rglob("*.md")) if path.name not in INDEXES]
        contents = {str(path.relative_to(root)): path.read_bytes() for path in paths}
        texts = [(path, decode(content)) for path, content in contents.items()]
        judged, _ = verify_claims(texts, open_repo(str(root), ""))
        for path, text in texts:
            memory = read_memory(os.path.basename(path), contents[path], committed)
            days = safe.age_days(memory.clock, today)
            place = f"{root.name.replace('__', '/')} {path}"
            advised[place] = score_memory(memory, text, days, judged[path], (), TODAY), text
    return advised

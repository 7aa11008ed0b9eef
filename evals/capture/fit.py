"""Computes what words weigh in triage: python evals/capture/fit.py

A logistic regression with a quadratic penalty over the sentences of the splits in LEARNED, by
AdaGrad; the same data give the same file. Splits that are kept to measure with are not read.
"""

from __future__ import annotations

import math
import sys
from hashlib import sha256
from pathlib import Path

from memdir.core.transcript import AGENT, PERSON
from memdir.core.triage import odds
from memdir.core.triage.noticing import placed
from memdir.core.triage.odds import UNIT, features
from memdir.evaluation.capture_set import Conversation, read

HERE = Path(__file__).parent
LEARNED = ("training", "dev", "blind", "blind2", "blind3")
PENALTY = 1.0  # of the sum of squares, beside the sum of the losses
ROUNDS, STEP = 60, 0.2
LEAST = 0.05  # a weight below it is left out: it changes nothing
Row = tuple[list[str], bool]


def rows(conversation: Conversation) -> list[Row]:
    """Every sentence of a person, and whether a label is about it."""
    found: list[Row] = []
    before = ""
    for one in conversation.said:
        if one.who == AGENT:
            before = one.text
        elif one.who == PERSON:
            for said, turn in placed(one.text, before):
                worth = _labelled(conversation, said.text)
                if worth is not None:
                    found.append((sorted(features(said.text, turn)), worth))
            before = ""
    return found


def _labelled(conversation: Conversation, text: str) -> bool | None:
    """None where either would do."""
    small = text.lower()
    for label in conversation.expected:
        if label.who == PERSON and all(_meets(words.lower(), small) for words in label.words):
            return True
    return None if any(words.lower() in small for words in conversation.fine) else False


def _meets(words: str, text: str) -> bool:
    """A label may be longer than its sentence, or cover parts of two."""
    if words in text or text.strip(" .,;!") in words:
        return True
    one, two = set(words.split()), set(text.split())
    return len(one & two) >= max(2, 0.6 * min(len(one), len(two)))


def fit(data: list[Row]) -> dict[str, float]:
    """Both sides weigh the same, however many there are of each."""
    worth = sum(label for _, label in data)
    share = {True: len(data) / 2 / worth, False: len(data) / 2 / (len(data) - worth)}
    weights: dict[str, float] = {"all": 0.0}
    squares: dict[str, float] = {}
    seen: dict[str, int] = {}
    for names, _ in data:
        for name in names:
            seen[name] = seen.get(name, 0) + 1
    for _ in range(ROUNDS):
        for names, label in data:
            total = weights["all"] + sum(weights.get(name, 0.0) for name in names)
            error = share[label] * (1 / (1 + math.exp(-max(-30.0, min(30.0, total)))) - label)
            for name in ("all", *names):
                old = weights.get(name, 0.0)
                slope = error + (PENALTY * old / seen[name] if name != "all" else 0.0)
                squares[name] = squares.get(name, 0.0) + slope * slope
                weights[name] = old - STEP * slope / math.sqrt(squares[name] + 1e-9)
    return weights


def digest() -> str:
    """Names the data: other data, other weights."""
    given = b"".join((HERE / f"{name}.jsonl").read_bytes() for name in LEARNED)
    return sha256(given).hexdigest()[:16]


def main() -> int:
    """Write the weights, and say how they separate what they were made of."""
    splits = read(str(HERE)).splits
    data = [row for name in LEARNED for one in splits[name] for row in rows(one)]
    weights = {k: v for k, v in fit(data).items() if abs(v) >= LEAST or k == "all"}
    path = Path(odds.__file__).with_name("odds.txt")
    head = f"// of evals/capture/fit.py and {digest()}; do not edit"
    body = [f"{name}\t{round(value * UNIT)}" for name, value in sorted(weights.items())]
    path.write_text("\n".join([head, *body]) + "\n", encoding="utf-8")
    print(f"{len(data)} sentences, {sum(label for _, label in data)} worth it, {len(body)} weights")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Messages that ask to be remembered: which of them the product recognises, and what else it takes.

`messages.jsonl` has a message a line: `id`, `text`, `before` (what the agent had said), `explicit`
(the person asks for it) and `worth` (`yes`, `maybe`, `no`: is it worth a memory at all?).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from evals.shares import share_figure
from memdir.evals.recall_sets import bad_eval_data, read_evaluation_data, read_evaluation_row
from memdir.evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Report,
    Section,
    Table,
    evaluation_report_fields,
    precision_figure,
)

MESSAGES = "messages.jsonl"
GET_IT = "name the directory that holds messages.jsonl with --data"
WORTH = ("yes", "maybe", "no")
OTHER = "other"
# Frequent words that tell languages apart; a message in none of them counts as `other`.
FREQUENT = {
    "English": "the and is to it this that you for not with can please of in be are",
    "German": "der die das und ist nicht ich wir bitte mit für ein eine auch noch",
    "French": "le les des est pas une que dans pour avec et nous vous il sur",
    "Spanish": "el los las es que una por para con y del pero lo se como",
    "Portuguese": "os um uma não que com para da em é você isso mas",
    "Italian": "il gli che non una per con di è della sono anche del nel",
}
SCRIPTS = (("Japanese", "\u3040", "\u30ff"), ("Korean", "\uac00", "\ud7a3"))
CHINESE = ("\u4e00", "\u9fff")


@dataclass(frozen=True)
class Message:
    """A message with its labels, and whether the product takes it for a request."""

    language: str
    explicit: bool
    worth: str
    taken: bool


def is_request(text: str, before: str) -> bool:
    """The product's recogniser; the one place to change when it moves."""
    from memdir.capture.signals import notice_requests
    from memdir.clients.conversation import AGENT, PERSON, Message

    said = [Message("0", AGENT, before, 0.0), Message("1", PERSON, text, 0.0)]
    return any(signal.asked_for for signal in notice_requests(said if before else said[1:]))


def language_of(text: str) -> str:
    """By script, else by frequent words."""
    for name, first, last in (*SCRIPTS, ("Chinese", *CHINESE)):
        if any(first <= character <= last for character in text):
            return name
    words = text.lower().split()
    counts = {name: sum(map(words.count, some.split())) for name, some in FREQUENT.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else OTHER


def evaluate_capture(data: str) -> tuple[Report, dict[str, object]]:
    """Figures over all messages, and a row for each language."""
    messages = _read(os.path.join(data, MESSAGES))
    taken = [one for one in messages if one.taken]
    right = sum(one.explicit for one in taken)
    worth = sum(one.worth != "no" for one in taken)
    asked = sum(one.explicit for one in messages)
    figures = (
        Figure("messages taken for requests", len(taken), COUNT, len(messages)),
        share_figure("precision", right, len(taken)),
        share_figure("worth a memory (yes or maybe)", worth, len(taken)),
        share_figure("recall", right, asked),
    )
    languages = sorted({one.language for one in messages})
    columns = (
        *(("language", TEXT), ("messages", COUNT), ("asked", COUNT), ("taken", COUNT)),
        *(("right", COUNT), ("precision", SHARE), ("recall", SHARE)),
    )
    rows = tuple(
        _row(language, [one for one in messages if one.language == language])
        for language in languages
    )
    section = Section("Explicit requests", figures, (Table("by language", columns, rows),))
    report = Report("capture", data, f"{len(messages)} messages, {asked} ask for it", (section,))
    return report, evaluation_report_fields(report)


def _read(path: str) -> list[Message]:
    found = []
    for number, line in enumerate(read_evaluation_data(path, GET_IT).split("\n"), 1):
        if not line.strip():
            continue
        row = read_evaluation_row(path, number, line, ("id", "text"))
        if row.get("worth") not in WORTH or not isinstance(row.get("explicit"), bool):
            raise bad_eval_data(
                path, number, "'worth' is none of yes, maybe, no, or 'explicit' no bool"
            )
        language = str(row.get("language") or language_of(row["text"]))
        taken = is_request(row["text"], str(row.get("before", "")))
        found.append(Message(language, row["explicit"], row["worth"], taken))
    if not found:
        raise bad_eval_data(path, 0, "no message in it")
    return found


def _row(language: str, messages: Sequence[Message]) -> tuple[str | float | None, ...]:
    asked = sum(one.explicit for one in messages)
    taken = sum(one.taken for one in messages)
    right = sum(one.taken and one.explicit for one in messages)
    shares = precision_figure(right, taken), precision_figure(right, asked)
    return (language, len(messages), asked, taken, right, *shares)

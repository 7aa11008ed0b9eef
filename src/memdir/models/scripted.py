"""A model that answers from a file: `scripted:answers.jsonl`. For tests and demos.

One JSON object per line, used in order; the last one is repeated:

{"answer": {"memories": ["a.md"]}}      data, or with "text" a text
{"fails": "refused"}                    or timeout, unavailable
{"answer": {}, "seconds": 5}            takes that long; the limit of the question holds
{"answer": {}, "input_tokens": 900, "output_tokens": 20}.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from memdir.errors import BadInput
from memdir.hot.disk import read_start
from memdir.models import model

NOTHING = model.Usage()
KEYS = {"answer", "text", "fails", "seconds", "input_tokens", "output_tokens"}
FAILURES = ("refused", "timeout", "unavailable")
MAX_FILE_BYTES = 16 * 1024 * 1024
HINT = 'write {"answer": …}, {"text": "…"} or {"fails": "' + '"|"'.join(FAILURES) + '"}'


class Scripted:
    def __init__(
        self,
        lines: Sequence[Mapping[str, object]],
        name: str = "scripted",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.asked: list[model.Question] = []
        self._lines = lines
        self._sleep = sleep

    def answer(self, question: model.Question) -> model.Answer:
        self.asked.append(question)
        line = self._lines[min(len(self.asked), len(self._lines)) - 1]
        fails, seconds = line.get("fails"), line.get("seconds", 0.0)
        assert isinstance(seconds, int | float)
        self._sleep(min(seconds, question.seconds))
        if fails == "timeout" or seconds > question.seconds:
            raise model.model_too_slow(self.name, question.seconds)
        if fails == "refused":
            raise model.model_refused(self.name)
        if fails == "unavailable":
            hint = "change the script"
            raise model.ModelUnavailable(f"{self.name} is not there", next=hint, usage=NOTHING)
        text = line["text"] if "text" in line else json.dumps(line["answer"])
        counts = [line.get(key, 0) for key in ("input_tokens", "output_tokens")]
        return model.model_answer(
            question, str(text), self.name, model.Usage(*map(int, map(str, counts)))
        )


def open_model(name: str, base_url: str, environ: Mapping[str, str]) -> Scripted:
    """Reads the whole file, so that a mistake in it shows at once."""
    path = os.path.expanduser(name)
    try:
        text = read_start(path, MAX_FILE_BYTES)[0].decode("utf-8")
    except (OSError, ValueError) as error:
        hint = "write scripted:FILE, a file with one JSON object per line"
        raise BadInput(f"{name or 'no file'}: cannot be read ({error})", next=hint) from None
    numbered = [pair for pair in enumerate(text.splitlines(), 1) if pair[1].strip()]
    if not numbered:
        raise BadInput(f"{path}: there are no answers", path=path, next=HINT)
    lines = [_read_line(path, number, line) for number, line in numbered]
    return Scripted(lines, f"scripted:{name}")


def _read_line(path: str, number: int, text: str) -> Mapping[str, object]:
    try:
        line = json.loads(text)
        counts = [line.get(key, 0) for key in ("input_tokens", "output_tokens")]
        sound = (
            not line.keys() - KEYS
            and len(line.keys() & {"answer", "text", "fails"}) == 1
            and line.get("fails", FAILURES[0]) in FAILURES
            and all(type(count) is int and count >= 0 for count in counts)
            and type(line.get("seconds", 0)) in (int, float)
            and line.get("seconds", 0) >= 0
        )
    except (ValueError, RecursionError, AttributeError):  # no JSON, or no object
        sound = False
    if not sound:
        raise BadInput(f"{path}:{number}: not an answer", path=path, next=HINT)
    return cast(Mapping[str, object], line)

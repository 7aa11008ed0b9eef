"""A model of your own: copy this file to ~/.config/memdir/models/.

Set model.name = "command:PROGRAM": any program that reads a question on its standard input and
prints an answer, both as JSON:

{"system": "…", "user": "…", "schema": {…} or null, "max_tokens": 1024}
{"text": "…", "input_tokens": 120, "output_tokens": 20}     or {"refused": true}
"""

import json
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import killpg

from memdir.models.model import (
    Answer,
    BadAnswer,
    ModelRefused,
    ModelUnavailable,
    Question,
    Usage,
    model_answer,
    model_too_slow,
)

HINT = "run the program by hand to see what it prints"


@dataclass(frozen=True)
class Command:
    """One process per question; it is ended with its children when its time is up."""

    name: str
    words: list[str]
    environ: Mapping[str, str] = field(repr=False)  # it may hold keys

    def answer(self, question: Question) -> Answer:
        """What the program prints, checked against the question's schema."""
        said = self._run(_asked(question), question.seconds)
        usage = Usage(_count(said, "input_tokens"), _count(said, "output_tokens"))
        if said.get("refused"):
            raise ModelRefused(f"{self.name} refused", next="say it in other words", usage=usage)
        return model_answer(question, str(said.get("text", "")), self.name, usage)

    def _run(self, asked: bytes, seconds: float) -> dict[str, object]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            self.words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=self.environ,
            start_new_session=True,
        )  # fmt: skip
        with process:
            try:
                printed, _ = process.communicate(asked, seconds)
            except subprocess.TimeoutExpired:
                raise model_too_slow(self.name, seconds) from None
            finally:
                with suppress(ProcessLookupError):
                    killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            raise ModelUnavailable(f"{self.name} failed", next=HINT, usage=Usage())
        with suppress(ValueError, RecursionError):
            if isinstance(said := json.loads(printed), dict):
                return said
        raise BadAnswer(f"{self.name} printed no JSON object", next=HINT)


def _asked(question: Question) -> bytes:
    """The question as the program reads it; a conversation is told as one text."""
    turns = [f"You answered: {turn.answered}\n\n{turn.told}" for turn in question.earlier]
    asked = {
        "system": question.system,
        "user": "\n\n".join([question.user, *turns]),
        "schema": question.schema,
        "max_tokens": question.max_tokens,
    }
    return json.dumps(asked).encode()


def _count(said: Mapping[str, object], key: str) -> int:
    value = said.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def open_model(name: str, base_url: str, environ: Mapping[str, str]) -> Command:
    """`name` is what stands behind the colon: the program and its arguments."""
    words = shlex.split(name)
    found = shutil.which(words[0], path=environ.get("PATH")) if words else None
    if found is None:
        hint = 'write model.name = "command:PROGRAM", a program that can be run'
        raise ModelUnavailable(f"command:{name}: no such program", next=hint, usage=Usage())
    return Command(f"command:{name}", [found, *words[1:]], environ)

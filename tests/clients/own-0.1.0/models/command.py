"""A model of your own: any program that reads a question and prints an answer, both as JSON."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from memdir.core.model import (
    Answer,
    BadAnswer,
    ModelRefused,
    ModelUnavailable,
    Question,
    Usage,
    answered,
    too_slow,
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
        said = self._run(json.dumps({"user": question.user}).encode(), question.seconds)
        usage = Usage(0, 0)
        if said.get("refused"):
            raise ModelRefused(f"{self.name} refused", next="say it in other words", usage=usage)
        return answered(question, str(said.get("text", "")), self.name, usage)

    def _run(self, asked: bytes, seconds: float) -> dict[str, object]:
        try:
            done = subprocess.run(
                self.words, input=asked, capture_output=True, env=self.environ, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            raise too_slow(self.name, seconds) from None
        if done.returncode:
            raise ModelUnavailable(f"{self.name} failed", next=HINT, usage=Usage())
        said = json.loads(done.stdout)
        if not isinstance(said, dict):
            raise BadAnswer(f"{self.name} printed no JSON object", next=HINT)
        return said


def open_model(name: str, base_url: str, environ: Mapping[str, str]) -> Command:
    """`name` is what stands behind the colon: the program and its arguments."""
    words = shlex.split(name)
    found = shutil.which(words[0], path=environ.get("PATH")) if words else None
    if found is None:
        hint = 'write model.name = "command:PROGRAM", a program that can be run'
        raise ModelUnavailable(f"command:{name}: no such program", next=hint, usage=Usage())
    return Command(f"command:{name}", [found, *words[1:]], environ)

"""Eval: how good memory is here, in figures."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import click

from memdir.cli.command import Session, command
from memdir.cli.output import PATIENCE_SECONDS, Answer, Screen
from memdir.evals.own import evaluate_own
from memdir.evals.prompt_sets import READERS
from memdir.evals.recall_sets import DEPTH, evaluate_recall
from memdir.evals.report import report_fields, report_lines
from memdir.store.writer import open_app

OWN, RECALL = "own", "recall"
DEEPEST = 1_000  # memories per prompt


@command("eval", "memdir eval recall --set corpus --data ../corpus", bulk=True)
@click.argument("what", type=click.Choice((OWN, RECALL)), default=OWN)
@click.option("--set", "name", type=click.Choice([*READERS]), help="The test set (corpus).")
@click.option("--data", metavar="PATH", help="Where the test set lies.")
@click.option("--k", type=click.IntRange(1, DEEPEST), help=f"Memories per prompt ({DEPTH}).")
def evaluate(
    session: Session, what: str, name: str | None, data: str | None, k: int | None
) -> Answer:
    """Measure memory: your own store, or recall on a test set.

    `own` asks your store its own descriptions and links, and looks at duplicates, ages, the
    index and what every session carries. `recall` puts the prompts of a test set to memdir.
    Offline; nothing is written.
    """
    say = _teller(session.screen)
    if what == RECALL:
        if data is None:
            raise click.UsageError("recall needs --data PATH, the test set")
        prompts = READERS[name or "corpus"](os.path.expanduser(data))
        # The product as it is set up here; the test set brings its own stores.
        config = session.asked.config("project")
        app = open_app(config, now=time.time, tell=session.screen.tell)
        report = evaluate_recall(prompts, k or DEPTH, app, say)
    else:
        if name is not None or data is not None or k is not None:
            raise click.UsageError("--set, --data and --k belong to memdir eval recall")
        report = evaluate_own(session.app, say)
    return Answer(report_fields(report), report_lines(report, session.screen))


def _teller(screen: Screen) -> Callable[[str], None]:
    """What is under way, once a person at a terminal has waited for a second."""
    start = time.monotonic()
    heard = not screen.json and sys.stderr.isatty()

    def say(text: str) -> None:
        if heard and time.monotonic() - start > PATIENCE_SECONDS:
            screen.tell(f"{text} …")

    return say

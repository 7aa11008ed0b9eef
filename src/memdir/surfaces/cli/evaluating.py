"""eval: how good memory is here, in figures."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable

import click

from memdir.app import App, open_app
from memdir.core.errors import BadInput, Unwritable
from memdir.evaluation.claims import evaluate_claims
from memdir.evaluation.claims_set import read as read_claims
from memdir.evaluation.html import OURS, html_page
from memdir.evaluation.own import evaluate_own
from memdir.evaluation.page import page
from memdir.evaluation.pairs import evaluate_pairs
from memdir.evaluation.recall import DEPTH, READERS, evaluate_recall
from memdir.evaluation.report import Figure, Report, fields
from memdir.surfaces.cli.answers import Fields
from memdir.surfaces.cli.progress import PATIENCE_SECONDS
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session, command

OWN, RECALL = "own", "recall"
Measure = Callable[[str, Callable[[str], None]], tuple[Report, Fields]]
# What is measured on labels that lie in one directory: a reader and a measure, one row each.
LABELLED: dict[str, Measure] = {
    "claims": lambda data, say: evaluate_claims(read_claims(data), say),
    "pairs": lambda data, say: _pairs(evaluate_pairs(data, say)),
}
DEEPEST = 1_000  # memories per prompt
HEAD_BYTES = 1_024  # of a page that is to be replaced


@command("eval", "memdir eval recall --set corpus --data ../corpus", bulk=True)
@click.argument("what", type=click.Choice((OWN, RECALL, *LABELLED)), default=OWN)
@click.option("--set", "name", type=click.Choice([*READERS]), help="The test set (corpus).")
@click.option("--data", metavar="PATH", help="Where the test set lies.")
@click.option("--k", type=click.IntRange(1, DEEPEST), help=f"Memories per prompt ({DEPTH}).")
@click.option("--html", metavar="FILE", help="Also write a page with charts.")
def evaluate(
    session: Session,
    what: str,
    name: str | None,
    data: str | None,
    k: int | None,
    html: str | None,
) -> None:
    """Measure memory: your own store, or recall, claims and pairs on a test set.

    `own` asks your store its own descriptions and links, and looks at duplicates, ages, the
    index and what every session carries. `recall` puts the prompts of a test set to memdir and
    to simple searches. `claims` judges labelled claims, `pairs` which memories say the same or
    contradict each other. Offline; nothing is written but the page.
    """
    if html is not None:
        _check(html)
    say = _teller(session.screen)
    if what in LABELLED:
        if data is None or name is not None or k is not None:
            raise click.UsageError(f"{what} needs --data PATH, and takes no --set and no --k")
        _tell(session, *LABELLED[what](os.path.expanduser(data), say), html)
        return
    if what == RECALL:
        if data is None:
            raise click.UsageError("recall needs --data PATH, the test set")
        prompts = READERS[name or "corpus"](os.path.expanduser(data))
        report = evaluate_recall(prompts, k or DEPTH, _wiring(session), say)
    else:
        if name is not None or data is not None or k is not None:
            raise click.UsageError("--set, --data and --k belong to memdir eval recall")
        report = evaluate_own(session.app, say)
    _tell(session, report, fields(report), html)


def _wiring(session: Session) -> App:
    """The product as it is set up here; the test set brings its own stores."""
    return open_app(session.asked.config("project"), now=time.time, tell=session.screen.tell)


def _pairs(report: Report) -> tuple[Report, Fields]:
    """With the figure that stands for the others on top."""
    answer = fields(report)
    found = {figure.name: figure for section in report.sections for figure in section.figures}
    for key, name in (("auc", "AUC, memdir"), ("baseline", "AUC, words in common")):
        one = found.get(name) or Figure(name, None, n=0)  # no area with labels of one sort only
        answer[key] = {"value": one.value, "low": one.low, "high": one.high}
        answer["n"] = one.n
    return report, answer


def _tell(session: Session, report: Report, answer: Fields, html: str | None) -> None:
    lines = [] if session.screen.json else page(report, session.screen)
    if html is not None:
        _write(html, html_page(report))
        answer["html"] = html
        lines += ["", *session.screen.block("page:", session.short(html), "")]
    session.screen.answer(answer, lines)


def _teller(screen: Screen) -> Callable[[str], None]:
    """What is under way, once a person at a terminal has waited for a second."""
    start = time.monotonic()
    heard = not screen.json and sys.stderr.isatty()

    def say(text: str) -> None:
        if heard and time.monotonic() - start > PATIENCE_SECONDS:
            screen.tell(f"{text} …")

    return say


def _check(path: str) -> None:
    """Before the work: only a new file or an earlier page of ours may be written."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise BadInput(f"{path} is not a file", path=path, next="name a new file with --html")
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
    except FileNotFoundError:
        if os.path.isdir(os.path.dirname(path) or "."):
            return
        raise BadInput(
            f"{path}: its directory does not exist", path=path, next="make it first"
        ) from None
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    if OURS.encode() not in head:
        raise BadInput(
            f"{path} is there and is no page of memdir eval; it was not touched",
            path=path,
            next="name another file with --html",
        )


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str, error: Exception) -> Unwritable:
    cause = getattr(error, "strerror", None) or "not a file name"
    return Unwritable(f"{path}: {cause}", path=path, next="name another file with --html")

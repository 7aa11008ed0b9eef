"""Claims about packages that nobody wrote for a test: what stood in an early release, judged now.

What is true follows from the two trees alone; none of the product's code decides it.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evals.package_histories import (
    DEVELOP,
    MEASURE,
    NotRun,
    PackageHistory,
    make_package_history,
    package_cache,
)
from evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Goal,
    Report,
    Say,
    Section,
    Table,
    Value,
    evaluation_report_fields,
    precision_figure,
)
from evals.shares import share_figure
from memdir.claims.claim import STALE
from memdir.claims.repo import GitRepo
from memdir.claims.verify import verify_claims
from memdir.errors import BadInput

PRECISION_GOAL, RECALL_GOAL = Goal(0.95), Goal(0.80)
MAX_PER_KIND = 120  # claims of one package and kind
PATH, NAME, SYMBOL, FLAG, PACKAGE = "path", "bare name", "symbol", "flag", "package"
DENIED = "said to be gone"  # the sentence is right, so nothing is stale

# As memories speak: rules, tables, lists, reasons, half sentences. `{x}` is what they name.
WORDINGS = {
    PATH: (
        "The entry point is `{x}`; keep it small.",
        "- `{x}` — defaults and limits, read before changing either",
        "See {x} before changing anything here.",
        "**How to apply:** read `{x}` first, then write the test.",
        "We fixed the flaky case in `{x}` last week, so a new failure there is real.",
        "`{x}:12` sets the default that everybody trips over.",
        "| file | what |\n|---|---|\n| `{x}` | the core of it |",
        "When the build is red, look at `{x}` and at its callers.",
        "`{x}` was slow on CI, therefore its timeout is 30 s.",
        "- [the details]({x}) explain why",
        "**Why:** the reviewer moved the checks into `{x}`, and they must stay there.",
        "Before a release:\n\n```sh\nhead -n 3 {x}\n```",
    ),
    NAME: (
        "`{x}` holds the shared parts.",
        "- `{x}` (about 200 lines): read it before adding a helper",
        "The reviewer wants new cases in `{x}`, not in a new file.",
        "Look into `{x}` first when the suite hangs.",
    ),
    SYMBOL: (
        "Always call `{x}` before anything is sent.",
        "- `{x}`: the only place that knows both sides",
        "Never subclass `{x}` without asking.",
        "Errors are mapped in `{x}()`, nowhere else.",
        "**Why:** `{x}` fixed the leak that we saw in May.",
        "| name | role |\n|---|---|\n| `{x}` | glue |",
        "`{x}` was rewritten for speed and is the one to use.",
        "The wrapper was replaced by `{x}`, which is tested.",
        "Prefer `{x}` when a request may be repeated.",
        "`{x}` in `{file}` decides that.",
        "Tests patch {x}() to keep the clock still.",
    ),
    FLAG: (
        "Pass `{x}` on CI, otherwise the output is coloured.",
        "- `{x}` is what the release script needs",
        "Reproduce it with `{x}` and a clean cache.",
        "`{x}` was added for the nightly run; leave it on.",
    ),
    PACKAGE: (
        "It depends on `{x}`, so pin it together with us.",
        "The tests use `{x}`; install it first.",
        "`{x}` is a required package here.",
        "Uses `{x}` for the heavy part.",
    ),
    DENIED: (
        "`{x}` was removed; do not look for it.",
        "Do not look for `{x}`: it does not exist any more.",
        "There is no `{x}` here since the rewrite.",
        "We deleted `{x}` and nobody missed it.",
        "The old `{x}` is not coming back.",
        "`{x}` wurde entfernt.",
        "`{x}` 는 삭제되었습니다.",
    ),
}


@dataclass(frozen=True)
class Sentence:
    package: str
    kind: str
    text: str
    named: str
    gone: bool


@dataclass(frozen=True)
class Answer:
    sentence: Sentence
    verdict: str
    reason: str


def evaluate_packages(environ: Mapping[str, str], say: Say) -> tuple[Report, dict[str, object]]:
    cache = package_cache(environ)
    groups: dict[str, list[Answer]] = {}
    try:
        for group, packages in (("developing", DEVELOP), ("measuring", MEASURE)):
            for name, versions in packages.items():
                say(name)
                history = make_package_history(name, versions, cache)
                groups.setdefault(group, []).extend(judge_package(history, str(cache / "index")))
    except NotRun as reason:
        next = "connect, or set up a registry for pip, and run it again"
        raise BadInput(f"not run: {reason}", next=next) from None
    sections = [_section(group, answers) for group, answers in groups.items()]
    everything = [answer for answers in groups.values() for answer in answers]
    sections.append(_section("all", everything))
    names = ", ".join((*DEVELOP, *MEASURE))
    report = Report("claims", names, f"{len(everything):,} claims", tuple(sections))
    errors = [
        {**vars(answer.sentence), "verdict": answer.verdict, "reason": answer.reason}
        for answer in groups["developing"]
        if _is_wrong(answer)
    ]
    return report, {**evaluation_report_fields(report), "errors": errors}


def judge_package(history: PackageHistory, cache: str) -> list[Answer]:
    sentences = list(write_sentences(history))
    texts = [(f"m{number}.md", each.text) for number, each in enumerate(sentences)]
    judged, _ = verify_claims(texts, GitRepo(history.folder, cache))
    answers = []
    for (path, _), sentence in zip(texts, sentences, strict=True):
        same = [each for each in judged[path] if each.claim.text.startswith(sentence.named)]
        first = next(iter(same), None)
        verdict, reason = (first.verdict, first.reason) if first else ("no span", "")
        answers.append(Answer(sentence, verdict, reason))
    return answers


def write_sentences(history: PackageHistory) -> Iterator[Sentence]:
    """One sentence for each thing of the early release, in wordings that take turns."""
    rnd = random.Random(history.name)
    turns: Counter[str] = Counter()

    def write(kind: str, named: str, gone: bool, file: str = "") -> Sentence:
        wording = WORDINGS[kind][turns[kind] % len(WORDINGS[kind])]
        turns[kind] += 1
        return Sentence(history.name, kind, wording.format(x=named, file=file) + "\n", named, gone)

    things: dict[str, list[tuple[str, bool, str]]] = {
        PATH: [(path, path not in history.last, "") for path in sorted(history.early)],
        NAME: _bare_names(history),
        SYMBOL: _symbols(history),
        FLAG: _flags(history),
        PACKAGE: _packages(history),
    }
    for kind, some in things.items():
        few = sorted(rnd.sample(some, min(len(some), MAX_PER_KIND)))
        yield from (write(kind, *thing) for thing in few)
        lost = [thing for thing in few if thing[1] and kind in (PATH, SYMBOL)]
        yield from (write(DENIED, thing[0], False) for thing in lost[::4])


def _bare_names(history: PackageHistory) -> list[tuple[str, bool, str]]:
    names = Counter(path.rpartition("/")[2] for path in history.early)
    now = {path.rpartition("/")[2] for path in history.last}
    return [
        (name, name not in now, "")
        for name, count in names.items()
        if count == 1 and "." in name.strip(".") and name != "__init__.py"
    ]


_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z]\w{3,})", re.M)
_FLAG = re.compile(rb"[\"'](--[a-z][a-z0-9-]{2,})[\"'/ =]")


def _code(files: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    return [(path, data) for path, data in files.items() if path.endswith(".py")]


def _symbols(history: PackageHistory) -> list[tuple[str, bool, str]]:
    """Functions and classes of the package itself; gone if none of that name is defined."""
    now = {name for _, data in _code(history.last) for name in _DEFINED.findall(data)}
    found = {
        name: path
        for path, data in _code(history.early)
        for name in _DEFINED.findall(data)
        if not re.search(r"(?:^|/)(?:tests?|docs|examples|artwork)/|(?:^|/)test_", path)
    }
    return [(name.decode(), name not in now, path) for name, path in found.items()]


def _flags(history: PackageHistory) -> list[tuple[str, bool, str]]:
    found = {flag for _, data in _code(history.early) for flag in _FLAG.findall(data)}
    now = b"\n".join(data for _, data in _code(history.last))
    there = {flag for flag in found if re.search(re.escape(flag) + rb"(?![\w-])", now)}
    return [(flag.decode(), flag not in there, "") for flag in found]


_REQUIREMENT = re.compile(r"^([A-Za-z][\w.-]*[A-Za-z0-9])(?:\[[^\]]*\])?\s*(?:[<>=!~;].*)?$")
_LISTS = re.compile(r"(?:_requires?|extras?_require|dependencies)\b[^\[\]{}()=:]{0,30}[=:]", re.I)


def _packages(history: PackageHistory) -> list[tuple[str, bool, str]]:
    now = {name.lower().replace("_", "-") for name in _required(history.last)}
    found = sorted(_required(history.early) - {history.name, history.name.title()})
    return [(name, name.lower().replace("_", "-") not in now, "") for name in found]


def _required(files: Mapping[str, bytes]) -> set[str]:
    """Names in the lists of requirements of setup.py, setup.cfg, pyproject.toml and *.txt."""
    names: set[str] = set()
    for path, data in files.items():
        text = data.decode("utf-8", "replace")
        lines: list[str] = []
        if "requirements" in path and path.endswith((".txt", ".in")):
            lines = text.splitlines()
        elif path == "pyproject.toml":
            project = tomllib.loads(text).get("project", {})
            lines = [*project.get("dependencies", ())]
            for more in project.get("optional-dependencies", {}).values():
                lines += more
        elif path == "setup.py":
            for start in _LISTS.finditer(text):
                lines += re.findall(r"[\"']([^\"'\n]+)[\"']", _bracketed(text, start.end()))
        elif path == "setup.cfg":
            for start in re.finditer(
                r"^(?:install|tests)_requires?\s*=((?:\n\s+.+|.+)*)", text, re.M
            ):
                lines += start[1].splitlines()
        found = (_REQUIREMENT.match(line.partition("#")[0].strip()) for line in lines)
        names |= {match[1] for match in found if match}
    return names


def _bracketed(text: str, start: int) -> str:
    opened = re.compile(r"\s*(?:\w+\s*)?[\[{(]").match(text, start)
    if opened is None:
        return ""
    depth = 0
    for end in range(opened.end() - 1, min(len(text), start + 6_000)):
        depth += (text[end] in "[{(") - (text[end] in "]})")
        if not depth:
            return text[opened.end() : end]
    return ""


def _is_wrong(answer: Answer) -> bool:
    return (answer.verdict == STALE) != answer.sentence.gone


def _section(title: str, answers: Sequence[Answer]) -> Section:
    said = [answer for answer in answers if answer.verdict == STALE]
    gone = [answer for answer in answers if answer.sentence.gone]
    right = sum(answer.sentence.gone for answer in said)
    figures = (
        share_figure("stale precision", right, len(said), PRECISION_GOAL),
        share_figure("stale recall", right, len(gone), RECALL_GOAL),
    )
    tables = (
        _table("by kind", answers, lambda answer: answer.sentence.kind),
        _table("by package", answers, lambda answer: answer.sentence.package),
    )
    return Section(title, figures, tables)


def _table(name: str, answers: Sequence[Answer], key: Callable[[Answer], str]) -> Table:
    columns = (
        *((name, TEXT), ("n", COUNT), ("gone", COUNT), ("said stale", COUNT)),
        *(("right", COUNT), ("precision", SHARE), ("recall", SHARE)),
    )
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(key(answer), []).append(answer)
    rows: list[tuple[Value, ...]] = []
    for title, some in groups.items():
        gone = sum(answer.sentence.gone for answer in some)
        said = [answer for answer in some if answer.verdict == STALE]
        right = sum(answer.sentence.gone for answer in said)
        shares = precision_figure(right, len(said)), precision_figure(right, gone)
        rows.append((title, len(some), gone, len(said), right, *shares))
    return Table(name, columns, tuple(rows))

"""The state of a store: how old, how tidy, how much of it every session carries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from memdir import flows
from memdir.app import App
from memdir.core import frontmatter, loading
from memdir.core.claim import STALE, TRUE, UNKNOWN
from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.likeness import find_alike
from memdir.core.listing import Listed
from memdir.core.ports import Store
from memdir.evaluation.report import COUNT, TEXT, Chart, Figure, Goal, Section, Table

# Upper ends of the bands of ages, in whole days.
AGES = (
    *((7, "up to a week"), (30, "up to a month"), (90, "up to three months")),
    (365, "up to a year"),
)
OLDER = "older"
ACTIONS = ("keep", "review", "prune")
VERDICTS = (TRUE, STALE, UNKNOWN)
ROWS = 20  # of a table; the figure above it counts all
TOKEN = 4  # characters; a usual estimate for English


def evaluate_pairs(texts: Mapping[str, str]) -> Section:
    """Memories that say the same cost twice and drift apart."""
    alike = find_alike(texts)
    rows = tuple((one.first, one.second, one.score) for one in alike[:ROWS])
    columns = (("memory", TEXT), ("may say the same as", TEXT), ("alike", "share"))
    return Section(
        "Near-duplicates",
        (Figure("near-duplicate pairs", len(alike), COUNT, len(texts)),),
        (Table("pairs", columns, rows),),
    )


def evaluate_claims(app: App) -> Section:
    """What memories say of the code, against the code."""
    checked = flows.verify(app)
    judged = [(path, one) for path, some in checked.memories.items() for one in some]
    counts = Counter(one.verdict for _, one in judged)
    asked = sum(counts[verdict] for verdict in VERDICTS)
    figures = [Figure(f"claims {verdict}", counts[verdict], COUNT, asked) for verdict in VERDICTS]
    stale = [(path, one.claim.text, one.reason) for path, one in judged if one.verdict == STALE]
    columns = (("memory", TEXT), ("claim", TEXT), ("what became of it", TEXT))
    table = Table("stale claims", columns, tuple(stale[:ROWS]))
    return Section("Claims", tuple(figures), (table,), remarks=checked.remarks)


def evaluate_ages(listed: Sequence[Listed]) -> Section:
    """A score labels, it never hides: old is not wrong."""
    bands = Counter(_band(one.age_days) for one in listed)
    actions = Counter(one.action for one in listed)
    bars = tuple((name, float(bands[name])) for name in (*[name for _, name in AGES], OLDER))
    figures = [Figure(f"to {name}", actions[name], COUNT, len(listed)) for name in ACTIONS]
    chart = Chart("memories by age", bars, COUNT, max(1.0, *[count for _, count in bars]))
    return Section("Staleness", tuple(figures), charts=(chart,) if listed else ())


def _band(days: int) -> str:
    return next((name for last, name in AGES if days <= last), OLDER)


def evaluate_hygiene(findings: Sequence[Finding], dangling: Sequence[tuple[str, str]]) -> Section:
    """What a person should mend."""
    found = [(one.kind, one.path, one.message) for one in findings]
    leading = dict.fromkeys(dangling)
    found += [("dangling-link", path, f"[[{target}]] leads nowhere") for path, target in leading]
    columns = (("kind", TEXT), ("memory", TEXT), ("finding", TEXT))
    return Section(
        "Hygiene",
        (Figure("findings", len(found), COUNT),),
        (Table("findings", columns, tuple(found[:ROWS])),),
        remarks=(f"Shown: {ROWS} of {len(found):,}.",) if len(found) > ROWS else (),
    )


def evaluate_index(app: App) -> Section:
    """The index against the limits beyond which its newest lines are not loaded."""
    try:
        found = flows.survey_index(app)
    except MemdirError as error:
        return Section("Index", remarks=(f"{error.message}. Next: {error.next}",))
    figures = (
        Figure("index lines", found.lines, COUNT, goal=Goal(loading.MAX_LINES, at_most=True)),
        Figure(
            "index characters",
            found.characters,
            COUNT,
            goal=Goal(loading.MAX_CHARACTERS, at_most=True),
        ),
        Figure("memories without a pointer", len(found.orphans), COUNT),
        Figure("pointers without a file", len(found.dangling), COUNT),
        Figure("repeated pointers", len(found.duplicates), COUNT),
        Figure("overlong pointers", len(found.overlong), COUNT),
        Figure("lines of content, not pointers", len(found.inline), COUNT),
    )
    repair = found.orphans or found.dangling or found.duplicates
    advice = ("Repair: memdir index --rebuild. Look: memdir index --check.",) if repair else ()
    return Section("Index", figures, remarks=advice)


def evaluate_load(store: Store, standing: str) -> Section:
    """What every session carries before its first prompt."""
    try:
        index = loading.load(frontmatter.decode(store.index() or b"")).text
    except MemdirError:
        index = ""  # reported with the index
    carried = {"index": len(index), "standing rules": len(standing)}
    figures = [
        *[Figure(f"{name}, tokens", size / TOKEN, COUNT) for name, size in carried.items()],
        Figure("per session, tokens", sum(carried.values()) / TOKEN, COUNT),
    ]
    remark = f"Tokens are estimated as characters / {TOKEN}."
    return Section("Carried by every session", tuple(figures), remarks=(remark,))

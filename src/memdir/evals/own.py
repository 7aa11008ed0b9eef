"""How good on your own store."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memdir.audit import ages
from memdir.audit.ages import Listed
from memdir.claims import verify
from memdir.claims.claim import STALE, TRUE, UNKNOWN
from memdir.errors import Finding, MemdirError
from memdir.evals import report
from memdir.evals.recall_sets import Agent, Query, Ranked, open_agent, rank, ranks, recalls
from memdir.evals.report import (
    COUNT,
    MS,
    SEED,
    Chart,
    Figure,
    Goal,
    Report,
    Say,
    Section,
    Table,
    count,
    of_mean,
)
from memdir.evals.report import TEXT as REPORT_TEXT
from memdir.format import index as index_module
from memdir.format.outline import Lookup
from memdir.format.pointer import WIKILINK, read_pointers
from memdir.hot import memory
from memdir.hot.memory import Document, Memory, decode
from memdir.hot.words import STOP, split
from memdir.store import look
from memdir.store.ports import Search, Store
from memdir.store.writer import App
from memdir.text.markdown import REST, TEXT, layers
from memdir.text.similar import find_alike

# Questions that a store can be asked without anybody: its own descriptions, its own links.

MOST = 300  # questions of a kind; a larger store is sampled, always the same way
FEWEST_WORDS = 2  # of a question; less could mean anything
DROPPED = 3  # every third word is left out
CHUNK = 4  # characters that stand for a word where words have no spaces between them


def paraphrase(text: str, seed: str) -> str:
    """The text without its stop words and every third word, in another order, always the same."""
    words = [part for word in split(text) for part in _chunks(word) if part.lower() not in STOP]
    kept = [word for at, word in enumerate(words, 1) if at % DROPPED]
    random.Random(f"{SEED} {seed}").shuffle(kept)
    return " ".join(kept) if len(kept) >= FEWEST_WORDS else ""


def _chunks(word: str) -> list[str]:
    """A run of a script without spaces in parts; any other word whole."""
    if word.isascii() or len(word) <= 2 * CHUNK or word.lower() != word.upper():
        return [word]
    return [word[at : at + CHUNK] for at in range(0, len(word), CHUNK)]


def ask_descriptions(memories: Iterable[Memory]) -> list[Query]:
    """Each description, paraphrased, should find its memory."""
    asked = [(one.path, paraphrase(one.description, one.path)) for one in memories]
    return sample([Query(path, text, "", (path,)) for path, text in asked if text])


def ask_links(
    documents: Mapping[str, Document], names: Mapping[str, str]
) -> tuple[list[Query], list[tuple[str, str]]]:
    """Each sentence with a `[[link]]` should find what it links to; and links to nothing."""
    lookup = Lookup(documents, names)
    asked: dict[tuple[str, str], Query] = {}
    dangling: list[tuple[str, str]] = []
    for path, document in documents.items():
        for target, said in _links(document.body.split("\n")):
            found = lookup.find(target, WIKILINK)
            if found is None:
                dangling.append((path, target))
            elif found != path:
                asked.setdefault((path, found), Query(path, said, "", (found,)))
    return list(asked.values()), dangling


def _links(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(target, the line without its brackets) of each link outside code."""
    found = []
    for number, (layer, shown) in enumerate(layers(lines), 1):
        if layer in (TEXT, REST) and "[[" in shown:
            said = shown.replace("[[", " ").replace("]]", " ")
            pointers = read_pointers(shown, number)
            found += [(one.target, said) for one in pointers if one.form == WIKILINK]
    return found


def sample(queries: list[Query]) -> list[Query]:
    """All of them, or as many as a run has time for."""
    if len(queries) <= MOST:
        return queries
    return random.Random(SEED).sample(queries, MOST)


# The state of a store: how old, how tidy, how much of it every session carries.

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
    columns = (("memory", REPORT_TEXT), ("may say the same as", REPORT_TEXT), ("alike", "share"))
    return Section(
        "Near-duplicates",
        (Figure("near-duplicate pairs", len(alike), COUNT, len(texts)),),
        (Table("pairs", columns, rows),),
    )


def evaluate_claims(app: App) -> Section:
    """What memories say of the code, against the code."""
    checked = verify.verify(app)
    judged = [(path, one) for path, some in checked.memories.items() for one in some]
    counts = Counter(one.verdict for _, one in judged)
    asked = sum(counts[verdict] for verdict in VERDICTS)
    figures = [Figure(f"claims {verdict}", counts[verdict], COUNT, asked) for verdict in VERDICTS]
    stale = [(path, one.claim.text, one.reason) for path, one in judged if one.verdict == STALE]
    columns = (("memory", REPORT_TEXT), ("claim", REPORT_TEXT), ("what became of it", REPORT_TEXT))
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
    columns = (("kind", REPORT_TEXT), ("memory", REPORT_TEXT), ("finding", REPORT_TEXT))
    return Section(
        "Hygiene",
        (Figure("findings", len(found), COUNT),),
        (Table("findings", columns, tuple(found[:ROWS])),),
        remarks=(f"Shown: {ROWS} of {len(found):,}.",) if len(found) > ROWS else (),
    )


def evaluate_index(app: App) -> Section:
    """The index against the limits beyond which its newest lines are not loaded."""
    try:
        found = look.survey_index(app)
    except MemdirError as error:
        return Section("Index", remarks=(f"{error.message}. Next: {error.next}",))
    figures = (
        Figure("index lines", found.lines, COUNT, goal=Goal(memory.MAX_LINES, at_most=True)),
        Figure(
            "index characters",
            found.characters,
            COUNT,
            goal=Goal(memory.MAX_CHARACTERS, at_most=True),
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
        index = index_module.load(memory.decode(store.index() or b"")).text
    except MemdirError:
        index = ""  # reported with the index
    carried = {"index": len(index), "standing rules": len(standing)}
    figures = [
        *[Figure(f"{name}, tokens", size / TOKEN, COUNT) for name, size in carried.items()],
        Figure("per session, tokens", sum(carried.values()) / TOKEN, COUNT),
    ]
    remark = f"Tokens are estimated as characters / {TOKEN}."
    return Section("Carried by every session", tuple(figures), remarks=(remark,))


# An evaluation of one's own store: offline, nothing is written, no model is asked.

DEPTH = 20
LATER = (
    "Past prompts with the memories that were then used: not measured yet; comes with capture.",
    "Time of the hook in a process of its own: not measured yet; `make bench` measures it.",
)


def evaluate_own(app: App, say: Say) -> Report:
    """read → ask its own descriptions and links → look at its state"""
    listed, findings = ages.list_memories(app)
    memories = [one.memory for one in listed]
    say(f"reading {len(memories):,} memories")
    texts = _read(app, memories)
    documents = {path: memory.read(text) for path, text in texts.items()}
    names = {memory.name: memory.path for memory in memories}
    agent = open_agent(app)
    linked, dangling = ask_links(documents, names)
    described = ask_descriptions(memories)
    say(f"asking {len(described):,} descriptions and {len(linked):,} links")
    summary = f"{count(len(memories), 'memory', 'memories')}, {app.config.scope} scope"
    sections = (
        _found(app.search, described, linked, dangling),
        _speed(agent, described),
        evaluate_load(app.store, agent.standing),
        evaluate_index(app),
        evaluate_pairs(texts),
        evaluate_claims(app),
        evaluate_ages(listed),
        evaluate_hygiene(findings, dangling),
        Section("Not measured yet", remarks=LATER),
    )
    return Report("own", app.store.root, summary, sections)


def _read(app: App, memories: list[Memory]) -> dict[str, str]:
    """The whole text of each item; one that cannot be read is among the findings."""
    texts = {}
    for item in memories:
        try:
            texts[item.path] = decode(app.store.view(item.path))
        except MemdirError:
            continue
    return texts


def _found(
    search: Search, described: list[Query], linked: list[Query], dangling: list[tuple[str, str]]
) -> Section:
    """Does a memory come back when its own words, or those around a link to it, are said?"""
    asked = _rank(search, described)
    around = [_without(one, one.query.id) for one in _rank(search, sample(linked))]
    links = [1.0] * len(linked) + [0.0] * len(dangling)
    figures = (
        of_mean("self-recall R@1", report.mean(recalls(asked, 1))),
        of_mean("self-recall R@5", report.mean(recalls(asked, 5))),
        of_mean("self-recall MRR", report.mean(ranks(asked))),
        of_mean("links that lead somewhere", report.mean(links)),
        of_mean("linked memory found, R@5", report.mean(recalls(around, 5))),
    )
    remark = (
        "Self-recall: each description without its stop words and every third word, in another "
        "order, should find its memory. Links: the line around a [[link]] should find its target."
    )
    return Section("Is it found?", figures, remarks=(remark,))


def _rank(search: Search, queries: list[Query]) -> list[Ranked]:
    searches: Mapping[str, Search] = {"": search}
    return rank(queries, searches, DEPTH, _unheard)


def _unheard(text: str) -> None:
    """For a part that is over quickly."""


def _without(ranked: Ranked, path: str) -> Ranked:
    """The memory with the link in it is no answer to its own question."""
    left = tuple(one for one in ranked.ranking if one != path)
    return Ranked(ranked.query, left, ranked.milliseconds)


def _speed(agent: Agent, queries: list[Query]) -> Section:
    """The whole way of a prompt in this process: search, choose, write what is injected."""
    spent = []
    for query in queries:
        start = time.perf_counter()
        agent.ask(query.prompt)
        spent.append((time.perf_counter() - start) * 1000)
    figures = (
        Figure("recall, ms, median", report.median(spent), MS, len(spent)),
        Figure("recall, ms, p95", report.p95(spent), MS, len(spent)),
    )
    return Section("How fast, on this machine", figures)

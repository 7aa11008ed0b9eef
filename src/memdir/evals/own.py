"""Quality of memory on your own store: offline, read-only, without a model."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memdir.audit import ages
from memdir.audit.ages import Listed
from memdir.claims import verify
from memdir.claims.claim import STALE, TRUE, UNKNOWN
from memdir.errors import Finding, MemdirError
from memdir.evals import recall_sets, report
from memdir.format import index as index_module
from memdir.format.outline import Lookup
from memdir.format.pointer import WIKILINK, parse_pointers
from memdir.hot import memory
from memdir.hot.memory import Memory, decode
from memdir.hot.words import STOP, split_words
from memdir.recall import answer
from memdir.store import look
from memdir.store.writer import App
from memdir.text import markdown
from memdir.text.similar import find_similar_texts
from memdir.text.terminal import plural

MAX_QUERIES = 300  # per kind; larger stores are sampled, always the same way
MIN_WORDS = 2  # per question; fewer are ambiguous
CHUNK_CHARACTERS = 4  # per word in scripts without spaces
MAX_ROWS = 20  # per table; the figure above it counts all
TOKEN_CHARACTERS = 4  # estimate for English
ACTIONS, VERDICTS = ("keep", "review", "prune"), (TRUE, STALE, UNKNOWN)
SEE_AUDIT = "Which ones: memdir audit."
SEE_VERIFY = "Which ones: memdir verify."
SEE_LIST = "Which ones: memdir list. A score labels, it never hides: old is not wrong."
ABOUT_RECALL = (
    "Self-recall: each description without its stop words and every third word, in another "
    "order, should find its memory. Links: the line around a [[link]] should find its target."
)


def evaluate_own_store(app: App, say: report.Say) -> report.Report:
    listed, findings = ages.list_memory_ages(app)
    memories = [item.memory for item in listed]
    say(f"reading {len(memories):,} memories")
    texts = {}
    for item in memories:
        try:
            texts[item.path] = decode(app.store.view(item.path))
        except MemdirError:
            continue  # the findings report it
    linked, dangling = make_questions_from_links(
        texts, {memory.name: memory.path for memory in memories}
    )
    described = make_questions_from_descriptions(memories)
    say(f"asking {len(described):,} descriptions and {len(linked):,} links")
    sections = (
        _show_recall(app, described, linked, len(dangling), say),
        _show_speed(app, described),
        _show_load(app),
        _show_index(app),
        *_show_state(app, listed, texts),
        _show_hygiene(findings, dangling),
    )
    summary = f"{plural(len(memories), 'memory', 'memories')}, {app.config.scope} scope"
    return report.Report("own", app.store.root, summary, sections)


def make_questions_from_descriptions(memories: Iterable[Memory]) -> list[recall_sets.Query]:
    """Each description, without stop words and every third word, should find its memory."""
    queries = []
    for item in memories:
        words = [part for word in split_words(item.description) for part in _chunks(word)]
        words = [word for word in words if word.lower() not in STOP]
        kept = [word for number, word in enumerate(words, 1) if number % 3]
        random.Random(f"{report.SEED} {item.path}").shuffle(kept)  # the same in every run
        if len(kept) >= MIN_WORDS:
            queries.append(recall_sets.Query(item.path, " ".join(kept), "", (item.path,)))
    return _sample(queries)


def _chunks(word: str) -> list[str]:
    size = CHUNK_CHARACTERS
    if word.isascii() or len(word) <= 2 * size or word.lower() != word.upper():
        return [word]
    return [word[start : start + size] for start in range(0, len(word), size)]


def make_questions_from_links(
    texts: Mapping[str, str], names: Mapping[str, str]
) -> tuple[list[recall_sets.Query], list[tuple[str, str]]]:
    """Each line with a `[[link]]` should find its target; also returns broken links."""
    lookup = Lookup(texts, names)
    asked: dict[tuple[str, str], recall_sets.Query] = {}
    dangling: list[tuple[str, str]] = []
    for path, text in texts.items():
        for layer, line in markdown.markdown_layers(memory.read_header(text).body.split("\n")):
            if layer not in (markdown.TEXT, markdown.REST) or "[[" not in line:
                continue
            prompt = line.replace("[[", " ").replace("]]", " ")
            for pointer in parse_pointers(line, 1):
                target = lookup.find(pointer.target, WIKILINK)
                if pointer.form != WIKILINK or target == path:
                    continue
                if target is None:
                    dangling.append((path, pointer.target))
                else:
                    asked.setdefault((path, target), recall_sets.Query(path, prompt, "", (target,)))
    return list(asked.values()), dangling


def _sample(queries: list[recall_sets.Query]) -> list[recall_sets.Query]:
    if len(queries) <= MAX_QUERIES:
        return queries
    return random.Random(report.SEED).sample(queries, MAX_QUERIES)


def _show_recall(
    app: App,
    described: list[recall_sets.Query],
    linked: list[recall_sets.Query],
    dangling: int,
    say: report.Say,
) -> report.Section:
    searches = {"": app.search}
    asked = recall_sets.rank_eval_set(described, searches, recall_sets.DEPTH, say)
    # The memory that contains the link is no answer to its own question.
    around = [
        replace(item, ranking=tuple(path for path in item.ranking if path != item.query.id))
        for item in recall_sets.rank_eval_set(_sample(linked), searches, recall_sets.DEPTH, say)
    ]
    figures = (
        report.mean_figure("self-recall R@1", recall_sets.recall_figures(asked, 1)),
        report.mean_figure("self-recall R@5", recall_sets.recall_figures(asked, 5)),
        report.mean_figure("self-recall MRR", recall_sets.rank_figures(asked)),
        report.mean_figure("links that lead somewhere", [1.0] * len(linked) + [0.0] * dangling),
        report.mean_figure("linked memory found, R@5", recall_sets.recall_figures(around, 5)),
    )
    return report.Section("Is it found?", figures, remarks=(ABOUT_RECALL,))


def _show_speed(app: App, queries: list[recall_sets.Query]) -> report.Section:
    spent = []
    for query in queries:
        start = time.perf_counter()
        recall_sets.ask_evaluated_store(app, query)
        spent.append((time.perf_counter() - start) * 1000)
    return report.Section(
        "How fast, on this machine", tuple(report.time_figures("recall, ms", spent))
    )


def _show_load(app: App) -> report.Section:
    try:
        index = index_module.cut_index(memory.decode(app.store.index() or b"")).text
    except MemdirError:
        index = ""  # reported with the index
    standing = answer.recall_standing_rules([(recall_sets.SCOPE, app)])[0]
    sizes = [len(text) / TOKEN_CHARACTERS for text in (index, standing)]
    names = ("index, tokens", "standing rules, tokens", "per session, tokens")
    pairs = zip(names, [*sizes, sum(sizes)], strict=True)
    remark = f"Tokens are estimated as characters / {TOKEN_CHARACTERS}."
    figures = tuple(report.Figure(name, size, report.COUNT) for name, size in pairs)
    return report.Section("Carried by every session", figures, remarks=(remark,))


def _show_index(app: App) -> report.Section:
    try:
        survey = look.survey_index(app)
    except MemdirError as error:
        return report.Section("Index", remarks=(f"{error.message}. Next: {error.next}",))
    lines, characters = (
        report.Goal(limit, at_most=True) for limit in (memory.MAX_LINES, memory.MAX_CHARACTERS)
    )
    figures = (
        report.Figure("index lines", survey.lines, report.COUNT, goal=lines),
        report.Figure("index characters", survey.characters, report.COUNT, goal=characters),
        report.Figure("memories without a pointer", len(survey.orphans), report.COUNT),
        report.Figure("pointers without a file", len(survey.dangling), report.COUNT),
        report.Figure("repeated pointers", len(survey.duplicates), report.COUNT),
        report.Figure("overlong pointers", len(survey.overlong), report.COUNT),
        report.Figure("lines of content, not pointers", len(survey.inline), report.COUNT),
    )
    repair = survey.orphans or survey.dangling or survey.duplicates
    advice = ("Repair: memdir index --rebuild. Look: memdir index --check.",) if repair else ()
    return report.Section("Index", figures, remarks=advice)


def _show_state(
    app: App, listed: Sequence[Listed], texts: Mapping[str, str]
) -> tuple[report.Section, report.Section, report.Section]:
    pairs = len(find_similar_texts(texts))
    alike = report.Figure("near-duplicate pairs", pairs, report.COUNT, len(texts))
    checked = verify.verify_memories(app)
    verdicts = Counter(item.verdict for items in checked.memories.values() for item in items)
    asked = sum(verdicts[name] for name in VERDICTS)
    claims = (
        report.Figure(f"claims {name}", verdicts[name], report.COUNT, asked) for name in VERDICTS
    )
    actions = Counter(item.action for item in listed)
    stale = (
        report.Figure(f"to {name}", actions[name], report.COUNT, len(listed)) for name in ACTIONS
    )
    return (
        report.Section("Near-duplicates", (alike,), remarks=(SEE_AUDIT,) * bool(pairs)),
        report.Section("Claims", tuple(claims), remarks=(*checked.remarks, SEE_VERIFY)),
        report.Section("Staleness", tuple(stale), remarks=(SEE_LIST,)),
    )


def _show_hygiene(
    findings: Sequence[Finding], dangling: Sequence[tuple[str, str]]
) -> report.Section:
    rows = [(item.kind, item.path, item.message) for item in findings]
    links = dict.fromkeys(dangling)
    rows += [("dangling-link", path, f"[[{target}]] leads nowhere") for path, target in links]
    columns = (("kind", report.TEXT), ("memory", report.TEXT), ("finding", report.TEXT))
    table = report.Table("findings", columns, tuple(rows[:MAX_ROWS]))
    remarks = (f"Shown: {MAX_ROWS} of {len(rows):,}.",) if len(rows) > MAX_ROWS else ()
    return report.Section(
        "Hygiene", (report.Figure("findings", len(rows), report.COUNT),), (table,), remarks
    )

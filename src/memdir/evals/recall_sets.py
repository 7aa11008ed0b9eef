"""Public sets."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memdir.errors import BadInput, Missing
from memdir.evals import report
from memdir.evals.report import (
    COUNT,
    MS,
    SHARE,
    TEXT,
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
from memdir.hot import memory
from memdir.hot.layout import Markdown
from memdir.recall import answer
from memdir.recall.scan import Scan
from memdir.store.in_memory import InMemory
from memdir.store.ports import Search, Store
from memdir.store.writer import App

# An agent in a fresh session: what it is given at its start, and for a prompt.

SCOPE = "project"


@dataclass(frozen=True)
class Answer:
    """What is injected for one prompt: paths of bodies and pointers, and the very text."""

    bodies: tuple[str, ...]
    pointers: tuple[str, ...]
    text: str

    @property
    def silent(self) -> bool:
        """True where the prompt gets nothing."""
        return not self.text


@dataclass(frozen=True)
class Agent:
    """Asks through the product's own flow; each prompt is the first of its session."""

    app: App
    standing: str  # the rules it is given when the session starts
    standing_paths: tuple[str, ...]

    def ask(self, prompt: str) -> Answer:
        """What the agent would be told; no index is loaded, nothing was told before."""
        injected = answer.recall([(SCOPE, self.app)], prompt).injected
        return Answer(
            tuple(one.memory.path for one in injected.bodies),
            tuple(one.memory.path for one in injected.pointers),
            injected.text,
        )


def open_agent(app: App) -> Agent:
    """An agent on that store."""
    text, told = answer.standing([(SCOPE, app)])
    return Agent(app, text, tuple(memory.path for _, memory in told))


def on_store(app: App, store: Store) -> App:
    """The same wiring on a store of a test set; the search keeps what it read, and no catalog."""
    return replace(app, store=store, search=Scan(store))


# A test set: stores, and prompts with the memories of a store that belong to each.

MAX_BYTES = 512 * 1024 * 1024  # of one file of a test set


@dataclass(frozen=True)
class Query:
    """A prompt put to a store: `gold` should be seen, `ok` does no harm; paths below the store."""

    id: str
    prompt: str
    store: str
    gold: tuple[str, ...]
    ok: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptSet:
    """Stores by name, each with the repository (or dialogue) it belongs to, and the prompts."""

    name: str
    data: str
    stores: dict[str, Store]
    groups: dict[str, str]  # store -> repository
    queries: tuple[Query, ...]
    group: str = "repository"  # what a group is called
    left_out: tuple[str, ...] = ()  # what of the data was not used, and why

    @property
    def with_gold(self) -> list[Query]:
        """The prompts that some memory belongs to."""
        return [query for query in self.queries if query.gold]


def read_data(path: str, next: str) -> str:
    """The text of a data file; `next` says where to get it."""
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise BadInput(f"{path}: larger than {MAX_BYTES:,} bytes", path=path, next=next)
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise Missing(f"{path}: there is no such file", path=path, next=next) from None
    except UnicodeDecodeError as error:
        raise bad_data(path, 0, f"byte {error.start} is no UTF-8") from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: {cause}", path=path, next=next) from None


def bad_data(path: str, line: int, problem: str) -> BadInput:
    """What is wrong with a data file, and where."""
    place = f"{path}:{line}" if line else path
    next = "correct the file or get it again; docs/guides/evaluation.md has the format"
    return BadInput(f"{place}: {problem}", path=path, next=next)


def read_row(path: str, number: int, line: str, texts: Sequence[str] = ()) -> dict[str, Any]:
    """One line of a data file: an object in which these fields are texts."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise bad_data(path, number, f"not a JSON object: {error}") from None
    if not isinstance(given, dict):
        raise bad_data(path, number, "not a JSON object")
    for key in texts:
        if not isinstance(given.get(key), str) or not given[key].strip():
            raise bad_data(path, number, f"the field {key!r} is not a text")
    return given


# Put every prompt of a set to one search: what it ranked, and how long it took.

Open = Callable[[Store], Search]


@dataclass(frozen=True)
class Ranked:
    """One prompt: the paths that came back with a positive score, best first, and the time."""

    query: Query
    ranking: tuple[str, ...]
    milliseconds: float


def open_all(prompts: PromptSet, open: Open) -> dict[str, Search]:
    """A search for each store that has read it, so that only finding is timed."""
    searches = {name: open(store) for name, store in prompts.stores.items()}
    for search in searches.values():
        search.find("warm up", 1)
    return searches


def rank(
    queries: Iterable[Query], searches: Mapping[str, Search], limit: int, say: Say
) -> list[Ranked]:
    """Strict: what has no positive score was not returned."""
    found = []
    for number, query in enumerate(queries):
        if number and not number % 100:
            say(f"{number} prompts asked")
        start = time.perf_counter()
        hits = searches[query.store].find(query.prompt, limit).hits
        spent = (time.perf_counter() - start) * 1000
        paths = tuple(hit.memory.path for hit in hits if hit.score > 0)
        found.append(Ranked(query, paths[:limit], spent))
    return found


def recalls(ranked: Iterable[Ranked], k: int) -> list[float]:
    """The share of gold among the first `k`, prompt by prompt."""
    return [report.recall_at(k, one.ranking, one.query.gold) for one in ranked if one.query.gold]


def ranks(ranked: Iterable[Ranked]) -> list[float]:
    """1 over the rank of the first gold, prompt by prompt."""
    return [report.reciprocal_rank(one.ranking, one.query.gold) for one in ranked if one.query.gold]


def gains(ranked: Iterable[Ranked], k: int) -> list[float]:
    """nDCG, prompt by prompt."""
    return [report.ndcg_at(k, one.ranking, one.query.gold) for one in ranked if one.query.gold]


def times(ranked: Iterable[Ranked]) -> list[float]:
    """Milliseconds, prompt by prompt."""
    return [one.milliseconds for one in ranked]


def average(values: list[float]) -> float | None:
    """The plain mean; None of nothing."""
    return sum(values) / len(values) if values else None


# What an agent is really given: nothing where nothing fits, and the gold where it can see it.

FIRST = 5
SILENCE = Goal(0.5)
LOSS = Goal(0.02, at_most=True)
COVERAGE = Goal(0.96)
CHARACTERS = Goal(4_000, at_most=True)


@dataclass(frozen=True)
class Told:
    """One prompt put to one store, and what came of it."""

    query: Query
    store: str
    answer: Answer


def evaluate(prompts: PromptSet, ranked: Sequence[Ranked], app: App, say: Say) -> list[Section]:
    """ask each store its own prompts, then those of every other repository"""
    agents = {name: open_agent(on_store(app, store)) for name, store in prompts.stores.items()}
    own = [
        Told(query, query.store, agents[query.store].ask(query.prompt)) for query in prompts.queries
    ]
    others: list[Told] = []
    for name, agent in agents.items():
        say(f"prompts of other repositories put to {name}")
        others += [
            Told(query, name, agent.ask(query.prompt))
            for query in prompts.queries
            if prompts.groups[query.store] != prompts.groups[name]
        ]
    return [_abstention(ranked, own, others), _coverage(agents, own)]


def _abstention(ranked: Sequence[Ranked], own: list[Told], others: list[Told]) -> Section:
    silent = {told.query.id for told in own if told.answer.silent}
    before = recalls(ranked, FIRST)
    after = [
        0.0 if one.query.id in silent else report.recall_at(FIRST, one.ranking, one.query.gold)
        for one in ranked
        if one.query.gold
    ]
    loss = (average(before) or 0.0) - (average(after) or 0.0)
    should = [*others, *[told for told in own if not told.query.gold]]
    right = sum(told.answer.silent for told in should)
    said = right + sum(told.answer.silent for told in own if told.query.gold)
    without = [told for told in own if not told.query.gold]
    with_gold = [told for told in own if told.query.gold]
    figures = (
        of_mean("R@5 with abstention", report.mean(after)),
        Figure("loss of R@5", loss, SHARE, len(before), goal=LOSS),
        of_mean("silent on other stores", _silence(others), SILENCE),
        of_mean("no body on other stores", report.mean([not one.answer.bodies for one in others])),
        of_mean("silent where nothing is gold", _silence(without)),
        of_mean("silent although there is gold", _silence(with_gold)),
        Figure("precision of silence", report.precision(right, said), SHARE, said),
        Figure("recall of silence", report.precision(right, len(should)), SHARE, len(should)),
    )
    return Section(
        "Abstention on",
        figures,
        (_by_store(others),),
        remarks=(
            "Silent: neither a body nor a pointer is injected. Other stores: every prompt is put "
            "to the stores of all other repositories. Precision and recall of silence count "
            "these and the prompts without gold as wanted silence.",
        ),
    )


def _silence(told: Iterable[Told]) -> report.Mean | None:
    return report.mean([float(one.answer.silent) for one in told])


def _by_store(others: list[Told]) -> Table:
    parts: dict[str, list[float]] = {}
    for one in others:
        parts.setdefault(one.store, []).append(float(one.answer.silent))
    rows = tuple((name, len(part), average(part)) for name, part in parts.items())
    return Table(
        "prompts of other repositories, by the store that is asked",
        (("store", TEXT), ("n", COUNT), ("silent", SHARE)),
        rows,
    )


def _coverage(agents: dict[str, Agent], own: list[Told]) -> Section:
    """Each prompt in a fresh session of an agent that has no index loaded."""
    asked = [one for one in own if one.query.gold]
    seen: dict[str, list[float]] = {"coverage": [], "gold as body": [], "or as pointer": []}
    for one in asked:
        gold, answer = one.query.gold, one.answer
        bodies, pointers = answer.bodies, (*answer.bodies, *answer.pointers)
        everything = (*pointers, *agents[one.store].standing_paths)
        for name, paths in zip(seen, (everything, bodies, pointers), strict=True):
            seen[name].append(report.recall_at(len(paths), paths, gold))
    sizes = [float(len(one.answer.text)) for one in own]
    spoken = [size for size in sizes if size]
    standing = [float(len(agent.standing)) for agent in agents.values()]
    chosen = [path in (*one.query.gold, *one.query.ok) for one in own for path in one.answer.bodies]
    figures = (
        of_mean("coverage", report.mean(seen["coverage"]), COVERAGE),
        of_mean("gold as body", report.mean(seen["gold as body"])),
        of_mean("gold as body or pointer", report.mean(seen["or as pointer"])),
        Figure("bodies that are gold or ok", average([float(c) for c in chosen]), n=len(chosen)),
        Figure(
            "injected characters, median", report.median(sizes), COUNT, len(sizes), goal=CHARACTERS
        ),
        Figure("the same, silent ones left out", report.median(spoken), COUNT, len(spoken)),
        Figure("injected characters, p95", report.p95(sizes), COUNT, len(sizes)),
        Figure("standing characters, median", report.median(standing), COUNT, len(standing)),
        Figure("standing characters, most", max(standing, default=0.0), COUNT, len(standing)),
    )
    return Section(
        "Coverage: what an agent without a loaded index can see",
        figures,
        remarks=(
            "Coverage: gold that is shown as a body, a pointer or a standing rule; every prompt "
            "in a fresh session. Standing rules are injected once per session and not counted "
            "in the characters per prompt.",
        ),
    )


# The corpus: real memory directories, and `queries.jsonl` with one labelled prompt a line.

QUERIES = "queries.jsonl"
GET_IT = "name the directory that holds queries.jsonl with --data"
TEXTS = ("id", "repo", "root", "prompt")
LISTS = ("gold", "ok")


def read(data: str) -> PromptSet:
    """Every line must be right: a prompt that is dropped quietly would change the figures."""
    path = os.path.join(data, QUERIES)
    stores: dict[str, Store] = {}
    groups: dict[str, str] = {}
    files: dict[str, set[str]] = {}
    queries: dict[str, Query] = {}
    for number, line in enumerate(read_data(path, GET_IT).split("\n"), 1):
        if not line.strip():
            continue
        texts, lists = _fields(path, number, line)
        name = f"{texts['repo']}/{texts['root']}"
        if name not in stores:
            stores[name] = _open(path, number, data, texts["repo"], texts["root"])
            groups[name] = texts["repo"]
            files[name] = set(stores[name].files())
        for wanted in lists["gold"]:
            if wanted not in files[name]:
                raise bad_data(path, number, f"gold {wanted!r} is no memory of {name}")
        if texts["id"] in queries:
            raise bad_data(path, number, f"the id {texts['id']!r} was there before")
        gold, ok = tuple(lists["gold"]), tuple(lists["ok"])
        queries[texts["id"]] = Query(texts["id"], texts["prompt"], name, gold, ok)
    if not queries:
        raise bad_data(path, 0, "no prompt in it")
    return PromptSet("corpus", data, stores, groups, tuple(queries.values()))


def _fields(path: str, number: int, line: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The fields of one line, each of its kind."""
    given = read_row(path, number, line, TEXTS)
    lists = {key: given.get(key, []) for key in LISTS}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise bad_data(path, number, f"the field {key!r} is not a list of paths")
    return {key: given[key] for key in TEXTS}, lists


def _open(path: str, number: int, data: str, repo: str, root: str) -> Store:
    """The memory directory of a repository, below the data; nothing outside it is read."""
    parts = [repo.replace("/", "__"), *root.split("/")]
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise bad_data(path, number, f"{repo!r} with {root!r} is no directory below the data")
    folder = os.path.join(data, *parts)
    if not os.path.isdir(folder):
        raise bad_data(path, number, f"there is no directory {folder}")
    return Markdown(folder)


# LoCoMo: long dialogues; each turn is a memory, each question names the turns that answer it.

ADVERSARIAL = 5  # the category of questions whose answer is not in the dialogue
LOCOMO_GET_IT = "name LoCoMo's json file (locomo10.json of snap-research/locomo) with --data"
_SESSION = re.compile(r"session_\d+")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # `D8:6; D9:17` names two, `D:11:26` is a slip


def read_locomo(data: str) -> PromptSet:
    """Dialogues become stores in memory; questions without a turn as evidence are left out."""
    dialogues = read_json(data, LOCOMO_GET_IT)
    if not isinstance(dialogues, list) or not dialogues:
        raise bad_data(data, 0, "not a list of dialogues")
    stores: dict[str, Store] = {}
    queries: list[Query] = []
    adversarial = without = 0
    for at, dialogue in enumerate(dialogues):
        try:
            name = str(dialogue.get("sample_id", at))
            stores[name] = store = InMemory(name)
            for path, text in _turns(dialogue["conversation"]):
                store.put(path, memory.encode(text))
            known = set(store.files())
            for number, asked in enumerate(dialogue["qa"]):
                gold = tuple(path for path in _gold(asked.get("evidence", [])) if path in known)
                if asked["category"] == ADVERSARIAL:
                    adversarial += 1
                elif not gold:
                    without += 1
                else:
                    queries.append(Query(f"{name}:{number}", str(asked["question"]), name, gold))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise bad_data(data, 0, f"dialogue {at + 1} has not LoCoMo's form: {error}") from None
    if not queries:
        raise bad_data(data, 0, "no question with evidence in it")
    left_out = (
        f"{adversarial} adversarial questions (their answer is not in the dialogue)",
        f"{without} questions that name no turn of their dialogue as evidence",
    )
    groups = {name: name for name in stores}
    return PromptSet("locomo", data, stores, groups, tuple(queries), "dialogue", left_out)


def read_json(path: str, get_it: str) -> Any:
    """The content of a JSON file, or where it breaks off."""
    try:
        return json.loads(read_data(path, get_it))
    except json.JSONDecodeError as error:
        raise bad_data(path, error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise bad_data(path, 0, "not JSON that can be read: nested too deep") from None


def memory_text(name: str, body: str) -> str:
    """A turn as a memory."""
    return memory.write([("name", name), ("type", "project")], body)


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each turn of each session: its file, and who said what on which day."""
    for key, turns in conversation.items():
        if not _SESSION.fullmatch(key):
            continue
        day = conversation.get(f"{key}_date_time", "")
        for turn in turns:
            picture = turn.get("blip_caption", "")
            shown = f"\n(shows a picture: {picture})" if picture else ""
            body = f"{turn['speaker']}: {turn['text']}{shown}\n({day})\n"
            yield _path(*_EVIDENCE.findall(turn["dia_id"])[0]), memory_text(turn["dia_id"], body)


def _gold(evidence: list[str]) -> list[str]:
    found = [_path(*pair) for text in evidence for pair in _EVIDENCE.findall(text)]
    return list(dict.fromkeys(found))


def _path(session: str, turn: str) -> str:
    return f"d{int(session)}-{int(turn)}.md"


# LongMemEval: each question has its own sessions; each turn is a memory.
#
# The file is a list of objects with `question_id`, `question`, `haystack_sessions` (a list of
# sessions, each a list of turns with `role`, `content` and, on evidence, `has_answer`) and
# `haystack_dates`. Both the oracle file (evidence sessions only) and the longer ones are read.

UNANSWERABLE = "_abs"  # how the ids of questions without an answer end
LONGMEMEVAL_GET_IT = (
    "name LongMemEval's file (longmemeval_oracle.json) with --data; it is not part of memdir"
)


def read_longmemeval(data: str) -> PromptSet:
    """One store in memory per question; questions without an answer are left out."""
    asked = read_json(data, LONGMEMEVAL_GET_IT)
    if not isinstance(asked, list) or not asked:
        raise bad_data(data, 0, "not a list of questions")
    stores: dict[str, Store] = {}
    groups: dict[str, str] = {}
    queries: list[Query] = []
    left_out = 0
    for at, one in enumerate(asked):
        try:
            name = str(one["question_id"])
            store, gold = _store(name, one["haystack_sessions"], one.get("haystack_dates", []))
            if name.endswith(UNANSWERABLE) or not gold:
                left_out += 1
                continue
            stores[name], groups[name] = store, str(one.get("question_type", "all"))
            queries.append(Query(name, str(one["question"]), name, gold))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise bad_data(
                data, 0, f"question {at + 1} has not LongMemEval's form: {error}"
            ) from None
    if not queries:
        raise bad_data(data, 0, "no question with a turn that answers it")
    why = (f"{left_out} questions without an answer in their sessions",)
    return PromptSet("longmemeval", data, stores, groups, tuple(queries), "kind of question", why)


def _store(
    name: str, sessions: list[list[dict[str, object]]], days: list[str]
) -> tuple[Store, tuple[str, ...]]:
    """The turns of one question as memories, and those that answer it."""
    store, gold = InMemory(name), []
    for number, turns in enumerate(sessions):
        day = days[number] if number < len(days) else ""
        for at, turn in enumerate(turns):
            path = f"s{number}-{at}.md"
            body = f"{turn['role']}: {turn['content']}\n({day})\n"
            store.put(path, memory.encode(memory_text(f"{number}:{at}", body)))
            gold += [path] if turn.get("has_answer") else []
    return store, tuple(gold)


# Recall on a test set: the ranking alone, then what an agent would really be given.

READERS: dict[str, Callable[[str], PromptSet]] = {
    "corpus": read,
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
}
DEPTH = 20  # memories that a search gives back at most
CUTS = (1, 5, 10, 20)
SMALL = 20  # files; in larger stores a search has more to confuse
MANY = 500  # prompts; from there on differences can be told apart
OURS = "memdir"
# The goals of the specification of recall, by set and figure.
GOALS = {
    "corpus": {
        "R@5": Goal(0.848, aim=0.86),
        "MRR": Goal(0.787, aim=0.80),
        "R@20": Goal(0.95),
    },
    "locomo": {"R@10": Goal(0.62)},
}
FIXED = (
    "The constants of the ranking are fixed in the product; nothing is fitted in a run, so no "
    "repository has to be left out of it. But they were chosen, and the table of common words "
    "was made, on public memory directories, those of the corpus among them: these are figures "
    "on known data, on other stores they may be lower."
)
SMALL_N = "Differences below 0.05 cannot be told apart at this n; the intervals show why."


def evaluate_recall(
    prompts: PromptSet, depth: int, app: App, say: Say, others: Mapping[str, Open] | None = None
) -> Report:
    """rank → compare with other searches, if any → what is injected (where stores are real)"""
    depth = max(depth, 1)
    searches: dict[str, Open] = {OURS: Scan, **(others or {})}
    ranked: dict[str, list[Ranked]] = {}
    for name, open in searches.items():
        say(f"{prompts.name}: {name}")
        ranked[name] = rank(prompts.with_gold, open_all(prompts, open), depth, say)
    sections = [_ranking(prompts, ranked[OURS], depth)]
    sections += [_compared(ranked, depth)] if others else []
    if prompts.name == "corpus":
        sections += evaluate(prompts, ranked[OURS], app, say)
    files = sum(len(store.files()) for store in prompts.stores.values())
    summary = (
        f"{count(len(prompts.queries), 'prompt')}, {len(prompts.with_gold):,} with gold, put to "
        f"{count(len(prompts.stores), 'store')} with {count(files, 'memory', 'memories')}"
    )
    return Report(prompts.name, prompts.data, summary, tuple(sections))


def _ranking(prompts: PromptSet, ranked: list[Ranked], depth: int) -> Section:
    """The ranking alone: every prompt is answered."""
    goals = GOALS.get(prompts.name, {})
    cuts = sorted({*[cut for cut in CUTS if cut <= depth], depth})
    figures = [
        *[of_mean(f"R@{k}", report.mean(recalls(ranked, k)), goals.get(f"R@{k}")) for k in cuts],
        of_mean("MRR", report.mean(ranks(ranked)), goals.get("MRR")),
        of_mean("nDCG@10", report.mean(gains(ranked, 10))),
        Figure("ms per prompt, median", report.median(times(ranked)), MS, len(ranked)),
        Figure("ms per prompt, p95", report.p95(times(ranked)), MS, len(ranked)),
    ]
    groups: dict[str, list[Ranked]] = {}
    for one in ranked:
        groups.setdefault(prompts.groups[one.query.store], []).append(one)
    charts = (
        Chart(
            f"R@5 by {prompts.group}",
            tuple((name, _mean(recalls(part, 5))) for name, part in groups.items()),
        ),
    )
    left_out = tuple(f"Left out: {text}." for text in prompts.left_out)
    return Section(
        "Ranking, abstention off",
        tuple(figures),
        (_by_size(prompts, ranked), _table(f"by {prompts.group}", prompts.group, groups)),
        charts if 1 < len(groups) <= 20 else (),
        (*left_out, FIXED, SMALL_N) if len(ranked) < MANY else (*left_out, FIXED),
    )


def _by_size(prompts: PromptSet, ranked: list[Ranked]) -> Table:
    sizes = {name: len(store.files()) for name, store in prompts.stores.items()}
    parts = {
        f"≤ {SMALL} files": [one for one in ranked if sizes[one.query.store] <= SMALL],
        f"> {SMALL} files": [one for one in ranked if sizes[one.query.store] > SMALL],
    }
    return _table("by store size", "store", parts)


def _table(name: str, first: str, parts: dict[str, list[Ranked]]) -> Table:
    columns = ((first, TEXT), ("n", COUNT), ("R@1", SHARE), ("R@5", SHARE), ("R@20", SHARE))
    rows = [
        (
            label,
            len(part),
            *(average(recalls(part, k)) for k in (1, 5, 20)),
            average(ranks(part)),
        )
        for label, part in parts.items()
        if part
    ]
    return Table(name, (*columns, ("MRR", SHARE)), tuple(rows))


def _compared(ranked: dict[str, list[Ranked]], depth: int) -> Section:
    """Ours beside what anybody could write in an afternoon, in the same run."""
    columns = (
        *(("search", TEXT), ("n", COUNT), ("R@1", SHARE), ("R@5", SHARE), ("R@10", SHARE)),
        *(("R@20", SHARE), ("MRR", SHARE), ("nDCG@10", SHARE), ("ms", MS)),
    )
    rows = [
        (
            name,
            len(part),
            *(average(recalls(part, k)) if k <= depth else None for k in CUTS),
            average(ranks(part)),
            average(gains(part, 10)),
            report.median(times(part)),
        )
        for name, part in ranked.items()
    ]
    chart = Chart("R@5", tuple((name, _mean(recalls(part, 5))) for name, part in ranked.items()))
    return Section(
        "Against simple searches, in the same run",
        tables=(Table("searches", columns, tuple(rows)),),
        charts=(chart,),
        remarks=("ms: the median per prompt, in this process, the store read before.",),
    )


def _mean(values: list[float]) -> float:
    return average(values) or 0.0

"""Recall on public test sets: are the right memories on top?

A test set holds stores, and prompts labelled with the memories that they should find.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memdir import evals
from memdir.errors import BadInput, Missing
from memdir.evals import Report, mean_figure
from memdir.hot import memory
from memdir.hot.disk import Disk
from memdir.hot.layout import Markdown
from memdir.recall.scan import Scan
from memdir.store.ports import Search, Store
from memdir.text.terminal import plural

ADVERSARIAL = 5  # LoCoMo's category of questions whose answer is not in the dialogue
UNANSWERABLE = "_abs"  # suffix of ids of LongMemEval's questions without an answer
GET_CORPUS = "name the directory that holds queries.jsonl with --data"
GET_DIALOGUES = (
    "name the set's json file (locomo10.json, longmemeval_oracle.json) with --data; "
    "it is not part of memdir"
)
_SESSION = re.compile(r"session_\d+")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # `D8:6; D9:17` are two, `D:11:26` is a typo in the data
DEPTH = 20  # results per search
CUTS = (1, 5, 10, 20)
FIXED = (
    "The ranking is fixed in the product; nothing is fitted in a run. But it was tuned on public "
    "memory directories, those of the corpus among them: on other stores it may do worse."
)


@dataclass(frozen=True)
class Query:
    """A prompt for a store; `gold` are the paths that should be shown, `ok` others that may."""

    id: str
    prompt: str
    store: str
    gold: tuple[str, ...]
    ok: tuple[str, ...] = ()


@dataclass
class PromptSet:
    name: str
    data: str
    stores: dict[str, Store] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)  # store -> repository, in a corpus
    queries: list[Query] = field(default_factory=list)
    left_out: int = 0  # questions without an answer in the data


def read_evaluation_data(path: str, next: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise Missing(f"{path}: there is no such file", path=path, next=next) from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: {cause}", path=path, next=next) from None


def bad_eval_data(path: str, line: int, problem: str) -> BadInput:
    place = f"{path}:{line}" if line else path
    next = "correct the file or get it again; docs/guides/recall.md has the format"
    return BadInput(f"{place}: {problem}", path=path, next=next)


def read_evaluation_row(
    path: str, number: int, line: str, texts: Sequence[str] = ()
) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise bad_eval_data(path, number, f"not a JSON object: {error}") from None
    if not isinstance(given, dict):
        raise bad_eval_data(path, number, "not a JSON object")
    for key in texts:
        if not isinstance(given.get(key), str) or not given[key].strip():
            raise bad_eval_data(path, number, f"the field {key!r} is not a text")
    return given


def read_corpus_set(data: str) -> PromptSet:
    """Real memory directories, and `queries.jsonl` with one labelled prompt per line.

    A bad line is an error: skipping it would change the figures.
    """
    path = os.path.join(data, "queries.jsonl")
    result = PromptSet("corpus", data)
    ids = set()
    for number, line in enumerate(read_evaluation_data(path, GET_CORPUS).split("\n"), 1):
        if not line.strip():
            continue
        row = read_evaluation_row(path, number, line, ("id", "repo", "root", "prompt"))
        gold, ok = row.get("gold", []), row.get("ok", [])
        for key, paths in (("gold", gold), ("ok", ok)):
            if not isinstance(paths, list) or not all(isinstance(item, str) for item in paths):
                raise bad_eval_data(path, number, f"the field {key!r} is not a list of paths")
        name = f"{row['repo']}/{row['root']}"
        if name not in result.stores:
            # Never read outside the data directory.
            parts = [row["repo"].replace("/", "__"), *row["root"].split("/")]
            if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
                raise bad_eval_data(path, number, f"{name!r} is no directory below the data")
            folder = os.path.join(data, *parts)
            if not os.path.isdir(folder):
                raise bad_eval_data(path, number, f"there is no directory {folder}")
            result.stores[name], result.groups[name] = Markdown(folder), row["repo"]
        for item in gold:
            if item not in result.stores[name].files():
                raise bad_eval_data(path, number, f"gold {item!r} is no memory of {name}")
        if row["id"] in ids:
            raise bad_eval_data(path, number, f"the id {row['id']!r} was there before")
        ids.add(row["id"])
        result.queries.append(Query(row["id"], row["prompt"], name, tuple(gold), tuple(ok)))
    if not ids:
        raise bad_eval_data(path, 0, "no prompt in it")
    return result


# A dialogue as a store: name, turns by path, and questions (id, text, paths of the turns that
# answer it).
Dialogue = tuple[str, dict[str, str], list[tuple[str, str, list[str]]]]


def _read_locomo(row: Any, number: int) -> Dialogue:
    """A long dialogue; each question names the turns that answer it."""

    def paths(text: str) -> list[str]:
        return [f"d{int(session)}-{int(turn)}.md" for session, turn in _EVIDENCE.findall(text)]

    name, conversation = str(row.get("sample_id", number)), row["conversation"]
    turns, questions = {}, []
    for key in filter(_SESSION.fullmatch, conversation):
        for turn in conversation[key]:
            picture = turn.get("blip_caption", "")
            shown = f"\n(shows a picture: {picture})" if picture else ""
            text = f"{turn['speaker']}: {turn['text']}{shown}"
            day = conversation.get(f"{key}_date_time", "")
            turns[paths(turn["dia_id"])[0]] = f"{text}\n({day})\n"
    for i, asked in enumerate(row["qa"]):
        evidence = [path for text in asked.get("evidence", []) for path in paths(text)]
        gold = [] if asked["category"] == ADVERSARIAL else evidence
        questions.append((f"{name}:{i}", str(asked["question"]), gold))
    return name, turns, questions


def _read_longmemeval(row: Any, number: int) -> Dialogue:
    """A question with its own sessions, whose turns say whether they answer it."""
    name, days = str(row["question_id"]), row.get("haystack_dates", [])
    turns, gold = {}, []
    for i, session in enumerate(row["haystack_sessions"]):
        day = days[i] if i < len(days) else ""
        for j, turn in enumerate(session):
            turns[f"s{i}-{j}.md"] = f"{turn['role']}: {turn['content']}\n({day})\n"
            if turn.get("has_answer") and not name.endswith(UNANSWERABLE):
                gold.append(f"s{i}-{j}.md")
    return name, turns, [(name, str(row["question"]), gold)]


def _read_dialogues(set_name: str, read: Callable[[Any, int], Dialogue], path: str) -> PromptSet:
    result = PromptSet(set_name, path)
    scratch = tempfile.mkdtemp(prefix="memdir-eval-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    try:
        rows = json.loads(read_evaluation_data(path, GET_DIALOGUES))
    except (json.JSONDecodeError, RecursionError) as error:
        raise bad_eval_data(path, getattr(error, "lineno", 0), f"not JSON: {error}") from None
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], 1):
        try:
            name, turns, questions = read(row, number)
            store = Markdown(os.path.join(scratch, str(number)))
            store.make()
            for file, body in turns.items():
                text = memory.write_header([("name", file), ("type", "project")], body)
                Disk(store.root).put(file, memory.encode(text), durable=False)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            problem = f"item {number} has not the form of {set_name}: {error}"
            raise bad_eval_data(path, 0, problem) from None
        for id, question, evidence in questions:
            gold = tuple(file for file in dict.fromkeys(evidence) if file in turns)
            if gold:
                result.queries.append(Query(id, question, name, gold))
                result.stores[name] = store
            result.left_out += not gold
    if not result.queries:
        raise bad_eval_data(path, 0, "no question with a turn that answers it")
    return result


READERS: dict[str, Callable[[str], PromptSet]] = {
    "corpus": read_corpus_set,
    "locomo": partial(_read_dialogues, "locomo", _read_locomo),
    "longmemeval": partial(_read_dialogues, "longmemeval", _read_longmemeval),
}


@dataclass(frozen=True)
class Ranking:
    query: Query
    ranking: tuple[str, ...]
    milliseconds: float


def rank_eval_set(
    queries: Iterable[Query], searches: Mapping[str, Search], limit: int
) -> list[Ranking]:
    for search in searches.values():
        search.find("warm up", 1)  # reads the store, so that only the search is timed
    result = []
    for query in queries:
        start = time.perf_counter()
        hits = searches[query.store].find(query.prompt, limit).hits
        spent = (time.perf_counter() - start) * 1000
        paths = tuple(hit.memory.path for hit in hits if hit.score > 0)
        result.append(Ranking(query, paths[:limit], spent))
    return result


def recall_figures(ranked: Iterable[Ranking], k: int) -> list[float]:
    return [evals.recall_at(k, item.ranking, item.query.gold) for item in ranked]


def rank_figures(ranked: Iterable[Ranking]) -> list[float]:
    return [evals.reciprocal_rank(item.ranking, item.query.gold) for item in ranked]


def evaluate_recall(prompts: PromptSet, depth: int) -> Report:
    asked = [query for query in prompts.queries if query.gold]
    searches = {name: Scan(store) for name, store in prompts.stores.items()}
    ranked = rank_eval_set(asked, searches, depth)
    cuts = sorted({*[cut for cut in CUTS if cut <= depth], depth})
    gains = [evals.ndcg_at(10, item.ranking, item.query.gold) for item in ranked]
    figures = (
        *[mean_figure(f"R@{k}", recall_figures(ranked, k)) for k in cuts],
        mean_figure("MRR", rank_figures(ranked)),
        mean_figure("nDCG@10", gains),
        *evals.time_figures("ms per prompt", [item.milliseconds for item in ranked]),
    )
    files = sum(len(store.files()) for store in prompts.stores.values())
    summary = (
        f"{plural(len(prompts.queries), 'prompt')}, {len(asked):,} with gold, put to "
        f"{plural(len(prompts.stores), 'store')} with {plural(files, 'memory', 'memories')}"
    )
    left_out = f"Left out: {prompts.left_out:,} questions without an answer in the data."
    remarks = (left_out, FIXED) if prompts.left_out else (FIXED,)
    title = "Ranking, abstention off"
    return Report(prompts.name, prompts.data, summary, title, figures, remarks)

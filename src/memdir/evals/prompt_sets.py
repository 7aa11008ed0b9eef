"""Test sets of recall: stores, and prompts labelled with the memories that they should find."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memdir.errors import BadInput, Missing
from memdir.hot import memory
from memdir.hot.layout import Markdown
from memdir.store.in_memory import InMemory
from memdir.store.ports import Store

MAX_BYTES = 512 * 1024 * 1024  # per file of a test set
ADVERSARIAL = 5  # LoCoMo's category of questions whose answer is not in the dialogue
UNANSWERABLE = "_abs"  # suffix of ids of LongMemEval's questions without an answer
GET_CORPUS = "name the directory that holds queries.jsonl with --data"
GET_DIALOGUES = (
    "name the set's json file (locomo10.json, longmemeval_oracle.json) with --data; "
    "it is not part of memdir"
)
_SESSION = re.compile(r"session_\d+")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # `D8:6; D9:17` are two, `D:11:26` is a typo in the data


@dataclass(frozen=True)
class Query:
    """A prompt for a store: `gold` should be shown, `ok` may be; paths below the store."""

    id: str
    prompt: str
    store: str
    gold: tuple[str, ...]
    ok: tuple[str, ...] = ()


@dataclass
class PromptSet:
    name: str
    data: str
    group: str = "repository"  # name of a group
    stores: dict[str, Store] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)  # store -> repository
    queries: list[Query] = field(default_factory=list)
    left_out: int = 0  # questions without an answer in the data


def read_data(path: str, next: str) -> str:
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise BadInput(f"{path}: larger than {MAX_BYTES:,} bytes", path=path, next=next)
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise Missing(f"{path}: there is no such file", path=path, next=next) from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: {cause}", path=path, next=next) from None


def bad_data(path: str, line: int, problem: str) -> BadInput:
    place = f"{path}:{line}" if line else path
    next = "correct the file or get it again; docs/guides/evaluation.md has the format"
    return BadInput(f"{place}: {problem}", path=path, next=next)


def read_row(path: str, number: int, line: str, texts: Sequence[str] = ()) -> dict[str, Any]:
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


def read_corpus(data: str) -> PromptSet:
    """Real memory directories, and `queries.jsonl` with one labelled prompt per line.

    A bad line is an error: skipping it would change the figures.
    """
    path = os.path.join(data, "queries.jsonl")
    result = PromptSet("corpus", data)
    ids = set()
    for number, line in enumerate(read_data(path, GET_CORPUS).split("\n"), 1):
        if not line.strip():
            continue
        row = read_row(path, number, line, ("id", "repo", "root", "prompt"))
        gold, ok = row.get("gold", []), row.get("ok", [])
        for key, value in (("gold", gold), ("ok", ok)):
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise bad_data(path, number, f"the field {key!r} is not a list of paths")
        name = f"{row['repo']}/{row['root']}"
        if name not in result.stores:
            # Never read outside the data directory.
            parts = [row["repo"].replace("/", "__"), *row["root"].split("/")]
            if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
                raise bad_data(path, number, f"{name!r} is no directory below the data")
            folder = os.path.join(data, *parts)
            if not os.path.isdir(folder):
                raise bad_data(path, number, f"there is no directory {folder}")
            result.stores[name], result.groups[name] = Markdown(folder), row["repo"]
        for item in gold:
            if item not in result.stores[name].files():
                raise bad_data(path, number, f"gold {item!r} is no memory of {name}")
        if row["id"] in ids:
            raise bad_data(path, number, f"the id {row['id']!r} was there before")
        ids.add(row["id"])
        result.queries.append(Query(row["id"], row["prompt"], name, tuple(gold), tuple(ok)))
    if not ids:
        raise bad_data(path, 0, "no prompt in it")
    return result


# A dialogue as a store: name, group, turns by path, and questions (id, text, paths of the turns
# that answer it).
Dialogue = tuple[str, str, dict[str, str], list[tuple[str, str, list[str]]]]


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
    return name, name, turns, questions


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
    kind = str(row.get("question_type", "all"))
    return name, kind, turns, [(name, str(row["question"]), gold)]


def _read_dialogues(result: PromptSet, read: Callable[[Any, int], Dialogue]) -> PromptSet:
    path = result.data
    try:
        rows = json.loads(read_data(path, GET_DIALOGUES))
    except (json.JSONDecodeError, RecursionError) as error:
        raise bad_data(path, getattr(error, "lineno", 0), f"not JSON: {error}") from None
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], 1):
        try:
            name, group, turns, questions = read(row, number)
            store = InMemory(name)
            for file, body in turns.items():
                fields = [("name", file), ("type", "project")]
                store.put(file, memory.encode(memory.write(fields, body)))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            problem = f"item {number} has not the form of {result.name}: {error}"
            raise bad_data(path, 0, problem) from None
        for id, question, evidence in questions:
            gold = tuple(file for file in dict.fromkeys(evidence) if file in turns)
            if gold:
                result.queries.append(Query(id, question, name, gold))
                result.stores[name], result.groups[name] = store, group
            result.left_out += not gold
    if not result.queries:
        raise bad_data(path, 0, "no question with a turn that answers it")
    return result


def read_locomo(data: str) -> PromptSet:
    return _read_dialogues(PromptSet("locomo", data, "dialogue"), _read_locomo)


def read_longmemeval(data: str) -> PromptSet:
    return _read_dialogues(PromptSet("longmemeval", data, "kind of question"), _read_longmemeval)


READERS = {"corpus": read_corpus, "locomo": read_locomo, "longmemeval": read_longmemeval}

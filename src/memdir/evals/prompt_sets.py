"""Test sets of recall: stores, and prompts with the memories of a store that belong to each."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memdir.errors import BadInput, Missing
from memdir.hot import memory
from memdir.hot.layout import Markdown
from memdir.store.in_memory import InMemory
from memdir.store.ports import Store

MAX_BYTES = 512 * 1024 * 1024  # of one file of a test set
ADVERSARIAL = 5  # LoCoMo's category of questions whose answer is not in the dialogue
UNANSWERABLE = "_abs"  # how the ids of LongMemEval's questions without an answer end
GET_CORPUS = "name the directory that holds queries.jsonl with --data"
GET_LOCOMO = "name LoCoMo's json file (locomo10.json of snap-research/locomo) with --data"
GET_LONGMEMEVAL = (
    "name LongMemEval's file (longmemeval_oracle.json) with --data; it is not part of memdir"
)
_SESSION = re.compile(r"session_\d+")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # `D8:6; D9:17` names two, `D:11:26` is a slip


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


def read_corpus(data: str) -> PromptSet:
    """Real memory directories, and `queries.jsonl` with one labelled prompt a line.

    Every line must be right: a prompt that is dropped quietly would change the figures.
    """
    path = os.path.join(data, "queries.jsonl")
    stores: dict[str, Store] = {}
    groups: dict[str, str] = {}
    queries: dict[str, Query] = {}
    for number, line in enumerate(read_data(path, GET_CORPUS).split("\n"), 1):
        if not line.strip():
            continue
        row = read_row(path, number, line, ("id", "repo", "root", "prompt"))
        gold, ok = row.get("gold", []), row.get("ok", [])
        for key, value in (("gold", gold), ("ok", ok)):
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise bad_data(path, number, f"the field {key!r} is not a list of paths")
        name = f"{row['repo']}/{row['root']}"
        if name not in stores:
            stores[name] = _open_store(path, number, data, row["repo"], row["root"])
            groups[name] = row["repo"]
        for item in gold:
            if item not in stores[name].files():
                raise bad_data(path, number, f"gold {item!r} is no memory of {name}")
        if row["id"] in queries:
            raise bad_data(path, number, f"the id {row['id']!r} was there before")
        queries[row["id"]] = Query(row["id"], row["prompt"], name, tuple(gold), tuple(ok))
    if not queries:
        raise bad_data(path, 0, "no prompt in it")
    return PromptSet("corpus", data, stores, groups, tuple(queries.values()))


def _open_store(path: str, number: int, data: str, repo: str, root: str) -> Store:
    """The memory directory of a repository, below the data; nothing outside it is read."""
    parts = [repo.replace("/", "__"), *root.split("/")]
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise bad_data(path, number, f"{repo!r} with {root!r} is no directory below the data")
    folder = os.path.join(data, *parts)
    if not os.path.isdir(folder):
        raise bad_data(path, number, f"there is no directory {folder}")
    return Markdown(folder)


def read_locomo(data: str) -> PromptSet:
    """Long dialogues; each turn is a memory, each question names the turns that answer it."""
    stores: dict[str, Store] = {}
    queries: list[Query] = []
    adversarial = without = 0
    for i, dialogue in _read_list(data, GET_LOCOMO, "dialogue"):
        try:
            name = str(dialogue.get("sample_id", i))
            stores[name] = store = InMemory(name)
            for id, body in _read_turns(dialogue["conversation"]):
                _put_turn(store, _turn_paths(id)[0], id, body)
            known = set(store.files())
            for number, asked in enumerate(dialogue["qa"]):
                evidence = [
                    path for text in asked.get("evidence", []) for path in _turn_paths(text)
                ]
                gold = tuple(path for path in dict.fromkeys(evidence) if path in known)
                if asked["category"] == ADVERSARIAL:
                    adversarial += 1
                elif not gold:
                    without += 1
                else:
                    queries.append(Query(f"{name}:{number}", str(asked["question"]), name, gold))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise bad_data(data, 0, f"dialogue {i + 1} has not LoCoMo's form: {error}") from None
    if not queries:
        raise bad_data(data, 0, "no question with evidence in it")
    left_out = (
        f"{adversarial} adversarial questions (their answer is not in the dialogue)",
        f"{without} questions that name no turn of their dialogue as evidence",
    )
    groups = {name: name for name in stores}
    return PromptSet("locomo", data, stores, groups, tuple(queries), "dialogue", left_out)


def _read_turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each turn of each session: its id, and who said what on which day."""
    for key, turns in conversation.items():
        day = conversation.get(f"{key}_date_time", "")
        for turn in turns if _SESSION.fullmatch(key) else ():
            picture = turn.get("blip_caption", "")
            shown = f"\n(shows a picture: {picture})" if picture else ""
            yield turn["dia_id"], f"{turn['speaker']}: {turn['text']}{shown}\n({day})\n"


def _turn_paths(text: str) -> list[str]:
    return [f"d{int(session)}-{int(turn)}.md" for session, turn in _EVIDENCE.findall(text)]


def _put_turn(store: Store, path: str, name: str, body: str) -> None:
    fields = [("name", name), ("type", "project")]
    store.put(path, memory.encode(memory.write(fields, body)))


def _read_list(path: str, get_it: str, item: str) -> Iterator[tuple[int, Any]]:
    try:
        data = json.loads(read_data(path, get_it))
    except json.JSONDecodeError as error:
        raise bad_data(path, error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise bad_data(path, 0, "not JSON that can be read: nested too deep") from None
    if not isinstance(data, list) or not data:
        raise bad_data(path, 0, f"not a list of {item}s")
    return enumerate(data)


def read_longmemeval(data: str) -> PromptSet:
    """Each question has sessions of its own, one store; each turn is a memory.

    A row has `question_id`, `question`, `haystack_sessions` (lists of turns with `role`, `content`
    and, on evidence, `has_answer`) and `haystack_dates`. The oracle file and the longer ones fit.
    """
    stores: dict[str, Store] = {}
    groups: dict[str, str] = {}
    queries: list[Query] = []
    left_out = 0
    for i, row in _read_list(data, GET_LONGMEMEVAL, "question"):
        try:
            name = str(row["question_id"])
            days, gold = row.get("haystack_dates", []), []
            store = InMemory(name)
            for number, turns in enumerate(row["haystack_sessions"]):
                day = days[number] if number < len(days) else ""
                for at, turn in enumerate(turns):
                    body = f"{turn['role']}: {turn['content']}\n({day})\n"
                    _put_turn(store, f"s{number}-{at}.md", f"{number}:{at}", body)
                    gold += [f"s{number}-{at}.md"] if turn.get("has_answer") else []
            if name.endswith(UNANSWERABLE) or not gold:
                left_out += 1
                continue
            stores[name], groups[name] = store, str(row.get("question_type", "all"))
            queries.append(Query(name, str(row["question"]), name, tuple(gold)))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            problem = f"question {i + 1} has not LongMemEval's form: {error}"
            raise bad_data(data, 0, problem) from None
    if not queries:
        raise bad_data(data, 0, "no question with a turn that answers it")
    why = (f"{left_out} questions without an answer in their sessions",)
    return PromptSet("longmemeval", data, stores, groups, tuple(queries), "kind of question", why)


READERS: dict[str, Callable[[str], PromptSet]] = {
    "corpus": read_corpus,
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
}

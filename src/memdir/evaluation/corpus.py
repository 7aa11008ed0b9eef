"""The corpus: real memory directories, and `queries.jsonl` with one labelled prompt a line."""

from __future__ import annotations

import os

from memdir.adapters.layouts.markdown import Markdown
from memdir.core.ports import Store
from memdir.evaluation.sets import PromptSet, Query, bad_data, read_data, read_row

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

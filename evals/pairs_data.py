"""Labelled pairs of memories, and single memories that disagree with themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from memdir.errors import MemdirError
from memdir.evals.recall_sets import bad_eval_data, read_evaluation_data, read_evaluation_row
from memdir.hot import memory as memory_module
from memdir.hot.layout import Markdown

PAIRS, ALONE = "pairs.jsonl", "inconsistencies.jsonl"
GET_IT = "name the directory that holds pairs.jsonl with --data"
SAME = ("duplicate", "subsumed")  # what should be found
FAIR = ("overlap",)  # either verdict is fair: counted apart
OPPOSED = ("contradiction", "superseded")
RELATIONS = (*SAME, *FAIR, *OPPOSED, "distinct")
Stores = dict[str, tuple[dict[str, str], str]]  # folder -> memories by path, index


@dataclass(frozen=True)
class File:
    """A labelled file: its repository, its path there, and its text."""

    repo: str
    path: str
    text: str


@dataclass(frozen=True)
class Pair:
    """Two memories and what they are to each other."""

    id: str
    relation: str
    first: File
    second: File

    @property
    def repos(self) -> frozenset[str]:
        """One, or two."""
        return frozenset((self.first.repo, self.second.repo))


@dataclass(frozen=True)
class Single:
    """A memory that disagrees with its description, its index line or itself."""

    kind: str
    file: File


def read_pairs(data: str) -> list[Pair]:
    """Every line must be right: a pair that is dropped quietly would change the figures."""
    path = os.path.join(data, PAIRS)
    found: dict[str, Pair] = {}
    for number, given in _lines(path):
        name, relation = given.get("id"), given.get("relation")
        if not isinstance(name, str) or name in found:
            raise bad_eval_data(path, number, "the field 'id' is no text of its own")
        if relation not in RELATIONS:
            raise bad_eval_data(path, number, f"the relation {relation!r} is none of {RELATIONS}")
        first, second = (_file(data, path, number, given.get(key)) for key in ("a", "b"))
        found[name] = Pair(name, str(relation), first, second)
    if not found:
        raise bad_eval_data(path, 0, "no pair in it")
    return list(found.values())


def read_singles(data: str) -> list[Single]:
    """None where the file is missing: it is extra."""
    path = os.path.join(data, ALONE)
    if not os.path.exists(path):
        return []
    return [
        Single(str(given.get("kind", "")), _file(data, path, number, given))
        for number, given in _lines(path)
    ]


def read_stores(data: str, files: list[File]) -> Stores:
    """The directories that these files lie in: each with its memories, and its index."""
    folders = {f"{file.repo.replace('/', '__')}/{os.path.dirname(file.path)}" for file in files}
    found = {}
    for folder in sorted(folders):
        store = Markdown(os.path.join(data, folder))
        texts = {}
        for memory in store.scan().memories:
            try:
                texts[memory.path] = memory_module.decode(store.read(memory.path))
            except MemdirError:
                continue  # one that cannot be read is compared with nothing
        found[folder] = texts, memory_module.decode(store.index() or b"")
    return found


def _lines(path: str) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(read_evaluation_data(path, GET_IT).split("\n"), 1):
        if not line.strip():
            continue
        yield number, read_evaluation_row(path, number, line)


def _file(data: str, labels: str, number: int, given: object) -> File:
    """A file below its repository's folder; nothing outside the data is read."""
    repo, path = (given.get("repo"), given.get("file")) if isinstance(given, dict) else (None, None)
    if not isinstance(repo, str) or not isinstance(path, str):
        raise bad_eval_data(labels, number, "a memory needs the texts 'repo' and 'file'")
    parts = [repo.replace("/", "__"), *path.split("/")]
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise bad_eval_data(labels, number, f"{repo!r} with {path!r} is no file below the data")
    place = os.path.join(data, *parts)
    try:
        with open(place, "rb") as file:
            return File(repo, path, memory_module.decode(file.read()))
    except OSError as error:
        raise bad_eval_data(labels, number, f"{place}: {error.strerror}") from None

"""Labelled claims: `claims.jsonl`, and of each repository its memories and lists of its content."""

from __future__ import annotations

import os
from dataclasses import dataclass

from evals.listing import open_repo
from memdir.claims.repo import Repo
from memdir.evals.recall_sets import bad_eval_data, read_evaluation_data, read_evaluation_row

CLAIMS = "claims.jsonl"
GET_IT = "name the directory that holds claims.jsonl with --data"
TEXTS = ("id", "repo", "file", "text", "status", "sample")
STATUSES = ("exists", "missing", "not-a-claim")


@dataclass(frozen=True)
class Label:
    """A span of a memory and what is true of it; `file` is a path below the repository."""

    id: str
    repo: str
    file: str
    line: int
    text: str
    status: str
    why: str
    sample: str


@dataclass(frozen=True)
class Labelled:
    """One repository with the memories that have labels."""

    name: str
    repo: Repo
    texts: tuple[tuple[str, str], ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class ClaimSet:
    """All repositories of a test set."""

    data: str
    repositories: tuple[Labelled, ...]


def read(data: str) -> ClaimSet:
    """Every line must be right: a label that is dropped quietly would change the figures."""
    path = os.path.join(data, CLAIMS)
    by_repo: dict[str, list[Label]] = {}
    texts: dict[str, dict[str, str]] = {}
    ids: set[str] = set()
    for number, line in enumerate(read_evaluation_data(path, GET_IT).split("\n"), 1):
        if not line.strip():
            continue
        label = _label(path, number, line)
        if label.id in ids:
            raise bad_eval_data(path, number, f"the id {label.id!r} was there before")
        ids.add(label.id)
        known = texts.setdefault(label.repo, {})
        if label.file not in known:
            known[label.file] = _text(path, number, data, label)
        by_repo.setdefault(label.repo, []).append(label)
    if not ids:
        raise bad_eval_data(path, 0, "no label in it")
    return ClaimSet(
        data,
        tuple(
            Labelled(
                repo,
                open_repo(os.path.join(data, repo.replace("/", "__")), ""),
                tuple(texts[repo].items()),
                tuple(labels),
            )
            for repo, labels in by_repo.items()
        ),
    )


def _label(path: str, number: int, line: str) -> Label:
    given = read_evaluation_row(path, number, line, TEXTS)
    if given["status"] not in STATUSES:
        raise bad_eval_data(path, number, f"the status is none of {', '.join(STATUSES)}")
    if type(given.get("line")) is not int:
        raise bad_eval_data(path, number, "the field 'line' is not a number")
    texts = {key: given[key] for key in TEXTS}
    return Label(**texts, line=given["line"], why=str(given.get("why", "")))


def _text(path: str, number: int, data: str, label: Label) -> str:
    """The memory that a label speaks of; nothing outside the data is read."""
    parts = [label.repo.replace("/", "__"), *label.file.split("/")]
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        raise bad_eval_data(
            path, number, f"{label.file!r} of {label.repo!r} is no file below the data"
        )
    file = os.path.join(data, *parts)
    if not os.path.isfile(file):
        raise bad_eval_data(path, number, f"there is no file {file}")
    return read_evaluation_data(file, GET_IT)

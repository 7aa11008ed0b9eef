"""A test set: stores, and prompts with the memories of a store that belong to each."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memdir.core.errors import BadInput, Missing
from memdir.core.ports import Store

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

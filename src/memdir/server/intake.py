"""What may come in: one push as JSON, with the rules for names and secrets that every store has."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn

from memdir.format.names import MAX_PATH_BYTES, fold_paths, why_not_portable
from memdir.hot.safe import inert_line
from memdir.text.secrets import find_secrets

MAX_MEMORY_BYTES = 250_000
MAX_PUSH_BYTES = 1_000_000
MAX_ITEMS = 10_000
MAX_NAME = 80  # characters of the name that a client gives to its push
ENDINGS = (".md", ".json")
MAX_VERSION = 2**62


class Refused(Exception):
    """An answer that is not what was asked for: a status, what is wrong, and what to do."""

    def __init__(self, status: int, message: str, next: str = "", **facts: object) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.next = next
        self.facts = facts


def parse_server_json(data: bytes) -> dict[str, Any]:
    try:
        given = json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON in UTF-8", "send one JSON object") from None
    if not isinstance(given, dict):
        raise Refused(422, "the body is not a JSON object", 'send {"items": [...]}')
    return given


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def read_space_push(data: bytes) -> tuple[str, str]:
    """The items as JSON for the database, and the name of the push; nothing else passes."""
    given = parse_server_json(data)
    items = given.get("items")
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_ITEMS:
        raise Refused(422, f"items is not a list of 1 to {MAX_ITEMS:,}", "see /v1/openapi.json")
    checked = [_read_item(item) for item in items]
    bodies = [item["path"] for item in checked if item["body"] is not None]
    paths = {item["path"] for item in checked}
    if len(paths) < len(checked):
        raise Refused(422, "a path occurs twice in one push", "send it once, as it is to stand")
    standing = fold_paths(bodies)
    for path in bodies:
        if reason := why_not_portable(path, standing):
            raise Refused(422, f"{inert_line(path, 80)}: {reason}", "rename it and push again")
    named = given.get("id", "")
    if not isinstance(named, str) or not named.isascii() or len(named) > MAX_NAME or "\0" in named:
        raise Refused(422, f"id is not a text of up to {MAX_NAME} ASCII characters", "shorten it")
    return json.dumps(checked, ensure_ascii=False), named


def _read_item(item: object) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise Refused(422, "an item is not an object", "see /v1/openapi.json")
    path, version, body = item.get("path"), item.get("version"), item.get("body")
    path = check_server_path(path)
    if type(version) is not int or not 0 <= version <= MAX_VERSION:
        message = f"{path}: version is not the number that the feed gave, or 0 for a new memory"
        raise Refused(422, message, "fetch the changes, merge, and push again")
    if body is None and "body" in item:
        return {"path": path, "version": version, "hash": "", "body": None}
    if not isinstance(body, str):
        message = f"{path}: body is neither a text nor null"
        raise Refused(422, message, "null removes the memory")
    return {"path": path, "version": version, "hash": _check_body(path, body), "body": body}


def check_server_path(path: object) -> str:
    if not isinstance(path, str) or not path or not is_text(path):
        raise Refused(422, "an item has no path", "give the file's path below the store")
    wrong = ""
    if len(path.encode()) > MAX_PATH_BYTES:
        wrong = f"a path has at most {MAX_PATH_BYTES} bytes"
    elif any(part[:1] in ("", ".") for part in path.split("/")) or not path.endswith(ENDINGS):
        wrong = f"not a path of a memory ({' or '.join(ENDINGS)}, nothing hidden)"
    elif any(part.lower().endswith(ENDINGS) for part in path.split("/")[:-1]):
        wrong = "a folder is named like a memory, which may stand in its place"
    if wrong:
        raise Refused(422, f"{inert_line(path, 80)}: {wrong}", "rename it")
    for secret in find_secrets(path):
        message = f"a path looks like a secret ({secret.rule})"
        raise Refused(422, message, "rename it", rule=secret.rule)
    return path


def _check_body(path: str, body: str) -> str:
    """Its hash; refuses what is too large, no text for the database, or holds a secret."""
    if not is_text(body):
        message = f"{path}: holds a NUL or half of a surrogate pair, which is no text"
        raise Refused(422, message, "remove that character")
    data = body.encode()
    if len(data) > MAX_MEMORY_BYTES:
        message = f"{path}: {len(data):,} bytes; a memory has at most {MAX_MEMORY_BYTES:,}"
        raise Refused(413, message, "split it", limit=MAX_MEMORY_BYTES)
    for secret in find_secrets(body):
        message = f"{path}:{secret.line}: holds a secret ({secret.rule})"
        hint = "remove it there, change the secret where it is used, and push again"
        raise Refused(422, message, hint, rule=secret.rule, line=secret.line)
    return hashlib.sha256(data).hexdigest()


def is_text(text: str) -> bool:
    """The database keeps no NUL, and half of a surrogate pair is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text

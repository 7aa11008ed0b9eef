"""Our own options: config.toml, overridden by MEMDIR_<NAME>; adding one is adding one line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

from memdir.config.files import broken, read_text
from memdir.core.finding import Finding
from memdir.core.scope import is_false, is_true

T = TypeVar("T")

# Every number up to here is exact as a float, too.
LARGEST_NUMBER = 2**53


def _option(key: str, default: T, least: float = 0) -> T:
    return field(default=default, metadata={"key": key, "least": least})


@dataclass(frozen=True)
class Options:
    """What config.toml (`key` as in its tables) and `MEMDIR_<NAME>` can change."""

    layout: str = _option("store.layout", "markdown")
    index: bool = _option("store.index", True)
    max_file_bytes: int = _option("store.max_file_bytes", 4 * 1024 * 1024, least=1)
    max_body_bytes: int = _option("store.max_body_bytes", 64 * 1024, least=1)
    trash_days: int = _option("store.trash_days", 30)
    history: bool = _option("history.enabled", True)
    lock_seconds: float = _option("lock.seconds", 30.0)
    lock_notice_seconds: float = _option("lock.notice_seconds", 2.0)
    search: str = _option("recall.search", "fts")
    hooks: bool = _option("hooks.enabled", True)
    private_urls: bool = _option("audit.private_urls", False)
    model: str = _option("model.name", "")
    model_base_url: str = _option("model.base_url", "")
    model_timeout: float = _option("model.timeout", 3.0)
    session_tokens: int = _option("budget.session_tokens", 20_000)
    day_tokens: int = _option("budget.day_tokens", 100_000)
    run_tokens: int = _option("budget.run_tokens", 8_000)
    capture: bool = _option("capture.enabled", True)
    capture_every: int = _option("capture.every", 1, least=1)
    capture_model: str = _option("capture.model", "")
    dream: bool = _option("dream.enabled", False)
    records_agent: bool = _option("records.agent", False)


def read_options(env: Mapping[str, str], path: str, findings: list[Finding]) -> Options:
    """The options of config.toml, then of the environment; a wrong one keeps its default."""
    known = {option.metadata["key"]: option for option in fields(Options)}
    wishes = [
        (known.get(key), key, value, path, line) for key, value, line in _toml(path, findings)
    ]
    for option in known.values():
        name = f"MEMDIR_{option.name.upper()}"
        if text := env.get(name, "").strip():
            wishes.append((option, name, _from_text(type(option.default), text), "environment", 0))
    chosen: dict[str, Any] = {}
    for wish, name, value, where, line in wishes:
        if wish is None:
            message = f"{name} is not a setting of memdir; it is ignored"
            fix = f"Known are: {', '.join(sorted(known))}"
            findings.append(Finding("unknown-setting", where, message, fix, line))
        elif (fitting := _fit(wish, value)) is None:
            message = f"{name} = {repr(value)[:80]} is ignored; {wish.default} applies"
            findings.append(Finding("bad-setting", where, message, _need(wish), line))
        else:
            chosen[wish.name] = fitting
    return Options(**chosen)


def _fit(option: Field[Any], value: Any) -> bool | int | float | str | None:
    """The value in the option's type; None when it does not fit."""
    kind: Any = type(option.default)
    if kind is bool:
        return value if type(value) is bool else None
    if kind is str:
        return value if type(value) is str and value.isprintable() else None
    if type(value) is not kind and (kind, type(value)) != (float, int):
        return None
    return kind(value) if option.metadata["least"] <= value <= LARGEST_NUMBER else None


def _need(option: Field[Any]) -> str:
    if type(option.default) is bool:
        return "Write true or false."
    if type(option.default) is str:
        return "Write a text in quotes, on one line."
    kind = "a whole number" if type(option.default) is int else "a number"
    return f"Write {kind} from {option.metadata['least']} on."


def _from_text(kind: type, text: str) -> object:
    """The value a variable's text stands for; the text itself when it stands for none."""
    if kind is bool:
        return True if is_true(text) else False if is_false(text) else text
    try:
        return kind(text)
    except ValueError:
        return text


def _toml(path: str, findings: list[Finding]) -> Iterator[tuple[str, object, int]]:
    """Each key of the file (`table.key`), its value and its line."""
    text = read_text(path, findings)
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        findings.append(broken(path, "is not TOML: it is nested too deeply"))
        return
    except (tomllib.TOMLDecodeError, ValueError) as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        findings.append(broken(path, f"is not TOML: {error}", line))
        return
    for name, table in tables.items():
        if isinstance(table, dict):
            for key, value in table.items():
                yield f"{name}.{key}", value, _line_of(text, name, key)
        else:
            yield name, table, _line_of(text, "", name)


def _line_of(text: str, table: str, key: str) -> int:
    """The line a key stands on; 0 when it is written in a way this simple search misses."""
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        left = line.partition("=")[0].strip()
        if left.startswith("["):
            here = left.partition("]")[0].strip("[ ")
        elif (here, left) == (table, key) or (here, left) == ("", f"{table}.{key}"):
            return number
    return 0

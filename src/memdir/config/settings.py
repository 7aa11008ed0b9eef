"""Settings: the client's JSON, our config.toml, the variables MEMDIR_*.

These files are untrusted: a bad value becomes a finding, never a failure.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

from memdir.config.scope import is_false, is_true
from memdir.errors import Finding
from memdir.hot.disk import read_start

# No client writes more; a larger file is a mistake or an attack.
MAX_SETTINGS_BYTES = 1024 * 1024
# Integers up to here are exact as floats.
MAX_NUMBER = 2**53
T = TypeVar("T")


def read_text(path: str, findings: list[Finding]) -> str:
    try:
        content, _ = read_start(path, MAX_SETTINGS_BYTES + 1)
        if len(content) > MAX_SETTINGS_BYTES:
            raise OSError(errno.EFBIG, f"larger than {MAX_SETTINGS_BYTES // 1024} KiB")
        return content.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        findings.append(broken(path, f"cannot be read: {error.strerror}"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        findings.append(broken(path, "is not UTF-8 text", line))
    return ""


def broken(path: str, problem: str, line: int = 0) -> Finding:
    fix = "Repair the file; it is left as it is, and the defaults apply until then."
    return Finding("broken-settings", path, f"{problem}; the file is ignored", fix, line)


def read_settings(path: str, findings: list[Finding]) -> dict[str, object]:
    text = read_text(path, findings)
    if not text.strip():
        return {}
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        findings.append(broken(path, problem, error.lineno))
    except (ValueError, RecursionError):
        findings.append(broken(path, "is not JSON: a number too long or a nesting too deep"))
    else:
        if isinstance(values, dict):
            return values
        findings.append(broken(path, "holds no JSON object"))
    return {}


def read_managed(path: str, findings: list[Finding]) -> dict[str, object]:
    folder = os.path.splitext(path)[0] + ".d"
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".json") and n[0] != ".")
    except OSError:
        names = []
    values = read_settings(path, findings)
    for name in names:
        values |= read_settings(os.path.join(folder, name), findings)
    return values


def _option(key: str, default: T, least: float = 0) -> T:
    return field(default=default, metadata={"key": key, "least": least})


@dataclass(frozen=True)
class Options:
    """Options of config.toml (`key` is table.name) and of `MEMDIR_<NAME>`."""

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
    known = {option.metadata["key"]: option for option in fields(Options)}
    wishes = [(known.get(key), key, value, path) for key, value in _toml(path, findings)]
    for option in known.values():
        name = f"MEMDIR_{option.name.upper()}"
        if text := env.get(name, "").strip():
            wishes.append((option, name, _from_text(type(option.default), text), "environment"))
    chosen: dict[str, Any] = {}
    for wish, name, value, where in wishes:
        if wish is None:
            message = f"{name} is not a setting of memdir; it is ignored"
            fix = f"Known are: {', '.join(sorted(known))}"
            findings.append(Finding("unknown-setting", where, message, fix))
        elif (fitting := _fit(wish, value)) is None:
            message = f"{name} = {repr(value)[:80]} is ignored; {wish.default} applies"
            findings.append(Finding("bad-setting", where, message, _need(wish)))
        else:
            chosen[wish.name] = fitting
    return Options(**chosen)


def _fit(option: Field[Any], value: Any) -> bool | int | float | str | None:
    kind: Any = type(option.default)
    if kind is bool:
        return value if type(value) is bool else None
    if kind is str:
        return value if type(value) is str and value.isprintable() else None
    if type(value) is not kind and (kind, type(value)) != (float, int):
        return None
    return kind(value) if option.metadata["least"] <= value <= MAX_NUMBER else None


def _need(option: Field[Any]) -> str:
    if type(option.default) is bool:
        return "Write true or false."
    if type(option.default) is str:
        return "Write a text in quotes, on one line."
    kind = "a whole number" if type(option.default) is int else "a number"
    return f"Write {kind} from {option.metadata['least']} on."


def _from_text(kind: type, text: str) -> object:
    if kind is bool:
        return True if is_true(text) else False if is_false(text) else text
    try:
        return kind(text)
    except ValueError:
        return text


def _toml(path: str, findings: list[Finding]) -> Iterator[tuple[str, object]]:
    text = read_text(path, findings)
    if not text:
        return
    import tomllib  # slow to import, and most people have no such file

    try:
        tables = tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        named = re.search(r"line (\d+)", str(error))
        findings.append(broken(path, f"is not TOML: {error}", int(named[1]) if named else 0))
        return
    for name, table in tables.items():
        if isinstance(table, dict):
            yield from ((f"{name}.{key}", value) for key, value in table.items())
        else:
            yield name, table

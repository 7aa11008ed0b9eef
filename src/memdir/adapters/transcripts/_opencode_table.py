"""The database of opencode, only looked at."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

from memdir.adapters.transcripts._jsonl import PLAIN, parsed
from memdir.core.errors import BadInput, Missing

BUSY_SECONDS = 1.0


class Row(NamedTuple):
    """A message and its parts, as they are stored."""

    id: str
    data: dict[str, Any]
    parts: list[dict[str, Any]]


class Table:
    """Sessions, messages and parts of one database."""

    def __init__(self, path: str) -> None:
        self.path = path

    def sessions(self, most: int) -> list[tuple[str, str, float, int]]:
        """Id, directory, time and number of messages of those that a person started."""
        if not os.path.lexists(self.path):
            return []
        counted = "(SELECT count(*) FROM message WHERE session_id = session.id)"
        with self._looked_at() as table:
            rows = table.execute(
                f"SELECT id, directory, time_updated, {counted} FROM session "
                "WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?",
                (most,),
            )
            return [
                (str(id), str(directory), _number(time) / 1000, int(_number(size)))
                for id, directory, time, size in rows
            ]

    def session(self, id: str) -> dict[str, Any]:
        """What is known of one session; an error where there is none."""
        with self._looked_at() as table:
            found = table.execute(
                "SELECT directory, parent_id FROM session WHERE id = ?", (id,)
            ).fetchone()
        if found is None:
            raise Missing(f"opencode has no session {id!r}", path=self.path, next="memdir doctor")
        return {"directory": found[0], "parentID": found[1]}

    def messages(self, session: str, since: str, most: int) -> tuple[list[Row], bool]:
        """The messages from one on, in their order; whether older ones are left out of them."""
        with self._looked_at() as table:
            known = table.execute(
                "SELECT time_created, id FROM message WHERE session_id = ? AND id = ?",
                (session, since),
            ).fetchone()
            found = table.execute(
                "SELECT id, CASE WHEN length(data) <= ? THEN data END FROM message "
                "WHERE session_id = ? AND (time_created, id) >= (?, ?) "
                "ORDER BY time_created DESC, id DESC LIMIT ?",
                (PLAIN, session, *(known or (-1, "")), most + 1),
            ).fetchall()
            rows = [
                Row(str(id), _record(data), self._parts(table, id, most))
                for id, data in reversed(found[:most])
            ]
        return rows, len(found) > most

    def _parts(self, table: sqlite3.Connection, id: Any, most: int) -> list[dict[str, Any]]:
        parts = table.execute(
            "SELECT CASE WHEN length(data) <= ? THEN data END FROM part "
            "WHERE message_id = ? ORDER BY id LIMIT ?",
            (PLAIN, id, most),
        )
        return [_record(data) for (data,) in parts]

    @contextmanager
    def _looked_at(self) -> Iterator[sqlite3.Connection]:
        """The database, read-only; whatever is wrong with it is told as a sentence."""
        try:
            if not stat.S_ISREG(os.lstat(self.path).st_mode):
                raise BadInput(f"{self.path} is not a regular file", path=self.path)
            address = f"file:{quote(self.path)}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as table:
                table.execute("PRAGMA query_only = ON")
                table.execute("PRAGMA trusted_schema = OFF")
                yield table
        except FileNotFoundError:
            what = f"{self.path} is not there"
            raise Missing(what, path=self.path, next="start opencode once") from None
        except (sqlite3.Error, OSError) as error:
            what = f"{self.path} cannot be read: {error}"
            raise BadInput(what, path=self.path, next="close opencode and try again") from None


def _record(data: object) -> dict[str, Any]:
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return parsed(text if isinstance(text, bytes) else None) or {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

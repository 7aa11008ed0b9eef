"""Records are committed with the code: a secret must not come in with one."""

from __future__ import annotations

from collections.abc import Iterator

from memdir.core.records import errors
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.core.secrets import find_secrets


def refuse_secrets(draft: Record, old: Record) -> None:
    """Refuse what looks like a secret, unless the record says it already."""
    known = set(_texts(old))
    for text in _texts(draft):
        for secret in find_secrets(text) if text not in known else ():
            raise RecordError(
                errors.SECURITY,
                f"the draft holds what looks like a secret ({secret.rule})",
                fix="name the place of the secret instead",
            )


def _texts(value: object) -> Iterator[str]:
    """Every text in it, each on its own: as JSON one may run into its neighbour."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one

"""Collect records: what lies at these paths, read; a broken one is a finding, hiding no other."""

from __future__ import annotations

from collections.abc import Iterable

from memdir.core.errors import MemdirError, Missing
from memdir.core.finding import Finding
from memdir.core.ports import Store
from memdir.core.records.fields import Record
from memdir.core.records.record import read_record

Collected = dict[str, Record]


def collect(store: Store, paths: Iterable[str]) -> tuple[Collected, list[Finding]]:
    """The records by their paths, in the order of the paths."""
    found, findings = Collected(), list[Finding]()
    for path in paths:
        try:
            found[path] = read_record(store.read(path), path)[0]
        except Missing:
            continue  # gone since the paths were listed
        except MemdirError as error:
            findings.append(Finding("broken-record", path, error.message, error.next))
    return found, findings

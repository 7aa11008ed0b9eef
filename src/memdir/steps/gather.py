"""Gather the bytes of many memories at once: for an export, or to load them all."""

from __future__ import annotations

from collections.abc import Iterable

from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.ports import Store

Files = list[tuple[str, bytes]]


def gather(store: Store, paths: Iterable[str] | None = None) -> tuple[Files, list[Finding]]:
    """These files, or all memories with their index; what cannot be read becomes a finding."""
    files, findings = Files(), list[Finding]()
    if paths is None:
        scan = store.scan()
        findings += scan.findings
        index = [store.index_path] if store.index() is not None else []
        paths = sorted({*[memory.path for memory in scan.memories], *index})
    for path in paths:
        try:
            files.append((path, store.read(path)))
        except MemdirError as error:
            findings.append(Finding("unreadable", path, error.message, error.next))
    return files, findings

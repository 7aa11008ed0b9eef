"""The files of records below a directory, read as they lie there. Light: agents wait for it."""

import os

from memdir.adapters.disk import READ, Disk, close_quietly, unreadable
from memdir.core.memory import RECORD_FOLDERS, RECORD_SETTINGS, is_of_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memdir.core.finding import Finding

    RecordFile = tuple[str, bytes, os.stat_result]  # path below the directory, bytes, facts
else:
    RecordFile = tuple


def record_files(
    disk: Disk, folders: "Collection[str]", most_bytes: int, findings: "list[Finding]"
) -> "Iterator[RecordFile]":
    """Every file of a record in these folders; what cannot be read is a finding."""

    def enter(path: str) -> bool:
        if is_of_records(path):
            findings.append(_special(path, "a directory"))
        return path in folders

    for folder, path, entry in disk.walk(enter, findings):
        if entry.is_file(follow_symlinks=False):
            if path != RECORD_SETTINGS and is_of_records(path):
                read = _read(folder, entry.name, path, most_bytes, findings)
                if read is not None:
                    yield path, *read
        elif is_of_records(path) or path in RECORD_FOLDERS:
            link = entry.is_symlink()
            findings.append(_special(path, "a symbolic link" if link else "a special file"))


def _read(
    folder: int, name: str, path: str, most_bytes: int, findings: "list[Finding]"
) -> tuple[bytes, os.stat_result] | None:
    handle = -1
    try:
        handle = os.open(name, READ, dir_fd=folder)
        facts = os.fstat(handle)
        if facts.st_size > most_bytes:
            findings.append(_too_big(path, facts.st_size, most_bytes))
            return None
        data = os.read(handle, facts.st_size + 1)
        while len(data) < facts.st_size and (more := os.read(handle, facts.st_size)):
            data += more
    except FileNotFoundError:
        return None  # renamed or gone since its folder was read
    except OSError as error:
        findings.append(unreadable(path, error))
        return None
    finally:
        close_quietly(handle)
    return data, facts


def _special(path: str, what: str) -> "Finding":
    from memdir.core.finding import Finding

    fix = "put the file itself there; memdir neither reads nor writes through it"
    return Finding("special-file", path, f"{path} is {what}; skipped", fix)


def _too_big(path: str, size: int, limit: int) -> "Finding":
    from memdir.core.finding import Finding

    message = f"{path} has {size:,} bytes (limit: {limit:,}); skipped"
    return Finding("too-big", path, message, "split it, or raise max_file_bytes in config.toml")

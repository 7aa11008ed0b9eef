"""Records for whoever only looks, at every prompt. Hot path, so the JSON is read elsewhere.

Where the catalog has to be made or brought up to date, the whole layout does it. What this one
reads the catalog has seen in this very version, so it need not be checked again.
"""

import os

from memdir.adapters.disk import failure
from memdir.adapters.layouts._files import OnDisk, fingerprint
from memdir.core.memory import RECORD_FOLDERS, RECORD_INDEX, RECORD_SETTINGS, is_of_records
from memdir.core.records import fields, rendering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memdir.adapters.layouts._files import Scan
    from memdir.adapters.layouts.records import Records


class LightRecords(OnDisk):
    """The six folders below a directory, as far as a search with a catalog asks for them."""

    layout = "records"

    def __init__(
        self, root: str, max_file_bytes: int, read_json: "Callable[[bytes], fields.Record]"
    ) -> None:
        super().__init__(root, max_file_bytes)
        self.read_json = read_json  # an object without a key where it is no JSON

    @property
    def index_path(self) -> str:
        """index.md, whatever else there is."""
        return RECORD_INDEX

    def is_memory(self, path: str) -> bool:
        """True for a path at which a record lies."""
        return path != RECORD_SETTINGS and is_of_records(path)

    def standalone(self) -> bytes | None:
        """An index of records is never a memory itself."""
        return None

    def tree(self) -> dict[str, tuple[int, ...]]:
        """The records, their index and settings, with the facts that change when they do."""
        found: dict[str, tuple[int, ...]] = {}
        for _, path, entry in self.disk.walk(RECORD_FOLDERS.__contains__, []):
            if path != RECORD_INDEX and not is_of_records(path):
                continue
            if entry.is_file(follow_symlinks=False):
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # gone since its folder was read
                except OSError as error:
                    where = os.path.join(self.root, path)
                    raise failure(error, where, "cannot be looked at") from None
                if facts.st_size <= self.max_file_bytes:
                    found[path] = fingerprint(facts)
        return found

    def view(self, path: str, data: bytes | None = None) -> bytes:
        """A record as a Markdown memory; one that was put away is gone."""
        from memdir.core.frontmatter import encode

        record = self.read_json(self.read(path) if data is None else data)
        known = record.get("category")
        if known not in fields.TYPES:
            record["category"] = fields.type_named(known) or fields.type_at(path)
        if not _is_sound(record) or (record.get("record_status") or fields.ACTIVE) != fields.ACTIVE:
            from memdir.core.errors import Missing

            raise Missing(f"{path} is no active record", path=path, next="memdir records status")
        return encode(rendering.view(record))

    def scan(self) -> "Scan":
        """Every active record as a memory."""
        return self._whole().scan()

    def files(self) -> list[str]:
        """The paths of all records but the retired and archived ones, sorted."""
        return self._whole().files()

    def index(self) -> bytes | None:
        """The index as Markdown pointers, None where there is none."""
        return self._whole().index()

    def sweep(self) -> None:
        """Remove temporary files that a killed writer left."""
        self._whole().sweep()

    def _whole(self) -> "Records":
        from memdir.adapters.layouts.records import Records

        return Records(self.root, self.max_file_bytes)


def _is_sound(record: "fields.Record") -> bool:
    """Has it what a record cannot do without?"""
    title = record.get("title")
    return (
        isinstance(title, str) and bool(title.strip()) and isinstance(record.get("content"), dict)
    )

"""Records for whoever only looks, at every prompt. Hot path, so the JSON is read elsewhere.

Where the catalog has to be made or brought up to date, the whole layout does it. What this one
reads the catalog has seen in this very version, so it need not be checked again.
"""

from memdir.hot.layout import RecordFolders
from memdir.records import fields, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memdir.hot.layout import Scan
    from memdir.records.folders import Records


class LightRecords(RecordFolders):
    """The records as far as a search with a catalog asks for them."""

    def __init__(
        self, root: str, max_file_bytes: int, read_json: "Callable[[bytes], fields.Record]"
    ) -> None:
        super().__init__(root, max_file_bytes)
        self.read_json = read_json  # an object without a key where it is no JSON

    def view(self, path: str, data: bytes | None = None) -> bytes:
        """A record as a Markdown memory; one that was put away is gone."""
        from memdir.hot.memory import encode

        record = self.read_json(self.read(path) if data is None else data)
        known = record.get("category")
        if known not in fields.TYPES:
            record["category"] = fields.type_named(known) or fields.type_at(path)
        if not _is_sound(record) or (record.get("record_status") or fields.ACTIVE) != fields.ACTIVE:
            from memdir.errors import Missing

            raise Missing(f"{path} is no active record", path=path, next="memdir records status")
        return encode(render.view(record))

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
        from memdir.records.folders import Records

        return Records(self.root, self.max_file_bytes)


def _is_sound(record: "fields.Record") -> bool:
    """Has it what a record cannot do without?"""
    title = record.get("title")
    return (
        isinstance(title, str) and bool(title.strip()) and isinstance(record.get("content"), dict)
    )

"""The default search: a catalog of words beside the store, brought up to date before each answer.

The catalog is derived. Where it is missing, damaged, locked, read-only or of another version the
answer comes from a scan and is the same; one finding says so. Hot path.
"""

import errno
import os
import stat

from memdir.adapters.searches import _entries, _freshness
from memdir.adapters.searches._catalog import Catalog, Damaged, open_catalog
from memdir.adapters.searches._sqlite import SqlError
from memdir.core import ranking
from memdir.core.hit import Found
from memdir.core.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.adapters.searches._scanning import Scan
    from memdir.core.finding import Finding
    from memdir.core.ports import Store

NAME = "catalog.sqlite"


class Fts:
    """Searches one store by its catalog in `folder`."""

    def __init__(self, store: "Store", folder: str) -> None:
        self.store = store
        self.path = os.path.join(folder, NAME)
        self.findings: list[Finding] = []

    def find(self, prompt: str, limit: int) -> Found:
        """The memories that fit, best first."""
        self.findings = []
        try:
            found = self._ask(prompt, limit)
            if found is None and self._update():
                found = self._ask(prompt, limit, again=True)
        except (Damaged, SqlError, OSError, ArithmeticError, ValueError) as error:
            return self._anew(prompt, limit, error)
        if found is not None:
            return found
        found = self._scan().find(prompt, limit)
        return Found(found.hits, found.searched, found.findings + self.findings)

    def _ask(self, prompt: str, limit: int, *, again: bool = False) -> Found | None:
        """The answer of the catalog; None where the store has changed since it was written."""
        try:
            facts = os.lstat(self.path)
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "there was none", self.path) from None
        if not stat.S_ISREG(facts.st_mode) or not self._journal_is_sound():
            raise Damaged("it is no file")  # to open a pipe would wait for ever
        catalog = open_catalog(self.path)
        try:
            large = int(catalog.fact("count") or 0) > _freshness.SMALL
            fresh = _freshness.unchanged if large else _freshness.is_fresh
            if not again and not fresh(self.store, catalog):
                return None
            return self._rank(catalog, prompt, limit, large and not again)
        finally:
            catalog.close()

    def _journal_is_sound(self) -> bool:
        """True where SQLite would find no journal, or a file."""
        try:
            return stat.S_ISREG(os.lstat(f"{self.path}-journal").st_mode)
        except OSError:
            return True

    def _rank(self, catalog: Catalog, prompt: str, limit: int, doubt: bool) -> Found | None:
        terms = ranking.read_prompt(prompt, Words())
        count = int(catalog.fact("count") or 0)
        matches = ranking.Matches(terms, count, catalog.look_up)
        best = matches.best(limit + _entries.MORE)
        rows = catalog.memories(best)
        if len(rows) != len(best):
            raise Damaged("it names memories that it does not have")
        if doubt and not all(_freshness.same(self.store.root, row[1].path, row[3]) for row in rows):
            return None
        rest = []
        if len(best) < limit:
            rules = catalog.rules(limit + len(best))
            rest = [memory for number, memory, *_ in rules if number not in matches.scores]
        found = [(number, memory, rule) for number, memory, rule, _ in rows]
        return Found(_entries.hits(matches, found, rest, limit), count, self.findings)

    def _update(self) -> bool:
        """Bring the catalog up to date; False where somebody else is writing."""
        from memdir.adapters.searches._upkeep import Busy, update

        try:
            update(self.store, self.path, self.findings)
        except Busy as error:
            self._say("catalog-not-written", f"is behind and was not written: {error}")
            return False
        return True

    def _anew(self, prompt: str, limit: int, error: Exception) -> Found:
        """Answer from a scan, and leave a new catalog behind."""
        from memdir.adapters.searches._upkeep import Busy, make

        scan = self._scan()
        cause = error.strerror if isinstance(error, OSError) else str(error)
        try:
            make(self.store, self.path, scan)
            self._say("catalog-made", f"was made anew: {cause}")
        except (Busy, SqlError, OSError, ArithmeticError, ValueError) as why:
            self._say("catalog-not-written", f"could not be used ({cause}) nor written: {why}")
        found = scan.find(prompt, limit)
        return Found(found.hits, found.searched, found.findings + self.findings)

    def _say(self, kind: str, what: str) -> None:
        from memdir.core.finding import Finding

        fix = "nothing to do: it is derived, and the answer is the same without it"
        self.findings.append(Finding(kind, self.path, f"the catalog {what}", fix))

    def _scan(self) -> "Scan":
        from memdir.adapters.searches._scanning import Scan

        return Scan(self.store)


def open_search(store: "Store", folder: str) -> Fts:
    """The search of one store, with its catalog in `folder`."""
    return Fts(store, folder)

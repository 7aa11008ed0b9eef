"""One memory, with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass

from memdir.audit.ages import find_known_stale_claims
from memdir.format.draft import content_hash
from memdir.hot.memory import NEST, Document, decode, read_memory
from memdir.store.accept import unaccepted_paths
from memdir.store.writer import App


@dataclass(frozen=True)
class Detail:
    """A memory, whole: `text` is the file, `body` what stands below its header."""

    path: str
    name: str
    type: str
    description: str
    modified: float  # the time its age counts from, in seconds since 1970
    document: Document
    text: str
    hash: str  # of the file; `update(…, if_hash=…)` changes only this version
    stale: tuple[str, ...]  # claims that no longer hold, as far as they were checked
    scope: str
    store: str
    accepted: bool  # False for a memory of others that no agent is told

    @property
    def body(self) -> str:
        return self.document.body

    @property
    def header(self) -> dict[str, str]:
        """Every key of the header."""
        return {key: value for key, value in self.document.values.items() if key != NEST}

    @property
    def metadata(self) -> dict[str, str]:
        """The keys below `metadata:`."""
        start, values = NEST + ".", self.document.values
        return {key.removeprefix(start): values[key] for key in values if key.startswith(start)}

    def __repr__(self) -> str:
        return f"<{self.scope}: {self.path}: {self.description}>"


def read_memory_detail(app: App, scope: str, path: str, data: bytes, document: Document) -> Detail:
    """What `store.look.show_memory` has found, with its facts."""
    facts, view = app.store.facts(path), app.store.view(path, data)
    item = read_memory(path, view, facts[0] / 1e9 if facts else app.now())
    return Detail(
        path=path,
        name=item.name,
        type=item.type,
        description=item.description,
        modified=item.clock,
        document=document,
        text=decode(view),
        hash=content_hash(data),
        stale=tuple(find_known_stale_claims(app, [item]).get(path, ())),
        scope=scope,
        store=app.store.root,
        accepted=path not in unaccepted_paths(app),
    )

"""What a first look finds in the memories of a project, and the one command to run next."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memdir.audit.audit import audit
from memdir.errors import MemdirError
from memdir.hot.memory import INDEX
from memdir.store.writer import App
from memdir.text.terminal import plural
from memdir.upkeep.restructure import plan_restructure, read_restructured_store

# Beyond these, checking claims may take more than a few seconds.
MAX_CHECKED_MEMORIES = 200
MAX_GIT_INDEX_BYTES = 2_000_000  # about 20,000 files
MAX_READ_MEMORIES = 2_000
WORTHWHILE_TOKENS = 50  # that restructuring saves in each session
DOUBLE = "near-duplicate"
FIRST_SAVE = 'memdir remember "what an agent should know tomorrow"'
URGENT = ("secret", "hidden-characters", "orders", "forged-frame", "conflict", "unreadable")


@dataclass(frozen=True)
class Health:
    """`checked`: claims were compared with the code; `tokens` are those a session could save."""

    memories: int = 0
    stale: int = 0
    double: int = 0
    urgent: int = 0
    tokens: int = 0
    checked: bool = False
    elsewhere: int = 0  # memory files of other projects
    next: str = "memdir audit"

    @property
    def text(self) -> str:
        if not self.memories and self.elsewhere:
            return f"no memories in this project yet, {self.elsewhere:,} in others"
        if not self.memories:
            return "no memories yet"
        parts = [
            f"{self.stale} stale" * bool(self.stale),
            f"{self.double} double" * bool(self.double),
            f"{self.urgent} urgent" * bool(self.urgent),
            f"{self.tokens:,} tokens a session could be saved" * bool(self.tokens),
        ]
        found = ", ".join(filter(None, parts)) or "nothing wrong was found"
        unchecked = "" if self.checked else "; not yet checked against the code"
        return f"{plural(self.memories, 'memory', 'memories')}: {found}{unchecked}"


def look_at_health(app: App) -> Health:
    """Changes no memory. Leaves out what would take longer than a few seconds."""
    count = len(app.store.scan().memories)
    if not count:
        elsewhere = _count_memory_files(os.path.join(app.config.claude_dir, "projects"))
        step = "memdir dashboard" if elsewhere else FIRST_SAVE
        return Health(elsewhere=elsewhere, next=step)
    if count > MAX_READ_MEMORIES:
        return Health(count)
    deep = count <= MAX_CHECKED_MEMORIES and _git_index_bytes(app) <= MAX_GIT_INDEX_BYTES
    result = audit(app, deep=deep)
    stale = sum(bool(memory.claims.stale) for memory in result.memories)
    double = result.finding_counts.get(DOUBLE, 0)
    urgent = sum(result.finding_counts.get(kind, 0) for kind in URGENT)
    tokens = _count_tokens_to_save(app)
    if urgent or stale or not deep:
        step = "memdir audit --deep"
    elif tokens or double:
        step = "memdir restructure --dry-run"
    else:
        step = 'memdir recall "your next task"'
    return Health(count, stale, double, urgent, tokens, deep and bool(app.config.code), next=step)


def _count_tokens_to_save(app: App) -> int:
    try:
        plan = plan_restructure(read_restructured_store(app.store, {}))
    except MemdirError:
        return 0  # the index cannot be read, which the audit has found
    saved = plan.before.tokens - plan.after.tokens
    return saved if saved >= WORTHWHILE_TOKENS and not plan.lost else 0


def _git_index_bytes(app: App) -> int:
    """How large a checkout is, roughly; 0 if it is no checkout, or a linked worktree."""
    try:
        return os.path.getsize(os.path.join(app.config.code, ".git/index"))
    except OSError:
        return 0


def _count_memory_files(projects: str) -> int:
    count = 0
    try:
        stores = [os.path.join(entry.path, "memory") for entry in os.scandir(projects)]
    except OSError:
        return 0
    for store in filter(os.path.isdir, stores):
        count += sum(name.endswith(".md") and name != INDEX for name in os.listdir(store))
    return count

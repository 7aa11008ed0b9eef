"""Writes docs/reference/ from the commands, settings and docstrings themselves.

python docs/generate.py            write the pages
python docs/generate.py --check    exit with 1 where a page differs from what would be written

What the code cannot say of itself (the meaning of a JSON field, the unit of a setting) stands in
the tables below; tests/self/test_reference.py compares them with real answers.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from inspect import Parameter
from pathlib import Path

import click

from memdir import errors
from memdir.audit.ages import Detail, Listed
from memdir.audit.audit import Audit, Audited
from memdir.capture.plan import Captured, Outcome
from memdir.capture.progress import Entry
from memdir.claims.verify import Checked, CheckedClaim
from memdir.cli.main import SECTIONS, commands
from memdir.config.settings import Options
from memdir.format.draft import Change
from memdir.library import AsyncMemdir, Memdir, Prefetch
from memdir.memory_tool import MemoryTool, ToolAnswer, memory_tool
from memdir.recall.answer import Prompt, Recall, RecalledMemory, Why
from memdir.store.ports import Logged
from memdir.store.writer import Done

FOLDER = Path(__file__).resolve().parent / "reference"
LONGEST_LINE = 90  # of a signature; a longer one has a line per argument
EXAMPLE = "\n\n\b\nExample:\n  "
SHARED = ("--dir", "--root", "--project", "--scope", "--json", "--dry-run")
NOTICE = "<!-- Written by docs/generate.py from the code. Do not edit: run it again. -->"

# A field that is not always there ends in `?`. `[shape]` before a meaning: a list of objects of
# that shape; `[one|other]`: of one of the two.
SHAPES = {
    "guard": {
        "name": "the memory's name; a second sentence in it adds `.2`",
        "form": "`forbid`, `needs` (a flag) or `before` (another command)",
        "program": "the first word of the command, or empty for any",
        "command": "the command it guards",
        "other": "the flag it needs, or what must run before; or empty",
        "stops": "false when the sentence has a condition: then it only reminds",
        "sentence": "the sentence it comes from",
        "path": "the memory's file, below the store",
        "on": "false when it is switched off",
    },
    "done": {
        "change": "what happened to the first memory, see `changes`",
        "name": "its file's name without the ending",
        "path": "its file, below the store",
        "hash": "SHA-256 of its bytes afterwards; for `--if-hash`",
        "reason": "why it was skipped, or empty",
        "changes": "[change] the first memory and all others",
        "remarks": "sentences worth knowing",
        "store": "the directory of the store",
        "dry_run": "true when nothing was written",
        "files?": "[file] on a dry run: what would change",
    },
    "recalled": {
        "path": "the file, below the store",
        "scope": "where it was found",
        "store": "the directory of that store",
        "from": "who else wrote it and whether it is accepted, or empty for the user's own",
        "score": "of the ranking; comparable within one store",
        "shown": "`body` or `pointer`",
        "text": "as it is injected",
        "verdicts": "claims that were checked just now",
        "why": "`sure` (comparable between prompts), `words` with what each added, `type`, "
        "`age_days`, `note`",
    },
    "change": {
        "change": "`created`, `updated`, `skipped`, `retired`, `archived`, `restored`, `purged`, "
        "`undone` or `rebuilt`",
        "name": "the file's name without its ending",
        "path": "the file, below the store; empty where none was chosen",
        "hash": "SHA-256 of the file's bytes afterwards, or empty",
        "reason": "why it was skipped, or empty",
    },
    "entry": {
        "id": "the change's id; its first characters are enough for `diff` and `undo`",
        "time": "UTC, `YYYY-MM-DDTHH:MM:SSZ`",
        "actor": "who: `cli`, `library`, `memory-tool`, `outside` for others, `memdir` for the "
        "first look",
        "verb": "`save`, `edit`, `rename`, `touch`, `retire`, `archive`, `restore`, `undo`, "
        "`index`, `import`, `outside` or `begin`",
        "name": "what was changed, in words",
        "reason": "what `--reason` said, or empty",
        "batch": "the batch it belongs to, or empty",
        "undoes": "ids of the changes that this one takes back",
        "paths": "[path] every file that it touched",
        "scope?": "the scope of its store; in the answer of `log`",
    },
    "path": {"change": "`A` came, `M` changed, `D` went", "path": "the file, below the store"},
    "file": {
        "path": "the file, below the store",
        "change": "`created`, `updated`, `removed` or `skipped`",
        "diff": "a unified diff, or empty",
        "reason?": "why it was skipped; in the answer of `import`",
    },
    "finding": {
        "kind": "one word, such as `special-file` or `redirect-attempt`",
        "path": "the file that it is about",
        "line": "the line there, or 0",
        "message": "what is wrong",
        "fix": "what to do, or empty",
    },
    "memory": {
        "path": "the file, below the store: the memory's identity",
        "name": "its label",
        "type": "one of `memdir types`, or `unknown`",
        "description": "the one line that says what it is about",
        "modified": "the time its age counts from, UTC",
        "age_days": "whole days since then",
        "score": "0 is fresh, 100 stale",
        "action": "`keep` below 50, `review` below 75, else `prune`: the band of the score",
        "stale": "how many claims no longer hold, as far as they were checked",
        "advice": "`keep`, `look`, `fix` or `retire`",
        "pinned": "true when it comes first in an index over its limit",
        "bytes": "the file's size",
        "scope": "the scope of its store",
        "store": "the directory of its store",
        "accepted": "false for a memory of others that no agent is told: `memdir review`",
    },
    "shelved": {
        "path": "the path it had, and gets again",
        "name": "the file's name without its ending",
        "room": "`trash` or `archive`",
        "time": "when it was put away, UTC",
        "age_days": "whole days since then",
        "scope": "the scope of its store",
    },
    "check": {
        "name": "what was looked at",
        "ok": "false when it needs you",
        "message": "what was seen",
        "fix": "what to do, or empty",
        "scope": "the scope of the store",
    },
    "type": {
        "name": "the type",
        "title": "what people call it",
        "purpose": "what it is for",
        "when_to_save": "when such a memory is worth saving",
        "how_to_use": "what to do with one",
        "body": "the form of its text",
        "example": "an example",
        "scope": "who it is for: `private`, `team`, or either",
        "scope_lean": "how to choose between the two",
        "half_life_days": "days after which `score` is 50",
        "section": "the heading of the index that its pointers belong to",
        "needs_why": "true when its text should say Why and How to apply",
        "record": "true for the types of structured records",
    },
    "claim": {
        "path": "the memory that says it",
        "line": "the line there",
        "column": "where in the line",
        "text": "what it says, as it is written",
        "kind": "`path`, `symbol`, `url`, `branch`, `package`, `commit`, `command` …",
        "verdict": "`true`, `stale`, `unknown` or `not_a_claim`",
        "reason": "what was seen: the commit, its date and the new place, or why it is unknown",
        "place": "the file that bears it out, or empty",
        "scope": "the scope of its store",
    },
    "audited": {
        "path": "the file, below the store",
        "type": "one of `memdir types`, or `unknown`",
        "age_days": "whole days since it was last confirmed",
        "score": "0 is fresh, 100 stale",
        "action": "`keep`, `review` or `prune`: the band of the score",
        "advice": "`keep`, `look`, `fix` or `retire`",
        "tokens": "its length in characters / 4",
        "claims": "an object: `checked`, `stale`, `unknown`; without `--deep` as last checked",
        "reasons": "sentences: its age, what is stale, and why the advice is what it is",
        "store": "the directory of its store",
    },
    "audit_finding": {
        "kind": "one word, such as `orphan` or `near-duplicate`",
        "path": "the file that it is about",
        "line": "the line there, or 0",
        "message": "what is wrong",
        "fix": "what to do, or empty",
        "store": "the directory of its store",
    },
    "candidate": {
        "path": "the file, below the store",
        "score": "0 is fresh, 100 stale",
        "action": "`keep`, `review` or `prune`: the band of the score",
        "advice": "`keep`, `look`, `fix` or `retire`",
        "tokens": "its length in characters / 4",
        "reasons": "sentences: why it is proposed",
    },
    "project": {
        "title": "the project's directory, or the scope",
        "store": "the directory of the store",
        "gone": "true where the project's directory is no more",
        "memories": "how many there are",
        "types": "an object: how many of each type",
        "actions": "an object: how many to keep, review and prune by their score",
        "alerts": "how many score above 50",
        "index_findings": "how many, of the index and the files",
        "tokens": "an object as in `audit`",
    },
    "alert": {
        "store": "the directory of its store",
        "title": "the project's directory, or the scope",
        "path": "the file, below the store",
        "type": "one of `memdir types`, or `unknown`",
        "score": "0 is fresh, 100 stale",
        "action": "`keep`, `review` or `prune`: the band of the score",
        "advice": "`keep`, `look`, `fix` or `retire`",
        "age_days": "whole days since it was last confirmed",
        "tokens": "its length in characters / 4",
    },
    "restructured": {
        "change": "`created`, `updated`, `merged`, `removed` …",
        "name": "the file's name without its ending",
        "path": "the file, below the store",
        "reason": "where it comes from, and why it has its type",
    },
    "text": {"path": "the file, below the store", "text": "the whole file"},
    "captured": {
        "id": "of this thing, in every run; of a held one the id that `review` takes",
        "name": "the memory, where there is one",
        "reason": "why it was refused or held, or empty",
        "draft?": "an object: `type`, `description`, `body`, `why`, `how`",
        "forget?": "instead of a draft: what is to be forgotten",
    },
    "held": {
        "id": "for `review show`, `approve`, `edit`, `reject` and `restore`; its start is enough",
        "time": "since when it waits, UTC",
        "draft": "an object: `type`, `name`, `description`, `body`, `why`, `how`, `day` …; "
        "null where something is to be forgotten",
        "forget": "what is to be forgotten, or empty",
        "origin": "an object: `client`, `session`, `message`, `who` said it, `tool`, `quote`",
        "reason": "why it waits for you",
        "change?": "`approved`, `rejected`, `restored`, or `held` where it still waits",
    },
    "source": {
        "id": "for `review accept`, `reject` and `show`: exactly the memories that are listed",
        "scope": "where they lie",
        "from": "`this repository` or `your team`",
        "store": "the directory",
        "memories": "objects with an `id` for each content, `path`, `type`, `description` and "
        "`author`, who last committed it",
    },
    "record": {
        "path": "the file, below the directory of the records",
        "title": "its one line",
        "category": "one of the six",
        "tags": "its tags",
        "record_status": "`active`, `retired` or `archived`",
        "updated_at": "UTC",
    },
    "score": {
        "category": "one of the six",
        "score": "from 0 to 1",
        "threshold": "from which on it triggers",
    },
    "intent": {
        "category": "one of the six; null where nobody can tell",
        "asked": "what the model wanted: `CREATE`, `UPDATE`, `DELETE` or `NOOP`",
        "mechanics": "what the mechanics said, see `structural_cud` of `records candidate`",
        "vetoes": "what must not be done",
        "outcome": "`done`, `nothing` or `refused`",
        "action": "what the table made of both",
        "path": "the record, or empty",
        "reason": "why nothing was done, or empty",
        "changes": "[change] what was done; `prepare`: what would be done",
        "error": "an object: `record_code`, `code`, `message`, `next`; or null",
    },
    "call": {
        "id": "of the call",
        "time": "UTC",
        "purpose": "what it was for: `select`, `capture` …",
        "model": "who was asked",
        "session": "of the client, or empty",
        "input_tokens": "tokens that no cache gave",
        "output_tokens": "tokens of the answer",
        "cached_tokens": "tokens that a cache gave; they do not count against the budget",
        "cost": "in dollars, where the model reports it; else null",
        "outcome": "`answered`, `reserved` (it never came back) or how it failed",
        "produced": "what came of it, or empty",
    },
    "routed": {
        "destination": "`value`, `memory`, `claude_md`, `knowledge` or `skip`",
        "outcome": "`saved`, `held`, `proposed`, `skipped` or `left`",
        "name": "the memory, the page, or the id that `review` takes",
        "reason": "why it goes there",
        "draft": "an object as in `review`; null where something is to be forgotten",
        "forget": "what is to be forgotten, or empty",
        "origin": "an object as in `review`, with the `transcript`",
        "project": "the project that the session was about",
        "store": "the directory of its store",
    },
}
# These answer as `done`, with the fields below besides.
DONE = {
    *("remember", "save", "edit", "touch", "forget", "retire", "archive", "purge"),
    *("undo", "import", "share"),
    *(f"records {name}" for name in ("save", "write", "retire", "archive", "restore")),
    *("records window", "records gc"),
}
DONE_AT_TIMES = {
    "restore": "With NAME:",
    "index": "With `--rebuild` also:",
    "records index": "With `--rebuild`:",
}
FIELDS = {
    "remember": {
        "type?": "the type it got, where none was given",
        "type_from?": "`wording`: where that type comes from",
    },
    "save": {
        "type?": "the type it got, where none was given",
        "type_from?": "`wording`: where that type comes from",
    },
    "capture": {
        "received": "how many things it came to; saved + refused + held + waiting",
        "saved": "[captured] memories made, changed or retired",
        "refused": "[captured] what the rules of saving do not let in",
        "held": "[captured] what waits for `memdir review`",
        "waiting": "how many wait for a model, for want of budget or an answer",
        "tokens": "spent on a model",
        "reason": "why nothing came of it, or why it waits; or empty",
        "remarks": "sentences worth knowing: what of the conversation could not be read",
        "store": "the directory of the store: that of the project in which it was said",
        "dry_run": "true when nothing was written",
    },
    "review": {
        "held": "[held] what waits, or with `--rejected` what was rejected; after a decision, what "
        "was decided on",
        "store": "the directory of the store",
        "findings?": "[finding] drafts that cannot be read",
        "changes?": "[change] what saving it does or would do",
        "files?": "[file] of `show` and of a dry run: what would change",
        "remarks?": "sentences worth knowing",
        "waiting?": "how many are left",
        "sources?": "[source] repositories and teams whose memories wait, or were decided on",
        "decision?": "`accepted` or `rejected`, of memories of others",
        "dry_run?": "true when nothing was written",
    },
    "extract": {
        "before": "an object: how many `memories` and `held`",
        "after": "the same afterwards",
        "changes": "[change] the memories that were saved",
        "batch": "for `memdir undo --batch`; empty where nothing was saved",
        "lost": "what it could put nowhere: always empty, or the command fails",
        "routed": "[routed] everything it came to, values first",
        "patches": "an object each: `project`, `path`, `diff`, and the `file` it was written to",
        "sessions": "how many were read",
        "looked_at": "an object each: `client`, `id`, `path`, `modified`, `size`, `cwd`, and how "
        "many `things` it came to",
        "waiting": "an object each: `session`, and the `reason` why it waits for a model",
        "tokens": "spent on a model",
        "remarks": "sentences worth knowing",
        "dry_run": "true when nothing was written",
        "files": "[file] on a dry run: what would change",
    },
    "log-day": {
        "change": "`created`",
        "path": "the log of the day",
        "entry": "the line as it stands there",
        "remarks": "sentences worth knowing",
        "dry_run": "true when nothing was written",
    },
    "dream": {
        "before": "an object as in `restructure`",
        "after": "the same afterwards",
        "changes": "[restructured] what was saved, merged, dated and put away",
        "batch": "for `memdir undo --batch`; empty where nothing was changed",
        "lost": "what would be lost: always empty, or the command fails",
        "accounted": "lines that are no longer there, each with the reason",
        "log_entries": "how many entries of the logs were read",
        "log_silent": "how many of them hold nothing to keep",
        "held": "what waits for `memdir review` now",
        "old": "memories that are only old: they stay",
        "proposals": "what is for you to decide, with the evidence and a command",
        "remarks": "sentences worth knowing",
        "store": "the directory of the store",
        "dry_run": "true when nothing was written",
        "files?": "[file] on a dry run: what would change",
    },
    "budget": {
        "limits": "an object: tokens of a `run`, a `session`, a `day`",
        "spent": "an object: tokens of the `day`, of the `session` if one is named, `cached` ones, "
        "`cost`",
        "day": "which day it is",
        "session": "which session was asked for, or empty",
        "entries": "[call] the newest first",
    },
    "status": {
        "received": "how many things capture came to",
        "saved": "of these: how many were saved",
        "refused": "how many were refused",
        "held": "how many wait for `memdir review`, or went through it",
        "waiting": "how many wait for a model",
        "waits": "an object each: the `reason`, `until` when (UTC, or null), the `transcript`",
        "review": "how many drafts wait for `memdir review` now, whoever held them; or null",
        "balances": "true when received = saved + refused + held + waiting",
        "problems": "sentences: what does not balance",
        "damaged_lines": "the numbers of the lines of the account that cannot be read",
        "queued": "requests that hooks noted and nobody has done yet",
        "last_save": "UTC, or null",
        "last_saved": "the memory of the last save that was not taken back, or empty",
        "last_recall": "UTC, or null",
        "last_capture": "UTC, or null",
        "last_trouble": "the last line of the log that says what went wrong, or empty",
        "budget": "an object: `day_tokens`, and what is `left` today",
        "hooks": "`set up (settings)`, `set up (plugin)`, `not set up`, or why they are off",
        "capture": "an object: `enabled`, `every`",
        "model": "which one is set, or empty",
        "store": "the directory of the store",
    },
    "restore": {"memories?": "[shelved] without NAME: what can be restored"},
    "search": {
        "memories": "[recalled] what has one of the words, the best 20",
        "searched": "how many memories there were to choose from",
        "milliseconds": "how long it took",
        "findings": "[finding] what could not be read, and a catalog that was made anew",
    },
    "recall": {
        "memories": "[recalled] the best, at most `--k`, whole or as a pointer",
        "pointers": "[recalled] what is given as one line",
        "abstained": "true when nothing fits well enough",
        "reason": "why there is nothing, or empty",
        "text": "exactly what an agent would read",
        "characters": "its length",
        "near": "[recalled] where nothing fits: what came closest",
        "selected_by": "`local`, or `model` where a model chose",
        "selection": "why a model did not choose although it was asked to, or empty",
        "searched": "how many memories there were to choose from",
        "milliseconds": "how long it took",
        "findings": "[finding] what could not be read, and a catalog that was made anew",
    },
    "eval": {
        "set": "what was measured: `own`, `corpus`, `locomo` …",
        "data": "where the data lies",
        "summary": "the figures in one object, with `n`",
        "figures": "an object each: `value`, `unit`, `n`, `low`, `high`",
        "remarks": "sentences worth knowing",
    },
    "prompt": {
        "text": "what an agent is told about its memory",
        "tokens": "its length in characters / 4",
        "mode": "`normal`, `team` or `log`",
    },
    "verify": {
        "claims": "[claim] all of them, in the order of the text",
        "counts": "an object: how many of each verdict",
        "files": "how many files were read",
        "remarks": "sentences: what could not be looked at",
    },
    "audit": {
        "store": "the directory of the store that was asked for",
        "memories": "[audited] the stalest first",
        "findings": "[audit_finding] what to know, twenty of a kind; `--all` gives all",
        "tokens": "an object: `index` and `prompt` are what every session carries, `total` is "
        "both, `memories` all files together",
        "stores": "objects with `title`, `store` and `tokens`, one for each store",
        "actions": "an object: how many to keep, review and prune by their score",
        "finding_counts": "an object: how many findings of each kind there are in all",
        "advice": "an object: how many to keep, look at, fix and retire",
        "remarks": "sentences: what could not be looked at",
    },
    "dashboard": {
        "projects": "[project] every store there is",
        "counts": "an object: `projects`, `memories`, `index_findings`, `types`, `actions`",
        "alerts": "[alert] memories that score above 50",
        "tokens": "an object as in `audit`, over all stores",
        "top": "[alert] the longest memories",
    },
    "prune": {
        "before": "an object: `memories`, `tokens`, `prune`, `review`, `keep`",
        "after": "the same afterwards",
        "changes": "[change] what became of each",
        "batch": "for `memdir undo --batch`; empty where nothing was changed",
        "lost": "what would be lost: always empty, or the command fails",
        "tokens_saved": "what all memories together are shorter by",
        "candidates": "[candidate] what was proposed",
        "dry_run": "true when nothing was written",
        "store": "the directory of the store",
        "files?": "[file] on a dry run: what would change",
    },
    "restructure": {
        "before": "an object: index lines and characters, tokens, files, inline lines …",
        "after": "the same afterwards",
        "changes": "[restructured] what was made, changed and merged",
        "batch": "for `memdir undo --batch`; empty where nothing was changed",
        "lost": "what would be lost: always empty, or the command fails",
        "accounted": "lines that are no longer there, each with the reason",
        "checks": "the list that a tidy store passes: `name`, `ok`, `message`, `fix`",
        "proposals": "what is for you to decide, with the evidence and a command",
        "remarks": "sentences worth knowing",
        "store": "the directory of the store",
        "dry_run": "true when nothing was written",
        "files?": "[file] on a dry run: what would change",
    },
    "list": {
        "store": "the directory of the store",
        "layout": "how it lies on disk: `markdown`",
        "shape": "`index + files`, `files without an index`, `standalone index`, `empty` or "
        "`no directory`",
        "memories": "[memory] all of them",
        "findings": "[finding] what could not be read, and what is odd about the settings",
    },
    "show": {
        "path": "the file, below the store",
        "name": "its label",
        "type": "one of `memdir types`, or `unknown`",
        "description": "the one line that says what it is about",
        "metadata": "an object: the keys below `metadata:`",
        "header": "an object: every key of the header",
        "body": "the text below the header",
        "hash": "SHA-256 of the file's bytes; for `--if-hash`",
        "stale": "claims that no longer hold, as far as they were checked",
        "store": "the directory of the store",
        "accepted": "false for a memory of others that no agent is told: `memdir review`",
    },
    "load": {
        "text": "what an agent gets",
        "lines": "lines before cutting",
        "characters": "UTF-16 units before cutting",
        "cut_lines": "lines that were left out",
        "cut_characters": "UTF-16 units that were left out",
        "waiting": "paths of memories by others that are left out: not accepted yet",
        "warning": "the sentence that says so, or empty",
        "memories?": "[text] with `--full`",
        "scopes?": "an object: the same per scope, where there are several",
    },
    "index": {
        "lines": "lines that an agent would load, before cutting",
        "characters": "the same in UTF-16 units",
        "orphans": "files without a pointer",
        "dangling": "what pointers to nothing name",
        "dangling_lines": "their lines",
        "duplicates": "what is pointed at twice",
        "overlong": "lines that are too long",
        "inline": "lines that are content, not pointers",
        "changed": "true when a rebuild has changed the index",
        "scopes?": "an object: the same per scope, where there are several",
    },
    "ui": {
        "url?": "the address that opens the page, once",
        "port?": "its port",
        "pid?": "the process that serves it",
        "path?": "with `--html`: the file",
        "bytes?": "its size",
    },
    "where": {
        "store": "the directory",
        "step": "the rule that decided",
        "scope": "the scope that was asked for",
        "shared": "true when what is saved there may reach other people",
        "exists": "false when the directory is not there yet",
        "project_name": "the folder below `projects/`",
        "project_root": "the main repository, shared by its worktrees",
        "enabled": "whether the client's memory is on",
        "enabled_by": "the rule that decided that",
        "scopes": "an object: the directory of each scope",
        "existing": "the scopes whose directory is there",
        "state": "where the history, the trash and the lock of this store lie",
        "config_file": "the settings file of memdir",
        "findings": "[finding] what is odd about the settings",
    },
    "types": {"types": "[type] all of them"},
    "guards": {
        "guards?": "[guard] every one, also those that are off",
        "enabled?": "false when `guards.enabled` switches all of it off",
        "test?": "with `test`: an object of the guards that would speak, `stops` and `reminds`",
    },
    "manifest": {
        "text": "one line per memory",
        "shown": "how many lines",
        "total": "how many memories there are",
    },
    "log": {"changes": "[entry] the newest first"},
    "diff": {"changes": "[entry] the one change", "files": "[file] what it did to each file"},
    "undo": {
        "changes": "[entry] the changes that were taken back",
        "files": "[change|file] what became of each file; on a dry run with its diff",
    },
    "doctor": {"ok": "true when every check is", "checks": "[check] in the order they were made"},
    "share": {
        "diff": "what changes in both stores; each path starts with the scope",
        "from": "the scope it comes from",
        "to": "`team` or `local`",
    },
    "merge-index": {
        "change": "`merged`, `same` or `conflict`; with `--install` `updated` or `same`",
        "path": "PATH, else OURS; with `--install` the repository",
        "dry_run": "true when nothing was written",
        "conflicts?": "places where both sides rewrote the text",
        "added?": "memories whose pointers came from THEIRS",
        "dropped?": "memories whose pointers THEIRS took out",
        "joined?": "memories whose pointers both sides changed; both lines stay",
        "diff?": "what it makes of OURS",
        "files?": "[file] with `--install`: the files of the repository that it changes",
    },
    "import": {
        "files": "[file] every memory of the source",
        "skipped": "[finding] what is no memory, and was passed over",
    },
    "export": {
        "path": "the zip or directory",
        "change": "`created`",
        "files": "[file] every file in it",
        "findings": "[finding] what could not be taken along",
        "dry_run": "true when nothing was written",
    },
    "records search": {
        "records": "[record] what was found, best first",
        "query": "the words that were searched",
        "store": "the directory of the records",
    },
    "records status": {
        "records": "how many there are, whatever their status; with `--list` they themselves",
        "counts?": "an object: each category with how many are `active`, `retired`, `archived`",
        "mismatches?": "how many lines of the index differ from the records",
        "in_sync?": "true when none does",
        "due?": "an object: what `window`, `retention` and `gc` would do now",
        "enabled?": "an object: each category, and whether it is switched on",
        "findings": "[finding] broken records, settings that are not used",
        "store": "the directory of the records",
    },
    "records index": {
        "mismatches?": "where index and records differ, an object each: `kind`, `path`, `line`; "
        "with `--health`, which is `records status`, their number",
        "valid?": "true when there is none",
        "findings?": "[finding] broken records",
        **dict.fromkeys(
            ("records?", "counts?", "in_sync?"),
            "with `--health`: see `records status`",
        ),
        **dict.fromkeys(("due?", "enabled?"), "with `--health`: see `records status`"),
    },
    "records candidate": {
        "candidate": "an object: `path`, `title`, `tags`, `updated_at`, `score`; or null",
        "vetoes": "what must not be done, each as `ACTION: why`",
        "pre_action": "`CREATE`, `NOOP`, or null where there is a candidate",
        "structural_cud": "`CREATE`, `NOOP`, `UPDATE` or `UPDATE_OR_DELETE`",
        "delete_allowed": "true where triage may retire such a record",
        "hints": "sentences worth knowing",
        "lifecycle_event": "the event that was asked about, or null",
    },
    "records triage": {
        "triggered": "[score] the categories that reach their threshold",
        "scores": "[score] every category that is captured",
        "contexts": "an object: the file with the context of each",
        "drafts": "an object: where an agent puts its draft of each",
        "text": "what is printed without `--json`",
        "findings": "[finding] settings that are not used, contexts that cannot be written",
        "dry_run": "true when no context was written",
    },
    "records prepare": {
        "results": "[intent] what would become of each intent",
        "intents": "the intents with hashes: commit these, and only what was checked is saved",
        "remarks": "sentences worth knowing",
        "store": "the directory of the records",
        "dry_run": "true: nothing was written",
    },
    "records commit": {
        "results": "[intent] what became of each intent",
        "intents": "the intents as they were carried out",
        "remarks": "sentences worth knowing",
        "store": "the directory of the records",
        "dry_run": "true when nothing was written",
    },
    "records schema": {
        "session_summary": "its JSON Schema",
        "decision": "its JSON Schema",
        "runbook": "its JSON Schema",
        "constraint": "its JSON Schema",
        "tech_debt": "its JSON Schema",
        "preference": "its JSON Schema",
    },
    "setup": {
        "client": "which agent",
        "way": "`settings` or `plugin`",
        "files": "[file] of the client, with whole paths; `unchanged` where all is as it should be",
        "hooks": "the client's name of each event, and its command line; none with `--remove`",
        "remarks": "sentences worth knowing",
        "dry_run": "true when nothing was written",
        "health": "an object: `memories` of the project, how many are `stale`, `double` and "
        "`urgent`, the `tokens` of a session that `memdir restructure` would save, whether claims "
        "were `checked` and the command to run `next`; null with `--remove` and `--dry-run`",
    },
    "mcp": {},
    "serve": {},
    "serve admin init": {
        "migrations": "those that were missing, and are in the database now",
        "url_file": "the file that the address for `memdir serve` was written to, or empty",
        "url?": "the address itself, where no file was named; empty if the password was kept",
    },
    "serve admin invite": {
        "name": "the member",
        "space": "the space",
        "role": "`reader`, `writer` or `maintainer`",
        "days": "how long the token is good",
        "new_space": "true if the space was made",
        "new_person": "true if nobody had this name",
        "token?": "the token, where no file was named; it is shown only now",
        "token_file?": "the file that it was written to",
    },
    "serve admin revoke": {
        "name": "the member",
        "spaces": "those they left",
        "tokens": "how many tokens were revoked",
    },
    "serve admin purge": {
        "path": "the memory",
        "space": "its space",
        "versions": "how many versions were erased",
        "seq": "the change that tells clients to erase it; of a dry run, the newest one",
        "dry_run": "true when nothing was erased",
    },
    "serve admin export": {
        "space": "the space",
        "to": "the directory",
        "paths": "the files, below it",
        "dry_run": "true when nothing was written",
    },
    "serve admin audit": {
        "audit": "an object each: `at`, `person`, `act`, `space`, `detail`; the newest first",
    },
}
CODES = {
    0: "done, or already so",
    1: "refused, not found, in conflict, or something needs you; the message says which and why",
    2: "the command line was not understood",
    3: "a mistake in memdir; a report was written and is named",
    130: "interrupted",
    141: "whoever read the output has closed it",
}
MEANINGS = {
    "layout": (
        "a member",
        "How stores lie on disk: `markdown`, or [one of your own](../design/extend.md). A "
        "client's hooks read Markdown, whatever is set here.",
    ),
    "index": (
        "true or false",
        "Keep `MEMORY.md` in step with the files at every change. `memdir index --rebuild` works "
        "either way.",
    ),
    "max_file_bytes": ("bytes", "Files above this are not read, but reported."),
    "max_body_bytes": ("bytes", "The longest text of a new memory or an edit."),
    "trash_days": (
        "days",
        "How old trash must be for `memdir purge --expired`. The newest 100 memories of the trash "
        "stay in any case, because a date may be a clock's mistake.",
    ),
    "history": (
        "true or false",
        "Keep every version. Without it there is no `log`, `diff` or `undo`; what is overwritten "
        "goes to the trash instead.",
    ),
    "lock_seconds": ("seconds", "How long a change waits for another writer before it refuses."),
    "lock_notice_seconds": ("seconds", "How long it waits before it says who it is waiting for."),
    "search": (
        "fts or scan",
        "How recall finds memories: by the catalog, or by reading every file each time.",
    ),
    "recall_model": (
        "off, cli or always",
        "Where the model of `model.name` chooses the memories: nowhere, in `memdir recall` and the "
        "library, or also at every prompt, which waits for it. `memdir recall --model` asks once.",
    ),
    "hooks": (
        "true or false",
        "Let the hooks of a client speak and note. With `false` they stay installed and do "
        "nothing.",
    ),
    "hooks_always": (
        "true or false",
        "Let the hooks work also where the client's own memory is switched off: memdir instead of "
        "it. By default memory off means off.",
    ),
    "private_urls": (
        "true or false",
        "Let `memdir audit --online` ask addresses of your own network, too. A memory may come "
        "from anybody, so they are not asked by default.",
    ),
    "model": (
        "member:name",
        "The model that may select memories, such as `anthropic:claude-haiku-4-5`. None by "
        "default: see [the guide](../guides/models.md).",
    ),
    "model_base_url": (
        "address",
        "Another server than the one of the model's maker. Only `https`, or this machine, gets "
        "your key.",
    ),
    "model_timeout": (
        "seconds",
        "How long a selection waits for the model. Then the local one counts.",
    ),
    "session_tokens": ("tokens", "How many a session may spend on models."),
    "day_tokens": ("tokens", "How many all sessions of a day may spend on models."),
    "run_tokens": ("tokens", "How many one capture may spend on a model."),
    "capture": (
        "true or false",
        "Learn from conversations when a turn ends. With `false` nothing of them is read.",
    ),
    "capture_every": (
        "turns",
        "Learn at the end of every Nth turn; at the end of a session always.",
    ),
    "capture_model": (
        "member:name",
        "Another model for capture than `model.name`. Without either, none is asked.",
    ),
    "dream": (
        "true or false",
        "Let the worker run `memdir dream` by itself: once a day, after five sessions.",
    ),
    "dream_logs": (
        "true or false",
        "Sessions are told to write to the log of the day; `memdir dream` makes memories of it.",
    ),
    "guards": ("", "A command that a memory forbids is stopped once in a session."),
    "told_log": ("", "Keep a log of what agents were told, for `memdir ui`; 256 kB of it at most."),
    "records_agent": (
        "true or false",
        "Let the agent of a session save structured records itself: at the end of a turn it is "
        "handed what may be worth one, and goes on once. Without it, drafts are held for review.",
    ),
}
OUR_PLACES = {
    "MEMDIR_STATE_DIR": (
        "`$XDG_STATE_HOME/memdir`, else `~/.local/state/memdir`",
        "Histories, trash, archives and locks.",
    ),
    "MEMDIR_CONFIG_DIR": (
        "`$XDG_CONFIG_HOME/memdir`, else `~/.config/memdir`",
        "Where `config.toml` lies.",
    ),
    "MEMDIR_CACHE_DIR": (
        "`$XDG_CACHE_HOME/memdir`, else `~/.cache/memdir`",
        "What can be derived again: catalogs, verdicts, what was seen of repositories.",
    ),
    "MEMDIR_MANAGED_SETTINGS": (
        "the client's own place for them",
        "The file with managed settings of the client.",
    ),
}
THEIR_PLACES = {
    "CLAUDE_CONFIG_DIR": "The client's directory instead of `~/.claude`.",
    "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "The project's memory directory, before any setting.",
    "CLAUDE_CODE_REMOTE_MEMORY_DIR": "A base for `projects/` instead of the client's directory.",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "True switches the client's memory off, false on.",
    "CLAUDE_CODE_SIMPLE": "True switches the client's memory off.",
    "CLAUDE_CODE_REMOTE": "True switches it off where no remote directory is named.",
    "HOME": "Your home; without it, the one of your account.",
    "XDG_STATE_HOME": "See `MEMDIR_STATE_DIR`. A relative one is ignored.",
    "XDG_CONFIG_HOME": "See `MEMDIR_CONFIG_DIR`. A relative one is ignored.",
    "XDG_CACHE_HOME": "See `MEMDIR_CACHE_DIR`. A relative one is ignored.",
    "VISUAL, EDITOR": "What `memdir edit NAME` opens.",
    "NO_COLOR, TERM=dumb": "No colour. There is none either where the output is no terminal.",
    "COLUMNS": "The width of the output, between 40 and 120.",
}


def main(words: Sequence[str]) -> int:
    """Write the pages, or compare them."""
    if [*words] not in ([], ["--check"]):
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    behind = 0
    for name, text in pages().items():
        path = FOLDER / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        behind += 1
        if words:
            sys.stderr.write(f"docs/reference/{name} is behind; run: python docs/generate.py\n")
        else:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(bool(words) and behind > 0)


def pages() -> dict[str, str]:
    """Each page's name and text."""
    texts = {"commands": _commands(), "settings": _settings(), "library": _library()}
    return {f"{name}.md": _text(blocks) for name, blocks in texts.items()}


def _text(blocks: Iterable[str]) -> str:
    return "\n\n".join([*blocks]) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


# -- commands ------------------------------------------------------------------------------


def _commands() -> Iterable[str]:
    # As `memdir --help` has it: click remembers the first help option that it makes.
    context = click.Context(commands, info_name="memdir", help_option_names=["-h", "--help"])
    yield f"# Commands\n\n{NOTICE}"
    links = {
        section: ", ".join(f"[{name}](#{name})" for name in names)
        for section, names in SECTIONS.items()
    }
    yield _table(("for", "commands"), links.items())
    yield (
        "A NAME is a file's name (`.md` may be left out; `-` and `_` count as the same) or the\n"
        "label in its header. Where two fit, both are named and nothing happens."
    )
    yield "## Options of every command"
    example = commands.get_command(context, "remember")
    assert example is not None
    yield _options([param for param in example.params if param.opts[0] in SHARED])
    yield "`--dry-run` is for commands that change memories. `memdir --version` says the version."
    yield "## Exit codes"
    yield _table(("code", "meaning"), [(str(code), text) for code, text in CODES.items()])
    yield "## Errors as JSON"
    yield (
        'With `--json` an error is `{"error": {…}}` with `code`, `message` and `next` (what to\n'
        "do), `path` where it is about a file, and for a conflict `ours` and `theirs`, both texts."
        "\nOne about a record also has `record_code`, such as `OCC_CONFLICT`, and `facts`."
    )
    yield _table(("code", "meaning"), _codes())
    for section, names in SECTIONS.items():
        yield f"## {section}"
        for name in names:
            command = commands.get_command(context, name)
            assert command is not None
            yield from _with_those_below(click.Context(command, context, name), command)
    yield "## JSON shapes"
    yield "Fields that end in `?` are not always there."
    for shape, table in SHAPES.items():
        yield f"### {shape} (JSON)"
        yield _table(("field", "meaning"), _fields(table))


def _with_those_below(context: click.Context, command: click.Command) -> Iterable[str]:
    yield from _command(context, command)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)
        assert below is not None
        yield from _with_those_below(click.Context(below, context, name), below)


def _codes() -> list[tuple[str, str]]:
    every = errors.MemdirError.__subclasses__()
    kinds = [kind for kind in every if kind.__module__ == errors.__name__]
    return [
        *[(f"`{kind.code}`", str(kind.__doc__)) for kind in kinds],
        (f"`{errors.MemdirError.code}`", "Anything else that was refused; the message says why."),
        ("`usage`", "The command line was not understood."),
        ("`internal`", "A mistake in memdir; `report` names the file that tells more."),
    ]


def _command(context: click.Context, command: click.Command) -> Iterable[str]:
    help, _, example = inspect.cleandoc(command.help or "").partition(EXAMPLE)
    name = context.command_path.removeprefix("memdir ")
    yield f"### {name}"
    yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
    yield help
    yield f"```text\n$ {example}\n```"
    if isinstance(command, click.Group) and not command.params:
        return
    own = [param for param in command.params if param.opts[0] not in SHARED]
    if options := [param for param in own if isinstance(param, click.Option)]:
        yield _options(options)
    if not any("--dry-run" in param.opts for param in command.params):
        yield "It changes no memory."
    yield from _answer(name)


def _options(params: Iterable[click.Parameter]) -> str:
    rows = []
    for param in params:
        assert isinstance(param, click.Option)
        flags = ", ".join(param.opts) + "".join(f" / {opt}" for opt in param.secondary_opts)
        value = f" {param.make_metavar(click.Context(commands))}" if not param.is_flag else ""
        default = f" Default: `{param.default}`." if param.show_default else ""
        required = " Required." if param.required else ""
        rows.append((f"`{flags}{value}`", f"{param.help or ''}{default}{required}".strip()))
    return _table(("option", "meaning"), rows)


def _answer(name: str) -> Iterable[str]:
    if name in DONE:
        besides = "; besides, or instead:" if FIELDS.get(name) else "."
        yield f"JSON: [done](#done-json){besides}"
    if name in DONE_AT_TIMES:
        yield f"{DONE_AT_TIMES[name]} the fields of [done](#done-json)."
    if FIELDS.get(name):
        yield _table(("JSON field", "meaning"), _fields(FIELDS[name]))


def answer_fields(name: str) -> dict[str, str]:
    """Every field that a command's answer may have."""
    done = SHAPES["done"]
    if name in DONE_AT_TIMES:
        done = {f"{field.rstrip('?')}?": text for field, text in done.items()}
    elif name not in DONE:
        done = {}
    own = FIELDS.get(name, {})
    kept = {field: text for field, text in done.items() if field.rstrip("?") not in own}
    return {**kept, **own}


def _fields(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(f"`{field}`", _linked(text)) for field, text in table.items()]


def _linked(text: str) -> str:
    """`[change|file] what` with links to the shapes."""
    shapes, rest = shapes_of(text)
    links = " or ".join(f"[{shape}](#{shape}-json)" for shape in shapes)
    return f"list of {links}: {rest}" if shapes else text


def shapes_of(text: str) -> tuple[list[str], str]:
    """The shapes that a meaning names in brackets, and the rest of it."""
    if not text.startswith("["):
        return [], text
    names, _, rest = text[1:].partition("] ")
    return names.split("|"), rest


# -- settings ------------------------------------------------------------------------------


def _settings() -> Iterable[str]:
    yield f"# Settings\n\n{NOTICE}"
    yield (
        "Nothing has to be set. What is set wrongly keeps its default, and `memdir where` says so\n"
        "with the file and the line."
    )
    yield "## config.toml"
    yield (
        "The file is `~/.config/memdir/config.toml`; `memdir where` prints its path. A variable\n"
        "of the environment wins over it. There, true is `1`, `true`, `yes` or `on`, and false is\n"
        "`0`, `false`, `no` or `off`; in the file, `true` and `false`."
    )
    rows = []
    for option in fields_of(Options):
        unit, meaning = MEANINGS[option.name]
        key, name = option.metadata["key"], f"MEMDIR_{option.name.upper()}"
        rows.append((f"`{key}`", f"`{name}`", _default(option.default), unit, meaning))
    yield _table(("key", "variable", "default", "unit", "meaning"), rows)
    yield "```toml\n" + _example() + "\n```"
    yield "## Where memdir keeps its own files"
    yield "Absolute paths. A repository's settings cannot set them."
    yield _table(
        ("variable", "default", "meaning"),
        [(f"`{name}`", *row) for name, row in OUR_PLACES.items()],
    )
    yield "## What memdir heeds of its surroundings"
    places = [("`" + "`, `".join(name.split(", ")) + "`", t) for name, t in THEIR_PLACES.items()]
    yield _table(("variable", "meaning"), places)
    yield "## What memdir heeds of the client's settings"
    yield (
        "Managed and user settings (`settings.json` in the client's directory). A repository's\n"
        "own are heard only where they switch memory off."
    )
    yield _table(
        ("key", "meaning"),
        [
            ("`autoMemoryDirectory`", "The project's memory directory; `~/` is expanded."),
            ("`autoMemoryEnabled`", "`false` switches the client's memory off."),
        ],
    )
    yield (
        "Whether the client's memory is on is told by `memdir where`; commands that you type work\n"
        "either way."
    )


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _example() -> str:
    tables: dict[str, list[str]] = {}
    for option in fields_of(Options):
        table, _, key = option.metadata["key"].partition(".")
        tables.setdefault(table, []).append(f"{key} = {_default(option.default).strip('`')}")
    return "\n\n".join("\n".join([f"[{table}]", *lines]) for table, lines in tables.items())


# -- library -------------------------------------------------------------------------------

ANSWERS = (
    *(Recall, RecalledMemory, Why, Listed, Detail, Done, Change, Logged, Outcome, Captured, Entry),
    *(Checked, CheckedClaim, Audit, Audited, Prompt),
)


def _library() -> Iterable[str]:
    yield f"# Library\n\n{NOTICE}"
    yield (
        "The names that programs may rely on. [The guide](../guides/library.md) shows them at work,"
        "\n[its last part](../guides/library.md#the-anthropic-memory-tool) the memory tool."
    )
    yield "## Memdir\n\n```python\nfrom memdir import Memdir\n```"
    yield _paragraphs(Memdir)
    for name, method in _public(Memdir):
        yield from _callable(f"Memdir.{name}", method)
    yield "## AsyncMemdir"
    yield _paragraphs(AsyncMemdir)
    twins = [name for name, one in vars(AsyncMemdir).items() if hasattr(one, "__get__")]
    awaited = _listed([name for name in twins if name[0] != "_"])
    yield textwrap.fill(f"`memory.aio` has {awaited}.", 110)
    yield "## Prefetch"
    yield _paragraphs(Prefetch)
    for name, method in _public(Prefetch):
        yield from _callable(f"Prefetch.{name}", method)
    yield "## Memory tool\n\n```python\nfrom memdir.memory_tool import memory_tool\n```"
    yield from _callable("memory_tool", memory_tool)
    yield _paragraphs(MemoryTool)
    for name, method in _public(MemoryTool):
        yield from _callable(f"MemoryTool.{name}", method)
    yield (
        "## Answers\n\nThey are values: nothing in them changes. A field has the name that it has "
        "in the JSON of\n[the command line](commands.md); a time is a number of seconds since "
        "1970, and what JSON calls\n`from` is `from_`."
    )
    for answer in (*ANSWERS, ToolAnswer):
        yield f"### {answer.__name__}"
        yield _paragraphs(answer)
        yield _table(("field", "type"), _members_of(answer))
    yield "## Errors"
    yield (
        "Everything that you can act on is a `memdir.MemdirError`, with `message`, `path` (or "
        "empty),\n`next` (what to do) and `code`. They are imported from `memdir`:"
    )
    yield _table(("class", "code", "meaning"), _errors())


def _public(owner: type) -> list[tuple[str, object]]:
    return [(name, one) for name, one in vars(owner).items() if name[0] != "_"]


def _callable(name: str, one: object) -> Iterable[str]:
    """A heading, the signature, and what its docstring says."""
    if isinstance(one, property):
        yield f"### {name}\n\n```python\n{name}: {_plain(one.fget, 'return')}\n```"
        yield _paragraphs(one)
        return
    inner = getattr(one, "__func__", one)
    assert callable(inner)
    signature = inspect.signature(inner)
    words = [
        "*" if mark else _argument(parameter)
        for parameter, mark in _marked(signature.parameters.values())
    ]
    line = f"{name}({', '.join(words)}) -> {signature.return_annotation}"
    if len(line) > LONGEST_LINE:
        line = f"{name}(\n" + "".join(f"    {word},\n" for word in words)
        line += f") -> {signature.return_annotation}"
    yield f"### {name}\n\n```python\n{line}\n```"
    yield _paragraphs(one)


def _marked(parameters: Iterable[Parameter]) -> Iterable[tuple[Parameter, bool]]:
    """Each parameter but `self`, and a mark before the first that has to be named."""
    named = False
    for one in parameters:
        if one.name in ("self", "cls"):
            continue
        if one.kind is Parameter.VAR_POSITIONAL:
            named = True
        if one.kind is Parameter.KEYWORD_ONLY and not named:
            named = True
            yield one, True
        yield one, False


def _argument(one: Parameter) -> str:
    star = "*" if one.kind is Parameter.VAR_POSITIONAL else ""
    if one.default is Parameter.empty:
        return f"{star}{one.name}: {one.annotation}"
    default = getattr(one.default, "__name__", "") or repr(one.default)
    shown = "…" if default.startswith("_") or callable(one.default) else default
    return f"{star}{one.name}: {one.annotation} = {shown}"


def _plain(function: object, name: str) -> str:
    return str(getattr(function, "__annotations__", {}).get(name, "object"))


def _paragraphs(one: object) -> str:
    return inspect.cleandoc(one.__doc__ or "")


def _members_of(answer: type) -> list[tuple[str, str]]:
    assert is_dataclass(answer)
    rows = [(f"`{one.name}`", f"`{one.type}`") for one in fields_of(answer)]
    for name, one in _public(answer):
        if isinstance(one, property):
            words = f"`{_plain(one.fget, 'return')}`: {_paragraphs(one)}"
            rows.append((f"`{name}`", words.removesuffix(": ")))
    return rows


def _errors() -> list[tuple[str, str, str]]:
    kinds = [errors.MemdirError, *errors.MemdirError.__subclasses__()]
    ours = [kind for kind in kinds if kind.__module__ == errors.__name__]
    return [(f"`{kind.__name__}`", f"`{kind.code}`", str(kind.__doc__)) for kind in ours]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

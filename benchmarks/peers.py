"""`python benchmarks/peers.py`: memdir beside other memories for agents, the same work in one run.

Each peer is installed with pip or npm below a cache folder, in the newest of its pinned versions
that installs here, and measured in homes that are thrown away. What cannot run is a cell that says
why. Nothing is asked of a model; nothing of yours is read. `--only speed --keep docs/compare.json`
measures what needs a quiet machine and keeps the other figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import textwrap
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from benchmarks.peer_install import find_pythons, install
from benchmarks.peer_kinds import PEERS, Peer
from benchmarks.peer_page import compose
from benchmarks.peer_place import Clock, Failed
from benchmarks.peer_work import WORK, WORK_OF, Trial, read_corpus

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/corpus")
MINUTES = 5.0


def main(words: list[str]) -> int:
    names = [kind.name for kind in PEERS]
    parser = argparse.ArgumentParser(
        prog="python benchmarks/peers.py",
        description="Measure memdir and other memories for agents, the same work in one run.",
        epilog="example: python benchmarks/peers.py memdir bettermemory --only ranking speed",
    )
    parser.add_argument("names", nargs="*", choices=[*names, []], default=[], metavar="PEER")
    parser.add_argument("--data", default=CORPUS, metavar="DIR", help="the labelled memories")
    parser.add_argument("--cache", default=_cache(), metavar="DIR", help="where peers are put")
    parser.add_argument("--python", default="", metavar="PATH", help="for peers that need a newer")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="per peer, at most")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--page", metavar="FILE", help="write the table as Markdown there")
    parser.add_argument(
        "--only", nargs="*", choices=WORK, default=WORK, metavar="WORK", help=", ".join(WORK)
    )
    parser.add_argument("--keep", metavar="FILE", help="earlier figures; what is measured wins")
    given = parser.parse_args(words)
    if not os.path.exists(os.path.join(given.data, "queries.jsonl")):
        print(
            f"peers: {given.data} has no queries.jsonl\nNext: name the folder with --data",
            file=sys.stderr,
        )
        return 1
    answer = _measure(given, [kind for kind in PEERS if kind.name in (given.names or names)])
    if given.keep:
        answer = _add(answer, given.keep, given.only)
    page = compose(answer)
    for path, text in ((given.json, json.dumps(answer, indent=1) + "\n"), (given.page, page)):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if not given.page:
        print(page)
    return 0


def _measure(given: argparse.Namespace, kinds: list[type[Peer]]) -> dict[str, Any]:
    roots, pythons = read_corpus(given.data), find_pythons(given.python)
    os.makedirs(given.cache, exist_ok=True)
    rows = []
    for kind in kinds:
        _say(f"{kind.name} …")
        row: dict[str, object] = {"name": kind.name, "version": kind.versions[0], "note": ""}
        row |= {"how": kind.how, "better": kind.better, "cells": {}}
        limit = given.minutes * kind.patience
        try:
            peer, row["note"] = install(kind, given.cache, pythons, Clock(given.minutes * 60))
            row["version"] = peer.version
            row["cells"] = Trial(peer, roots, Clock(limit * 60), _say).measure(given.only)
        except Failed as error:
            row["note"] = f"not run: {error}"
        rows.append(row)
    machine = f"{os.cpu_count()} processors, Python {platform.python_version()}"
    prompts = sum(len(root.asked) for root in roots)
    memories = sum(len(root.notes) for root in roots)
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    subject = {"memories": memories, "directories": len(roots), "prompts": prompts}
    return {"day": day, "machine": machine, **subject, "peers": rows}


def _add(answer: dict[str, Any], path: str, done: Collection[str]) -> dict[str, Any]:
    """Earlier figures with those of this run, in the order of the table; what was done is new."""
    with open(path, encoding="utf-8") as file:
        rows = {row["name"]: row for row in json.load(file)["peers"]}
    for row in answer["peers"]:
        earlier = rows.get(row["name"], {"version": ""})
        cells = earlier["cells"].items() if earlier["version"] == row["version"] else ()
        kept = {name: cell for name, cell in cells if WORK_OF.get(name, name) not in done}
        rows[row["name"]] = {**row, "cells": kept | row["cells"]}
    names = [kind.name for kind in PEERS if kind.name in rows]
    return {**answer, "peers": [rows[name] for name in names]}


def _cache() -> str:
    """Outside of the tree: a folder of the user's cache, else of the machine's scratch space."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    usable = os.access(os.path.dirname(base) if not os.path.isdir(base) else base, os.W_OK)
    return os.path.join(base if usable else tempfile.gettempdir(), "memdir-peers")


def _say(text: str) -> None:
    print(textwrap.shorten(text, 200), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The page of `benchmarks/peers.py`: a table, what each is better at, where memdir is behind."""

from __future__ import annotations

import re
import statistics
import textwrap
from collections.abc import Callable
from typing import Any

from benchmarks.peer_work import WORK_OF

Row = dict[str, Any]
OURS = "memdir"
WIDTH = 100

INTRODUCTION = """# memdir beside other memories for agents

Made by `make peers`; do not edit. On {day}, {machine}: the same {memories} memories of
{directories} public memory directories and the same {prompts} labelled prompts for everybody, each
peer in the newest version that installs here, in a home that is thrown away, through its own
server, command or library, offline. Times are medians of one run on one machine; they tell orders
of magnitude, and only where the last row of the table is alike: peers are measured one after the
other. Run it on yours.
"""

MEANING = """
- **new process**: as a client starts it for a prompt: a hook or command where its documents have
  one, else the server and one call. **running**: the next call of a server or library that is
  there already.
- **R@5**: of the memories that a prompt should find, the share among the first five; each directory
  is a store of its own. memdir's is that of `memdir search`, which leaves nothing out, as the peers
  do; what its recall tells an agent, which says nothing rather than guess, has {told}. Its ranking
  was tuned on these directories, so expect less elsewhere.
- **two writers**: two processes save {asked} memories at once; what was acknowledged must be found
  by a third.
- **deleted files**: an agent deletes what holds {saved} memories; then the command that the
  documents name.
- **installed size**: of the configuration that ran, an embedding model and PyTorch without CUDA
  among it where one is needed.
"""

UNMEASURED = """
## What was not measured

Whatever needs a model or a download from a model hub: summaries of sessions, facts drawn out of
talk, larger embeddings, reranking. Clouds, accounts, dashboards and teams. How much an agent gains.
"""


def compose(answer: Row) -> str:
    peers = answer["peers"]
    ours = next((peer for peer in peers if peer["name"] == OURS), None)
    lines = [["", *(f"{peer['name']} ({peer['version']})" for peer in peers)]]
    lines.append(["---"] * len(lines[0]))
    behind = []
    for label, show, value, sign in ROWS:
        cells, values = [], {}
        for peer in peers:
            cell, number = _cell(peer, show, value)
            cells.append(cell)
            if number is not None:
                values[peer["name"]] = number * sign
        lines.append([label, *cells])
        better = [name for name, it in values.items() if it < values.get(OURS, it)]
        if better:
            why = f"- {label}: behind {', '.join(better)}. {WHY.get(label, '')}".rstrip()
            behind.append(textwrap.fill(why, WIDTH, subsequent_indent="  "))
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    cells = ours["cells"] if ours else {}
    told = cells.get("ranking", {}).get("R@5 of what is told")
    meaning = MEANING.format(
        told="–" if told is None else f"{told:.3f}",
        asked=cells.get("writers", {}).get("asked", "some"),
        saved=cells.get("deletion", {}).get("saved", "some"),
    )
    how = [_item(peer, f"{peer['how']}.{_note(peer)}") for peer in peers]
    better = [_item(peer, peer["better"]) for peer in peers if peer["better"]]
    return "\n".join(
        [
            INTRODUCTION.format(**answer),
            table,
            meaning,
            "## How each was run\n",
            *how,
            "\n## Where memdir is behind\n",
            *(behind or ["In no row that was measured for memdir and for another."]),
            "\n## What each is better at\n",
            *better,
            UNMEASURED,
        ]
    )


def _item(peer: Row, text: str) -> str:
    return textwrap.fill(
        f"- **{peer['name']}**: {text}", WIDTH, subsequent_indent="  ", break_on_hyphens=False
    )


def _note(peer: Row) -> str:
    note = peer["note"]
    return f" {note[0].upper()}{note[1:]}." if note else ""


def _cell(peer: Row, show: Callable[[Row], str], value: Callable[[Row], float]) -> tuple[str, Any]:
    try:
        return show(peer["cells"]), value(peer["cells"])
    except KeyError:
        reasons = {
            name: cell["not run"] for name, cell in peer["cells"].items() if "not run" in cell
        }
        wanted = NEEDS[show]
        note = peer["note"] if peer["note"].startswith("not run") else "not run"
        reason = reasons.get(wanted) or reasons.get(WORK_OF.get(wanted, "")) or note
        reason = reason.removeprefix("not run: ").replace("|", "/").replace("\n", " ")
        return (reason if reason in PLAIN else f"not run: {reason[:90]}"), None


def _ms(name: str, key: str) -> tuple[Callable[[Row], str], Callable[[Row], float]]:
    def value(cells: Row) -> float:
        return statistics.median(cells[name][key])

    def show(cells: Row) -> str:
        taken = value(cells)
        return f"{taken:,.0f} ms" if taken < 10_000 else f"{taken / 1e3:,.0f} s"

    NEEDS[show] = name
    return show, value


def _plain(
    name: str, show: Callable[[Row], str], value: Callable[[Row], float]
) -> tuple[Callable[[Row], str], Callable[[Row], float]]:
    NEEDS[show] = name
    return show, value


def _writers(cells: Row) -> str:
    cell = cells["writers"]
    said = f"{cell['acknowledged']} of {cell['asked']} acknowledged, {cell['found']} found"
    why = re.sub(r"/\S*memdir-peer-\S*", "…", cell.get("why", ""))[:90].replace("|", "/")
    return said + (f" ({why})" if why else "")


def _deletion(cells: Row) -> str:
    cell = cells["deletion"]
    way = f"`{cell['way back']}`" if cell["way back"] else "no command for it"
    return f"{cell['back']} of {cell['saved']} back, {way} ({cell['wiped']} deleted)"


def _machine(cells: Row) -> str:
    cell = cells["machine"]
    return f"{statistics.median(cell['bare']):,.0f} ms (load {cell['load']:.0f})"


FLOOR = "a bare interpreter meanwhile"
PLAIN = {"it has no MCP server"}
NEEDS: dict[Callable[[Row], str], str] = {}  # the cell that a row is made of
ROWS: list[tuple[str, Callable[[Row], str], Callable[[Row], float], int]] = [
    ("recall for a prompt, new process", *_ms("speed", "recall"), 1),
    ("recall, running", *_ms("speed", "again"), 1),
    ("save, new process", *_ms("speed", "save"), 1),
    ("save, running", *_ms("speed", "save again"), 1),
    (
        "R@5",
        *_plain("ranking", lambda c: f"{c['ranking']['R@5']:.3f}", lambda c: c["ranking"]["R@5"]),
        -1,
    ),
    (
        "two writers",
        *_plain(
            "writers",
            _writers,
            lambda c: c["writers"]["asked"] - c["writers"]["found"],
        ),
        1,
    ),
    (
        "deleted files",
        *_plain("deletion", _deletion, lambda c: c["deletion"]["back"]),
        -1,
    ),
    (
        "installed size",
        *_plain(
            "install",
            lambda c: f"{c['install']['megabytes']:,.0f} MB",
            lambda c: c["install"]["megabytes"],
        ),
        1,
    ),
    (
        "packages",
        *_plain(
            "install",
            lambda c: f"{c['install']['packages']}",
            lambda c: c["install"]["packages"],
        ),
        1,
    ),
    (
        "MCP `tools/list`",
        *_plain(
            "listed",
            lambda c: f"{c['listed']['bytes']:,} bytes, {c['listed']['tools']} tools",
            lambda c: c["listed"]["bytes"],
        ),
        1,
    ),
    ("MCP start to `tools/list`", *_ms("start", "ms"), 1),
    (FLOOR, *_plain("machine", _machine, lambda c: 0.0), 1),
]
SAFE = "memdir has the memory, its index and a commit of its history on the disk before it says so."
WHY = {
    "save, new process": SAFE,
    "save, running": SAFE,
    "recall, running": "memdir looks at the files first: editors and agents change them.",
    "packages": "What npm packages need is bundled into their own files.",
    "R@5": "Embeddings find what is said in other words; memdir ranks by words, without a model.",
}

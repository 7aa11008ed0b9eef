"""`make figures`: runs every benchmark and evaluation, writes docs/figures.md.

A part that cannot run says why in its place; a figure that misses its goal stands on top as well.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PARTS = Path(__file__).with_name("figures.toml")
MINUTES = 15.0
SECONDS = 120.0  # of a part that names no other limit

Row = dict[str, Any]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make figures", description="Measure everything.")
    parser.add_argument("names", nargs="*", help="only parts whose command has this word")
    parser.add_argument("--shared", default=str(ROOT.parent / "shared"), metavar="DIR")
    parser.add_argument("--page", metavar="FILE", help="write the page there")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all of it, at most")
    given = parser.parse_args(words)
    end = time.monotonic() + given.minutes * 60
    plan = tomllib.loads(PARTS.read_text("utf-8"))
    parts = plan["part"]
    if given.names:
        parts = [part for part in parts if set(given.names) & set(shlex.split(part["command"]))]
    for part in parts:
        start = time.monotonic()
        part["answers"], part["reason"] = run(part, given.shared, end - start)
        said = part["reason"] or f"{time.monotonic() - start:.0f} s"
        print(f"{part['command']}: {said}", file=sys.stderr, flush=True)
    page = compose(plan["introduction"], parts, plan["end"])
    if given.page:
        Path(given.page).write_text(page, "utf-8")
    else:
        print(page)
    return 0


def run(part: Row, shared: str, left: float) -> tuple[list[Row], str]:
    """The JSON that the command prints, or why there is none."""
    words = [word.replace("{shared}", shared) for word in shlex.split(part["command"])]
    missing = [word for word in words if word.startswith(shared) and not os.path.exists(word)]
    if missing:
        return [], f"not run: {os.path.basename(missing[0])} is not here (--shared DIR)"
    limit = min(left, float(part.get("seconds", SECONDS)))
    if limit < 1:
        return [], "not run: no time was left (--minutes)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            [sys.executable, *words[1:], "--json"],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return [], f"not run: it was not done after {limit:.0f} s"
    try:
        return list(_read(done.stdout)), ""
    except ValueError:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        return [], f"not run: {last[0][:160] if last else 'it printed nothing'}"


def _read(text: str) -> Iterator[Row]:
    """One JSON object after the other."""
    decoder, text = json.JSONDecoder(), text.strip()
    if not text:
        raise ValueError("nothing was printed")
    while text:
        item, used = decoder.raw_decode(text)
        text = text[used:].strip()
        yield item


def compose(introduction: str, parts: list[Row], end: str) -> str:
    sections, missed = [], []
    for part in parts:
        command = part["command"].replace("{shared}", "../shared")
        lines = [f"\n## {part['title']}\n", f"`{command}`\n"]
        if part["reason"]:
            lines.append(f"**{part['reason']}**\n")
            missed.append((part["title"], "", "", part["reason"]))
        for answer in part["answers"]:
            rows = list(_figures(answer))
            missed += [(part["title"], *row[:1], row[2], row[1]) for row in rows if row[-1]]
            if answer.get("summary"):
                lines.append(f"{answer['summary']}.\n")
            lines += _table(("figure", "measured", "goal", "n", "95 %"), [row[:5] for row in rows])
            for name in part.get("tables", ()):
                lines += ["", *_loose(answer.get("tables", {}).get(name, []))]
        if part.get("note"):
            lines += ["", part["note"].strip() + "\n"]
        sections.append("\n".join(lines).rstrip() + "\n")
    top = ["\n## Missed, or not run\n"]
    heads = ("part", "figure", "goal", "measured")
    top += _table(heads, missed) if missed else ["Nothing: every goal is met."]
    return introduction + "\n".join(top) + "\n" + "".join(sections) + end


def _figures(answer: Row) -> Iterator[tuple[str, str, str, str, str, bool]]:
    """Name, measured, goal, n, 95 %, and whether it is missed."""
    for row in answer.get("rows", ()):
        measured = f"{row['figure']:.2f} ×" if not row["over"] else _amount(row)
        goal = (
            "" if row["goal"] is None else f"{row['goal']:g} {row['unit'] if row['over'] else '×'}"
        )
        missed = row["verdict"] == "missed"
        note = f" ({row['note']})" if row["note"] else ""
        yield row["name"] + note, _bold(measured, missed), goal, "", "", missed
    for name, row in answer.get("figures", {}).items():
        if not isinstance(row, dict) or "value" not in row:
            continue
        missed = row.get("met") is False
        goal = "" if row["goal"] is None else f"{row['goal_is']} {row['goal']:g}"
        between = (
            ""
            if row["low"] is None
            else f"{_spell(row['low'], row['unit'])}–{_spell(row['high'], row['unit'])}"
        )
        n = "" if row["n"] is None else f"{row['n']:,}"
        remark = f" ({row['remark']})" if row["remark"] else ""
        yield (
            name + remark,
            _bold(_spell(row["value"], row["unit"]), missed),
            goal,
            n,
            between,
            missed,
        )


def _amount(row: Row) -> str:
    more = "+" if row["floor"] else ""
    return f"{row['figure']:{more},.{0 if row['unit'] == 'B' else 2}f} {row['unit']}"


def _spell(value: object, unit: str) -> str:
    if not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    return (
        f"{value:.3f}"
        if unit == "share"
        else f"{value:,.2f} ms"
        if unit == "ms"
        else f"{value:,.0f}"
    )


def _bold(text: str, missed: bool) -> str:
    return f"**{text}, missed**" if missed else text


def _loose(rows: list[Row]) -> list[str]:
    """A table as it comes, its numbers as shares."""
    cells = [
        [
            f"{cell:.3f}" if isinstance(cell, float) else "" if cell is None else str(cell)
            for cell in row.values()
        ]
        for row in rows
    ]
    return _table(list(rows[0]), cells) if rows else []


def _table(heads: Any, rows: Any) -> list[str]:
    """Markdown; a column that no row fills is left out."""
    used = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    lines = [[str(heads[i]) for i in used], ["---"] * len(used)]
    lines += [[str(row[i]).replace("|", "\\|") for i in used] for row in rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`memdir records candidate` and `triage` as processes, beside a bare interpreter: agents wait."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable

from benchmarks.common import WEIGHTS, WORDS, Row, interleaved, middle, scratch

RUNS = 40
RECORDS = 1_000
TURNS = 30  # of the conversation: a question, a tool, an answer each
GOAL = 60.0  # milliseconds over a bare interpreter
MEMDIR = ("-I", "-c", "from memdir.cli.main import main; main()")
BARE = ("-I", "-S", "-c", "pass")


def measure() -> list[Row]:
    """The least of the runs over bare: others on the machine only add to it."""
    with scratch() as folder:
        home, code = os.path.join(folder, "home"), os.path.join(folder, "code")
        os.makedirs(home)
        os.makedirs(code)
        subprocess.run(["git", "init", "-q", code], check=True)
        titles = _fill(os.path.join(code, ".claude/memory/decisions"))
        talk = os.path.join(folder, "talk.jsonl")
        _talk(talk)
        new = f"We now use {titles[7]} instead"
        env = {"HOME": home, "PATH": os.environ["PATH"]}
        given = ["candidate", "--category", "decision", "--new-info", new]
        return [
            *_rows(given, code, env, b'"candidate"'),
            *_rows(["triage", "--transcript", talk], code, env, b"<triage_data>"),
        ]


def _rows(given: list[str], code: str, env: dict[str, str], wanted: bytes) -> list[Row]:
    """One command against a bare interpreter, in turns: its wall time and the processor's."""
    ours = [sys.executable, *MEMDIR, "records", *given]
    spent: list[list[float]] = [[], []]

    def timed(command: list[str], mine: list[float]) -> Callable[[], None]:
        def act() -> None:
            before = _processor_ms()
            subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env, cwd=code)
            mine.append(_processor_ms() - before)

        return act

    for _ in range(2):  # the byte code
        told = subprocess.run(ours, stdout=subprocess.PIPE, check=True, env=env, cwd=code).stdout
    assert wanted in told, told
    commands = [[sys.executable, *BARE], ours]
    acts = [timed(command, mine) for command, mine in zip(commands, spent, strict=True)]
    bare, own = interleaved(RUNS, *acts)
    name, note = given[0], f"median: {middle(own) - middle(bare):+.1f} ms over {middle(bare):.1f}"
    return [
        Row(f"{name}, {RECORDS:,} records, over bare", min(bare), min(own), GOAL, "ms", True, note),
        Row(f"{name}, the processor alone", min(spent[0]), min(spent[1]), GOAL, "ms", True),
    ]


def _fill(folder: str) -> list[str]:
    """All records in one category: the most that one question has to read."""
    rnd = random.Random(RECORDS)
    os.makedirs(folder)
    titles = []
    for number in range(RECORDS):
        title = " ".join(rnd.choices(WORDS, WEIGHTS, k=6)) + f" {number}"
        titles.append(title)
        with open(os.path.join(folder, f"r{number:05}.json"), "w", encoding="utf-8") as file:
            json.dump(_record(f"r{number:05}", title, rnd), file, indent=2)
    return titles


def _record(id: str, title: str, rnd: random.Random) -> dict[str, object]:
    said = [" ".join(rnd.choices(WORDS, WEIGHTS, k=14)) for _ in range(5)]
    return {
        "schema_version": "1.0",
        "category": "decision",
        "id": id,
        "title": title,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "tags": rnd.sample(WORDS, 3),
        "related_files": [],
        "confidence": 0.8,
        "record_status": "active",
        "changes": [],
        "times_updated": 0,
        "content": {
            "status": "accepted",
            "context": said[0],
            "decision": said[1],
            "rationale": said[2:4],
            "consequences": said[4:],
        },
    }


def _talk(path: str) -> None:
    """A conversation as Claude Code writes it down, with a decision and an error among it."""
    rnd = random.Random(2)
    shared = {"sessionId": "s1", "cwd": os.path.dirname(path), "timestamp": "2026-01-02T03:04:05Z"}
    with open(path, "w", encoding="utf-8") as file:
        for turn in range(TURNS):
            text = "\n".join(" ".join(rnd.choices(WORDS, WEIGHTS, k=14)) for _ in range(6))
            if turn % 5 == 0:
                text += "\nWe decided to use SQLite because it needs no server."
                text += "\nThe import failed with an error; the fix was to pin the version."
            call = {
                "type": "tool_use",
                "id": f"t{turn}",
                "name": "Bash",
                "input": {"command": "ls"},
            }
            back = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}
            for part, (kind, content) in enumerate(
                (
                    ("user", f"Please look at {text[:60]}"),
                    ("assistant", [call]),
                    ("user", [back]),
                    ("assistant", [{"type": "text", "text": text}]),
                )
            ):
                message = {"role": kind, "content": content}
                record = {"type": kind, "uuid": f"{turn}-{part}", "message": message, **shared}
                file.write(json.dumps(record) + "\n")


def _processor_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3

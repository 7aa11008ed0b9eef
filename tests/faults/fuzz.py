"""Random damage to what memdir reads: each reader gives an answer or a sentence, and soon.

A sound text is cut, doubled, swapped and filled with odd bytes. Nothing but our own errors may come
out; a header keeps every byte that was not edited, a hook prints JSON or nothing.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from memdir.claims.find import MAX_CLAIMS, find_claims
from memdir.clients import claude_transcript
from memdir.clients.conversation import Cursor
from memdir.errors import MemdirError
from memdir.format.index import heal_pointers, survey_pointers
from memdir.hot import memory
from memdir.records.record import read_record, write_record
from memdir.records.validate import check_record
from tests.faults import defects, memories, stage, trees
from tests.faults.stage import Tally
from tests.helpers.samples import CONTENTS

SEED, BATCH = 20_260_304, 250
SECONDS = 2.0  # of the processor, for one text
START = str(Path(memory.__file__).with_name("start.py"))
ODD = (b"\0", b"\xff\xfe", b"---\n", b"](", b"[[", b"\\u0000", b'"', b"{", b"}\n{", b"\r", b"\xc2")
ODD += (
    b"[" * 3000,
    b"- " * 800,
    "\u202e\ud7ffé".encode(),
    b"`" * 700,
    b"\n" * 900,
    b": ",
    b"&a *a",
)
HEADER = memories.MEMORIES["alpha.md"].encode()
INDEX = memories.TEXTS["index"].encode()
CLAIMS = b"`src/a.py` was removed. Run `npm run x`, see [it](../b.md) since v1.2 on branch main.\n"
DRAFT = {"category": "decision", "id": "a", "title": "T", "tags": ["a"]}
RECORD = write_record(DRAFT | {"content": CONTENTS["decision"]})
LINES = [memories.LINE.format(n, text) for n, text in enumerate(memories.TEXTS["said"])]
SAID = "".join(LINES).encode()
HOOK = {"session_id": "s", "prompt": "deploy", "hook_event_name": "UserPromptSubmit", "source": "x"}
EVENTS = ("prompt", "session-start", "stop", "pre-tool")
Job = tuple[str, int]


def run(executions: int, hooks: int, defect: str = "") -> Tally:
    """So many texts for each reader, and fewer payloads for hooks: each starts a process."""
    jobs = [
        (kind, at)
        for kind, (_, read) in READERS.items()
        for at in range(0, hooks if read is _hook else executions, BATCH)
    ]
    return stage.parallel(partial(_share, executions, hooks, defect), jobs)


def _share(executions: int, hooks: int, defect: str, jobs: Sequence[Job]) -> Tally:
    defects.switch_off(defect)
    tally = Tally()
    with trees.work_folder() as folder:
        for kind, start in jobs:
            luck = random.Random(f"{SEED} {kind} {start}")
            sound, read = READERS[kind]
            most = hooks if read is _hook else executions
            for number in range(start, min(start + BATCH, most)):
                tally.add(f"{kind} {number}", _look(read, damaged(sound, luck), folder))
    return tally


def damaged(data: bytes, luck: random.Random) -> bytes:
    for _ in range(luck.randrange(1, 6)):
        at, to = sorted(luck.randrange(len(data) + 1) for _ in range(2))
        odd = luck.choice(ODD)
        piece = data[at:to]
        cut, doubled, turned = data[:at] + data[to:], data[:to] + piece * 2, data[to:] + data[:to]
        filled = (data[:at] + odd + data[at:], data[:at] + odd + data[to:])
        noisy = data[:at] + luck.randbytes(3) + data[at + 3 :]
        data = luck.choice((*filled, cut, doubled + data[to:], noisy, turned))[:50_000]
    return data


def _look(read: Callable[[bytes, str], None], data: bytes, folder: str) -> list[str]:
    start = time.process_time()
    try:
        read(data, folder)
    except MemdirError as error:
        return [] if error.message else ["an error without a sentence"]
    except Exception as error:
        return [f"{type(error).__name__}: {error}, at {data[:60]!r}"]
    return ["it takes too long"] if time.process_time() - start > SECONDS else []


def _header(data: bytes, folder: str) -> None:
    text = memory.decode(data)
    document = memory.read_header(text)
    assert document.text == text, "a byte changed"
    assert memory.encode(text) == data, "decoding loses a byte"
    found = memory.read_memory("a.md", data, 0)
    str((found.name, found.description, found.type))


def _index(data: bytes, folder: str) -> None:
    text, files = memory.decode(data), list(memories.MEMORIES)
    healed = heal_pointers(text, files, lambda path: (path, "", ""))
    assert survey_pointers(healed.text, files).orphans == [], "a memory has no pointer"


def _transcript(data: bytes, folder: str) -> None:
    path = f"{folder}/s1.jsonl"
    trees.write(path, data)
    reader = claude_transcript.open_reader(folder, {})
    for since in (Cursor(), Cursor("m1", len(data) // 2)):
        str(reader.read(path, since)).encode("utf-8", "surrogatepass")


def _claims(data: bytes, folder: str) -> None:
    assert len(find_claims(memory.decode(data), "a.md")) <= MAX_CLAIMS, "too many claims"


def _record(data: bytes, folder: str) -> None:
    record, _ = read_record(data, "decisions/a.json")
    check_record(record)


def _hook(data: bytes, folder: str) -> None:
    environ = {"HOME": folder, "PATH": os.environ["PATH"], "MEMDIR_STATE_DIR": f"{folder}/state"}
    command = [sys.executable, "-I", "-S", START, EVENTS[len(data) % len(EVENTS)]]
    done = subprocess.run(command, input=data, capture_output=True, env=environ, cwd=folder)
    assert done.returncode == 0, f"exit {done.returncode}"
    assert not done.stderr, done.stderr[:80]
    if done.stdout.strip():
        json.loads(done.stdout)


READERS: dict[str, tuple[bytes, Callable[[bytes, str], None]]] = {
    "header": (HEADER, _header),
    "index": (INDEX, _index),
    "transcript": (SAID, _transcript),
    "claims": (CLAIMS, _claims),
    "record": (RECORD, _record),
    "hook payload": (json.dumps(HOOK).encode(), _hook),
}

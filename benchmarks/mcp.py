"""The MCP server as a process: from its start to its first answers, and what they cost in bytes.

Beside a bare interpreter and beside a server with one tool, made with the official SDK.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.common import Row, fill, interleaved, middle, prompts, scratch
from memdir.config.scope import project_scope_name

RUNS = 20
MEMORIES = 200
FIRST_MS = 300.0  # from the start to the first answers
RECALL_MS = 120.0  # and to the first recall
MOST_BYTES = 4096  # of tools/list
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = [sys.executable, "-m", "memdir.mcp"]
COMMAND = [sys.executable, "-c", "from memdir.cli.main import main; main()", "mcp"]
PLUGIN = [os.path.join(ROOT, "plugin/bin/memdir"), "mcp"]
ONE_TOOL = """
from mcp.server import MCPServer
server = MCPServer("one")
@server.tool()
def recall(query: str) -> str:
    "Find what fits."
    return query
server.run("stdio")
"""
WHO = {"name": "benchmark", "version": "1"}
HELLO: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": WHO},
}
READY: dict[str, object] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOLS: dict[str, object] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


def measure() -> list[Row]:
    """The median of the runs, the least in the note."""
    with scratch() as folder:
        home, code = os.path.join(folder, "home"), os.path.join(folder, "code")
        os.makedirs(code)
        subprocess.run(["git", "init", "-q", code], check=True)
        name = project_scope_name(os.path.realpath(code))
        store = os.path.join(home, ".claude/projects", name, "memory")
        os.makedirs(os.path.dirname(store))
        fill(store, MEMORIES)
        return _rows(Asking(home, code, prompts(store, 1)[0]))


class Asking:
    """A home, a project, and what is asked."""

    def __init__(self, home: str, code: str, prompt: str) -> None:
        self.env = {"HOME": home, "PATH": os.environ["PATH"]}
        self.code = code
        call = {"name": "recall", "arguments": {"query": prompt}}
        self.recall = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
        self.listed = 0  # bytes of the last answer to tools/list
        self.spent: dict[str, list[float]] = {}  # milliseconds of the processor, by the command

    def first(self, command: list[str]) -> Callable[[], float]:
        """Milliseconds until initialize and tools/list are answered."""
        return lambda: self._timed(command, [HELLO], [READY, TOOLS])

    def recalled(self, command: list[str]) -> Callable[[], float]:
        """The same, and a first recall."""
        return lambda: self._timed(command, [HELLO], [READY, TOOLS], [self.recall])

    def bare(self) -> None:
        """An interpreter that does nothing."""
        before = _processor_ms()
        subprocess.run([sys.executable, "-c", "pass"], env=self.env, check=True)
        self.spent.setdefault("pass", []).append(_processor_ms() - before)

    def _timed(self, command: list[str], *rounds: list[dict[str, object]]) -> float:
        before, start = _processor_ms(), time.perf_counter()
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=self.env, cwd=self.code
        ) as running:
            assert running.stdin and running.stdout
            for messages in rounds:
                running.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
                running.stdin.flush()
                answer = json.loads(running.stdout.readline())
                assert answer["id"] == messages[-1]["id"] and "result" in answer, answer
                if answer["id"] == TOOLS["id"]:
                    result = json.dumps(answer["result"], separators=(",", ":"))
                    self.listed = len(result.encode())
            taken = (time.perf_counter() - start) * 1e3
            running.stdin.close()
        key = command[-2] if len(rounds) == 2 else "recall"
        self.spent.setdefault(key, []).append(_processor_ms() - before)
        return taken

    def processor(self, key: str) -> str:
        """What one run used of the processor: a busy machine changes it least."""
        return f"CPU {middle(self.spent[key]):.0f} ms"


def _rows(asking: Asking) -> list[Row]:
    sdk = [sys.executable, "-u", "-c", ONE_TOOL] if importlib.util.find_spec("mcp_types") else []
    acts = [asking.bare, *(map(asking.first, (OURS, COMMAND, PLUGIN))), asking.recalled(OURS)]
    for act in acts:
        act()  # byte code, the catalog, the disk
    asking.spent.clear()
    taken = interleaved(RUNS, *acts, *([asking.first(sdk)] if sdk else []))
    bare, ours, command, plugin, recalled = taken[:5]
    asking.first(OURS)()
    beside = f"python -c pass: {_said(bare)}, {asking.processor('pass')}"
    if sdk:
        beside += f"; SDK: {_said(taken[5])}, {asking.processor(sdk[-2])}"
    rows = [
        _row("start to first answers", ours, FIRST_MS, asking.processor(OURS[-2])),
        _row("the same by memdir mcp", command, FIRST_MS, asking.processor(COMMAND[-2])),
        _row("the same by the plugin's launcher", plugin, FIRST_MS, asking.processor(PLUGIN[-2])),
        _row(
            f"start to first recall, {MEMORIES} memories",
            recalled,
            RECALL_MS,
            asking.processor("recall"),
        ),
        Row("first answers, over a bare interpreter", middle(bare), middle(ours), note=beside),
        Row("bytes of tools/list", 0.0, float(asking.listed), MOST_BYTES, "B", over=True),
    ]
    if sdk:
        note = "a server with one tool, made with the official SDK"
        rows.append(Row("first answers, of the SDK's", middle(taken[5]), middle(ours), note=note))
    return rows


def _row(name: str, taken: list[float], goal: float | None, note: str = "") -> Row:
    said = f"least: {min(taken):.1f} ms"
    return Row(name, 0.0, middle(taken), goal, over=True, note=f"{said}; {note}" if note else said)


def _said(taken: list[float]) -> str:
    return f"{min(taken):.1f} least, {middle(taken):.1f} median"


def _processor_ms() -> float:
    """What the processes that ended have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3

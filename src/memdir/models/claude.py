"""The `claude` command as a model: `claude:haiku`. It uses the login of that command."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from memdir.hot.run import NESTED
from memdir.models import model

COMMAND = "claude"
NOTHING = model.Usage()
BY_HAND = "run it by hand to see what is wrong: claude -p hello"
# No settings (hooks, plugins), no servers, no tools, no transcript.
ALONE = (
    *("--setting-sources", "", "--strict-mcp-config", "--tools", "", "--no-session-persistence"),
    # Without a limit, a model may call a missing tool again and again until timeout.
    *("--max-turns", "2"),
)
# Set if we run inside an agent; the command would refuse to start, or report to that agent.
OF_A_SESSION = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")


@dataclass(frozen=True)
class Claude:
    name: str
    command: str
    alias: str
    environ: Mapping[str, str] = field(repr=False)

    def answer(self, question: model.Question) -> model.Answer:
        """Asks on standard input: every user could see a prompt in the arguments."""
        words = [self.command, "-p", "--output-format", "json", *ALONE]
        words += ["--model", self.alias] if self.alias else []
        words += ["--system-prompt", question.system]
        if question.schema is not None:
            words += ["--json-schema", json.dumps(question.schema)]
        with tempfile.TemporaryDirectory(prefix="memdir-model-") as empty:
            env = {**self.environ, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(question.max_tokens)}
            out = _run(words, question, env, empty, self.name)
        return _read(out, question, self.name)


def open_model(name: str, base_url: str, environ: Mapping[str, str]) -> Claude:
    """Finds the command; refuses inside a process that was started as a model."""
    if environ.get(NESTED):
        message = "claude: this process was started by memdir itself; it asks no further one"
        advice = f"unset {NESTED} if that is wrong"
        raise model.ModelUnavailable(message, next=advice, usage=NOTHING)
    command = shutil.which(COMMAND, path=environ.get("PATH", os.defpath))
    if command is None:
        hint = "install Claude Code, or choose another model"
        raise model.ModelUnavailable("claude: there is no such command", next=hint, usage=NOTHING)
    env = {key: value for key, value in environ.items() if key not in OF_A_SESSION}
    env |= {NESTED: "1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    if base_url:
        env["ANTHROPIC_BASE_URL"] = base_url
    return Claude(f"claude:{name}" if name else "claude", command, name, env)


def _run(
    words: list[str], question: model.Question, env: Mapping[str, str], folder: str, name: str
) -> bytes:
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        message = f"{name} cannot be started: {error.strerror}"
        hint = f"try: {words[0]} --version"
        raise model.ModelUnavailable(message, next=hint, usage=NOTHING) from None
    # The whole conversation as one text, since each process starts a new one.
    parts = [question.user]
    for number, turn in enumerate(question.earlier, 1):
        parts.append(f"Your answer in turn {number}:\n\n{turn.answered}\n\n{turn.told}")
    text = "\n\n".join(parts).encode("utf-8", "replace")
    with process:
        try:
            return process.communicate(text, question.seconds)[0]
        except subprocess.TimeoutExpired:
            raise model.model_too_slow(name, question.seconds) from None
        finally:
            # An empty group is ProcessLookupError on Linux, PermissionError on macOS.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


def _read(out: bytes, question: model.Question, name: str) -> model.Answer:
    try:
        envelope = json.loads(out)
    except (ValueError, RecursionError):
        envelope = None
    if not isinstance(envelope, dict) or envelope.get("type") != "result":
        raise model.BadAnswer(f"{name} printed no result", next=BY_HAND)
    usage = _usage(envelope)
    if envelope.get("stop_reason") == "refusal":
        raise model.model_refused(name, usage)
    if envelope.get("is_error"):  # not shown: its text may repeat a key or a path
        raise model.ModelUnavailable(f"{name} reports an error", next=BY_HAND, usage=usage)
    data = envelope.get("structured_output")
    text = str(envelope.get("result") or "") if data is None else json.dumps(data)
    return model.model_answer(question, text, name, usage)


def _usage(envelope: dict[str, Any]) -> model.Usage:
    used = envelope.get("usage")
    used = used if isinstance(used, dict) else {}
    reported = envelope.get("total_cost_usd")
    known = isinstance(reported, int | float) and 0 <= reported < math.inf
    cost = float(reported) if known and reported is not None else None
    counts = {key: value for key, value in used.items() if type(value) is int and value > 0}
    fresh = counts.get("input_tokens", 0) + counts.get("cache_creation_input_tokens", 0)
    cached = counts.get("cache_read_input_tokens", 0)
    return model.Usage(fresh, counts.get("output_tokens", 0), cached, cost)

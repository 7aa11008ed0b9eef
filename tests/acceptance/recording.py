"""What the client hands to hooks, written down once for the tests of hooks: `--record` of run.py.

Every field is as the client sent it, but for the paths of the run.
"""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.acceptance.sandbox import Sandbox
from tests.acceptance.scripted_api import Api
from tests.helpers.scripted_server import Reply, serve_script

RECORDED = Path(__file__).parent / "recorded"
CLIENT = "client"  # which one it was
EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    *("SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd"),
)
VARIANT = ("source", "reason", "trigger", "tool_name")  # what an event of one name differs in
NOTIFICATION = "<task-notification>"
ALLOWED = ("--permission-mode", "acceptEdits", "--allowedTools", "Agent,Bash,Write")


def record(sandbox: Sandbox) -> dict[str, Any]:
    """One event of each kind, by the name of its file."""
    sandbox.listen(*EVENTS)
    task = {"description": "Look around", "prompt": "Look around.", "subagent_type": "Explore"}
    written = {"file_path": str(sandbox.project / "a.txt"), "content": "hello\n"}
    sandbox.api.replies[:] = [
        Reply(tool="Write", data=written),
        Reply(tool="Bash", data={"command": "echo hello", "description": "Say hello"}),
        Reply(tool="Agent", data={**task, "run_in_background": False}),
    ]
    with sandbox.converse(*ALLOWED) as talk:
        for prompt in ("Write it down.", "/compact", "/clear", "Begin anew."):
            talk.say(prompt)
    sandbox.ask("Go on.", "--resume", talk.session)
    sandbox.ask("Another way.", "--resume", talk.session, "--fork-session")
    sandbox.api.replies[:] = [Reply(tool="Agent", data={**task, "run_in_background": True})]
    sandbox.ask("Look around.", *ALLOWED)
    return named([tidy(event, sandbox) for event in sandbox.events()])


def named(events: list[Any]) -> dict[str, Any]:
    """The first event of each name; what it differs in is a part of the name."""
    found: dict[str, Any] = {}
    for event in events:
        parts = [event["hook_event_name"], *(event[key] for key in VARIANT if event.get(key))]
        if str(event.get("prompt", "")).startswith(NOTIFICATION):
            parts.append("notification")
        if event.get("agent_type") == "":
            parts.append("summary")  # the model that writes the summary for a compact
        found.setdefault("-".join(parts), event)
    return found


def tidy(event: Any, sandbox: Sandbox) -> Any:
    """The same without the paths of this run."""
    text = json.dumps(event)
    key = re.sub(r"[^A-Za-z0-9]", "-", str(sandbox.project.resolve()))
    places = [(sandbox.home, "/home/user"), (sandbox.project, "/home/user/project")]
    for place, name in [*places, (sandbox.temporary, "/tmp"), (key, "-home-user-project")]:
        text = text.replace(str(place), name)
    return json.loads(text)


def fields(value: Any, where: str = "") -> set[str]:
    """Every key of an event, with those inside; what the user's tools are given does not count."""
    if not isinstance(value, dict):
        return set()
    inside = [fields(one, f"{where}{key}.") for key, one in value.items() if "tool_" not in key]
    return {f"{where}{key}" for key in value}.union(*inside)


def read() -> dict[str, Any]:
    """What was written down."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in RECORDED.glob("*.json")}


def main() -> None:
    program = os.environ["ACCEPTANCE_CLIENT"]
    with tempfile.TemporaryDirectory() as top, serve_script(Api()) as api:
        sandbox = Sandbox(Path(top), program, api)
        found = {**record(sandbox), CLIENT: {"name": "Claude Code", "version": sandbox.version()}}
    for path in RECORDED.glob("*.json"):
        path.unlink()
    for name, event in found.items():
        text = json.dumps(event, indent=2, ensure_ascii=False) + "\n"
        (RECORDED / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{len(found)} files in {RECORDED}, version {found[CLIENT]['version']}")


if __name__ == "__main__":
    main()

"""What becomes of each hostile input on every surface that takes its field: one word for each.

refused    an error, and nothing of it lies anywhere
saved      its bytes lie in a file, and people see them as they are
neutral    it is kept or answered, but not as it came: escaped, framed, cut or passed over
"""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.home import Answer, Home, Server

OUTCOMES = Path(__file__).parent / "golden/hostile.tsv"
INPUTS = Path(__file__).resolve().parents[3] / "shared/hostile/inputs.jsonl"
TEXT = "The queue is drained at noon."
RECORD = {
    "title": "Ship weekly",
    "tags": ["release"],
    "content": {"status": "accepted", "context": "Slow", "decision": "Weekly", "rationale": ["x"]},
}
WRITE = "records write --action create --category decision --input"
SAVE = "records save --category decision --set status=accepted --set context=c --set rationale=r"
REFUSED, SAVED, NEUTRAL = "refused", "saved", "neutral"
Try = Callable[[Home, Server, str], str]


def decode(value: Any) -> str | None:
    """The text a row stands for, as its README says; None for a state, a request."""
    if isinstance(value, str):
        return value
    if "repeat" in value:
        return str(value["repeat"]) * int(value["times"])
    if "join" in value:
        return "".join(decode(part) or "" for part in value["join"])
    if "hex" in value:
        return bytes.fromhex(value["hex"]).decode("utf-8", "surrogateescape")
    if "cp" in value:
        return "".join(part if isinstance(part, str) else chr(part) for part in value["cp"])
    if "nest" in value:
        (first, last), depth = value["nest"], value["depth"]
        return f"{first * depth}{value.get('core', '')}{last * depth}"
    return None


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in INPUTS.read_text("utf-8").splitlines()]


def outcomes(home: Home, server: Server, row: dict[str, Any]) -> str:
    """The line of one input."""
    value = decode(row["value"])
    tries = SURFACES.get(row["field"], {}) if value is not None else {}
    found = []
    for name, attempt in tries.items():
        shutil.rmtree(home.home)
        (home.project / ".git").mkdir(parents=True)
        found.append(f"{name}={attempt(home, server, value or '')}")
    return "\t".join([row["id"], row["field"], *(found or ["not tried here"])])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape" if _has_bytes(text) else "surrogatepass")


def _has_bytes(text: str) -> bool:
    halves = [one for one in text if "\ud800" <= one <= "\udfff"]
    return all("\udc80" <= one <= "\udcff" for one in halves)


def _judged(home: Home, answer: Answer, value: str, show: str = "") -> str:
    """Of a command that writes; `show` lets people see what it wrote."""
    kept = [
        path for path in home.home.rglob("*") if path.is_file() and "history.git" not in path.parts
    ]
    there = bool(value) and any(_bytes(value) in path.read_bytes() for path in kept)
    if answer.code:
        assert not there, "refused, and yet it lies on the disk"
        return REFUSED
    shown = home.memdir(*show.split()).out if show else answer.out
    return SAVED if there and _bytes(value) in shown else NEUTRAL


def _command(line: str, show: str = "") -> Try:
    """A command line that reads the value where it holds ` - `; else `VALUE` stands for it."""

    def attempt(home: Home, server: Server, value: str) -> str:
        return _judged(home, _run(home, line, value), value, show)

    return attempt


def _asked(line: str) -> Try:
    """A command that only answers."""

    def attempt(home: Home, server: Server, value: str) -> str:
        home.memdir("remember", TEXT, "--name", "queue", "--type", "project")
        return REFUSED if _run(home, line, value).code else NEUTRAL

    return attempt


def _run(home: Home, line: str, value: str) -> Answer:
    words = [word.replace("VALUE", value) for word in line.split()]
    return home.memdir(*words, given=_bytes(value) if "-" in words else b"")


def _tool(tool: str, key: str, **others: Any) -> Try:
    """A tool of the MCP server."""

    def attempt(home: Home, server: Server, value: str) -> str:
        answer = server.call(tool, **{**others, key: value})
        kept = [path.read_bytes() for path in server.home.store.glob("**/*.md")]
        there = bool(value) and any(_bytes(value) in data for data in kept)
        shutil.rmtree(server.home.store, ignore_errors=True)  # each is the first
        if "error" in answer or answer["result"]["isError"]:
            assert not there, "refused, and yet it lies on the disk"
            return REFUSED
        return SAVED if there else NEUTRAL

    return attempt


def _by_hand(name: str, form: str = "VALUE") -> Try:
    """A file in the store, as others write it: listed, shown and recalled, and never changed."""

    def attempt(home: Home, server: Server, value: str) -> str:
        home.memdir("remember", TEXT, "--name", "queue", "--type", "project")
        data = _bytes(form.replace("VALUE", value))
        (home.store / name).write_bytes(data)
        answers = [
            home.memdir(*words) for words in (("list",), ("show", "odd"), ("load", "--full"))
        ]
        assert (home.store / name).read_bytes() == data
        assert b"queue" in answers[0].out, "one bad file hides the others"
        if answers[1].code and answers[0].code:
            return REFUSED
        return SAVED if _bytes(value) in answers[1].out else NEUTRAL

    return attempt


def _record(key: str) -> Try:
    """A draft of a record with the value as one of its fields."""

    def attempt(home: Home, server: Server, value: str) -> str:
        fields = {name: json.dumps(one) for name, one in RECORD.items()} | {key: _json(value)}
        draft = "{" + ", ".join(f'"{name}": {one}' for name, one in fields.items()) + "}"
        return _judged(home, home.memdir(*WRITE.split(), "-", given=_bytes(draft)), value)

    return attempt


def _json(value: str) -> str:
    """The value where it is JSON by itself, else as a text."""
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return json.dumps(value)
    return value


def _archive(home: Home, server: Server, value: str) -> str:
    """Entries of a zip; ` / ` stands between two of them."""
    with zipfile.ZipFile(home.project / "given.zip", "w") as archive:
        archive.writestr("fine.md", TEXT)
        for name in value.split(" / "):
            archive.writestr(name if name.endswith(".md") else f"{name}.md", TEXT)
    answer = home.memdir("import", "given.zip")
    assert not answer.code or not home.store.exists(), "refused, and yet there is a store"
    return REFUSED if answer.code else NEUTRAL


def _hook(event: str, key: str = "") -> Try:
    """What a client hands over: as the value of a key, or all of it."""

    def attempt(home: Home, server: Server, value: str) -> str:
        home.memdir("remember", TEXT, "--name", "queue", "--type", "project")
        fields = {"session_id": "s", "cwd": str(home.project), "prompt": TEXT, key: value}
        answer = home.hook(event, json.dumps(fields).encode() if key else _bytes(value))
        assert (answer.code, answer.err) == (0, b"")
        return NEUTRAL if answer.out or key else REFUSED

    return attempt


def _line(home: Home, server: Server, value: str) -> str:
    """A message to the MCP server."""
    return REFUSED if "error" in server.say(_bytes(value)) else NEUTRAL


def _settings(name: str) -> Try:
    """A file of settings; the store stays where it is, or the command refuses."""

    def attempt(home: Home, server: Server, value: str) -> str:
        path = home.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(value))
        answer = home.memdir("where", "--json")
        if answer.code:
            return REFUSED
        where = json.loads(answer.out)
        assert where["store"] == str(home.store)
        return REFUSED if where["findings"] else NEUTRAL

    return attempt


def _transcript(home: Home, server: Server, value: str) -> str:
    path = home.home / "talk.jsonl"
    said = {"role": "user", "content": value}
    line = {
        "type": "user",
        "uuid": "1",
        "sessionId": "s",
        "cwd": str(home.project),
        "message": said,
    }
    path.write_text(json.dumps(line) + "\n")
    answer = home.memdir("capture", "--transcript", str(path), "--no-model")
    os.unlink(path)
    return _judged(home, answer, value)


HEADER = "---\nname: odd\ndescription: odd\ntype: project\n"
BODY: dict[str, Try] = {
    "remember": _command("remember - --name odd --type project", "show odd"),
    "save": _command("save --file - --name odd", "show odd"),
    "team": _command("remember - --name odd --type project --scope team", "show odd --scope team"),
    "log-day": _command("log-day -"),
    "record": _command(
        f"{SAVE} --title Odd --tag t --set decision=VALUE", "show odd --scope records"
    ),
    "file": _by_hand("odd.md", f"{HEADER}---\n\nVALUE\n"),
    "mcp": _tool("save", "text", type="project", anyway=True),
}
TITLE: dict[str, Try] = {
    "remember": _command("remember Noon --name odd --type project --description VALUE", "show odd"),
    "record": _command(f"{SAVE} --title VALUE --tag t --set decision=x", "list --scope records"),
    "file": _by_hand("odd.md", "---\nname: odd\ndescription: VALUE\ntype: project\n---\n\nText.\n"),
    "mcp": _tool("save", "description", text=TEXT, type="project", anyway=True),
}
WHOLE: dict[str, Try] = {
    "save": _command("save --file - --name odd", "show odd --raw"),
    "file": _by_hand("odd.md"),
}
DATED: dict[str, Try] = {"file": _by_hand("odd.md", f"{HEADER}modified: VALUE\n---\n\nText.\n")}
QUERY: dict[str, Try] = {
    "recall": _asked("recall -"),
    "records": _asked("records search VALUE"),
    "hook": _hook("prompt", "prompt"),
    "mcp": _tool("recall", "query"),
}
NAME: dict[str, Try] = {
    "remember": _command("remember Noon --name VALUE"),
    "show": _asked("show -- VALUE"),
    "retire": _asked("retire -- VALUE"),
    "restore": _asked("restore -- VALUE"),
    "mcp": _tool("save", "name", text=TEXT, type="project", anyway=True),
    "mcp-read": _tool("read", "name"),
}
SURFACES: dict[str, dict[str, Try]] = {
    **dict.fromkeys(("body", "body (issue)", "body (tool)", "body (web)", "team memory"), BODY),
    **dict.fromkeys(("title", "description"), TITLE),
    **dict.fromkeys(("file", "frontmatter", "memory file"), WHOLE),
    **dict.fromkeys(("query", "search query"), QUERY),
    "index": {"load": _by_hand("MEMORY.md")},
    "name": NAME,
    "name pair": {"import": _archive},
    "import.zip_entry": {"import": _archive},
    "archive.restore": {"restore": NAME["restore"]},
    "error path": {"show": NAME["show"]},
    "mcp.path": {"mcp-read": NAME["mcp-read"]},
    "mcp.rename_to": {"mcp": NAME["mcp"]},
    "mcp": {"mcp": _line},
    "limit": {"list": _asked("list --limit VALUE"), "recall": _asked("recall Noon --k VALUE")},
    "tag": {"record": _command(f"{SAVE} --title Odd --tag VALUE --set decision=x")},
    "tags": {"record": _record("tags")},
    "confidence": {"record": _record("confidence")},
    "record_status": {"record": _record("record_status")},
    "schema_version": {"record": _record("schema_version")},
    "created_at": {"record": _record("created_at")},
    "changes": {"record": _record("changes")},
    "json": {"record": _command(f"{WRITE} -")},
    "draft path": {"record": _asked(f"{WRITE} VALUE")},
    "hash": {"remember": _asked("remember Other --name queue --if-hash VALUE")},
    "date": {"remember": _command("remember Noon --name odd --date VALUE"), **DATED},
    "updated_at": {**DATED, "record": _record("updated_at")},
    "hook stdin": {"prompt": _hook("prompt"), "session-start": _hook("session-start")},
    "hook json": {"prompt": _hook("prompt", "prompt")},
    "project settings": {"where": _settings("shop/.claude/settings.json")},
    "settings file": {"where": _settings("shop/.claude/settings.json")},
    "user settings": {"where": _settings(".claude/settings.json")},
    "transcript": {"capture": _transcript},
    "log": {"log-day": BODY["log-day"]},
}

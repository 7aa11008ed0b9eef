"""What becomes of each hostile input on every surface that takes its field: one word for each.

refused    an error, and nothing of it lies anywhere
saved      its bytes lie in a file, and people see them as they are
neutral    it is kept or answered, but not as it came: escaped, framed, cut or passed over
"""

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

from tests.contract.home import Answer, Home, Server
from tests.helpers.hostile import FILE, Hostile, read
from tests.helpers.tables import table

OUTCOMES = Path(__file__).parent / "golden/hostile.tsv"
TEXT = "The queue is drained at noon."
RECORD = table("hostile", "record")
WRITE = "records write --action create --category decision --input"
REFUSED, SAVED, NEUTRAL = "refused", "saved", "neutral"
SURFACES: dict[str, dict[str, list[Any]]] = {
    field: row["tries"] for row in table("hostile", "surfaces") for field in row["fields"]
}


def rows() -> list[Hostile]:
    return [read(line) for line in FILE.read_text("utf-8").splitlines()]


def outcomes(home: Home, server: Server, row: Hostile) -> str:
    """The line of one input; a state or a request has no text to try."""
    tries = {} if row.setup or row.http else SURFACES.get(row.field, {})
    found = []
    for name, (kind, *words) in tries.items():
        shutil.rmtree(home.home)
        (home.project / ".git").mkdir(parents=True)
        try_it = globals()[f"_{kind}"]  # the functions below
        found.append(f"{name}={try_it(*words, home, server, row.value)}")
    return "\t".join([row.id, row.field, *(found or ["not tried here"])])


def _bytes(text: str) -> bytes:
    halves = [one for one in text if "\ud800" <= one <= "\udfff"]
    has_bytes = all("\udc80" <= one <= "\udcff" for one in halves)
    return text.encode("utf-8", "surrogateescape" if has_bytes else "surrogatepass")


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


def _command(line: str, show: str, home: Home, server: Server, value: str) -> str:
    """A command line that reads the value where it holds ` - `; else `VALUE` stands for it."""
    return _judged(home, _run(home, line, value), value, show)


def _asked(line: str, home: Home, server: Server, value: str) -> str:
    """A command that only answers."""
    home.memdir("remember", TEXT, "--name", "queue", "--type", "project")
    return REFUSED if _run(home, line, value).code else NEUTRAL


def _run(home: Home, line: str, value: str) -> Answer:
    words = [word.replace("VALUE", value) for word in line.split()]
    return home.memdir(*words, given=_bytes(value) if "-" in words else b"")


def _tool(
    tool: str, key: str, others: dict[str, Any], home: Home, server: Server, value: str
) -> str:
    """A tool of the MCP server."""
    answer = server.call(tool, **{**others, key: value})
    kept = [path.read_bytes() for path in server.home.store.glob("**/*.md")]
    there = bool(value) and any(_bytes(value) in data for data in kept)
    shutil.rmtree(server.home.store, ignore_errors=True)  # each is the first
    if "error" in answer or answer["result"]["isError"]:
        assert not there, "refused, and yet it lies on the disk"
        return REFUSED
    return SAVED if there else NEUTRAL


def _by_hand(name: str, form: str, home: Home, server: Server, value: str) -> str:
    """A file in the store, as others write it: listed, shown and recalled, and never changed."""
    home.memdir("remember", TEXT, "--name", "queue", "--type", "project")
    data = _bytes(form.replace("VALUE", value))
    (home.store / name).write_bytes(data)
    answers = [home.memdir(*words) for words in (("list",), ("show", "odd"), ("load", "--full"))]
    assert (home.store / name).read_bytes() == data
    assert b"queue" in answers[0].out, "one bad file hides the others"
    if answers[1].code and answers[0].code:
        return REFUSED
    return SAVED if _bytes(value) in answers[1].out else NEUTRAL


def _record(key: str, home: Home, server: Server, value: str) -> str:
    """A draft of a record with the value as one of its fields."""
    fields = {name: json.dumps(one) for name, one in RECORD.items()} | {key: _json(value)}
    draft = "{" + ", ".join(f'"{name}": {one}' for name, one in fields.items()) + "}"
    return _judged(home, home.memdir(*WRITE.split(), "-", given=_bytes(draft)), value)


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


def _hook(event: str, key: str, home: Home, server: Server, value: str) -> str:
    """What a client hands over: as the value of a key, or all of it."""
    home.memdir("remember", TEXT, "--name", "queue", "--type", "project")
    fields = {"session_id": "s", "cwd": str(home.project), "prompt": TEXT, key: value}
    answer = home.hook(event, json.dumps(fields).encode() if key else _bytes(value))
    assert (answer.code, answer.err) == (0, b"")
    return NEUTRAL if answer.out or key else REFUSED


def _line(home: Home, server: Server, value: str) -> str:
    """A message to the MCP server."""
    return REFUSED if "error" in server.say(_bytes(value)) else NEUTRAL


def _settings(name: str, home: Home, server: Server, value: str) -> str:
    """A file of settings; the store stays where it is, or the command refuses."""
    path = home.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_bytes(value))
    answer = home.memdir("where", "--json")
    if answer.code:
        return REFUSED
    where = json.loads(answer.out)
    assert where["store"] == str(home.store)
    return REFUSED if where["findings"] else NEUTRAL


def _transcript(home: Home, server: Server, value: str) -> str:
    path = home.home / "talk.jsonl"
    line = {"type": "user", "uuid": "1", "sessionId": "s", "cwd": str(home.project)}
    line["message"] = {"role": "user", "content": value}
    path.write_text(json.dumps(line) + "\n")
    answer = home.memdir("capture", "--transcript", str(path), "--no-model")
    os.unlink(path)
    return _judged(home, answer, value)

"""One vocabulary: what `--json` of a command has, its call of the library has under the same name.

Each row is a command and the same as a call, on one store. A time is text in JSON, and `from` is a
word of Python.
"""

import re
from collections.abc import Callable, Mapping
from json import dumps
from typing import Any

import pytest

from memdir import Memdir
from memdir.hot.safe import iso_time
from tests.helpers.repositories import Checkout
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

NONCE = re.compile("memdir-[0-9a-f]{8}")
OFFER = ", or insist with --allow-secret"  # to a person only
TOKEN = "token = ghp_" + "a1B2" * 9
UV = "Use uv, never pip."
PYTHON_WORDS = {"from": "from_"}
# What only the command line has: sums over several stores, and how an answer came about.
ONLY_JSON = {
    "list": {"store", "layout", "shape", "findings"},
    "audit": {"stores"},
    "recall": {"milliseconds"},
    "search": {"milliseconds", "searched", "findings"},
    "capture": {"dry_run"},
}
TALK = [{"role": "user", "content": "remember that the staging host is called pelican"}]
SAID = {"type": "user", "uuid": "u1", "message": TALK[0]}


@pytest.fixture
def filled(project, monkeypatch) -> Memdir:
    (project / ".git").rmdir()
    Checkout(project).commit({"src/pricing.py": "def price():\n    return 1\n"})
    memory = Memdir.open()
    memory.add("Releases are cut with make release.", name="release", type="project")
    memory.add("Prices are in `src/pricing.py`, not in `src/gone.py`.", name="prices")
    memory.update("release", "Releases are cut with make ship.", description="How to release")
    memdir("recall", "prices")  # the catalog is made, for both
    return memory


Call = Callable[[Memdir], object]
LOOKS: list[tuple[list[str], Call]] = [
    (["recall", "please cut the next release"], lambda m: m.recall("please cut the next release")),
    (["recall", "what do zebras eat"], lambda m: m.recall("what do zebras eat")),
    (["recall", "prices and releases"], lambda m: m.recall("prices and releases")),
    (["search", "release"], lambda m: {"memories": m.search("release")}),
    (["list"], lambda m: {"memories": m.list()}),
    (["list", "--type", "project"], lambda m: {"memories": m.list("project")}),
    (["show", "release"], lambda m: m.get("release")),
    (["log", "release"], lambda m: {"changes": m.history("release")}),
    (["verify"], lambda m: m.verify()),
    (["verify", "prices"], lambda m: m.verify("prices")),
    (["audit", "--deep"], lambda m: m.audit(deep=True)),
]


def named(it: object) -> str:
    return " ".join(it) if isinstance(it, list) else ""


def unlike(json: Any, value: Any, where: str) -> list[str]:
    """Where the answer of the library differs from that of the command line."""
    if isinstance(json, dict):
        found = []
        for key, part in json.items():
            name = PYTHON_WORDS.get(key, key)
            has = name in value if isinstance(value, Mapping) else hasattr(value, name)
            if not has:
                found.append(f"{where}.{key}: the library has none")
                continue
            got = value[name] if isinstance(value, Mapping) else getattr(value, name)
            found += unlike(part, got, f"{where}.{key}")
        return found
    if isinstance(json, list):
        if len(json) != len(value):
            return [f"{where}: {len(json)} and {len(value)}"]
        return [it for n, part in enumerate(json) for it in unlike(part, value[n], f"{where}[{n}]")]
    if isinstance(json, str):
        value = iso_time(value) if isinstance(value, float) else NONCE.sub("", value)
        json = NONCE.sub("", json).replace(OFFER, "")
    return [] if json == value else [f"{where}: {json!r} and {value!r}"]


@pytest.mark.parametrize(
    ("words", "call"), LOOKS, ids=lambda it: " ".join(it) if isinstance(it, list) else ""
)
def test_what_is_looked_at_has_the_names_of_the_command_line(filled, words, call):
    json = memdir(*words, "--json").json
    for key in ONLY_JSON.get(words[0], ()):
        del json[key]
    for finding in json.get("findings", ()):
        finding.pop("store", None)  # that of the audit
    if words[0] == "recall":  # whoever is first makes the catalog
        json["findings"] = [it for it in json["findings"] if it["kind"] != "catalog-made"]
    assert json and unlike(json, call(filled), "answer") == []


# A dry run of the command, then the call. `hash` depends on the second; `type` is only JSON's.
PIN = ["edit", "release", "--why", "x", "--pin"]
CHANGES: list[tuple[list[str], Call]] = [
    (["remember", UV, "--name", "uv"], lambda m: m.add(UV, name="uv")),
    (["remember", TOKEN], lambda m: m.save(TOKEN)),
    (["remember", UV, "--name", "release"], lambda m: m.save(UV, name="release")),
    (
        ["edit", "release", "--why", "x", "--pin"],
        lambda m: m.update("release", why="x", pinned=True),
    ),
    (["edit", "release", "--type", "feedback"], lambda m: m.update("release", type="feedback")),
    (["forget", "release", "--reason", "old"], lambda m: m.forget("release", reason="old")),
]


@pytest.mark.parametrize(
    ("words", "call"), CHANGES, ids=lambda it: " ".join(it) if isinstance(it, list) else ""
)
def test_what_is_changed_has_the_names_of_the_command_line(filled, words, call):
    json = memdir(*words, "--json", "--dry-run").json
    hashes = [json.pop("hash"), *(change.pop("hash") for change in json["changes"])]
    for key in ("files", "dry_run", "type", "type_from"):
        json.pop(key, None)
    done = call(filled)
    assert unlike(json, done, "answer") == []
    assert [bool(hash) for hash in hashes] == [bool(it.hash) for it in (done, *done.changes)]


def test_an_undo_names_the_changes_and_the_files(filled):
    """The one difference, kept from 0.1.0: JSON calls `changes` what the library calls `undone`."""
    json = memdir("undo", "--json", "--dry-run").json
    done = filled.undo()
    assert unlike({"undone": json["changes"], "change": json["change"]}, done, "answer") == []
    assert [file["path"] for file in json["files"]] == [change.path for change in done.changes]


def test_what_is_captured_has_the_names_of_the_command_line(filled, tmp_path):
    (tmp_path / "talk.jsonl").write_text(dumps(SAID) + "\n")
    json = memdir("capture", "--transcript", str(tmp_path / "talk.jsonl"), "--json").json
    filled.undo()
    outcome = filled.capture(TALK, session="s1")
    assert [entry.pop("id") != "" for entry in json["saved"]] == [True]
    del json["dry_run"]
    json["saved"][0].pop("reason"), json["saved"][0].pop("name")
    assert unlike(json, outcome, "answer") == []

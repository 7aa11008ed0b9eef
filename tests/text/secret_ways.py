"""Every kind of secret on every way in: `python -m tests.text.secret_ways` prints the shares.

Refused means an error, or for what nobody waits for (capture, restructure) that the value lies in
no memory, draft, log or history.
"""

import json
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.errors import MemdirError
from memdir.format.draft import Draft
from memdir.library import Memdir
from memdir.memory_tool import memory_tool
from memdir.text.secrets import find_secrets, keep_letters_and_digits
from tests.conftest import OUTSIDE, SHARED, XDG
from tests.helpers.asking import Agent, use
from tests.helpers.conversing import Conversation
from tests.helpers.opened import memory
from tests.helpers.packed import read_packed
from tests.helpers.served import Page
from tests.helpers.terminal import memdir
from tests.text.secret_kinds import APART, DEVELOP, KINDS, Draw

LEAST_NORMALIZED = 10  # characters; a shorter value may be part of a hash
RECORD = ("records", "save", "--category", "decision", "--title", "Use NAME", "--tag", "t")
RECORD += ("--set", "status=accepted", "--set", "context=c", "--set", "rationale=r")


class Place:
    """A home and a project; `given` is what a person or a client brings, so it may hold all."""

    def __init__(self, top: Path) -> None:
        self.home, self.given = top / "home", top / "given"
        self.project = self.home / "shop"
        for folder in (self.project / ".git", self.given):
            folder.mkdir(parents=True)
        self.count = 0
        self.page: Page | None = None

    @property
    def store(self) -> Path:
        return Path(Memdir.open().app.store.root)

    @property
    def next(self) -> str:
        self.count += 1
        return f"n{self.count}"

    @contextmanager
    def entered(self) -> Iterator["Place"]:
        outside, folder = dict(os.environ), Path.cwd()
        for name in [name for name in os.environ if name.startswith(OUTSIDE)]:
            del os.environ[name]
        below = {name: str(self.home / path) for name, path in XDG.items()}
        os.environ.update({"HOME": str(self.home), "NO_COLOR": "1", **below})
        os.chdir(self.project)
        try:
            yield self
        finally:
            if self.page:
                self.page.__exit__()
            os.environ.clear()
            os.environ.update(outside)
            os.chdir(folder)

    def written(self) -> Iterator[str]:
        """Every name and text below the home, objects of the history unpacked."""
        for path in self.home.rglob("*"):
            if path.is_file():
                data = read_packed(path) if path.suffix == ".pack" else path.read_bytes()
                yield f"{path}\n{data.decode('utf-8', 'replace')}"


Way = Callable[[Place, str], bool]


def lies_in(text: str, normalized: str, value: str) -> bool:
    plain = keep_letters_and_digits(value)
    if len(plain) >= LEAST_NORMALIZED:
        return plain in normalized
    return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", text))


def command(*words: str, box: bool = False) -> Way:
    """A command with NAME, and TEXT as an argument or else from stdin; `box` saves NAME before."""

    def way(place: Place, text: str) -> bool:
        name = place.next
        if box:
            memdir("remember", f"The box {name} is blue.", "--name", name, "--anyway")
        given = [word.replace("NAME", name).replace("TEXT", text) for word in words]
        return memdir(*given, stdin=text.encode()).code != 0

    return way


def said(form: str) -> Way:
    return lambda place, text: captured(place, form.format(text), "--no-model")


def save(place: Place, text: str) -> bool:
    given = memory(place.next, body=text, type="project").encode()
    return memdir("save", "--file", "-", "--anyway", stdin=given).code != 0


def captured(place: Place, said: str, *words: str) -> bool:
    talk = Conversation(place.given / f"{place.next}.jsonl", str(place.project))
    talk.say("Look at the queue.", "I will.", said, "Noted.")
    assert memdir("capture", "--transcript", str(talk.path), *words).code == 0
    return False  # what is written decides


def capture_model(place: Place, text: str) -> bool:
    script = place.given / "answers.jsonl"
    draft = {"name": place.next, "type": "project", "description": text[:80], "body": text}
    draft |= {"why": text, "quote": text}
    script.write_text(json.dumps({"answer": {"drafts": [draft]}}) + "\n")
    os.environ["MEMDIR_MODEL"] = f"scripted:{script}"
    try:
        return captured(place, f"Never forget it: {text}")
    finally:
        del os.environ["MEMDIR_MODEL"]


def review_edit(place: Place, text: str) -> bool:
    app, name = Memdir.open().app, place.next
    origin = Origin("claude-code", name, "m1", "person", "", "the box is blue")
    draft = Draft(f"The box {name} is blue.", type="project", name=name)
    held = open_inbox(app).hold(Catch(origin, draft=draft), "nobody asked for it", app.now())
    words = ("review", "edit", held.id, "--body-file", "-", "--anyway")
    return memdir(*words, stdin=text.encode()).code != 0


def review_hold(place: Place, text: str) -> bool:
    """A draft that waits; a program holds it."""
    app, name = Memdir.open().app, place.next
    origin = Origin("claude-code", name, "m1", "person", "", text)
    try:
        open_inbox(app).hold(Catch(origin, draft=Draft(text, name=name)), "doubt", app.now())
    except MemdirError:
        return True
    return False


def bring(place: Place, text: str) -> bool:
    name = place.next
    with zipfile.ZipFile(place.given / f"{name}.zip", "w") as file:
        file.writestr(f"{name}.md", memory(name, body=text, type="project"))
    return memdir("import", str(place.given / f"{name}.zip")).code != 0


def tool(place: Place, text: str) -> bool:
    name = place.next
    given = {"path": f"/memories/{name}.md", "file_text": memory(name, body=text)}
    return memory_tool().call({"command": "create", **given}).is_error


def tool_replace(place: Place, text: str) -> bool:
    path = f"/memories/{place.next}.md"
    memory_tool().call({"command": "create", "path": path, "file_text": memory("x", body="OLD")})
    given = {"path": path, "old_str": "OLD", "new_str": text}
    return memory_tool().call({"command": "str_replace", **given}).is_error


def mcp(place: Place, text: str) -> bool:
    given = {"text": text, "type": "project", "name": place.next, "anyway": True}
    return bool(Agent().ask(use(1, "save", **given))["result"]["isError"])


def library(place: Place, text: str) -> bool:
    done = Memdir.open().save(text, type="project", name=place.next, anyway=True)
    return not any(change.changed for change in done.changes)


def record_write(place: Place, text: str) -> bool:
    fields = {"status": "accepted", "context": text, "rationale": ["r"], "decision": "d"}
    draft = {"title": f"Take {place.next}", "tags": ["t"], "content": fields}
    words = ("records", "write", "--action", "create", "--category", "decision", "--input", "-")
    return memdir(*words, stdin=json.dumps(draft).encode()).code != 0


def by_hand(place: Place, text: str) -> str:
    name = place.next
    place.store.mkdir(parents=True, exist_ok=True)
    (place.store / f"{name}.md").write_text(memory(name, body=text, type="project"))
    return name


def extract(place: Place, text: str) -> bool:
    place.store.mkdir(parents=True, exist_ok=True)
    talk = Conversation(place.store.parent / f"{place.next}.jsonl", str(place.project))
    talk.say(f"Remember that {text}", "I will.")
    assert memdir("extract", "--yes").code == 0
    return False  # what is written decides


def share(place: Place, text: str) -> bool:
    return memdir("share", by_hand(place, text)).code != 0


def page_edit(place: Place, text: str) -> bool:
    name = place.next
    Memdir.open().save(f"The box {name} is blue.", type="project", name=name, anyway=True)
    place.page = place.page or Page().enter()
    shown = place.page.get(f"memory?path={quote(name)}.md")
    answer = place.page.send(shown, "save", body=text)
    return keep_letters_and_digits(text) not in keep_letters_and_digits(
        (place.store / f"{name}.md").read_text()
    ) and bool(answer.text)


def restructure(place: Place, text: str) -> bool:
    name = place.next
    others = "- The staging cluster is called pelican\n- The bastion is reached by ssh\n"
    place.store.mkdir(parents=True, exist_ok=True)
    (place.store / "MEMORY.md").write_text(f"# Memory\n\n## Access {name}\n\n{others}\n{text}\n")
    memdir("restructure")
    plain = keep_letters_and_digits(text)
    files = [path for path in place.store.rglob("*.md") if path.name != "MEMORY.md"]
    return not any(plain in keep_letters_and_digits(path.read_text()) for path in files)


WAYS: dict[str, Way] = {
    "remember": command("remember", "-", "--type", "project", "--name", "NAME", "--anyway"),
    "save": save,
    "edit": command("edit", "NAME", "--body-file", "-", box=True),
    "log-day": command("log-day", "-"),
    "capture: wish": said("Remember that {}"),
    "capture: wish after": said("{}\n\nRemember that."),
    "capture: a rule": said("From now on: {}"),
    "capture: a model": capture_model,
    "review edit": review_edit,
    "review hold": review_hold,
    "import": bring,
    "memory tool create": tool,
    "memory tool replace": tool_replace,
    "mcp": mcp,
    "library": library,
    "records save": command(*RECORD, "--set", "decision=TEXT"),
    "records write": record_write,
    "reason": command("retire", "NAME", "--reason", "TEXT", box=True),
    "record reason": command(*RECORD, "--set", "decision=d", "--reason", "TEXT"),
    "extract": extract,
    "share": share,
    "page": page_edit,
    "restructure": restructure,
}
SILENT = [name for name in WAYS if name.startswith(("capture", "extract"))]
# What was written by hand lies there, and in the history of that store; so do past sessions.
BROUGHT = {"share": "/team/", "restructure": "/never/", "extract": "memory"}


def measure(way: str, kinds: Mapping[str, object] = KINDS) -> dict[str, tuple[bool, bool]]:
    """For each kind: whether it was refused, and whether it lies on the disk all the same."""
    with tempfile.TemporaryDirectory() as top, Place(Path(top)).entered() as place:
        made = {kind: KINDS[kind](Draw(f"{kind} {way}")) for kind in kinds}
        refused = {kind: WAYS[way](place, text) for kind, (text, _) in made.items()}
        texts = [text for text in place.written() if BROUGHT.get(way, "") in text.split("\n")[0]]
    whole = "\n".join(texts)
    normalized = keep_letters_and_digits(whole)
    lies = {kind: lies_in(whole, normalized, value) for kind, (_, value) in made.items()}
    return {kind: (not lies[kind] if way in SILENT else refused[kind], lies[kind]) for kind in made}


def main() -> int:
    halves = {"develop": DEVELOP, "apart": APART}
    print(f"{'way in':<22}{'develop':>9}{'apart':>9}  on disk though refused; let through")
    sums = dict.fromkeys(halves, 0)
    bad = 0
    for way in [name for name in WAYS if not sys.argv[1:] or name in sys.argv[1:]]:
        found = measure(way)
        shares = {half: sum(found[kind][0] for kind in kinds) for half, kinds in halves.items()}
        for half in halves:
            sums[half] += shares[half]
        lying = [kind for kind, (refused, lies) in found.items() if refused and lies]
        through = [kind for kind in DEVELOP if not found[kind][0]]
        bad += len(lying)
        cells = "".join(f"{shares[half]:>6}/{len(kinds)}" for half, kinds in halves.items())
        print(f"{way:<22}{cells}  {len(lying)} {lying or ''}; {', '.join(through)}", flush=True)
    ways = len(sys.argv[1:]) or len(WAYS)
    for half, kinds in halves.items():
        print(f"{half}: {sums[half] / len(kinds) / ways:.3f} of {len(kinds) * ways} refused")
    print(f"on disk though refused: {bad}")
    files = [*SHARED.glob("corpus/*/**/*.md")]
    alarms = sum(bool(find_secrets(path.read_text("utf-8"))) for path in files)
    print(f"false alarms: {alarms} of {len(files)} memories of the corpus")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())

"""Hostile texts in every field that the page shows: nothing of theirs runs, nothing is loaded."""

import json
import os
import re
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.format.draft import Draft
from memdir.hot.run import TOLD
from memdir.store.writer import store_state_folder
from tests.helpers.demo_store import open_store
from tests.helpers.hostile import FILE, read
from tests.helpers.served import Page, files_of
from tests.helpers.tables import table
from tests.ui.browser.conftest import show
from tests.ui.browser.test_browser_look import check

MAX_CHARACTERS = 2_000
MEMORY_PAGES = 50
REFLECTED = 6  # texts that stand in an address
GROUPS = (
    *("dashboard and Markdown", "tag and frame break-out", "index injection"),
    *("hidden and deceiving Unicode", "terminal escapes"),
)
WATCH = """
window.ran = [];
for (const name of ["alert", "confirm", "prompt", "open", "print"])
  window[name] = () => window.ran.push(name);
document.addEventListener("securitypolicyviolation", (event) =>
  window.ran.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


def hostile_texts():
    """Our own rows, and those of the shared set where it is there."""
    rows = [read(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.is_file() else []
    chosen = [row.value for row in rows if row.group in GROUPS and row.value]
    return [*(text[:MAX_CHARACTERS] for text in chosen), *table("hostile_pages", "texts")]


def one_line(text):
    return " ".join(text.split())


def write(path, text):
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def fill(project: Path, store: Path, texts):
    """Each text is a name, a description, a body, a change of it, a draft, and a prompt."""
    app = open_store(project, os.environ)
    log = Path(store_state_folder(app.config)) / TOLD
    lines = []
    for number, text in enumerate(texts):
        line = one_line(text)
        file = store / f"h{number:03}.md"
        write(file, f"---\nname: {line}\ndescription: {line}\ntype: {line}\n---\n\n{text}\n")
        memory = {"path": line or "x", "scope": "project", "whole": True, "words": [line]}
        told = {"time": 1_790_000_000 + number, "session": line, "prompt": line, "characters": 9}
        lines.append(json.dumps({**told, "memories": [memory]}))
        origin = Origin("claude-code", line, f"m{number}", "tool", line, line)
        draft = Draft(text, "project", "", line)
        try:
            open_inbox(app).hold(Catch(origin, draft=draft), line or "x", app.now())
        except UnicodeError:
            continue  # half a character: no client can say it
    log.write_text(log.read_text() + "\n".join(lines) + "\n")
    app.snapshot()
    for number, text in enumerate(texts):
        file = store / f"h{number:03}.md"
        write(file, file.read_bytes().decode("utf-8", "surrogatepass") + f"\nAgain: {text}\n")
    for number, text in enumerate(table("hostile_pages", "names")):
        write(store / f"{text}.md", f"---\nname: n{number}\ntype: user\n---\n\n{text}\n")
    app.snapshot()


@pytest.fixture
def watched(project, store, chromium):
    """The first screen of a hostile store, with an eye on what runs."""
    fill(project, store, hostile_texts())
    script = chromium.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)["identifier"]
    chromium.requests()  # of the tests before
    with Page() as page:
        yield from show(page, chromium)
    chromium.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def places(texts, store):
    yield from ("", "waiting", "told", "shelf", "changes", "restructure?plan=1")
    yield from (f"memories?page={number}" for number in (1, 2, 3))
    yield from (f"waiting?page={number}" for number in range(2, 5))
    yield from (f"told?page={number}" for number in range(2, 5))
    for path in [path for path in files_of(store) if path != "MEMORY.md"][-MEMORY_PAGES:]:
        yield "memory?" + urlencode({"path": quote(path)})
    for text in texts[:: max(len(texts) // REFLECTED, 1)]:
        asked = text.encode("utf-8", "replace").decode()
        yield "lab?" + urlencode({"prompt": asked, "memory": asked})
        yield "memories?" + urlencode({"q": asked, "type": asked, "state": asked})
        yield "memory?" + urlencode({"path": asked})


def seen(browser, origin):
    return check(browser, "window.ran.concat(foreign(...arguments))", origin)


def test_nothing_hostile_runs_or_is_loaded(watched, store):
    base = watched.url
    origin = base[: base.index("/s/")]
    texts = hostile_texts()
    wrong = {}
    for place in places(texts, store):
        watched.go(base + place)
        wrong[place] = seen(watched, origin)
    watched.go(base)
    for css in ('[data-item] [data-key="e"]', 'form[action$="do/edit-draft"] button'):
        watched.follow(css)
        wrong[css] = seen(watched, origin)
    watched.go(base + "memory?path=ada.md")
    watched.type("#body", texts[-1])
    write(store / "ada.md", f"Meanwhile {texts[-2]}\n")
    watched.follow('button[name="save"]')
    wrong["conflict"] = seen(watched, origin)
    watched.go(base + "waiting")
    watched.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    watched.wait(lambda: not watched.run("return document.querySelector('.part > a:only-child')"))
    wrong["parts"] = seen(watched, origin)
    assert {place: found for place, found in wrong.items() if found} == {}
    assert all(it.startswith((origin, "chrome:", "about:")) for it in watched.requests())
    assert not [it for it in watched.complaints() if not re.search(r"status of 4\d\d", it)]

    # What runs or is loaded would be seen: the browser refuses it by the page's own rules.
    markup = '<img src="https://e.example/x" onerror="alert(1)">'
    watched.run("document.body.insertAdjacentHTML('beforeend', arguments[0])", markup)
    watched.wait(lambda: len(seen(watched, origin)) >= 2)
    assert any("e.example" in complaint for complaint in watched.complaints())

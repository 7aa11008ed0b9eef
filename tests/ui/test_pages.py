"""Every page, of healthy stores, broken ones and hostile ones."""

import gzip
import html
import json
import os
import re
import shutil
import stat
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from memdir.config.config import read_config
from memdir.hot.run import TOLD
from memdir.library import Memdir
from memdir.store.writer import store_state_folder
from memdir.ui.prose import diff_rows, render_prose
from memdir.ui.views import VIEWS
from tests.helpers.served import COMMAND, Answer, Page, write_memory

ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "</textarea></title></style><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7*7 }}{% raw %}",
    "[x](javascript:alert(1))",
    '[x](https://e.example/"onmouseover="alert(1))',
    "![pixel](https://evil.example/p.png)",
    "&lt;script&gt;",
    "\u202egpj.exe\u200b\x1b[31m",
]
# What our own templates hold: every other tag or attribute would be somebody else's.
TAGS = (
    "html head meta title link script body a header div span form label select optgroup "
    "option button nav main h1 h2 h3 h4 h5 h6 p dl dt dd small meter section ol ul li time "
    "details summary input blockquote kbd em q strong code pre figure figcaption svg rect "
    "text polygon polyline circle line footer br hr i table thead tbody tr th td article "
    "textarea noscript progress "
)


class Tags(HTMLParser):
    """Every tag with its attributes, as a browser reads them."""

    def __init__(self, body):
        super().__init__()
        self.tags = []
        self.feed(body)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag


def check_inert(body):
    tags = Tags(body).tags
    assert {tag for tag, _ in tags} <= {*TAGS.split()}
    for tag, attributes in tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in attributes.keys() & {"href", "src", "action", "formaction", "data-part"}:
            target = attributes[name]
            local = target.startswith(("/", "#")) and not target.startswith("//")
            assert local or (tag == "a" and target.startswith(("https://", "http://"))), target
    scripts = [attributes for tag, attributes in tags if tag == "script"]
    assert scripts in ([], [{"src": "/static/page.js", "defer": None}])
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\x1b\x00]", body)


def pages_of(page, *more):
    yield from (
        (name, page.get(name)) for name in VIEWS if name not in ("change", "memory", "item")
    )
    yield from ((name, page.get(name)) for name in more)


def write_told(app, **line):
    folder = store_state_folder(app.config)
    os.makedirs(folder, exist_ok=True)
    memories = [{"path": "a.md", "scope": "project", "whole": True, "sure": 2.5, "words": ["uv"]}]
    line = {"time": 1, "session": "s", "prompt": "p", "characters": 10, "memories": memories} | line
    with open(os.path.join(folder, TOLD), "a") as file:
        file.write(json.dumps(line) + "\n")


@pytest.mark.parametrize("text", ATTACKS)
def test_prose_and_differences_are_inert(text):
    shapes = ["{}", "# {}", "- {}", "> {}", "| {} | b |", "`{}`", "**{}**", "```\n{}"]
    for shape in (*shapes, "[{}](http://a.b)", "[a]({})"):
        check_inert(str(render_prose(shape.format(text))))
    assert all("\x1b" not in row.text for row in diff_rows(None, text))


def test_prose_is_read_as_it_is_meant():
    text = "# One\n\nTwo **three** `f(x)`.\n- a\n  - b\n\n> said\n\n```\n<b>\n```\n| x | y |\n"
    shown = str(render_prose(text))
    parts = ["<h3>One", "<strong>three", "<code>f(x)", "<li", "<blockquote>", "&lt;b&gt;", "<td>"]
    assert [part for part in parts if part not in shown] == []
    assert 'rel="noreferrer' in str(render_prose("see https://a.example/b"))
    assert "<img" not in str(render_prose("![a](https://a.example/p.png)"))


def test_an_empty_store_has_a_sentence_for_every_part(project):
    with Page() as page:
        page.enter()
        for name, answer in pages_of(page):
            assert answer.status == 200, name
        text = page.get().text
        said = ("Nothing has changed yet", "Nothing waits", "No agent was told", "runs only when")
        assert [words for words in said if words not in text] == []


def break_one_memory(store, state):
    (store / "use-uv.md").write_bytes(b"---\nname: [\ntype\n\xff\xfe\x00 broken")


def break_history(store, state):
    shutil.rmtree(state / "history.git")


def break_history_within(store, state):
    for path in (state / "history.git/objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"rot")


def break_store(store, state):
    shutil.rmtree(store)
    store.write_text("a file is in the way")


def break_index(store, state):
    (store / "MEMORY.md").unlink()
    (store / "MEMORY.md").mkdir()


def break_told(store, state):
    (state / TOLD).write_bytes(b'{"time": "x"}\n\xff\n[]\n{}\n')


def break_ledger(store, state):
    (state.parent.parent / "ledger.jsonl").write_text("rot\n")


def break_inbox(store, state):
    (state / "held").mkdir(exist_ok=True)
    (state / "held/0123456789ab.json").write_text("{")


def write_five_megabytes(store, state):
    write_memory(store, "large", "word " * 1_000_000)


SAID = {
    break_one_memory: "not UTF-8",
    break_history: "the history begins; what was before cannot be undone",
    break_history_within: "memdir doctor --fix",
    break_store: "the store cannot be opened",
    break_index: "MEMORY.md: cannot be read",
    break_told: "",
    break_ledger: "ledger.jsonl",
    break_inbox: "this draft is damaged",
    write_five_megabytes: "5,000,055 bytes",
}


@pytest.mark.parametrize("harm", SAID)
def test_the_page_tells_what_is_broken_and_shows_the_rest(page, store, tmp_path, harm):
    """Also in the file to send around, and there once."""
    page.get()
    harm(store, Path(store_state_folder(Memdir.open().app.config)))
    for name, answer in pages_of(page):
        assert answer.status in (200, 422), (name, answer.text)
        assert "<nav" in answer.body and "Traceback" not in answer.body
    home = page.get()
    assert home.status == 200
    if harm is not break_history_within:  # what was read before is still right
        assert SAID[harm] in home.text
    if harm is not break_store:
        assert "cut-release" in page.get("memories").text
        assert page.get("memory?path=cut-release.md").status == 200
    file = tmp_path / "page.html"
    run = subprocess.run([*COMMAND, "--html", file], capture_output=True)
    assert run.returncode == 0, run.stderr
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    written = Answer(200, {}, file.read_text("utf-8"))
    assert SAID[harm] in written.text and "Needs a look" in written.text
    problems = re.findall(r'class="(?:problem|remark)"[^>]*>(.*?)</(?:div|p)>', written.body)
    assert len(problems) == len(set(problems)) and written.text.count("doctor --fix") <= 1


def test_ten_thousand_memories_are_one_screen_and_pages(page, store):
    for number in range(10_000 - 3):
        write_memory(store, f"n{number:04}", f"Fact number {number}.")
    home = page.get()
    assert home.status == 200 and "10,000 memories" in home.text
    assert "and 9,992 more" in home.text and len(gzip.compress(home.body.encode())) < 40_000
    assert "Page 200 of 200" in page.get("memories?page=200").text
    assert "Page 1 of 200" in page.get("memories?page=99999999999").text
    assert "n4711" in page.get("memories?q=fact+number+4711").text


def test_search_and_the_lab_are_the_recall_of_agents_and_say_why_another_did_not_come(page):
    found = page.get("memories?q=which+package+manager").text
    assert "use-uv.md" in found and "cut-release.md" not in found
    assert "matches" in found and "sureness" in found
    answer = page.get("lab?prompt=which+package+manager&memory=cut-release")
    told = Memdir.open().recall("which package manager").text.split("\n")[2:-1]
    assert all(" ".join(line.split()) in answer.text for line in told)
    assert "cut-release.md has no word of this prompt" in answer.text
    assert "was told" in page.get("lab?prompt=which+package+manager&memory=use-uv").text
    missing = page.get("lab?prompt=which+package+manager&memory=no-such")
    assert "there is no memory" in missing.text and "Use uv, never pip" in missing.text


def test_projects_and_scopes_are_switched_on_top(page, home):
    Memdir.open(scope="user").save("I write British English.", type="user", name="english")
    other = home / "other"
    (other / ".git").mkdir(parents=True)
    Memdir.open(other).save("The other project uses cargo.", type="project", name="cargo")
    folder = os.path.dirname(read_config(os.environ, str(other)).store)
    with open(os.path.join(folder, "a.jsonl"), "w") as file:  # a conversation tells where it was
        file.write(json.dumps({"cwd": str(other)}))
    with Page() as second:
        second.enter()
        body = second.get().body
        options = re.findall(r'<option value="(\w+)"[^>]*>([^<]*)', body)
        ids = {title: id for id, title in options}
        user = next(id for title, id in ids.items() if title.endswith("· user"))
        assert "english" in second.follow(second.get(f"/go?to={user}")).text
        assert "cargo" in second.follow(second.get(f"/go?to={ids['~/other']}")).text


def test_half_a_character_in_the_log_of_what_was_told_is_shown(page):
    for text in ("half \ud83d of it", "\udce9"):
        memory = {"path": text, "scope": "project", "whole": True, "sure": 1, "words": [text]}
        write_told(Memdir.open().app, prompt=text, session=text, memories=[memory])
    for place in ("", "told"):
        assert page.get(place).status == 200


def test_a_link_between_memories_leads_to_the_page_of_the_other_one(page, store):
    write_memory(store, "way", "See [the tool](use-uv.md#why), [gone](../x.md), [a](/etc/b.md).")
    body = page.get("memory?path=way.md").body
    assert f'href="{page.base}memory?path=use-uv.md">the tool</a>' in body
    assert body.count('">gone') == body.count('">a<') == 0
    assert "Use uv, never pip" in page.get("memory?path=use-uv.md").text


def test_a_doubt_about_a_memory_is_told_once_with_its_acts_beside_it(page, store):
    write_memory(store, "freeze", "The freeze ends on 2024-03-05.")
    os.utime(store / "freeze.md", (1_700_000_000,) * 2)
    home = page.send(page.get(), "audit")
    while "data-poll" in home.body:
        home = page.get()
    look = home.body[home.body.index('id="look"') :]
    assert look.count("due on 2024-03-05") == 1 and "stale-claim" not in look
    assert "half-life" not in look
    edit = page.get("memory?path=freeze.md").body.partition('id="edit"')
    assert "due on 2024-03-05" in edit[0] and "due on 2024-03-05" in edit[2]
    for place in ("", "findings"):
        banner = page.send(page.get(place), "retire", {"path": "freeze.md"})
        assert not (store / "freeze.md").exists()
        assert "due on 2024-03-05" not in page.get("findings").text  # it is dealt with
        page.undo(banner)
        assert (store / "freeze.md").exists()
        assert "due on 2024-03-05" in page.get("findings").text


def test_a_memory_that_is_only_old_is_no_alarm(page, store):
    boat = write_memory(store, "boat", "The boat is painted white.", "The boat is painted white")
    dated = "type: project\nmetadata:\n  created: 2025-01-02T03:04:05Z"
    boat.write_text(boat.read_text().replace("type: project", dated))
    with open(store / "MEMORY.md", "a") as index:
        index.write("- [boat](boat.md) — The boat is painted white\n")
    home = page.send(page.get(), "audit")
    while "data-poll" in home.body:
        home = page.get()
    assert "boat.md" not in home.body[home.body.index('id="look"') :]
    assert re.search(r"1 of them only old|1 memory was not confirmed", home.text)
    assert "boat.md" in page.get("findings").text


def test_the_page_of_a_memory_tells_when_it_was_told(page):
    prompt = "Which package manager is used here, uv or pip?"
    Memdir.open().recall(prompt, session="s1")
    shown = page.get("memory?path=use-uv.md")
    assert "Told to agents" in shown.text and prompt in shown.text
    why = re.search(r'href="([^"]*lab[?][^"]*)"', shown.body)[1]
    assert "use-uv.md was told" in page.get(html.unescape(why)).text
    assert "Told to agents" not in page.get("memory?path=cut-release.md").text


def test_a_name_of_any_bytes_is_shown_and_can_be_put_away(page, store):
    name = "caf\udce9 %41 &x.md"
    with open(os.fsencode(store / name), "w") as file:
        file.write("---\nname: odd\ndescription: odd\ntype: project\n---\n\nOdd.\n")
    listed = page.get("memories")
    links = re.findall(r'href="(/s/\w+/memory\?path=caf[^"]*)"', listed.body)
    answer = page.get(links[0].replace("&amp;", "&"))
    assert answer.status == 200 and "Odd." in answer.text
    page.send(answer, "retire")
    assert not os.path.exists(os.fsencode(store / name))

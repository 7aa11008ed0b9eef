"""Destination of a draft from a past session: a memory, a page for people, or nowhere.

Values come first: files and interfaces change, but a person's preferences stay. Additions to
CLAUDE.md or a page for people are only proposed as git patches, and only in a person's own words.
"""

from __future__ import annotations

import difflib
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch
from memdir.clients.conversation import PERSON
from memdir.config.config import read_config
from memdir.errors import MemdirError
from memdir.format import draft as drafts
from memdir.format import exclusions
from memdir.format.draft import Draft, Rules, Wishes, complete_draft, describe_body
from memdir.hot import memory, safe
from memdir.hot.disk import read_start
from memdir.hot.place import is_below
from memdir.hot.safe import inert, inert_line
from memdir.store import state
from memdir.store.look import read_store_files
from memdir.store.ports import ADDED, ARCHIVE, TRASH
from memdir.store.writer import CLAUDE_MD as CLAUDE_MD_FILE
from memdir.store.writer import App
from memdir.text import similar

VALUE, MEMORY, CLAUDE_MD, KNOWLEDGE, SKIP = "value", "memory", "claude_md", "knowledge", "skip"
ORDER = (VALUE, MEMORY, CLAUDE_MD, KNOWLEDGE, SKIP)  # of display and saving
STORED, PROPOSED = (VALUE, MEMORY), (CLAUDE_MD, KNOWLEDGE)
NOT_ASKED = "said in a past session, but nobody asked to remember it"
NOBODYS = "no person said it"
MAX_LINE_CHARACTERS = 300  # for CLAUDE.md, which every session reads
PAGE_CHARACTERS = 1_500  # a longer text is a page for people
SEARCHED_CHARACTERS = 4_000  # of a draft, for the patterns
MIN_WORDS = 3  # fewer may match by accident
MIN_SHARE = 0.5  # of a draft's words in another text from the same message

_CHOICE = re.compile(
    r"\b(?:prefer|favou?r|value|choose|pick|rather have)s?\b[^.;\n]{1,80}"
    r"\b(?:over|rather than|instead of|more than)\b"
    r"|\b(?:better|nicer|safer|worth more|(?:matters?|counts?) more) than\b"
    r"|\blieber\b[^.;\n]{1,60}\bals\b|^(?:[\w'-]{2,20} ){1,3}over(?: [\w'-]{2,20}){1,3}[.!]?$",
    re.I,
)
# Meant for every conversation, or about something irreversible.
_STANDING = re.compile(
    r"\b(?:in|for|at|on|before|after|with) (?:every|each|all) (?:single )?(?:sessions?"
    r"|conversations?|answers?|repl(?:y|ies)|tasks?|commits?|push(?:es)?|pull requests?|prs?"
    r"|changes?)\b|\b(?:every|each) (?:time|session|conversation)\b|\bno matter what\b"
    r"|\bunder no circumstances\b|\bwithout exception\b|\bat all times\b"
    r"|\b(?:always|never|must|from now on)\b[^.;\n]{0,80}\b(?:(?:force-?)?push|deploy|publish"
    r"|releas|prod|delet|drop|wipe|secret|credential|commit|merg|rebas)",
    re.I,
)
_NAMED_PLACE = re.compile(
    r"\b(?:add|put|write|note|belongs?|document|record)\b[^.\n]{0,60}"
    r"(?:(?P<rules>\bclaude\.md|\bagents\.md|\bproject instructions)"
    r"|\bdecision log\b|\badrs?\b|\bdocs?/|\bin the (?:docs|documentation|wiki)\b)",
    re.I,
)
_REASON = re.compile(r"\b(?:because|since|so that|due to|instead of|rather than|over|weil)\b", re.I)


@dataclass(frozen=True)
class Text:
    where: str
    text: str
    session: str = ""
    message: str = ""


class Known:
    def __init__(self, texts: Sequence[Text] = ()) -> None:
        self._texts: list[tuple[Text, frozenset[str]]] = []
        self.add(*texts)

    def add(self, *texts: Text) -> None:
        self._texts += [(text, similar.compared_words(text.text)) for text in texts]

    def where(self, catch: Catch) -> str:
        draft, source = catch.draft, (catch.origin.session, catch.origin.message)
        if draft is None:
            return ""
        mine = similar.compared_words(draft.body)
        for text, words in self._texts:
            held = len(mine) >= MIN_WORDS and mine <= words
            same_source = all(source) and source == (text.session, text.message)
            if (
                (mine and mine == words)
                or (held and exclusions.why_not_worth_saving(draft.body, text.text))
                or (same_source and len(mine & words) >= MIN_SHARE * len(mine))
            ):
                return text.where
        return ""


@dataclass(frozen=True)
class Routed:
    to: str
    catch: Catch
    reason: str


def route_extracted_draft(catch: Catch, known: Known, rules: Rules, asked: bool = False) -> Routed:
    """`asked`: a person asked to remember it."""
    draft = catch.draft
    if draft is None:
        wish = f"a past session wanted {catch.forget[:80]!r} forgotten"
        return Routed(SKIP, catch, f"{wish}; memdir forget puts it away where it still stands")
    where = known.where(catch)
    if reason := f"{where} says it already" if where else _refusal(draft, rules):
        return Routed(SKIP, catch, reason)
    asked = asked and not catch.hold
    to, reason = _destination(draft, catch, asked)
    if to == VALUE and draft.type not in ("value", "preference"):
        catch = replace(catch, draft=replace(draft, type="value"))
    if to in STORED:
        # A tool cannot ask to remember.
        unasked = NOBODYS if catch.origin.who != PERSON else "" if asked else NOT_ASKED
        catch = replace(catch, hold=catch.hold or unasked)
    return Routed(to, catch, reason)


def _destination(draft: Draft, catch: Catch, asked: bool) -> tuple[str, str]:
    body = draft.body[:SEARCHED_CHARACTERS]
    person = catch.origin.who == PERSON
    short = len(captured_draft_line(draft)) <= MAX_LINE_CHARACTERS
    named = _NAMED_PLACE.search(f"{catch.origin.quote}\n{body}") if person else None
    if named and named["rules"] and short:
        return CLAUDE_MD, "a person wanted it in CLAUDE.md"
    if named and not named["rules"]:
        return KNOWLEDGE, "a person wanted it written down for others"
    # "X over Y" in a decision is its result, not a value.
    choice = draft.type not in ("decision", "reference", "project")
    choice = choice and bool(_CHOICE.search(drafts.describe_body(draft.body)))
    if draft.type == "value" or choice:
        return VALUE, "what somebody holds to be better stays, whatever becomes of the code"
    if person and not asked and short and _STANDING.search(body):
        return CLAUDE_MD, "it is meant for every conversation, and much hangs on it"
    if draft.type == "preference":
        return VALUE, "a way of doing things that is to stay"
    if draft.type in ("decision", "session_summary"):
        page = bool(draft.why or _REASON.search(body))
    else:
        page = len(draft.body) > PAGE_CHARACTERS and draft.type not in ("feedback", "user")
    if person and not asked and page:
        return KNOWLEDGE, "a decision with its reason, which people will want to read too"
    return MEMORY, "an agent should know it next time"


def _refusal(draft: Draft, rules: Rules) -> str:
    try:
        drafts.check_draft_format(draft, rules)
    except MemdirError as error:
        return error.message
    return drafts.why_refuse_draft(draft, rules, Wishes())


def rank_of_routed_draft(routed: Routed) -> tuple[int, bool]:
    return ORDER.index(routed.to), bool(routed.catch.hold)


def find_undone_captures(app: App) -> list[tuple[Text, float]]:
    """Captured memories removed by an undo that was not itself undone, and when."""
    undone: list[tuple[Text, float]] = []
    times: dict[str, float] = {}  # when each change was undone
    try:
        for logged in app.history.log():
            if logged.id not in times:
                times.update(dict.fromkeys(logged.undoes, logged.time))
            elif not logged.undoes:
                for kind, path in logged.paths:
                    data = app.history.content(logged.id, path) if kind == ADDED else None
                    text = text_learned_before(path, data) if data else None
                    if text and text.message:
                        undone.append((text, times[logged.id]))
    except MemdirError:
        return undone  # a broken history, which `memdir doctor` reports
    return undone


def why_not_capture_again(catch: Catch, undone: Sequence[tuple[Text, float]]) -> str:
    for text, time in undone:
        if text.message == catch.origin.message and Known([text]).where(catch):
            return f"it was saved before and undone ({safe.iso_day(time)})"
    return ""


def text_learned_before(path: str, data: bytes, where: str = "") -> Text:
    document = memory.read_header(memory.decode(data))
    values = document.values
    text = f"{values.get('description', '')}\n{document.body}"
    source = (values.get("metadata.session", ""), values.get("metadata.message", ""))
    return Text(path + where, text, *source)


@dataclass(frozen=True)
class Place:
    app: App
    root: str
    rules: Rules
    known: Known
    claude_md: Page
    undone: Sequence[tuple[Text, float]] = ()


def open_capture_place(app: App) -> Place:
    config = app.config
    root = config.project_root
    root = root if os.path.lexists(os.path.join(root, ".git")) else config.checkout
    page = read_capture_page(root, CLAUDE_MD_FILE)
    rules = replace(app.rules(), claude_md=memory.decode(page.data or b""))
    known = Known([*list_known_texts(app, root), Text(CLAUDE_MD_FILE, rules.claude_md)])
    return Place(app, root, rules, known, page, find_undone_captures(app))


def why_session_is_elsewhere(app: App, project: str, cwd: str) -> str:
    """Nothing of another project is saved in this one."""
    if not cwd:
        return "its transcript does not say in which directory it was"
    if not os.path.isdir(project):
        return f"the directory it was started in is gone: {project}"
    try:
        root = read_config(app.config.environ, _standing_in(project, cwd)).project_root
    except MemdirError as error:
        return f"its project cannot be opened: {error.message}"
    return "" if root == app.config.project_root else f"it is about {root}"


def _standing_in(project: str, cwd: str) -> str:
    tops = (project.rstrip("/"), os.path.realpath(project))
    for place in (cwd, os.path.realpath(cwd)):
        while any(is_below(place, top) for top in tops):
            if os.path.isdir(place):
                return place
            place = os.path.dirname(place)
    return project


def list_known_texts(app: App, root: str = "") -> Iterator[Text]:
    """What memories say, also those put away, drafts that wait, and pages for people."""
    store = app.store
    if store.exists():
        yield from (
            text_learned_before(path, data)
            for path, data in read_store_files(store, store.files())[0]
        )
        yield Text(store.index_path, memory.decode(store.index() or b""))
    for room in (TRASH, ARCHIVE):
        for shelved in app.shelf.list(room):
            with suppress(MemdirError):  # unreadable, so nothing to compare
                yield text_learned_before(
                    shelved.path, app.shelf.read(shelved), f" (in the {room})"
                )
    for held in open_inbox(app).list():
        draft, origin = held.catch.draft, held.catch.origin
        if draft is not None:
            text = f"{draft.description}\n{draft.body}"
            yield Text(f"the review inbox ({held.id})", text, origin.session, origin.message)
    for page in read_capture_knowledge_pages(root or app.config.checkout):
        yield Text(page.path, memory.decode(page.data or b""))


# Pages for people, and the patches that add to them

KNOWLEDGE_FOLDER = "docs/knowledge"
DECISIONS = f"{KNOWLEDGE_FOLDER}/decisions.md"
LEARNED = "## Learned from past sessions"
NO_NEWLINE = "\\ No newline at end of file"
MAX_PAGE_BYTES = 1024 * 1024
MAX_PAGES = 200
_PLAIN = re.compile(r"[\w.@+-][\w./@+-]{0,300}", re.ASCII)  # a path that needs no quotes in a patch
_ODD = re.compile(r"[^A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True)
class Page:
    """`path` is relative to the root; `data` is None if there is no page yet.

    `title`: of a page with sections, empty for CLAUDE.md. `problem`: why it cannot be patched.
    """

    path: str
    data: bytes | None = None
    problem: str = ""
    title: str = ""


@dataclass(frozen=True)
class Patch:
    root: str
    path: str
    text: str

    @property
    def file(self) -> str:
        return f"{os.path.basename(self.root)}-{self.path.replace('/', '-')}.patch"


def read_capture_page(root: str, path: str, title: str = "") -> Page:
    """Follows links inside the project, because git does not patch a link."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    named, data, problem = real[len(top) + 1 :], None, ""
    if not is_below(real, top) or not _PLAIN.fullmatch(named):
        return Page(path, None, f"{path} leads out of the project", title)
    try:
        data, facts = read_start(real, MAX_PAGE_BYTES)
        if facts.st_size > MAX_PAGE_BYTES:
            problem = f"{path} has more than {MAX_PAGE_BYTES:,} bytes"
    except FileNotFoundError:
        pass  # it is made by the patch
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror}"
    return Page(named, None if problem else data, problem, title)


def read_capture_knowledge_pages(root: str) -> list[Page]:
    try:
        names = sorted(os.listdir(os.path.join(root, KNOWLEDGE_FOLDER)))
    except OSError:
        return []
    wanted = [name for name in names if name.endswith(".md") and name[0] != "."][:MAX_PAGES]
    pages = [read_capture_page(root, f"{KNOWLEDGE_FOLDER}/{name}") for name in wanted]
    return [page for page in pages if page.data]


def page_has_draft(page: Page, draft: Draft, rules: Rules) -> bool:
    wanted = _entry(draft, rules)[0] if page.title else f"- {_line(draft, rules)}"
    return wanted in map(str.rstrip, _text(page.data or b"").splitlines())


def propose_capture_patches(
    root: str, rules: Rules, proposals: Iterable[tuple[Page, Draft]]
) -> list[Patch]:
    """One patch per page, so that they apply in any order."""
    pages: dict[Page, bytes | None] = {}
    for page, draft in proposals:
        now = replace(page, data=pages.get(page, page.data))
        if page.title:
            pages[page] = add_captured_section(now.data, *_entry(draft, rules), page.title)
        elif not page_has_draft(now, draft, rules):
            pages[page] = add_captured_line(now.data, _line(draft, rules))
    return [
        Patch(root, page.path, make_capture_patch(page.path, page.data, new or b""))
        for page, new in pages.items()
    ]


def captured_draft_line(draft: Draft) -> str:
    text = re.sub(
        r"(?i)^(?:please )?(?:add|put|write|note)(?: this| it)? (?:down )?(?:to|in|into) "
        r"(?:the |our )?(?:claude\.md|agents\.md|project instructions)(?: that\b|[:,])?\s*",
        "",
        " ".join(draft.body.split()),
    )
    return text[:1].upper() + text[1:]


def _line(draft: Draft, rules: Rules) -> str:
    whole, _ = complete_draft(replace(draft, why="", how=""), rules)
    return inert_line(captured_draft_line(whole))


def _entry(draft: Draft, rules: Rules) -> tuple[str, str]:
    whole, _ = complete_draft(draft, rules)
    day = safe.iso_day(rules.now) if draft.day is None else draft.day.isoformat()
    title = inert_line(describe_body(draft.description or draft.body)).rstrip(".")
    body = inert(whole.body)
    rest = body.removeprefix(title)
    # The text does not repeat its heading.
    body = rest.lstrip(".").lstrip() if rest != body and rest[:1] in ("", ".", "\n") else body
    return f"## {day}: {title}", body


def add_captured_line(old: bytes | None, line: str) -> bytes:
    text = _text(old or b"")
    end = "\r\n" if "\r\n" in text else "\n"
    rows = text.split(end)
    if LEARNED not in rows:
        return add_captured_section(old, LEARNED, f"- {line}")
    index = rows.index(LEARNED) + 1
    while index < len(rows) and not rows[index].startswith("#"):
        index += 1
    while not rows[index - 1].strip():
        index -= 1
    gap = [""] if rows[index - 1] == LEARNED else []
    return _bytes(end.join([*rows[:index], *gap, f"- {line}", *(rows[index:] or [""])]))


def add_captured_section(old: bytes | None, heading: str, body: str, title: str = "") -> bytes:
    text = _text(old or b"")
    end = "\r\n" if "\r\n" in text else "\n"
    start = text.rstrip("\r\n") or title
    section = end.join([heading, "", *body.splitlines(), ""])
    # Existing bytes stay, so that the patch only adds.
    blank = text[len(start) :] if text.strip("\r\n") else end
    blank = blank if blank.count("\n") > 1 else end * 2
    return _bytes(start + blank + section if start else section)


def make_capture_patch(path: str, old: bytes | None, new: bytes) -> str:
    before, after = ([*io.StringIO(_text(data), newline="\n")] for data in (old or b"", new))
    names = f"a/{path}" if old is not None else "/dev/null", f"b/{path}"
    rows = [*difflib.unified_diff(before, after, *names)]
    ended = [row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}\n" for row in rows]
    mode = "new file mode 100644\n" if old is None else ""
    return f"diff --git a/{path} b/{path}\n{mode}" + "".join(ended)


def write_capture_patches(folder: str, patches: Iterable[Patch]) -> list[str]:
    paths = []
    for patch in patches:
        paths.append(os.path.join(folder, _ODD.sub("-", patch.file)))
        with state.state_errors(paths[-1], "the patch cannot be written"):
            state.replace_state(*os.path.split(os.path.abspath(paths[-1])), _bytes(patch.text))
    return paths


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

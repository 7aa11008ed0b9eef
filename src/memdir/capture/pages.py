"""Proposed additions to CLAUDE.md and the knowledge pages, as git patches; writes no page."""

from __future__ import annotations

import difflib
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from memdir.format.draft import Draft, Rules, complete_draft, describe_body
from memdir.hot import safe
from memdir.hot.disk import read_start
from memdir.hot.place import is_below
from memdir.hot.safe import inert, inert_line
from memdir.store import state

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


def read_rules_page(root: str, path: str, title: str = "") -> Page:
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


def read_knowledge_pages(root: str) -> list[Page]:
    try:
        names = sorted(os.listdir(os.path.join(root, KNOWLEDGE_FOLDER)))
    except OSError:
        return []
    wanted = [name for name in names if name.endswith(".md") and name[0] != "."][:MAX_PAGES]
    pages = [read_rules_page(root, f"{KNOWLEDGE_FOLDER}/{name}") for name in wanted]
    return [page for page in pages if page.data]


def page_has_draft(page: Page, draft: Draft, rules: Rules) -> bool:
    wanted = _entry(draft, rules)[0] if page.title else f"- {_line(draft, rules)}"
    return wanted in map(str.rstrip, _text(page.data or b"").splitlines())


def propose_page_patches(
    root: str, rules: Rules, proposals: Iterable[tuple[Page, Draft]]
) -> list[Patch]:
    """One patch per page, so that they apply in any order."""
    pages: dict[Page, bytes | None] = {}
    for page, draft in proposals:
        now = replace(page, data=pages.get(page, page.data))
        if page.title:
            pages[page] = add_section_to_page(now.data, *_entry(draft, rules), page.title)
        elif not page_has_draft(now, draft, rules):
            pages[page] = add_page_line(now.data, _line(draft, rules))
    return [
        Patch(root, page.path, make_page_patch(page.path, page.data, new or b""))
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


def add_page_line(old: bytes | None, line: str) -> bytes:
    text = _text(old or b"")
    end = "\r\n" if "\r\n" in text else "\n"
    rows = text.split(end)
    if LEARNED not in rows:
        return add_section_to_page(old, LEARNED, f"- {line}")
    index = rows.index(LEARNED) + 1
    while index < len(rows) and not rows[index].startswith("#"):
        index += 1
    while not rows[index - 1].strip():
        index -= 1
    gap = [""] if rows[index - 1] == LEARNED else []
    return _bytes(end.join([*rows[:index], *gap, f"- {line}", *(rows[index:] or [""])]))


def add_section_to_page(old: bytes | None, heading: str, body: str, title: str = "") -> bytes:
    text = _text(old or b"")
    end = "\r\n" if "\r\n" in text else "\n"
    start = text.rstrip("\r\n") or title
    section = end.join([heading, "", *body.splitlines(), ""])
    # Existing bytes stay, so that the patch only adds.
    blank = text[len(start) :] if text.strip("\r\n") else end
    blank = blank if blank.count("\n") > 1 else end * 2
    return _bytes(start + blank + section if start else section)


def make_page_patch(path: str, old: bytes | None, new: bytes) -> str:
    before, after = ([*io.StringIO(_text(data), newline="\n")] for data in (old or b"", new))
    names = f"a/{path}" if old is not None else "/dev/null", f"b/{path}"
    rows = [*difflib.unified_diff(before, after, *names)]
    ended = [row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}\n" for row in rows]
    mode = "new file mode 100644\n" if old is None else ""
    return f"diff --git a/{path} b/{path}\n{mode}" + "".join(ended)


def write_page_patches(folder: str, patches: Iterable[Patch]) -> list[str]:
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

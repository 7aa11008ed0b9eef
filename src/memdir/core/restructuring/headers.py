"""Name, description and type for a memory that lacks them; what it has stays as it is."""

from __future__ import annotations

from memdir.core import frontmatter
from memdir.core.drafting import MAX_DESCRIPTION
from memdir.core.frontmatter import Document
from memdir.core.loading import BOM
from memdir.core.memory import TYPE_KEYS, stem
from memdir.core.restructuring.bodies import heading_text, headings
from memdir.core.restructuring.guessing import guess
from memdir.core.restructuring.titles import plain, says, title_of
from memdir.core.restructuring.work import HEADED, Work

NEEDED = ("name", "description", "type")
SHORTEST_HOOK = 12  # characters; a shorter hook does not say what a memory is about


def lacking(document: Document) -> list[str]:
    """The fields that every header should have and this one has not."""
    has = {"name": ("name",), "description": ("description",), "type": TYPE_KEYS}
    return [field for field in NEEDED if not document.get(*has[field]).strip()]


def add_headers(work: Work, hooks: dict[str, tuple[str, str]]) -> None:
    """Complete every header; `hooks` gives the index's words and section for a path."""
    for path in sorted(work.pages):
        document = work.pages[path].document
        missing = lacking(document)
        if not missing:
            continue
        hook, section = hooks.get(path, ("", ""))
        lines = document.body.removeprefix(BOM).split("\n")
        tops = headings(lines)
        top = heading_text(lines[tops[0][0]]) if tops else ""
        type, reason = guess(path, top, section, lines)
        values = {
            "name": title_of(top) or stem(path),
            "description": _description(hook, lines, path),
            "type": type,
        }
        text = _with(document, [(field, values[field]) for field in missing], work)
        work.write(path, text)
        what = f"header got {', '.join(missing)}"
        work.say(HEADED, path, what + (f"; type {type}: {reason}" if "type" in missing else ""))


def _description(hook: str, lines: list[str], path: str) -> str:
    if len(hook) >= SHORTEST_HOOK:
        return plain_line(hook)[:MAX_DESCRIPTION]
    return says(lines) or plain(hook) or stem(path).replace("_", " ").replace("-", " ")


def plain_line(text: str) -> str:
    """One line without control characters; marks stay."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _with(document: Document, fields: list[tuple[str, str]], work: Work) -> str:
    """The text with these fields, a byte order mark still in front of all."""
    bom = BOM if document.lines is None and document.body.startswith(BOM) else ""
    body = document.body.removeprefix(bom)
    new = document.lines is None
    document = Document(document.opening, document.lines, document.closing, body)
    for field, value in fields:
        key = field
        if field == "type":
            nested = "metadata" in document.values and not document.values["metadata"]
            key = TYPE_KEYS[1] if nested else work.given.style.type_key
        document = frontmatter.edit(document, key, value)
    text = document.text
    if new and body[:1] not in ("\n", "\r", ""):
        end = "\r\n" if document.opening.endswith("\r\n") else "\n"
        text = document.opening + "".join(line + "\n" for line in document.lines or ())
        text += document.closing + end + body
    return bom + text

"""Which type a part has, and why we think so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.core import types
from memdir.core.memory import UNKNOWN, stem
from memdir.core.restructuring.titles import plain

FEEDBACK, PROJECT, REFERENCE, USER = "feedback", "project", "reference", "user"
RULE_SHARE = 0.3  # of the lines; a rule or two stand in any description of a project
_HEADINGS = (
    (
        USER,
        ("about me", "about the user", "user profile", "user role", "who i am", "user preferences"),
    ),
    (REFERENCE, ("this index", "memory file", "memory files", "this memory")),
    (
        FEEDBACK,
        (
            *("feedback", "rules", "rule", "convention", "conventions", "preference"),
            *("preferences", "guideline", "guidelines", "style", "always", "never", "requirement"),
            *("workflow", "must", "behavioral", "how to work", "do not", "gotchas", "pitfalls"),
        ),
    ),
    (
        REFERENCE,
        (
            *("reference", "references", "links", "link", "resources", "where to find", "urls"),
            *("dashboards", "external", "documents", "reference files", "see also"),
        ),
    ),
    (
        PROJECT,
        (
            *("project", "status", "roadmap", "decision", "decisions", "architecture", "todo"),
            *("todos", "plan", "history", "structure", "overview", "open questions", "state"),
        ),
    ),
)
_RULE = re.compile(
    r"\b(always|never|don['’]?t|do not|must|prefer|avoid|should|make sure|only use|"
    r"instead of|required?)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://|\bdocs/\S|`[\w./-]{1,80}\.md`", re.IGNORECASE)


def guess(path: str, heading: str, section: str, lines: Sequence[str]) -> tuple[str, str]:
    """The type, and the reason in a few words: the file's name, a heading, or the wording."""
    name = stem(path).lower()
    for type in types.names():
        if name == type or name.startswith((type + "_", type + "-")):
            return type, f'the file is called "{type}"'
    for where, text in (("heading", heading), ("section", section)):
        found, word = _by_heading(text)
        if found:
            return found, f'its {where} says "{word}"'
    return _by_wording([line for line in lines if line.strip()])


def _by_heading(heading: str) -> tuple[str, str]:
    words = "".join(char if char.isalnum() else " " for char in plain(heading).casefold()).split()
    spaced = f" {' '.join(words)} "
    for name in types.names():
        section = types.get(name).section.casefold()
        if words and spaced.strip() in (name.replace("_", " "), section):
            return name, heading
    for type, marks in _HEADINGS:
        for mark in marks:
            if f" {mark} " in spaced:
                return type, mark
    return "", ""


def _by_wording(lines: list[str]) -> tuple[str, str]:
    if not lines:
        return UNKNOWN, "it says nothing"
    rules = sum(1 for line in lines if _RULE.search(line[:400]))
    places = sum(1 for line in lines if _ADDRESS.search(line[:400]))
    if rules >= len(lines) * RULE_SHARE:
        return FEEDBACK, f"{rules} of {len(lines)} lines are worded as rules"
    if places * 2 > len(lines):
        return REFERENCE, f"{places} of {len(lines)} lines name a place to look"
    return PROJECT, "it describes the project"

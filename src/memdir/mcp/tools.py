"""Descriptions of the tools, and the check of their arguments.

The whole list is in the context of every session, so each word costs every user tokens.
"""

from memdir.hot import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memdir.mcp.server import Fields

QUERY_CHARACTERS = 20_000
WORD_CHARACTERS = 2_000  # per other argument
TEXT_CHARACTERS = 400_000  # per memory; the store has its own, lower limit
MAX_RECALLED, MAX_CHANGES = 20, 100
LAST_LINE = 1_000_000_000

_LOOKS = {"readOnlyHint": True, "openWorldHint": False}
_WRITES = {"destructiveHint": False, "openWorldHint": False}


def _text(about: str = "", longest: int = WORD_CHARACTERS) -> "Fields":
    return {"type": "string", **({"description": about} if about else {}), "longest": longest}


def _number(least: int, limit: int, about: str = "") -> "Fields":
    description = {"description": about} if about else {}
    return {"type": "integer", **description, "minimum": least, "maximum": limit}


_SCOPE = _text()
_SCOPES = _text("project (default), user, local, team")
_TYPE: "Fields" = {"type": "string", "enum": list(types.names())}

# name: (description, annotations, required arguments, arguments)
TOOLS: "dict[str, tuple[str, Mapping[str, bool], tuple[str, ...], dict[str, Fields]]]" = {
    "recall": (
        "Find memories that fit a task or question; each says its age and which claims hold.",
        _LOOKS,
        ("query",),
        {
            "query": _text("the task or question, in full words", QUERY_CHARACTERS),
            "limit": _number(1, MAX_RECALLED),
            "scope": _text("only there: project, user, local, team, records"),
        },
    ),
    "save": (
        "Keep one lasting fact, rule or decision. Not what code, git or docs show; no secrets. "
        "With the name of a memory, its text is replaced.",
        _WRITES,
        ("text",),
        {
            "text": _text("the fact or rule, dates absolute", TEXT_CHARACTERS),
            "type": {
                **_TYPE,
                "description": "feedback: how to work; project: its facts; reference: where to "
                "look; user: the person",
            },
            "name": _text("a-z, 0-9, -"),
            "description": _text("one line for the index"),
            "why": _text(),
            "how": _text("when to apply"),
            "scope": _SCOPES,
            "if_hash": _text("update only this version, see read"),
            "anyway": {"type": "boolean", "description": "although one says nearly the same"},
        },
    ),
    "read": (
        "Read a memory; without name the index.",
        _LOOKS,
        (),
        {
            "name": _text("name, path, or name@change"),
            "line": _number(1, LAST_LINE, "start there"),
            "scope": _SCOPE,
        },
    ),
    "list": (
        "List memories, most recently confirmed first.",
        _LOOKS,
        (),
        {"type": _text(), "offset": _number(0, LAST_LINE), "scope": _text("default: all")},
    ),
    "forget": (
        "Retire a memory; undo brings it back.",
        _WRITES,
        ("name",),
        {"name": _text(), "reason": _text(), "scope": _SCOPE},
    ),
    "verify": (
        "Check claims of memories (paths, symbols, commands) against the code.",
        _LOOKS,
        (),
        {"name": _text("default: all"), "scope": _SCOPE},
    ),
    "history": (
        "List changes with ids, newest first, whoever made them.",
        _LOOKS,
        (),
        {"name": _text(), "limit": _number(1, MAX_CHANGES), "scope": _SCOPE},
    ),
    "undo": (
        "Take back one change; that too can be undone.",
        _WRITES,
        ("change",),
        {"change": _text("id from history"), "scope": _SCOPE},
    ),
}


def list_mcp_tools() -> "list[Fields]":
    """The answer to tools/list; limits that no honest call reaches are left out to save tokens."""
    tools: list[Fields] = []
    for name, (about, hints, required, arguments) in TOOLS.items():
        shown = {
            argument: {
                k: v for k, v in fields.items() if k != "longest" and v not in (0, LAST_LINE)
            }
            for argument, fields in arguments.items()
        }
        schema: Fields = {"type": "object", "properties": shown}
        if required:
            schema["required"] = list(required)
        tools.append(
            {"name": name, "description": about, "inputSchema": schema, "annotations": dict(hints)}
        )
    return tools


class Wrong(ValueError):
    """A bad argument; the text says what to send instead."""


def check_mcp_arguments(tool: str, given: "Mapping[str, Any]") -> "dict[str, Any]":
    """The arguments, checked for type and size; null counts as not given."""
    _, _, required, arguments = TOOLS[tool]
    taken = {key: value for key, value in given.items() if value is not None}
    unknown = sorted(key for key in taken if key not in arguments)
    if unknown:
        shown = "".join(char if char.isprintable() else "?" for char in unknown[0][:40])
        raise Wrong(f"{tool} has no argument {shown!r}; it takes {', '.join(arguments)}")
    for key in required:
        if key not in taken:
            raise Wrong(f"{tool} needs {key}; send it as a {arguments[key]['type']}")
    for key, value in taken.items():
        problem = _problem(value, arguments[key])
        if problem:
            raise Wrong(f"{key} {problem}")
    return taken


def _problem(value: object, schema: "Mapping[str, Any]") -> str:
    if schema["type"] == "boolean":
        return "" if isinstance(value, bool) else "is true or false"
    if schema["type"] == "integer":
        if not isinstance(value, int) or isinstance(value, bool):
            return "is a whole number"
        least, limit = schema["minimum"], schema["maximum"]
        return "" if least <= value <= limit else f"is a number from {least} to {limit}"
    if not isinstance(value, str):
        return "is a text"
    longest, choices = schema.get("longest", WORD_CHARACTERS), schema.get("enum")
    if len(value) > longest:
        count = f"has {len(value):,} characters, and {longest:,} is the limit"
        return f"{count}; shorten it, or split it into several"
    if any("\ud800" <= char <= "\udfff" for char in value):
        return "holds half a character (a lone surrogate); send it as UTF-8"
    if "\0" in value:
        return "holds a NUL character; leave it out"
    return f"is one of {', '.join(choices)}" if choices and value not in choices else ""

"""The tools as an agent is told of them, and the check of what it sends.

The whole list stands in the context of a session: each word here is paid for by every user.
"""

from memdir.hot import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memdir.mcp.rpc import Fields

LONGEST_QUERY = 20_000  # characters
LONGEST = 2_000  # characters of any other text
LONGEST_TEXT = 400_000  # of a memory; the store's own limit is lower and says so itself
MOST_RECALLED, MOST_CHANGES = 20, 100
LAST_LINE = 1_000_000_000

_LOOKS = {"readOnlyHint": True, "openWorldHint": False}
_WRITES = {"destructiveHint": False, "openWorldHint": False}


def _text(about: str = "", longest: int = LONGEST) -> "Fields":
    return {"type": "string", **({"description": about} if about else {}), "longest": longest}


def _number(about: str, least: int, most: int) -> "Fields":
    said = {"description": about} if about else {}
    return {"type": "integer", **said, "minimum": least, "maximum": most}


_SCOPE = _text()
_SCOPE_SAID = _text("project (default), user, local, team")
_TYPE: "Fields" = {"type": "string", "enum": list(types.names())}
_NAME = _text()

# name: (description, annotations, required arguments, arguments)
TOOLS: "dict[str, tuple[str, Mapping[str, bool], tuple[str, ...], dict[str, Fields]]]" = {
    "recall": (
        "Find memories that fit a task or question; each says its age and which claims hold.",
        _LOOKS,
        ("query",),
        {
            "query": _text("the task or question, in full words", LONGEST_QUERY),
            "limit": _number("", 1, MOST_RECALLED),
            "scope": _text("only there: project, user, local, team"),
        },
    ),
    "save": (
        "Keep one lasting fact, rule or decision. Not what code, git or docs show; no secrets. "
        "With the name of a memory, its text is replaced.",
        _WRITES,
        ("text", "type"),
        {
            "text": _text("the fact or rule, dates absolute", LONGEST_TEXT),
            "type": {
                **_TYPE,
                "description": "feedback: how to work; project: its facts; reference: where to "
                "look; user: the person",
            },
            "name": _text("a-z, 0-9, -"),
            "description": _text("one line for the index"),
            "why": _text(),
            "how": _text("when to apply"),
            "scope": _SCOPE_SAID,
            "if_hash": _text("update only this version, see read"),
            "anyway": {
                "type": "boolean",
                "description": "although one says nearly the same",
            },
        },
    ),
    "read": (
        "Read a memory; without name the index.",
        _LOOKS,
        (),
        {
            "name": _text("name, path, or name@change"),
            "line": _number("start there", 1, LAST_LINE),
            "scope": _SCOPE,
        },
    ),
    "list": (
        "List memories, most recently confirmed first.",
        _LOOKS,
        (),
        {"type": _text(), "offset": _number("", 0, LAST_LINE), "scope": _text("default: all")},
    ),
    "forget": (
        "Retire a memory; undo brings it back.",
        _WRITES,
        ("name",),
        {"name": _NAME, "reason": _text(), "scope": _SCOPE},
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
        {"name": _NAME, "limit": _number("", 1, MOST_CHANGES), "scope": _SCOPE},
    ),
    "undo": (
        "Take back one change; that too can be undone.",
        _WRITES,
        ("change",),
        {"change": _text("id from history"), "scope": _SCOPE},
    ),
}


def listed() -> "list[Fields]":
    """What tools/list answers."""
    tools: list[Fields] = []
    for name, (about, hints, required, arguments) in TOOLS.items():
        shown = {key: _shown(schema) for key, schema in arguments.items()}
        schema: Fields = {"type": "object", "properties": shown}
        if required:
            schema["required"] = list(required)
        tools.append(
            {"name": name, "description": about, "inputSchema": schema, "annotations": dict(hints)}
        )
    return tools


def _shown(schema: "Fields") -> "Fields":
    """Limits that no honest call reaches are not worth a word to every session."""
    return {k: v for k, v in schema.items() if k != "longest" and v not in (0, LAST_LINE)}


class Wrong(ValueError):
    """An argument that cannot be taken; its text says what to send instead."""


def check(tool: str, given: "Mapping[str, object]") -> "Fields":
    """The arguments, each of its type and size; one that is null was not given."""
    _, _, required, arguments = TOOLS[tool]
    taken = {key: value for key, value in given.items() if value is not None}
    unknown = sorted(key for key in taken if key not in arguments)
    if unknown:
        what = f"{tool} has no argument {_plain(unknown[0])}"
        raise Wrong(f"{what}; it takes {', '.join(arguments)}")
    for key in required:
        if key not in taken:
            raise Wrong(f"{tool} needs {key}; send it as a {arguments[key]['type']}")
    for key, value in taken.items():
        _check_one(key, value, arguments[key])
    return taken


def _check_one(key: str, value: object, schema: "Fields") -> None:
    kind = schema["type"]
    if kind == "string":
        _check_text(key, value, schema)
    elif kind == "boolean":
        if not isinstance(value, bool):
            raise Wrong(f"{key} is true or false")
    elif not isinstance(value, int) or isinstance(value, bool):
        raise Wrong(f"{key} is a whole number")
    else:
        least, most = schema["minimum"], schema["maximum"]
        assert isinstance(least, int) and isinstance(most, int)
        if not least <= value <= most:
            raise Wrong(f"{key} is a number from {least} to {most}")


def _check_text(key: str, value: object, schema: "Fields") -> None:
    if not isinstance(value, str):
        raise Wrong(f"{key} is a text")
    longest = schema.get("longest", LONGEST)
    assert isinstance(longest, int)
    if len(value) > longest:
        what = f"{key} has {len(value):,} characters, and {longest:,} is the limit"
        raise Wrong(f"{what}; shorten it, or split it into several")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise Wrong(f"{key} holds half a character (a lone surrogate); send it as UTF-8")
    if "\0" in value:
        raise Wrong(f"{key} holds a NUL character; leave it out")
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise Wrong(f"{key} is one of {', '.join(choices)}")


def _plain(key: str) -> str:
    """A name that somebody else chose, short and printable."""
    shown = "".join(char if char.isprintable() else "?" for char in key[:40])
    return repr(shown)

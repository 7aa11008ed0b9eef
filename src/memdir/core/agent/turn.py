"""One turn of the agent that captures: what it may answer, and what is made of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memdir.core import frontmatter, types
from memdir.core.capturing import Catch
from memdir.core.draft import Draft
from memdir.core.drafting import HOW, MAX_DESCRIPTION, WHY
from memdir.core.errors import BadInput
from memdir.core.memory import TYPE_KEYS, UNKNOWN
from memdir.core.model import BadAnswer, Usage
from memdir.core.naming import check_name, slugify
from memdir.core.secrets import before_secrets, find_secrets

MOST_CALLS = 8  # of one turn
MOST_DRAFTS = 10  # of one turn
BODY_CHARACTERS = 8_000
UNUSABLE = "the model's answer could not be used"

_TEXT = {"type": "string"}
_DRAFT_TEXTS = ("name", "type", "description", "body", "why", "how")
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": _TEXT, "input": {"type": "object"}},
                "required": ["tool", "input"],
            },
        },
        "drafts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": dict.fromkeys(_DRAFT_TEXTS, _TEXT) | {"because": {"type": "integer"}},
                "required": ["name", "type", "description", "body", "because"],
            },
        },
        "forget": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": _TEXT, "because": {"type": "integer"}},
                "required": ["name", "because"],
            },
        },
        "done": {"type": "boolean"},
    },
    "required": ["done"],
}


@dataclass(frozen=True)
class Captured:
    """What came of a conversation.

    `reason` is why it ended before the model was done: then what has no draft is still open.
    `denied` are the calls that were not carried out, each with its reason.
    """

    catches: tuple[Catch, ...]
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    denied: tuple[str, ...] = ()
    reason: str = ""

    @property
    def produced(self) -> str:
        """In a few words, for the ledger."""
        names = [one.draft.name or "a new one" for one in self.catches if one.draft]
        said = [f"drafted {', '.join(names)}"] if names else []
        said += [f"to be retired: {one.forget}" for one in self.catches if one.forget]
        return before_secrets("; ".join(said)) or "nothing"


@dataclass(frozen=True)
class Wanted:
    """A draft as a model words it; `because` is the number of the message that it rests on."""

    draft: Draft
    because: int = 0


@dataclass(frozen=True)
class Step:
    """What a model wants of one turn: calls as pairs of a tool and its input."""

    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()
    drafts: tuple[Wanted, ...] = ()
    unwanted: tuple[tuple[str, int], ...] = ()  # names to be forgotten, with their messages
    done: bool = True


def parse(data: object) -> Step:
    """The step of an answer that fits the schema; more than it may ask for is left out.

    Fails where it drafts something, and not one of the drafts says anything.
    """
    said = data if isinstance(data, dict) else {}
    calls = [(one["tool"], one["input"]) for one in said.get("calls") or []]
    drafts = [_wanted(one) for one in said.get("drafts") or [] if one["body"].strip()]
    pairs = [(_line(one["name"]), one["because"]) for one in said.get("forget") or []]
    unwanted = [(name, because) for name, because in pairs if name]
    if (said.get("drafts") or said.get("forget")) and not (drafts or unwanted):
        raise BadAnswer("its drafts are empty")
    return Step(
        tuple(calls[:MOST_CALLS]),
        tuple(drafts[:MOST_DRAFTS]),
        tuple(unwanted[:MOST_DRAFTS]),
        said.get("done") is True,
    )


def written(name: str, content: str, because: object) -> Wanted:
    """What a Write makes of a memory: its header and its text, as a draft."""
    document = frontmatter.read(content)
    said = {
        "name": name,
        "type": document.get(*TYPE_KEYS),
        "description": document.get("description"),
        "body": document.body,
        "because": because if type(because) is int else 0,
    }
    return _wanted(said)


def new_lines(draft: Draft, old: str) -> str:
    """What a draft says that did not stand there before."""
    before = {line.strip() for line in old.splitlines()}
    lines = [draft.description, *draft.body.splitlines(), draft.why, draft.how]
    new = [line for line in lines if line.strip() and line.strip() not in before]
    return "\n".join(line for line in new if not (line == draft.description and line in old))


def _wanted(said: Mapping[str, object]) -> Wanted:
    texts = {key: str(said.get(key) or "") for key in _DRAFT_TEXTS}
    body = texts["body"].strip()[:BODY_CHARACTERS]
    kind = texts["type"].strip().lower()
    # Reasons that stand in the body would be said twice.
    why = "" if WHY.lower() in body.lower() else _line(texts["why"])
    how = "" if HOW.lower() in body.lower() else _line(texts["how"])
    draft = Draft(
        body=body,
        type=kind if kind in types.names() else UNKNOWN,
        name=_name(texts["name"]),
        description=_line(texts["description"]),
        why=why,
        how=how,
    )
    because = said.get("because")
    return Wanted(draft, because if type(because) is int else 0)


def _name(text: str) -> str:
    """A name that a file can have; empty leaves the choice to the store."""
    name = text.strip().removesuffix(".md")
    if find_secrets(name):
        return ""  # in small letters nobody would know it again
    try:
        return check_name(name)
    except BadInput:
        pass
    try:
        return check_name(slugify(name))
    except BadInput:
        return ""


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_DESCRIPTION]

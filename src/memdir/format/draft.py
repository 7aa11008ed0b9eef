"""Drafts, the rules they must pass, and the next version of a memory."""

from __future__ import annotations

import datetime
import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from memdir.errors import BadInput, Conflict
from memdir.format.names import check_memory_name
from memdir.format.pointer import cut_hook_at_word
from memdir.hot import memory, safe, types
from memdir.hot.words import Words
from memdir.text import dates, pattern, secrets

CREATED, UPDATED, SKIPPED = "created", "updated", "skipped"
RETIRED, ARCHIVED, RESTORED, PURGED = "retired", "archived", "restored", "purged"
UNDONE, REBUILT = "undone", "rebuilt"
HELD = "held"  # waits for a person
ANYWAY, ALLOW_SECRET = "--anyway", "--allow-secret"  # options that override a refusal
BY_HAND = "cli"  # source of memories that the user saves


@dataclass(frozen=True)
class Draft:
    """`expected` is the hash of the version that the author has read."""

    body: str
    type: str = "unknown"
    name: str = ""
    description: str = ""
    why: str = ""
    how: str = ""
    pinned: bool = False
    source: str = BY_HAND
    day: datetime.date | None = None
    expected: str | None = None
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Wishes:
    """Rules the user overrides; a refusal names only the options `offered`."""

    anyway: bool = False
    secret: bool = False
    offered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """What happened to one memory; `remarks` are things the person should know about it."""

    kind: str
    name: str
    path: str
    hash: str = ""
    reason: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """The kind, as JSON calls it."""
        return self.kind

    @property
    def changed(self) -> bool:
        """False when nothing was written."""
        return self.kind != SKIPPED


def memory_change(
    kind: str,
    path: str,
    data: bytes | None = None,
    reason: str = "",
    remarks: tuple[str, ...] = (),
) -> Change:
    hash = "" if data is None else content_hash(data)
    return Change(kind, memory.stem(path), path, hash, reason, remarks)


MAX_DESCRIPTION = 1024  # characters
DESCRIPTION_AIM = 120
FINDABLE_WORDS = 2  # with a meaning; "ok" alone is found by nobody
FINDABLE_CHARACTERS = 200  # longer texts have them
PRIVATE = "private"  # scope of a type
UNSAID = "something secret"  # description of a text that begins with a secret
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
# More accents than any script puts on one letter: they cover the lines around it.
_STACKED = pattern(r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{9}")
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters by category, but invisible
_KEY = pattern(r"(?:metadata\.)?\w[\w -]*")
# Keys of each field; a new field uses the first.
PLACES = {
    "name": ("name",),
    "description": ("description",),
    "type": memory.TYPE_KEYS,
    "created": memory.CREATED_KEYS,
    "modified": memory.MODIFIED_KEYS,
    "last_verified": memory.VERIFIED_KEYS,
    "pinned": memory.PINNED_KEYS,
    "source": memory.SOURCE_KEYS,
}
# Set by the store; a draft has fields for those that can be chosen.
RESERVED_KEYS = frozenset(("metadata", *(key for keys in PLACES.values() for key in keys)))
_SENTENCE = pattern(r"(?<=[.!?])\s(?=[^a-z])|(?<=[。！？])\s?")
_ONE_LINE = ("name", "description", "why", "how", "source")  # fields of a draft
WHY, HOW = "**Why:**", "**How to apply:**"


@dataclass(frozen=True)
class Rules:
    now: float
    day: datetime.date
    shared: bool = False
    index: bool = True
    max_body_bytes: int = 65_536
    max_file_bytes: int = 4 * 1024 * 1024
    claude_md: str = ""
    is_in_repository: Callable[[str], bool] = lambda path: False


def check_draft_format(draft: Draft, rules: Rules) -> None:
    size = _bytes("the text", draft.body)
    if size > rules.max_body_bytes:
        raise BadInput(
            f"the text has {size:,} bytes (limit: {rules.max_body_bytes:,})",
            next="split it into several memories, or point to a file of the repository",
        )
    if "\0" in draft.body:
        raise BadInput("the text holds a NUL character", next="send plain text in UTF-8")
    if all(unicodedata.category(char)[0] in "CZ" or char in _FILLERS for char in draft.body):
        raise BadInput("the text is empty", next="say what to remember")
    if draft.name:
        check_memory_name(draft.name)
    check_expected_hash(draft.expected)
    check_memory_type(draft.type)
    for field in _ONE_LINE:
        check_header_line(field, getattr(draft, field))
    for key, value in draft.extra:
        for secret in secrets.find_secrets(key):
            message = f"a header key looks like a secret ({secret.rule})"
            raise BadInput(message, next="use another key")
        if not _KEY.fullmatch(key) or key in RESERVED_KEYS:
            message = f"header key {key[:40]!r} cannot be chosen: no plain word, or the store's own"
            raise BadInput(message, next="use another key")
        check_header_line(key, value)


def check_expected_hash(expected: str | None) -> None:
    """A hash that a failed command left empty must not switch the check off."""
    if expected is not None and not expected.strip():
        raise BadInput("the hash to expect is empty", next="memdir show NAME --json prints it")


def check_memory_type(type: str) -> None:
    """A type that looks like a secret is not repeated in the message."""
    if type == memory.UNKNOWN or type in types.names():
        return
    subject = "that type" if secrets.find_secrets(type) else f"type {type[:40]!r}"
    raise BadInput(f"{subject} is not known", next="use one of " + ", ".join(types.names()))


def check_header_line(field: str, value: str) -> None:
    if "\n" in value or "\r" in value or _CONTROL.search(value):
        message = f"{field} holds a line break or a control character"
        raise BadInput(message, next=f"give {field} as one plain line")
    _bytes(field, value)
    if safe.make_visible(value) != value or _STACKED.search(value):
        raise BadInput(
            f"{field} holds hidden characters, or a heap of accents",
            next=f"write {field} anew; such characters often come with copied text",
        )
    if len(value) > MAX_DESCRIPTION:
        raise BadInput(
            f"{field} has {len(value):,} characters (limit: {MAX_DESCRIPTION:,})",
            next=f"shorten {field}; the text itself may be longer",
        )


def why_not_shared(type: types.Type) -> str:
    """Why a memory of this type may not go to others; empty if it may."""
    if type.scope != PRIVATE:
        return ""
    return f"memories of type {type.name} are not shared. {type.scope_lean}"


def why_refuse_draft(draft: Draft, rules: Rules, wishes: Wishes) -> str:
    given = rules.shared and draft.type != memory.UNKNOWN
    if given and (reason := why_not_shared(types.get(draft.type))):
        return reason
    place = place_of_secret(draft)
    if place and (rules.shared or not wishes.secret):
        message = f"it holds what looks like a secret ({place})"
        if rules.shared:
            return message + "; this scope is shared with others, so it is refused"
        insist = f", or insist with {ALLOW_SECRET}" if ALLOW_SECRET in wishes.offered else ""
        return f"{message}; name the place of the secret instead{insist}"
    if wishes.anyway:
        return ""
    reasoned = "\n".join((draft.body, draft.why, draft.how))
    said = f"{reasoned}\n{draft.description}"
    short = not draft.name and len(said) < FINDABLE_CHARACTERS
    if short and len(Words().count(said)[0]) < FINDABLE_WORDS:
        return "it says too little to be found again: in a sentence, what is it about?"
    from memdir.format import exclusions

    shown = rules.claude_md, rules.is_in_repository
    return exclusions.why_not_worth_saving(reasoned, *shown) or ""


def complete_draft(draft: Draft, rules: Rules) -> tuple[Draft, tuple[str, ...]]:
    remarks: list[str] = []

    def absolute(text: str) -> str:
        text, unresolved = dates.make_dates_absolute(text, draft.day or rules.day)
        remarks.extend(
            f'"{phrase}" will mean nothing later; write the date' for phrase in unresolved
        )
        return text

    body, description, why, how = map(
        absolute, (draft.body, draft.description, draft.why, draft.how)
    )
    draft = replace(draft, body=body, description=description, why=why, how=how)
    reasons = [f"{mark} {text}" for mark, text in ((WHY, draft.why), (HOW, draft.how)) if text]
    below = ["\n".join(reasons)] if reasons else []
    draft = replace(draft, body="\n\n".join([draft.body.strip("\n"), *below]))
    if types.get(draft.type).needs_why:
        lower = draft.body.lower()
        missing = " and ".join(mark.strip("*:") for mark in (WHY, HOW) if mark.lower() not in lower)
        if missing:
            remarks.append(
                f"no {missing} given: agents cannot tell when this {draft.type} memory applies"
            )
    return draft, tuple(dict.fromkeys(remarks))


def moment_draft_was_said(draft: Draft, rules: Rules) -> float:
    """A memory found later counts from the day it was said."""
    if draft.source == BY_HAND or draft.day is None or draft.day >= rules.day:
        return rules.now
    return min(safe.parse_time(draft.day.isoformat()) or rules.now, rules.now)


def describe_body(text: str) -> str:
    """First sentence, cut at a word and before any secret: it goes into the index."""
    shown = secrets.text_before_secrets(text)
    text = UNSAID if shown != text and not shown.strip() else shown
    lines = [line.strip().lstrip("\ufeff") for line in text.splitlines()]
    prose = [line.lstrip("#>-* ").strip() for line in lines if line[:1] != "#"]
    # A heading is better than nothing.
    heads = [line.lstrip("# ") for line in lines if line[:1] == "#"]
    line = next((line for line in (*prose, *heads) if line), "")
    line = _STACKED.sub("", _SENTENCE.split(line, maxsplit=1)[0]).replace("**", "")
    line = " ".join(safe.make_visible(_CONTROL.sub(" ", line)).split())
    return cut_hook_at_word(line, DESCRIPTION_AIM) or "untitled"


def add_why_and_how(body: str, why: str, how: str) -> str:
    body = body.replace("\r\n", "\n").strip("\n")
    for mark, text in ((WHY, why), (HOW, how)):
        if not text:
            continue
        reason = f"{mark} {text}"
        same = re.search(rf"^{re.escape(mark)}.*(?:\n(?!\*\*)\S.*)*", body, re.M | re.I)
        other = re.search(rf"^{re.escape(HOW)}", body, re.M | re.I)
        if same:
            body = body[: same.start()] + reason + body[same.end() :]
        elif other:
            body = body[: other.start()] + reason + "\n" + body[other.start() :]
        else:
            last = body.rpartition("\n\n")[2]
            body += ("\n" if last.startswith(WHY) else "\n\n") + reason
    return body


def refuse_secret_reason(reason: str) -> None:
    if hits := secrets.find_secrets(reason):
        message = f"the reason holds what looks like a secret ({hits[0].rule})"
        raise BadInput(message, next="say it without the secret; the history keeps every reason")


def place_of_secret(draft: Draft) -> str:
    fields = [("", draft.body), *((name, getattr(draft, name)) for name in _ONE_LINE[1:])]
    # In `password: …` the key identifies the secret.
    extra = [(name, f"{name}: {text}") for name, text in draft.extra]
    for name, text in (*fields, *extra):
        if hits := secrets.find_secrets(text):
            kinds = ", ".join(sorted({secret.rule for secret in hits}))
            return f"{kinds}, in {name}" if name else f"{kinds}, line {hits[0].line}"
    return ""


def _bytes(field: str, text: str) -> int:
    try:
        return len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        message = f"{field} holds half a character (a lone surrogate)"
        raise BadInput(message, next="send it as UTF-8") from None


@dataclass(frozen=True)
class Revision:
    path: str
    fields: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    expected: str = ""
    why: str = ""  # put into the body, in place of the one it has
    how: str = ""


@dataclass(frozen=True)
class Style:
    type_key: str = memory.TYPE_KEYS[0]
    prefix: bool = False


def content_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def format_revised_memory(old: bytes, revision: Revision, now: float) -> bytes:
    """Returns the same bytes if nothing changes."""
    if revision.expected and revision.expected != content_hash(old):
        raise Conflict(
            f"{revision.path} was changed since you read it; nothing was written",
            path=revision.path,
            next=f"look at both texts, then try again with --if-hash {content_hash(old)}",
            ours=format_revised_memory(old, replace(revision, expected=""), now),
            theirs=old,
        )
    document = memory.read_header(memory.decode(old))
    for field, value in revision.fields:
        document = _set(document, field, value)
    if revision.body is not None:
        document = _with_body(document, revision.body)
    if memory.encode(document.text) == old:
        return old
    looked_at = revision.body is None and {key for key, _ in revision.fields} <= {"last_verified"}
    if document.get(*memory.MODIFIED_KEYS, *memory.CREATED_KEYS) and not looked_at:
        created = safe.parse_time(document.get(*memory.CREATED_KEYS))
        # If the clock was set back, a memory must not be older than its creation.
        document = _set(document, "modified", safe.iso_time(max(now, created or now)))
    return memory.encode(document.text)


def format_new_memory(draft: Draft, name: str, now: float, style: Style) -> str:
    moment = safe.iso_time(now)
    fields = [("name", name), ("description", draft.description), (style.type_key, draft.type)]
    fields += [(memory.CREATED_KEYS[0], moment), (memory.MODIFIED_KEYS[0], moment)]
    fields += [(memory.SOURCE_KEYS[0], draft.source)]
    if draft.pinned:
        fields.append((memory.PINNED_KEYS[0], "true"))
    return memory.write_header(fields + list(draft.extra), draft.body)


def guess_header_style(samples: Iterable[tuple[str, memory.Document]]) -> Style:
    nested = prefixed = count = 0
    prefixes = tuple(f"{type}_" for type in types.names())
    for path, document in samples:
        count += 1
        nested += "metadata.type" in document.values and "type" not in document.values
        prefixed += memory.stem(path).startswith(prefixes)
    return Style(memory.TYPE_KEYS[nested * 2 > count], prefixed * 2 > count)


def _set(document: memory.Document, field: str, value: str) -> memory.Document:
    places = PLACES.get(field, (field,))  # other keys have a single place
    key = next((key for key in places if key in document.values), _new_place(document, places))
    if any(f"`{key}` stands twice" in problem for _, problem in document.problems):
        raise BadInput(
            f"`{key}` stands twice in this header, so it is not clear which one to change",
            next="remove one of the two lines by hand, then run the command again",
        )
    return document if document.get(key) == value else memory.edit_header(document, key, value)


def _new_place(document: memory.Document, places: tuple[str, ...]) -> str:
    ours = [key for keys in PLACES.values() for key in keys[1:] if keys[0].startswith(memory.NEST)]
    flat = memory.NEST not in document.values and any(key in document.values for key in ours)
    return places[-1] if flat and places[0].startswith(memory.NEST) else places[0]


def _with_body(document: memory.Document, body: str) -> memory.Document:
    """Keeps the document's line ends, and unchanged text as it is."""
    crlf = "\r\n" in (document.opening or document.body[:4096])
    text = body.replace("\r\n", "\n").strip("\n") + "\n"
    # After a header, or if the text looks like one, it starts on the second line.
    if document.lines is not None or text.lstrip("\ufeff \t").startswith(memory.FENCE):
        text = "\n" + text
    if crlf:
        text = text.replace("\n", "\r\n")
    if text.strip() == document.body.strip():
        return document
    return memory.Document(document.opening, document.lines, document.closing, text)

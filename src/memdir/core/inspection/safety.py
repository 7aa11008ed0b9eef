"""What a memory must not carry: secrets, hidden characters, orders to whoever reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memdir.core.finding import Finding
from memdir.core.inert import inert, visible
from memdir.core.inspection.page import MAX_CHARACTERS, Page, command
from memdir.core.memory import SOURCE_KEYS
from memdir.core.secrets import find_secrets

FEW = 5  # findings of one kind on one memory
# Who may have written a text that memdir got from somewhere else than the user.
_OUTSIDE = re.compile(r"https?:|\b(?:web|url|fetch|tool|e?mail|issue|comment|import)\b", re.I)
_GAP = r"[\s*_`\"']{1,4}"
_BEFORE = rf"(?:(?:all|any|every|the|your|my|of|these|those){_GAP}){{0,3}}"
_EARLIER = r"(?:previous|prior|earlier|above|preceding|existing|other|system)"
_RULES = r"(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?|context)"
# What nobody writes to remember a thing: it talks an agent out of what it was told.
_ORDER = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass){_GAP}{_BEFORE}{_EARLIER}{_GAP}{_RULES}\b"
    rf"|\b(?:do{_GAP}not|don['’]t|never|without){_GAP}(?:tell|telling|inform|informing|alert"
    rf"|mention(?:ing)?{_GAP}(?:this|it){_GAP}to){_GAP}(?:the{_GAP})?(?:user|human|developer)\b"
    rf"|\byou{_GAP}are{_GAP}now{_GAP}(?:an?|the|in|free|unrestricted|DAN)\b"
    rf"|\bnew{_GAP}system{_GAP}prompt\b|\b(?:developer|god|jailbreak){_GAP}mode{_GAP}(?:on|enabled)\b",
    re.IGNORECASE,
)
# From the outside, an order of any kind is worth a look: feedback comes from the user.
_IMPERATIVE = re.compile(
    rf"\b(?:you{_GAP}(?:must|should|have{_GAP}to|need{_GAP}to)|(?:please|always|immediately|now)"
    rf"{_GAP}(?:run|execute|install|send|upload|post|download|open|call|delete|remove))\b"
    r"|\b(?:curl|wget)\b[^|\n]{1,300}\|\s{0,3}(?:sudo\s)?(?:ba|z)?sh\b",
    re.IGNORECASE,
)
# Who writes about such text quotes it, and says what it is.
_ABOUT = re.compile(
    r"\b(?:inject\w*|attack\w*|payloads?|phrases?|strings?|tests?|tested|examples?|detect\w*"
    r"|refuses?|rejects?|jailbreaks?|patterns?|fixtures?|such as|like)\b",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`"}
_TO_CLOSE = 20  # characters behind an order; a longer quotation may give another one
# `<system-reminder>` alone in backticks is a name, with a text behind it a frame.
_NAMED_TAG = re.compile(r"`{1,2} ?</?[\w:-]{1,40}>? ?`{1,2}")


def inspect_safety(page: Page) -> Iterator[Finding]:
    """Secrets, hidden characters, forged frames and orders."""
    text, path = page.text[:MAX_CHARACTERS], page.path
    for secret in find_secrets(text):
        # The old version stays in the history: only a new secret makes the old one harmless.
        message = f"what looks like a secret ({secret.rule}) stands here; renew it where it is used"
        yield Finding("secret", path, message, command("edit", path), secret.line)
    yield from list(_inspect_hidden(text, path))[:FEW]
    yield from list(_inspect_orders(page))[:FEW]


def _inspect_hidden(text: str, path: str) -> Iterator[Finding]:
    if text.isascii() and text.isprintable():
        return
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = line.removesuffix("\r")
        shown = visible(line)
        if shown == line or any("\udc80" <= char <= "\udcff" for char in line):
            continue  # half characters: the scan has said that it is no UTF-8
        hidden = next((char for char in line if char not in shown), "")
        what = f"U+{ord(hidden):04X}" if hidden else "characters out of place"
        message = f"hidden characters ({what}): an agent reads them, a person does not see them"
        yield Finding("hidden-characters", path, message, command("show", path), number)


def _inspect_orders(page: Page) -> Iterator[Finding]:
    outside = bool(_OUTSIDE.search(page.document.get(*SOURCE_KEYS)[:200]))
    whole = visible(page.document.body)
    if not outside and not _ORDER.search(whole) and inert(whole) == whole:
        return  # nearly every memory: nothing to look for line by line
    for number, line in page.prose():
        seen = visible(line[:2_000])
        found = _ORDER.search(seen) or (_IMPERATIVE.search(seen) if outside else None)
        if found and not outside and _is_quoted(seen, found):
            found = None
        seen = _NAMED_TAG.sub("", seen)
        if found:
            message = f"it gives an agent orders: {' '.join(found[0].split())[:60]!r}"
            yield Finding("orders", page.path, message, command("show", page.path), number)
        elif inert(seen) != seen:
            message = "it imitates the marks by which a client tells its own words from the rest"
            yield Finding("forged-frame", page.path, message, command("show", page.path), number)


def _is_quoted(line: str, found: re.Match[str]) -> bool:
    """Does the line speak about an order, not give it?"""
    closing = _QUOTES.get(line[found.start() - 1 : found.start()] or " ", "")
    end = line.find(closing, found.end(), found.end() + _TO_CLOSE) if closing else -1
    rest = f"{line[: found.start()]} {line[end:]}"
    return end >= 0 and bool(_ABOUT.search(rest)) and not _ORDER.search(rest)

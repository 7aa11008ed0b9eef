"""Text that somebody put into a message without having written it: a page, a mail, a log."""

from __future__ import annotations

import re

LOOK = 40_000  # characters of a message
OWN_LINES, OWN_CHARACTERS = 4, 600  # of the first words, which are one's own
LEAST_LINES, MANY_LINES = 6, 25  # behind them
MANY_CHARACTERS = 2_500
WORDS = 3  # that tell where a quotation stands
SHAPED = 0.3  # share of lines that look like a document's
_SHAPE = re.compile(
    r"\s{0,8}(?:#{1,6} \S|[-*+•] |\d{1,3}[.)] |>|\||\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|={3,}|-{3,}"
    r"|\[[A-Z]{3,8}\]|[A-Z][\w -]{1,24}: \S|\[.{1,80}\]\(|!\[|<[/!\w]|```|~~~)"
)
# How a document or a mail begins, but nobody who speaks to an agent.
_OPENS = re.compile(
    r"(?:#{1,6} \S|(?:from|to|subject|date|sent|cc|betreff|von|an|objet|asunto): \S"
    r"|(?:hi|hello|hey|dear|hallo|liebe[rs]?|sehr geehrte|bonjour|hola|estimad[oa]s?|olá|caro)"
    r" (?:all|team|everyone|everybody|folks|[A-Z][a-z]{1,20}|zusammen|à tous|a todos)\b[,!.:]?$"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|!\[|<!--)",
    re.I,
)
_SIGNED = re.compile(
    r"(?im)^(?:best|regards|best regards|kind regards|cheers|thanks|sincerely|viele grüße|gruß|lg|"
    r"mfg|cordialement|saludos|abraços|saluti)[,!.]?\s*$"
)


def is_pasted(text: str, quote: str) -> bool:
    """Do these words stand in a block that the person most likely did not write?"""
    text = text[:LOOK]
    start = _own_end(text)
    at = text.find(" ".join(quote.split()[:WORDS]))
    # Wrapped, or too far behind: not among the first words in any case.
    return (at < 0 or start <= at) and _is_block(text[start:])


def _own_end(text: str) -> int:
    """Where the first words of a message end: the first paragraph, where it is a short one."""
    begun = len(text) - len(text.lstrip())
    first = text[begun:].split("\n", 1)[0].strip()
    if _OPENS.match(first):
        return begun
    lines = 0
    at = begun
    for line in text[begun:].split("\n"):
        if not line.strip() or (lines and _SHAPE.match(line)):
            break
        lines += 1
        at += len(line) + 1
    short = lines <= OWN_LINES and at - begun <= OWN_CHARACTERS
    return at if short else begun


def _is_block(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < LEAST_LINES:
        return False
    if len(lines) >= MANY_LINES or len(text) >= MANY_CHARACTERS or _SIGNED.search(text):
        return True
    shaped = sum(bool(_SHAPE.match(line)) for line in lines)
    return shaped >= SHAPED * len(lines)

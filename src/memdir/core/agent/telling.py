"""What the agent that captures is told: the messages, the memories and results, all as data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Template

from memdir.core.capturing import Signal
from memdir.core.draft import Draft
from memdir.core.inert import inert, inert_line
from memdir.core.manifest import manifest
from memdir.core.memory import Memory
from memdir.core.secrets import before_secrets, find_secrets
from memdir.core.transcript import AGENT, PERSON, TOOL, Said

MOST_MESSAGES = 20
MESSAGES_CHARACTERS = 7_000  # all of them together
# Of one message: what was noticed, then by who said it.
NOTICED_CHARACTERS = 1_500
CHARACTERS = {PERSON: 700, AGENT: 350, TOOL: 140}
LOOKED_AT = 20_000  # characters of a message; nobody says more himself
LINE_CHARACTERS = 140  # of a memory in the list
RESULT_CHARACTERS = 2_000
MEMORY_CHARACTERS = 4_000  # of a memory that is read: whoever changes it must know all of it
RESULTS_CHARACTERS = 6_000  # of one turn
WHOLE, WHOLE_CHARACTERS = 3, 1_200  # memories that are given at once, and of each
MARK_CHARACTERS = 12
CUT = " […]"
SECRET = "[left out: it looks like a secret]"
SPLIT = "\n---\n"
BLOCK = "==="


def numbered(said: Sequence[Said], signals: Sequence[Signal]) -> dict[int, Said]:
    """The messages that are shown, by number: a person's, each with what stands around it.

    Those with a request come first, then the newest; what does not fit is left out.
    """
    asked = {signal.said.id for signal in signals}
    people = [
        number for number, one in enumerate(said, 1) if one.who == PERSON and one.text.strip()
    ]
    people.sort(key=lambda number: (said[number - 1].id in asked, number), reverse=True)
    near = [number + step for number in people or [len(said)] for step in (0, -1, 1)]
    chosen = [n for n in dict.fromkeys(near) if 0 < n <= len(said) and said[n - 1].text.strip()]
    room = MESSAGES_CHARACTERS
    kept: list[int] = []
    for number in chosen[:MOST_MESSAGES]:
        one = said[number - 1]
        room -= min(len(one.text), _limit(one, one.id in asked)) + 20
        if room < 0 and kept:
            break
        kept.append(number)
    return {number: said[number - 1] for number in sorted(kept)}


def messages(shown: dict[int, Said], signals: Sequence[Signal]) -> str:
    """Each message with its number and who said it; of tools an excerpt."""
    lines: list[str] = []
    last = 0
    for number, one in shown.items():
        quotes = [signal.quote for signal in signals if signal.said == one]
        if last and number > last + 1:
            lines.append("…")
        last = number
        limit = _limit(one, bool(quotes))
        text = masked(_around(one.text, quotes[0] if quotes else "", LOOKED_AT))
        text = inert(_around(text, quotes[0] if quotes else "", limit)).strip()
        who = one.who
        if one.who == TOOL:
            who = f"tool {inert_line(one.tool, 40)} (excerpt of {len(one.text):,} characters)"
        lines.append(f"[{number}] {who}: {text}")
    return "\n".join(lines)


def listed(known: Sequence[Memory]) -> str:
    """The lines of the memories that belong to these messages."""
    lines = [_cut(inert_line(manifest([memory])), LINE_CHARACTERS) for memory in known]
    return "\n".join(lines) or "(none)"


def whole(texts: Mapping[str, str]) -> str:
    """Memories that are given as they stand: whoever changes one of them has read it."""
    return "".join(f"\n\n[{inert_line(name)}.md]\n{inert(text)}" for name, text in texts.items())


def noticed(shown: dict[int, Said], signals: Sequence[Signal]) -> str:
    """What was noticed where: `7 correction, 9 remember`."""
    found = [(n, s.kind) for n, one in shown.items() for s in signals if s.said == one]
    return ", ".join(f"[{number}] {kind}" for number, kind in dict.fromkeys(found)) or "nothing"


def fill(words: str, values: dict[str, str], data: Sequence[str]) -> tuple[str, str, str]:
    """The system prompt, the first text, and the mark that stands around data."""
    system, _, given = words.partition(SPLIT)
    # Made of the data itself: nobody who wrote a part of it knows it.
    mark = hashlib.sha256("\0".join(data).encode("utf-8", "replace")).hexdigest()[:MARK_CHARACTERS]
    user = Template(given.strip() + "\n").substitute(values, mark=mark)
    return Template(system.strip() + "\n").substitute(values), user, mark


def section(words: str, heading: str) -> str:
    """A section of the session's prompt, so that both say the same."""
    start = words.index(heading)
    return words[start : words.find(BLOCK, start)].strip()


def results(pairs: Sequence[tuple[str, str]], mark: str, turn: int, turns: int) -> str:
    """What came of the calls of a turn, as data, and what is expected now."""
    room = RESULTS_CHARACTERS
    parts = []
    for what, text in pairs:
        shown = _cut(inert(masked(text)).replace(mark, "…"), max(min(room, MEMORY_CHARACTERS), 80))
        room -= len(shown)
        parts.append(f"[{inert_line(what, 160)}]\n{shown}")
    inside = "\n".join(parts)
    last = " It is the last one: no more calls." if turn == turns else ""
    return (
        f"<results {mark}>\n{inside}\n</results {mark}>\n\n"
        f"Turn {turn} of {turns}.{last} Draft now what is worth it, with done: true."
    )


def masked(text: str) -> str:
    """The text without the lines that hold secrets; a key's block goes as a whole."""
    found = find_secrets(text)
    if not found:
        return text
    lines = text.split("\n")
    for secret in found:
        lines[secret.line - 1] = SECRET
        if secret.rule in ("private-key", "putty-key"):
            end = next(
                (n for n, line in enumerate(lines) if n >= secret.line and "-----END" in line),
                len(lines) - 1,
            )
            lines[secret.line - 1 : end + 1] = [SECRET] * (end + 2 - secret.line)
    return "\n".join(lines)


def bare(text: str) -> str:
    """A line up to its first secret."""
    return before_secrets(text).rstrip()


def without_secrets(draft: Draft, *, body: bool = True) -> Draft:
    """The draft without secrets in any of its texts; a name with one is the store's to choose."""
    return replace(
        draft,
        body=masked(draft.body) if body else draft.body,
        name=draft.name if bare(draft.name) == draft.name else "",
        description=bare(draft.description),
        why=bare(draft.why),
        how=bare(draft.how),
        extra=tuple((key, bare(value)) for key, value in draft.extra),
    )


def _limit(one: Said, noticed: bool) -> int:
    return NOTICED_CHARACTERS if noticed and one.who != TOOL else CHARACTERS.get(one.who, 0)


def _around(text: str, quote: str, limit: int) -> str:
    """At most so many characters, with the quote among them."""
    if len(text) <= limit:
        return text
    at = max(text.find(quote[:80]) if quote else 0, 0)
    start = max(min(at - limit // 4, len(text) - limit), 0)
    return (CUT.strip() + " " if start else "") + _cut(text[start:], limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - len(CUT), 0)] + CUT

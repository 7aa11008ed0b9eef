"""Requests of a person to remember or forget something, found and drafted without a model.

A draft is in the person's own words; only the words that ask for it are removed.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from memdir.capture import typed
from memdir.clients.conversation import AGENT, PERSON, Message
from memdir.format import draft as drafts
from memdir.format.draft import Draft
from memdir.format.type_guess import guess_memory_type
from memdir.hot.memory import read_header
from memdir.hot.safe import inert_line
from memdir.hot.words import Words, stem_word
from memdir.text import dates, secrets

REMEMBER, FORGET, RULE = typed.REMEMBER, typed.FORGET, typed.RULE
ASKED_FOR = (REMEMBER, FORGET)  # a rule ("from now on …") is held until a person agrees
SOURCE = "capture"  # in the header of a saved memory
SECRET = "[left out: it looks like a secret]"
STANDING = "it is a rule for later; nobody asked to save it"
PASTED = "it stands in a text that looks pasted"
BESIDE = "it stands beside other text, which may be somebody else's"
AT_HAND = "it may be about the work at hand only"
FROM_AGENT = "the words to keep are the agent's, not the person's"
MAX_QUOTE_BYTES = 240
MAX_SIGNALS = 12  # per message; one with more was pasted
MAX_LISTED = 10  # sentences after "remember these:"
MAX_AGENT_SENTENCES = 3  # that a bare "remember that" may refer to
MIN_WORDS = 3  # in a text that makes sense alone
POINTING_WORDS = 3  # at the end of a rule about what was said before
MIN_DENSE_CHARACTERS = 4  # the same in scripts without spaces
MIN_SPOKEN_WORDS = 6  # in a sentence worth a model's time
MIN_SHARE = 0.5  # of a reworded line's words
TASK_LINES = 2  # below a request, of the person's own
MASK = "\0"
NONE = "", 0, 0  # no request


@dataclass(frozen=True)
class Signal:
    kind: str
    quote: str
    said: Message
    type: str = "unknown"
    doubt: str = ""  # why somebody else may have written it

    @property
    def asked_for(self) -> bool:
        return self.kind in ASKED_FOR


@dataclass(frozen=True)
class Origin:
    client: str = ""
    session: str = ""
    message: str = ""
    who: str = ""
    tool: str = ""
    quote: str = ""


@dataclass(frozen=True)
class Catch:
    """`forget`: what a person wants forgotten; then there is no draft.

    `hold`: why a person must agree first. `refuse`: why it must not be saved; then it has no text.
    """

    origin: Origin
    draft: Draft | None = None
    forget: str = ""
    hold: str = ""
    refuse: str = ""


def day_of_message(said: Message | None) -> datetime.date | None:
    if said is None or not said.time:
        return None
    try:
        return datetime.datetime.fromtimestamp(said.time).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return None


def draft_quote(text: str) -> str:
    """One harmless line, cut before the first secret."""
    return inert_line(" ".join(secrets.text_before_secrets(text).split()), MAX_QUOTE_BYTES)


def mask_draft_secrets(text: str) -> str:
    """Leaves out lines with secrets, and the whole block of a key."""
    matches = secrets.find_secrets(text)
    if not matches:
        return text
    lines = text.split("\n")
    for secret in matches:
        end = secret.line
        if secret.rule in ("private-key", "putty-key"):
            while end < len(lines) and "-----END" not in lines[end]:
                end += 1
            end = min(end + 1, len(lines))
        lines[secret.line - 1 : end] = [SECRET] * (end - secret.line + 1)
    return "\n".join(lines)


def notice_requests(said: Sequence[Message]) -> list[Signal]:
    """Requests count only if a person typed them."""
    return [signal for item in said if item.who == PERSON for signal in _in_message(item)]


def is_conversation_worth_asking(said: Sequence[Message], signals: Sequence[Signal]) -> bool:
    spoken = (part for it in said if it.who == PERSON for part in typed.typed_sentences(it.text))
    return any(
        _says_something(part.text, MIN_SPOKEN_WORDS)
        and not part.asks
        and not any(part.text in signal.quote for signal in signals)
        for part in spoken
    )


def _in_message(message: Message) -> list[Signal]:
    own = typed.typed_sentences(message.text)
    result: list[Signal] = []
    masked = message.text  # without its requests, which may stand beside each other
    leads: list[tuple[int, int, str]] = []
    last = -1  # the last sentence that belongs to a request
    for index, item in enumerate(own):
        kind, begins, _ = _request(item) if index > last and len(result) < MAX_SIGNALS else NONE
        first, stop = _span(own, index, kind) if kind else (index, index)
        if not kind or first <= last:  # "remember …; keep that in mind" asks once
            continue
        if kind == RULE and first == index and _points_back(item):
            continue  # "never do that again" without what it is
        last = stop
        quoted = own[first : last + 1]
        text = typed.join_typed_sentences(quoted)
        start, end = _find_in_message(message.text, quoted)
        if first < index and end - start <= typed.TYPED_PARAGRAPH_CHARACTERS:
            # What stands between them belongs to them: the error that "write it down" means.
            text = message.text[start:end] or text
        masked = masked[:start] + MASK * (end - start) + masked[end:]
        leads.append((start, end, item.text[:begins]))
        type = "unknown" if kind == FORGET else _type_of(kind, _statement(text))
        doubt = PASTED if any(item.doubtful for item in quoted) or not end else ""
        result.append(Signal(kind, text, message, type, doubt))
    beside = [_is_beside_other_text(masked[:at] + lead, masked[end:]) for at, end, lead in leads]
    pairs = zip(result, beside, strict=True)
    return [replace(signal, doubt=signal.doubt or BESIDE * is_so) for signal, is_so in pairs]


def _find_in_message(text: str, quoted: Sequence[typed.Sentence]) -> tuple[int, int]:
    """Start and end, however the lines are wrapped; 0 and 0 if they are not found."""
    first, last = (r"\s+".join(map(re.escape, quoted[at].text.split())) for at in (0, -1))
    begins = re.search(first, text)
    ends = begins and re.compile(last).search(text, begins.start())
    return (begins.start(), ends.end()) if begins and ends else (0, 0)


def _is_beside_other_text(before: str, after: str) -> bool:
    """True if a request may be part of a text that somebody else wrote.

    On earlier lines, only whole sentences are sure to be the person's: a title, item, label,
    question or half a line may belong to a page. On later ones, only a short task that does not
    speak of what stands above it: "summarise this" does.
    """
    before, after = before.replace(MASK, ""), after.replace(MASK, "")
    *lines, line = map(str.strip, before.split("\n"))
    plain = all(_WHOLE.fullmatch(line) for line in lines if line)
    later = [line for line in map(str.strip, after.split("\n")[1:]) if line]
    task = len(later) <= TASK_LINES and all(map(_TASK.fullmatch, later))
    pointed = any(map(_POINTS_UP.search, later))
    return not plain or not _BEGUN.fullmatch(line) or not task or pointed


def _points_back(rule: typed.Sentence) -> bool:
    """True for a rule about something said before: "don't ever do that again"."""
    words = rule.bare.split()
    end = " ".join(words[-POINTING_WORDS:])
    return len(words) <= 2 * POINTING_WORDS and typed.mentions_request_phrase("back", end)


def _request(said: typed.Sentence) -> tuple[str, int, int]:
    """Kind, start and end of a request; kind "" if there is none."""
    matches = [
        (match.start(match.lastgroup or 0), RULE if kind == typed.FROM_NOW else kind, match)
        for kind in typed.REQUESTS
        if (match := typed.find_request_phrase(kind, said.bare)) is not None
    ]
    if not matches:
        return NONE
    start, kind, match = min(matches, key=lambda item: item[0])
    # "Can you remember that …?" asks for it; "remember that …?" asks about it.
    polite = "you" in (match["lead"] or "").split()
    if kind == RULE:
        polite = typed.mentions_request_phrase("polite", said.bare)
    at_hand = kind != REMEMBER and typed.mentions_request_phrase("work", said.bare)
    asks_only = said.asks and not polite
    return NONE if at_hand or asks_only else (kind, start, match.end())


def _span(own: Sequence[typed.Sentence], index: int, kind: str) -> tuple[int, int]:
    """The first and last sentence of a request."""
    request = own[index]
    back = _points_back(request) if kind == RULE else not _names_something(request.text)
    if kind == FORGET or not back:
        return index, index
    if request.bare.rstrip().endswith((":", "：")):
        block = own[index + 1].block if index + 1 < len(own) else request.block
        last = index
        while last - index < MAX_LISTED and last + 1 < len(own) and own[last + 1].block == block:
            last += 1
        return index, last
    return (index - 1, index) if index and not own[index - 1].asks else (index, index)


def _statement(text: str) -> str:
    request = typed.typed_sentence(text)
    kind, start, end = _request(request)
    if kind != REMEMBER:
        return text
    before = typed.remove_request_phrases("joins", request.bare[:start])
    if len(before) < start:
        return text[: len(before)]
    rest = typed.joined_request_start(request.bare, end)
    alone = not any(map(str.isalnum, typed.remove_request_phrases("lead", before)))
    kept = text[rest:].strip()
    return kept if rest and alone and _says_something(kept) else text


def _names_something(text: str) -> bool:
    request = typed.typed_sentence(text)
    _, start, end = _request(request)
    before = typed.remove_request_phrases("lead", request.bare[:start])
    after = typed.remove_request_phrases("lead", request.bare[end:])
    named = typed.remove_request_phrases("back", after)
    return _says_something(before) or _says_something(named, 1)


def _type_of(kind: str, text: str) -> str:
    bare = typed.typed_sentence(text).bare
    if kind == RULE or typed.begins_with_request("order", bare):
        return "feedback"
    return "user" if typed.begins_with_request("self", bare) else guess_memory_type(text).type


def _says_something(text: str, min_words: int = MIN_WORDS) -> bool:
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    dense = sum("\u3040" <= char <= "\u9fff" for char in text)
    return len(words) >= min_words or dense >= MIN_DENSE_CHARACTERS


def draft_requests(
    signals: Sequence[Signal], said: Sequence[Message], origin: Origin
) -> list[Catch]:
    """Requests to forget, then drafts; each text once, unless forgotten in between."""
    result: dict[str, tuple[Catch, int]] = {}
    forgotten = 0
    for signal in signals:
        catch = _catch(signal, said, origin)
        forgotten += bool(catch.forget)
        key = (catch.forget or (catch.draft.body if catch.draft else "")).lower()
        known, since = result.get(key, (None, 0))
        if key and (known is None or (known.hold and not catch.hold) or forgotten > since):
            result[key] = catch, forgotten
    return sorted((catch for catch, _ in result.values()), key=lambda catch: bool(catch.draft))


def _catch(signal: Signal, said: Sequence[Message], origin: Origin) -> Catch:
    message = signal.said
    origin = replace(origin, message=message.id, who=message.who, quote=draft_quote(signal.quote))
    hold = "" if signal.asked_for else STANDING
    if signal.doubt:
        hold = signal.doubt
    elif signal.kind == REMEMBER and typed.mentions_request_phrase(
        "work", typed.typed_sentence(_statement(signal.quote)).bare
    ):
        hold = AT_HAND
    if signal.kind == FORGET:
        return Catch(origin, forget=_unwanted(signal.quote), hold=hold)
    text = _statement(signal.quote)
    if signal.kind == REMEMBER and not _names_something(signal.quote):
        text, hold = _last_words(message, said), hold or FROM_AGENT
    if not text.strip():
        return Catch(origin, hold=hold)
    day = day_of_message(message)
    # Relative days that no later rule resolves are set from the day of the message.
    loose = day and (
        dates.make_dates_absolute(text, day)[1]
        or typed.mentions_request_phrase("days", text.lower())
    )
    whole = len(text) <= drafts.DESCRIPTION_AIM and "\n" not in text
    draft = Draft(
        body=f"{text} (said on {day.isoformat()})" if day and loose else text,
        type=signal.type,
        description=text if whole else drafts.describe_body(text),
        source=SOURCE,
        day=day,
    )
    return Catch(origin, draft, hold=hold)


def _last_words(message: Message, said: Sequence[Message]) -> str:
    before = takewhile(lambda other: other != message, said)
    replies = [other.text for other in before if other.who == AGENT and other.text.strip()]
    last = typed.typed_sentences(replies[-1]) if replies else []
    return " ".join(item.text for item in last[-MAX_AGENT_SENTENCES:])


def refuse_secret_drafts(catches: Iterable[Catch], said: Sequence[Message]) -> list[Catch]:
    """A catch that repeats a secret of the conversation is refused and loses its text.

    The conversation itself is searched: in a draft the value may have another case or be part of
    a name, and no rule would recognize it.
    """
    result = list(catches)
    used = {catch.origin.message for catch in result}
    texts = [item.text for item in said if item.id in used or item.who == PERSON] if result else []
    values = {value: rule for text in texts for rule, value in secrets.secret_values(text)}
    for index, catch in enumerate(result) if values else ():
        draft = catch.draft or Draft("")
        parts = (draft.body, draft.name, draft.description, draft.why, draft.how)
        text = secrets.keep_letters_and_digits("".join((*parts, catch.forget, catch.origin.quote)))
        if rules := sorted({rule for value, rule in values.items() if value in text}):
            reason = f"it holds what looks like a secret ({', '.join(rules)})"
            bare = replace(catch.origin, quote="")
            result[index] = Catch(bare, Draft("", draft.type), refuse=reason)
    return result


MAX_CHARACTERS = 4_000  # compared
QUOTE_CHARACTERS = 60  # of a quotation, to find its position
MIN_LETTERS = 4  # in a word that can name something alone
# A line of whole sentences, and the part of a line before a request.
_WHOLE = re.compile(r"[^\W\d_](?![).])(?:(?![:：|>]\s|\t).)*[.!。！]")
_TASK = re.compile(r"[^\W\d_](?![).])(?:(?![:：|>]\s|\t).)*[^?？:：]")
_POINTS_UP = re.compile(
    r"(?i)\b(?:this|that|these|those|it|them|above|below|all|both|summar\w+|translat\w+|explain\w*"
    r"|review|check|reply|answer|mean\w*|pages?|mails?|logs?|issues?|tickets?|threads?|lists?|notes?"
    r"|texts?|messages?|documents?|articles?|points?|steps?|rules?|sa(?:y|ys|id))\b"
)
_BEGUN = re.compile(r"(?:[^\W\d_](?![).])[^:：|>\t]*)?")
_FROM_MEMORY = re.compile(r"(?i)\s(?:from|out of) (?:(?:your|the) )?memor(?:y|ies)(?=[.,;!]|$)")
# "what I said about X", "the thing about X" mean X.
_ABOUT = re.compile(
    r"(?:.{0,30}\b(?:said|told|mentioned|wrote|decided|agreed|asked)\b.{0,20}? (?:on |about )"
    r"|(?:the|that|this|any|my|our) \w+ about )",
    re.I,
)
# End of the request, before its reason or the replacement.
_ENDS = re.compile(
    r"[,;:.!?](?:\s|$)|\s[-–—]\s|\s(?:because|since|but|instead|weil|sondern|porque|car)\b"
    r"|\s(?:we|i)(?:['’]re| are| will|['’]ll)? (?:now |just )?"
    r"(?:go(?:ing)?|went|use|using|switch(?:ed|ing)?|moved?|moving|chang(?:ed|ing)|prefer|take)\b",
    re.I,
)
# Common topics, which name nothing alone.
_VAGUE_WORDS = (
    "thing things stuff rule memory note idea part point last test tests code file files build bug"
    " fix error branch commit project change task work earlier before said cluster server database"
    " script config module function repository message question answer everything anything nothing"
    " something"
)
_VAGUE = frozenset(map(stem_word, _VAGUE_WORDS.split()))
_OF_REQUESTS = frozenset(map(stem_word, ("memory", "rule", "note", "thing")))


def forget_words(text: str) -> frozenset[str]:
    plain = text[:MAX_CHARACTERS].replace("-", " ").replace("_", " ")
    return frozenset(Words().count(plain)[0])


def captured_topic_to_forget(wish: str) -> str:
    text = " ".join(wish[:MAX_CHARACTERS].split())
    text = _ABOUT.sub("", text, count=1) if _ABOUT.match(text) else text
    end = _ENDS.search(text)
    first = text[: end.start()].strip() if end else text
    return (first if forget_words(first) else text) or wish


def _unwanted(text: str) -> str:
    text = secrets.text_before_secrets(text)
    _, start, end = _request(typed.typed_sentence(text))
    rest = text[end:].strip(" .,:!。") or text[:start].strip(" .,:!。、")
    return " ".join(captured_topic_to_forget(_FROM_MEMORY.sub("", rest)).split())


def capture_removes_unmentioned_lines(draft: Draft, old: str, message: Message) -> bool:
    """True if the draft lacks lines of the old text that the message does not speak of."""
    left = forget_words("\n".join((draft.description, draft.body, draft.why, draft.how)))
    lines = [words for line in read_header(old).body.splitlines() if (words := forget_words(line))]
    gone = [words for words in lines if len(words & left) < MIN_SHARE * len(words)]
    mentioned = forget_words(typed.typed_words(message.text))
    return not all(mentioned & words for words in gone)


def rests_on_request(catch: Catch, signal: Signal) -> bool:
    """True for a draft whose words of the person are those of a request."""
    quote, asked = catch.origin.quote, draft_quote(signal.quote)
    if catch.origin.message != signal.said.id or not quote:
        return False
    words = forget_words(quote)
    parts = [forget_words(part.text) for part in typed.typed_sentences(signal.quote)]
    shared = any(len(part & words) > MIN_SHARE * len(part) for part in parts)
    return shared or quote in asked or asked in quote


def forgets_draft(wish: str, draft: Draft) -> bool:
    """True if a later request to forget means this draft; a single word must be its topic."""
    wanted = forget_words(wish)
    wanted = wanted - _OF_REQUESTS or wanted
    if not wanted or not wanted <= forget_words(f"{draft.name} {draft.description} {draft.body}"):
        return False
    if len(wanted) > 1:
        return True
    topic = drafts.describe_body(draft.description or draft.body)
    (word,) = wanted
    return (
        len(word) >= MIN_LETTERS
        and word not in _VAGUE
        and word in forget_words(f"{draft.name} {topic}")
    )


def order_captured_requests(
    catches: Sequence[Catch], said: Sequence[Message]
) -> list[tuple[int, int]]:
    texts = {item.id: " ".join(item.text[:MAX_CHARACTERS].split()) for item in said if item.text}
    numbers, places = {id: number for number, id in enumerate(texts)}, []
    for catch in catches:
        id, words = catch.origin.message, catch.origin.quote[:QUOTE_CHARACTERS].rstrip("…")
        places.append((numbers.get(id, -1), texts.get(id, "").find(words)))
    return places

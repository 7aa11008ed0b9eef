"""What "forget …" means: which memory it names, and what a model may take away for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memdir.capture.signals import FORGET, RULE, Catch, Signal
from memdir.capture.typed import own_words
from memdir.clients.conversation import PERSON, Message
from memdir.format import draft as draft_module
from memdir.format.draft import Draft
from memdir.hot.memory import read
from memdir.hot.words import STOP, Words, stem

MET = 0.5  # share of a wish's words that a draft has which meets it
KEPT = 0.5  # share of a line's words that are still there where it was only put in other words
# Words of any wish to forget; they name no memory.
_ANY = "forget memory memories remember rule note thing anything never longer anymore delete remove"
UNNAMED = "nobody asked to forget {}"
TAKEN_AWAY = "it takes lines away that nobody asked to change"


def name_terms(text: str) -> frozenset[str]:
    """The words of a text that tell it from others."""
    return frozenset(Words().count(text.replace("-", " ").replace("_", " "))[0])


def unwanted_by(
    name: str, text: str, others: Iterable[str], signals: Sequence[Signal]
) -> Signal | None:
    """Where a person wanted this memory forgotten, in words that name no other one better."""
    mine = name_terms(name) | name_terms(read(text).get("description"))
    for signal in signals:
        if signal.kind != FORGET or signal.said.who != PERSON or signal.doubtful:
            continue
        wanted = name_terms(signal.quote) - name_terms(_ANY)
        shared = len(wanted & mine)
        if shared and all(len(wanted & name_terms(name)) <= shared for name in others):
            return signal
    return None


def takes_away(draft: Draft, old: str, cited: Message | None, signals: Sequence[Signal]) -> str:
    """Why a person must agree to what is gone from a memory; empty where one asked for it."""
    left = name_terms(_text(draft))
    lines = [words for line in read(old).body.splitlines() if (words := name_terms(line))]
    gone = [words for words in lines if len(words & left) < KEPT * len(words)]
    if not gone:
        return ""
    if cited is None or cited.who != PERSON:
        return TAKEN_AWAY
    meant = [item for item in signals if item.said == cited and not item.doubtful]
    asked = [name_terms(item.quote) for item in meant if item.kind in (FORGET, RULE)]
    if any(words & name_terms(draft.name).union(*lines) for words in asked):
        return ""
    # Any other message must be about each line that is gone.
    said = name_terms(own_words(cited.text))
    return "" if all(said & words for words in gone) else TAKEN_AWAY


def met(signal: Signal, signals: Sequence[Signal], catches: Sequence[Catch]) -> bool:
    """Was it done? Its own words count: a message may hold two wishes.

    What a person asked for is not done where it is held; all else is held anyway.
    """
    wanted = name_terms(signal.quote) - name_terms(_ANY)
    asked = signal.asked_for
    beside = [item for item in signals if item.asked_for == asked and item.said == signal.said]
    for catch in catches:
        here = catch.origin.message == signal.said.id
        if catch.hold and asked and signal.said.who == PERSON:
            continue
        if signal.kind == FORGET and catch.forget:
            if here and (len(beside) == 1 or name_terms(catch.forget) & wanted):
                return True
        elif catch.draft is not None and (signal.kind != FORGET or catch.draft.expected):
            shared = len(wanted & name_terms(_text(catch.draft)))
            # The only wish of a message may be put in other words.
            least = 1 if here and len(beside) == 1 else MET * len(wanted)
            if shared >= max(least, 1) or (here and not wanted):
                return True
    return False


def _text(draft: Draft) -> str:
    return "\n".join((draft.name, draft.description, draft.body, draft.why, draft.how))


MAX_CHARACTERS = 4_000  # that are compared
QUOTE_CHARACTERS = 60  # of a quotation that tell its place
MIN_LETTERS = 4  # of a word that alone can name a thing
_WORD = re.compile(r"[^\W_]{1,64}")
# "what I said about X" means X.
_TOLD = re.compile(
    r"(?:(?:what|everything|anything|all|the things?) )?(?:that )?(?:i|we|you)"
    r"(?:['’]ve| have| had)?(?: just| once| ever)?"
    r" (?:said|told you|mentioned|wrote|decided|agreed|asked)"
    r"(?: (?:earlier|before|above|yesterday|you|just now)){0,2} (?:about|on|regarding|for|with) ",
    re.I,
)
# The same where it costs nothing; the article of what is named goes, too.
_TOLD_ELSEWHERE = re.compile(
    r"was (?:ich|wir) (?:(?:dir|euch|vorhin|eben|gestern|mal) ){0,2}(?:über|zu|zum|zur|von|wegen) "
    r"(?:(?:der|die|das|den|dem|unsere?[rnm]?) )?(?P<german>.{2,80}?) "
    r"(?:gesagt|erzählt|geschrieben|entschieden|beschlossen)\b.{0,80}"
    r"|o que (?:eu |nós |a gente )?(?:disse|falei|dissemos|falamos|decidimos)(?: antes)?"
    r" (?:sobre|acerca d[eoa]|d[eoa]s?)(?: (?:os?|as?))? "
    r"|lo que (?:te |os )?(?:dije|he dicho|dijimos|decidimos)(?: antes)?"
    r" (?:sobre|acerca de|de)(?: (?:el|la|los|las))? "
    r"|(?:ce que )?(?:j'ai|je t'ai|je vous ai|on a|nous avons) (?:dit|décidé|écrit)"
    r" (?:sur|de|à propos de|concernant)(?: (?:la|les?)(?= )| l')? ?"
    r"|quello che (?:ti |vi )?(?:ho|abbiamo) (?:detto|deciso|scritto)"
    r" (?:su|sull[ao]|sul|sui|di|riguardo a)(?: (?:il|lo|la|i|gli|le))? "
    r"|(?:(?:то,? )?что )?(?:я|мы) (?:говорил|сказал|решил)[аи]? (?:про|об?) "
    r"|我们?(?:之前|刚才|刚刚)?(?:说过?|讲过?|提到)的(?:关于|有关)?",
    re.I,
)
_ABOUT = re.compile(
    r"(?:(?:the|that|this|any|my|our) (?:thing|part|bit|one|rule|memory|point|idea|stuff) )?"
    r"(?:about|regarding|concerning) ",
    re.I,
)
# Where the wish ends and its reason, or what holds instead, begins.
_ENDS = re.compile(
    r"[,;:.!?](?:\s|$)|\s[-–—]\s|\s(?:because|since|but|instead|weil|sondern|porque|car)\b"
    r"|\s(?:we|i)(?:['’]re| are| will|['’]ll)? (?:now |just )?"
    r"(?:go(?:ing)?|went|use|using|switch(?:ed|ing)?|moved?|moving|chang(?:ed|ing)|prefer|take)\b",
    re.I,
)
# Words that one wish after the other is about: alone they name nothing.
_VAGUE_WORDS = (
    "thing things stuff rule memory note idea part point last test tests code file files build bug"
    " fix error branch commit project change task work earlier before said cluster server database"
    " script config module function repository message question answer everything anything nothing"
    " something"
)
_VAGUE = frozenset(map(stem, _VAGUE_WORDS.split()))


def meant(wish: str) -> str:
    """The words of a wish that name what is to be forgotten; all of them where none is plain."""
    text = " ".join(wish[:MAX_CHARACTERS].split())
    for opening in (_TOLD, _TOLD_ELSEWHERE, _ABOUT):
        if found := opening.match(text):
            named = found["german"] if opening is _TOLD_ELSEWHERE else ""
            text = named or text[found.end() :]
    end = _ENDS.search(text)
    first = text[: end.start()].strip() if end else text
    return (first if terms(first) else text) or wish


def taken_back(draft: Draft, wish: str) -> bool:
    """Did somebody want this very thing forgotten later? One word must be what it is about."""
    wanted = terms(meant(wish))
    name = draft.name.replace("-", " ").replace("_", " ")
    if not wanted or not wanted <= terms(f"{name} {draft.description} {draft.body}"):
        return False
    if len(wanted) > 1:
        return True
    about = draft_module.first_sentence(draft.description or draft.body)
    (word,) = wanted
    return len(word) >= MIN_LETTERS and word not in _VAGUE and wanted <= terms(f"{name} {about}")


def order(catches: Sequence[Catch], said: Sequence[Message]) -> list[tuple[int, int]]:
    """Where in a conversation each of them was said: the message, and the place in it."""
    numbers = {item.id: number for number, item in enumerate(said) if item.text}
    texts = {item.id: " ".join(item.text[:MAX_CHARACTERS].split()) for item in said if item.text}
    places = []
    for catch in catches:
        id, quote = catch.origin.message, catch.origin.quote[:QUOTE_CHARACTERS].rstrip("…")
        places.append((numbers.get(id, -1), texts.get(id, "").find(quote)))
    return places


def taken_back_later(catches: Sequence[Catch], said: Sequence[Message]) -> dict[int, int]:
    """Which drafts a later wish of the same conversation takes back, and which wish that is."""
    wishes = [index for index, catch in enumerate(catches) if catch.forget and not catch.hold]
    when = order(catches, said) if wishes else []
    return {
        index: wish
        for index, catch in enumerate(catches)
        for wish in wishes
        if catch.draft and when[index] < when[wish]
        if taken_back(catch.draft, catches[wish].forget)
    }


def terms(text: str) -> frozenset[str]:
    """The stems of the words that tell something."""
    words = _WORD.findall(text[:MAX_CHARACTERS].lower())
    return frozenset(stem(word) for word in words if word not in STOP)

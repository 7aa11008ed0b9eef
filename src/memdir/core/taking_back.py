"""What somebody wants forgotten: which words name it, and which drafts it takes back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.core import drafting
from memdir.core.capturing import Catch
from memdir.core.draft import Draft
from memdir.core.stems import stem
from memdir.core.transcript import Said
from memdir.core.words import STOP

MOST = 4_000  # characters that are compared
QUOTED = 60  # characters of a quotation that tell its place
SHORTEST = 4  # letters of a word that alone can name a thing
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
_VAGUE = frozenset(
    map(
        stem,
        (
            *(
                "thing",
                "things",
                "stuff",
                "rule",
                "memory",
                "note",
                "idea",
                "part",
                "point",
                "last",
            ),
            *("test", "tests", "code", "file", "files", "build", "bug", "fix", "error", "branch"),
            *("commit", "project", "change", "task", "work", "earlier", "before", "said"),
            *(
                "cluster",
                "server",
                "database",
                "script",
                "config",
                "module",
                "function",
                "repository",
            ),
            *("message", "question", "answer", "everything", "anything", "nothing", "something"),
        ),
    )
)


def meant(wish: str) -> str:
    """The words of a wish that name what is to be forgotten; all of them where none is plain."""
    text = " ".join(wish[:MOST].split())
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
    about = drafting.first_sentence(draft.description or draft.body)
    (word,) = wanted
    return len(word) >= SHORTEST and word not in _VAGUE and wanted <= terms(f"{name} {about}")


def order(catches: Sequence[Catch], said: Sequence[Said]) -> list[tuple[int, int]]:
    """Where in a conversation each of them was said: the message, and the place in it."""
    at = {one.id: number for number, one in enumerate(said) if one.text}
    texts = {one.id: " ".join(one.text[:MOST].split()) for one in said if one.text}
    return [
        (at.get(id, -1), texts.get(id, "").find(catch.origin.quote[:QUOTED].rstrip("…")))
        for catch in catches
        for id in (catch.origin.message,)
    ]


def taken_back_later(catches: Sequence[Catch], said: Sequence[Said]) -> dict[int, int]:
    """Which drafts a later wish of the same conversation takes back, and which wish that is."""
    wishes = [at for at, one in enumerate(catches) if one.forget and not one.hold]
    if not wishes:
        return {}
    when, found = order(catches, said), dict[int, int]()
    for at, one in enumerate(catches):
        if one.draft is None:
            continue
        for wish in wishes:
            if when[at] < when[wish] and taken_back(one.draft, catches[wish].forget):
                found[at] = wish
    return found


def terms(text: str) -> frozenset[str]:
    """The stems of the words that tell something."""
    words = _WORD.findall(text[:MOST].lower())
    return frozenset(stem(word) for word in words if word not in STOP)

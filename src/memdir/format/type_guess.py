"""Guesses the type of a memory from its wording: one table of evidence for every way in."""

from __future__ import annotations

import re
from typing import NamedTuple

from memdir.text import pattern

FEEDBACK, PROJECT, REFERENCE, USER, VALUE = "feedback", "project", "reference", "user", "value"
HEAD_CHARACTERS = 300  # what a text is about stands at its beginning
SHORT_WORDS = 40  # in a longer text one address or one name proves little
PRIOR_POINTS = 3  # of `project`: most facts are about what is going on
SURE_POINTS = 2  # lead over the second type that needs no question


class Guess(NamedTuple):
    type: str
    sure: bool


_MARKS = pattern(r"^[\s>#*_`-]+")
START, HEAD, SHORT, ANYWHERE = "start", "head", "short", "anywhere"
# A verb in the imperative opens a rule; words that are nouns as often are left out.
_VERBS = (
    "add|adopt|answer|apply|ask|assume|avoid|batch|bump|call|capture|check|choose|cite|close|commit"
    "|communicate|compare|confirm|consult|copy|create|cut|default to|delegate|deploy|derive|disable"
    "|dispatch|do|document|draft|drop|edit|enable|ensure|estimate|explain|extract|fix|flag|follow"
    "|format|give|grep|group|guard|handle|include|inspect|install|keep|kill|leave|let|limit|lint"
    "|list|log|look|make|mark|measure|mention|merge|minimi[sz]e|mirror|mock|move|name|pass|pin|pipe"
    "|place|poll|prefer|preserve|propose|prove|pull|push|put|query|quote|re-?(?:run|read|check|use)"
    "|rebase|refer|remove|rename|reply|respect|respond|return|rewrite|run|save|say|search|send"
    "|separate|set|show|skip|sort|speak|split|squash|start|stay|stick|stop|strip|suggest|surface"
    "|switch|tag|take|talk|tell|think|treat|trim|trust|try|update|use|validate|verify|wait|watch"
    "|wrap|write"
)
_RULES = (
    r"always|never|must|should|prefer|avoid|only use|make sure|is forbidden|not allowed"
    r"|from now on|without (?:asking|being asked|permission|confirmation)|load-bearing rule"
)
_KEPT = (
    "tracked|documented|kept|stored|recorded|listed|hosted|described|maintained|managed|found"
    "|discussed|reported|filed"
)
_TOOLS = (
    "dashboards?|wiki|runbooks?|notion|confluence|jira|linear|grafana|kibana|sentry|google docs?"
    "|slack|spreadsheet"
)
_STATES = (
    "shipped|implemented|merged|deferred|decided|decision|blocked|planned|in progress|completed"
    "|landed|released|freez\\w+|deadline|roadmap|phase|milestone|sprint|status|resolved|migrat\\w+"
)
_TABLE: tuple[tuple[str, int, str, str], ...] = (
    # who somebody is, and what they like
    (USER, 7, START, r"(?:I am|I['’]m|I['’]ve|I have (?:been|\w+ years)|my (?:name|role|job) is)"),
    (USER, 6, START, r"I (?:\w+ly )?(?:prefer|like|love|hate|dislike|know|work|live|speak)\b"),
    (USER, 6, START, r"(?:the )?user (?:is|works|lives|speaks|knows|has|prefers|likes)\b"),
    (USER, 6, HEAD, r"\b(?:user|felhasználó|benutzer|usuario|utilisateur)\b.{0,40}\bprefer\w+"),
    # what counts more than something else
    (VALUE, 8, START, r"[^.:;\n]{3,50} (?:is|are|matters?|counts?|comes?) (?:\w+ )?"
     r"(?:better|more(?: \w+)?|worth more) than\b"),
    (VALUE, 7, START, r"(?:we value )?(?:[a-z]+ ){1,3}(?:over|before|beats|trumps|outweighs)"
     r" [a-z]+(?: [a-z]+)?[.!]?$"),
    # where something is kept
    (REFERENCE, 6, SHORT, r"https?://"),
    (REFERENCE, 6, SHORT, rf"\b(?:is|are|gets?) (?:{_KEPT}) (?:in|at|on|under|by)\b"),
    (REFERENCE, 5, SHORT, r"\b(?:lives?|can be found|see|look(?: up)?|go) (?:in|at|on|under|to)\b"),
    (REFERENCE, 3, SHORT, rf"\b(?:{_TOOLS})\b"),
    (REFERENCE, 6, HEAD, r"\bwhere\b[^.\n]{0,60}\b(?:lives?|found|documented|describe)\b"),
    # how to work
    (FEEDBACK, 3, START, rf"(?:please |also |when\b.{{1,60}}, )?(?:{_VERBS})(?![\w:-])"),
    (FEEDBACK, 3, HEAD, rf"(?:[—–;:,.]|\s-)\s(?:then )?(?:{_VERBS}|don['’]?t|do not|never)"
     r"(?![\w:-])"),
    (FEEDBACK, 5, START, r"(?:from now on|always|never|don['’]?t|do not)\b"),
    (FEEDBACK, 4, START, r"(?:before|after|when(?:ever)?|for (?:any|every|each|all))\b"),
    (FEEDBACK, 3, START, r"(?:no|every)\b"),
    (FEEDBACK, 3, START, r"we (?:prefer|avoid|never|always|don['’]?t|do not)\b"),
    # Few files are that short, but what people type at `remember` is.
    (FEEDBACK, 3, SHORT, rf"^\s*(?:please )?(?:{_VERBS})(?![\w:-])"),
    (FEEDBACK, 3, HEAD, rf"\b(?:{_RULES})\b"),
    (FEEDBACK, 2, ANYWHERE, r"\buser (?:\w+ )?(?:wants?|corrected|pushed back|rejected|prefers)\b"),
    (FEEDBACK, 1, ANYWHERE, r"\*\*How to apply"),
    # what is going on
    (PROJECT, 2, HEAD, r"\b20\d\d-\d\d(?:-\d\d)?\b"),
    (PROJECT, 2, HEAD, rf"\b(?:{_STATES}|v?\d+\.\d+\.\d+)\b"),
)  # fmt: skip
_EVIDENCE = [(*row[:3], pattern(row[3], re.I)) for row in _TABLE]


def guess_memory_type(text: str, description: str = "") -> Guess:
    """The type, and whether the evidence leaves little doubt."""
    start, plain = (_MARKS.sub("", part) for part in (description, text))
    places = {
        START: [part for part in (start, plain) if part],
        HEAD: [f"{description}\n{plain[:HEAD_CHARACTERS]}"],
        SHORT: [plain] if len(plain.split()) <= SHORT_WORDS else [],
        ANYWHERE: [text],
    }
    points = {PROJECT: PRIOR_POINTS}
    for type, worth, place, words in _EVIDENCE:
        find = words.match if place == START else words.search
        if any(map(find, places[place])):
            points[type] = points.get(type, 0) + worth
    best = max(points, key=lambda type: (points[type], type == PROJECT))
    rest = max((points[type] for type in points if type != best), default=0)
    proven = best != PROJECT or points[PROJECT] > PRIOR_POINTS
    return Guess(best, proven and points[best] - rest >= SURE_POINTS)

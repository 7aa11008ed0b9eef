"""Words that put a sentence into the past, onto another branch or into another repository."""

from __future__ import annotations

import re

NEAR = 40  # characters before a span in which words speak of it
AFTER = 60  # and behind it
_MONTH = (
    r"(?:jan(?:uary|uar|vier)?|enero|feb(?:ruary|ruar|rero)?|février|mar(?:ch|s|zo)?|märz|apr(?:il)?"
    r"|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(?:ust)?|août"
    r"|agosto|sep(?:t|tember|tembre|tiembre)?|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?"
    r"|de[cz](?:ember)?|décembre|diciembre|spring|summer|autumn|winter)"
)
_TIMES = re.compile(
    rf"\b(?:until|till|up to|bis|jusqu['’](?:en|à|au)|hasta)"
    rf" (?:(?:early|mid|late|end of|the end of|last|ende|finales de|fin) )?(?:{_MONTH}\b|20\d\d\b)"
    r"|\b(?:until|till) (?:last|recently|the (?:move|switch|rewrite|split|migration|rename))\b"
    r"|\b(?:was|were|had|lived|used)\b[^.;]{1,160}\buntil\b|\bhad\b[^.;]{1,120}\bthen\b"
    r"|\bback (?:then|in (?:20\d\d|the day))\b|\bin (?:the old|those|earlier|former) days\b"
    r"|\b(?:at that time|long ago|back in the day|before the (?:move|switch|rewrite|split))\b"
    r"|(?<!\bas )\bof 20\d\d-\d\d(?:-\d\d)?\s?:"
    r"|\b(?:notes?|minutes|log|entry|retro|report|post-?mortem) (?:of|from) 20\d\d-\d\d",
    re.IGNORECASE,
)
_VERBS = re.compile(
    r"\b(?:became|(?:migrat(?:e|ed|es|ing|ion)|mov(?:e|ed|es|ing)) (?:off|away from)"
    r"|switch(?:ed|es|ing)? away from|lived (?:in|at|under|on|here|there|inside|next)"
    r"|früher|ehemals|vormals|damals|seinerzeit|wurde(?:n)? zu"
    r"|autrefois|auparavant|anciennement|jadis|se trouvai(?:t|ent)|étai(?:t|ent)"
    r"|antiguamente|anteriormente|antes(?! de\b| que\b)|solía|estaban?|vivía)\b"
    r"|\b(?:restor|recover|retriev|resurrect|undelet|fetch|dig|get|take)\w{0,4}\b[^.;]{1,120}"
    r"\bfrom (?:the )?(?:git\b(?! (?:config|server|repo|remote))|history\b|backups?\b"
    r"|old (?:commit|branch|tag))"
    r"|^\W{0,8}(?:history|geschichte|historique|historia)\W{0,4}:",
    re.IGNORECASE,
)
# Directly before a span; `was`, `until` and the like then speak of this name.
_NAMED = re.compile(
    r"[(\[,;–—]\s{0,2}(?:was|were|formerly|previously|once|ex|née|früher|vorher|vormals|ehemals"
    r"|avant|anciennement|antes):?\s{1,2}[*_(\[\"']{0,3}$",
    re.IGNORECASE,
)
_OLD_THING = re.compile(
    r"\b(?:(?:the|our|its|their|my|this|that|an) (?:old|former|previous|bygone)"
    r"|(?:der|die|das|den|dem) alten?|l['’]ancien(?:ne)?|(?:el|la|los|las) antigu[oa]s?)"
    r"(?: [\w-]{1,24}){1,2}(?: (?:in|at|under|of|from|was|were|named|called))?"
    r"\s{0,2}[*_(\[\"',:]{0,4}$|\b(?:was|were|wasn['’]t)\s{1,2}[*_(\[\"']{0,3}$",
    re.IGNORECASE,
)
_WANTED_BACK = re.compile(
    r"\b(?:re-?creat|re-?introduc|re-?add|resurrect|reviv|undelet|restor|bring|brought)"
    r"(?:e|ed|ing)?(?: back)?(?: (?!from\b|with\b|via\b|using\b|by\b|in\b)[\w'’-]{1,20}){0,2}"
    r"\s{1,2}[*_(\[\"']{0,3}$",
    re.IGNORECASE,
)
_BRING = re.compile(r"\bbr(?:ing|ought|inging)\b(?! back)", re.IGNORECASE)
_BECAME = re.compile(
    r"[\s*_)\]\"',]{0,4}(?:(?:became|has become|turned into|wurde zu|est devenu|se convirtió en)\b"
    r"|(?:is|are) now(?: called| named| in| at)? [*_(\[\"']{0,3}\x01)"
    r"|[\s*_)\]\"']{0,4}[,(–—-] ?(?:the|our|its|an) (?:old|former|previous) \w",
    re.IGNORECASE,
)
_BRANCH = re.compile(
    r"\b(?:on|in|auf|sur|en) (?:(?:the|a|my|our|dem|der|la) )?(?:(?:feature |release )?"
    r"(?:branch|branche|rama) [`\"'*]{0,2}(?!(?:main|master|trunk|HEAD|is|was|and|or)\b)[\w/]"
    r"|[`\"'*]{1,2}(?!(?:main|master|trunk)[`\"'*])[\w./-]{1,80}[`\"'*]{1,2} branch\b)",
    re.IGNORECASE,
)
# Words that may stand before `repo` though no other one is meant.
_OURS = (
    "this|same|current|our|main|whole|entire|git|public|github|gitlab|the|its|your|my|new|real"
    "|actual|each|every|any|root|source|local|test|python|node|go|rust|java|xcode|gradle|maven|npm"
    "|cargo|android|ios|kotlin|swift|typescript|unity|own|bare|fresh|live|production|dev|a|an|one"
)
_REPOSITORY = re.compile(
    rf"\b(?:in|from|at|im) (?:(?:the|our|their|a|my) )?[`\"'*]{{0,2}}(?!(?:{_OURS})\b)"
    r"[\w./-]{2,60}[`\"'*]{0,2}[ -](?:repo|repository|project|codebase)\b"
    r"(?! (?:dir|root|folder|file|name|level|setting|config|scope|path|memor|struct|wide)|-)",
    re.IGNORECASE,
)


def is_past(sentence: str) -> bool:
    """True where a whole sentence tells what was."""
    return _TIMES.search(sentence) is not None or _VERBS.search(sentence) is not None


def on_branch(sentence: str) -> bool:
    """True where it names a branch other than the one that everybody means."""
    return _BRANCH.search(sentence) is not None


def in_repository(sentence: str) -> bool:
    """`In the billing repo …`"""
    return _REPOSITORY.search(sentence) is not None


def is_old_name(text: str, low: int, start: int, end: int, high: int) -> bool:
    """`(was a.md until May)`, `a.md became b.md`, `a.md, the old guide`."""
    before = text[max(low, start - NEAR) : start]
    return (
        _NAMED.search(before) is not None
        or _BECAME.match(text, end, min(high, end + AFTER)) is not None
    )


def is_old_thing(before: str) -> bool:
    """`the old runbook (`, `the entry point was `: what follows is past."""
    return _OLD_THING.search(before) is not None


def is_wanted_back(before: str) -> bool:
    """`bring back `, `don't recreate the `: what follows is gone."""
    found = _WANTED_BACK.search(before)
    return found is not None and _BRING.match(found[0]) is None

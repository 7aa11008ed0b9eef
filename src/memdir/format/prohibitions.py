"""Guards: what memories say of commands, in words so strict that a program may act on them.

`never run X` forbids X, `never run X without Y` and `always pass Y to X` need Y, `run Y before X`
wants Y first. What needs a person's consent ("X only when asked", "ask before X") is forbidden
until then. A condition ("in the main checkout", "unless …") makes a reminder of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memdir.format import acts
from memdir.hot.guard import (
    ANY,
    BEFORE,
    FORBID,
    MAX_GUARDS,
    NEEDS,
    WITHIN,
    Command,
    Guard,
    read_commands,
)
from memdir.text import pattern
from memdir.text.markdown import FENCED, HEADING, Block, markdown_blocks

MAX_SENTENCE_CHARACTERS = 300
_SPAN = "⟦{}⟧"
_ONE = r"[*_]*⟦(\d+)⟧[*_]*"
_SOME = r"⟦\d+⟧(?:[*_]*\s*(?:,|/|\bor\b|\band\b|, or|, and)\s*[*_]*⟦\d+⟧)*"
_MANY = rf"[*_]*(?P<what>{_SOME})[*_]*"
_HOW = (
    r"(?:\s+(?:ever|again|use|using|run|running|reach for|bare|raw|blanket|plain|execute|"
    r"call|invoke|do|you|a|an|the|any|every|each|all|just|simply|type|bash|commands?|with))*"
)
_FORBIDDEN = pattern(
    rf"(?is)(?:\b(?:never|do not|don['’]t|must not|mustn['’]t|avoid)\b[*_]*{_HOW}|"
    r"(?:\b(?:niemals|nie|jamais|nunca|mai|никогда не)\b|绝不|不要|禁止|切勿)[*_]*"
    rf"(?:\s*[^\W\d_]{{1,12}}){{0,2}})\s*{_MANY}(?P<rest>.*)"
)
_WITHOUT = pattern(rf"(?is)^\s*without\s+(?:the\s+|an?\s+|passing\s+)?{_ONE}(?P<rest>.*)")
_WITH = (
    pattern(
        r"(?is)\balways\b[*_]*\s+(?:pass|add|include|give|use|"
        r"set)\s+(?:the\s+)?[*_]*⟦(?P<flag>\d+)⟧[*_]*\s+"
        r"(?:to|with|for|on|when (?:running|calling|using|you run|"
        r"you call))\s+[*_]*⟦(?P<what>\d+)⟧[*_]*(?P<rest>.*)"
    ),
    pattern(
        r"(?is)(?:^|\balways\b[*_]*\s+(?:run|use|call|invoke)\s+|\bonly (?:run|use|"
        r"call)\s+)[*_]*⟦(?P<what>\d+)⟧[*_]*\s+"
        r"(?:only\s+with|with|needs|requires|must (?:always )?(?:be run |be called |run |"
        r"have |get )?(?:with\s+)?)\s*"
        r"(?:the\s+)?[*_]*⟦(?P<flag>\d+)⟧[*_]*(?P<rest>.*)"
    ),
)
_ALWAYS = pattern(
    r"(?is)\balways\b[*_]*\s+(?:run|use|call|invoke)\s+[*_]*⟦(?P<what>\d+)⟧[*_]*\s*(?:$|[.!;])"
)
_FIRST = (
    pattern(
        r"(?is)^(?:\W*always\s+|\W*please\s+)?\W*(?:run|do|"
        r"execute)\s+[*_]*⟦(?P<first>\d+)⟧[*_]*\s+before\s+"
        r"(?:every\s+|each\s+|any\s+|you\s+)?(?:run(?:ning)?\s+)?[*_]*⟦(?P<what>\d+)⟧[*_]*(?P<rest>.*)"
    ),
    pattern(
        r"(?is)^\W*before\s+(?:every\s+|each\s+|any\s+|"
        r"you\s+)?(?:run(?:ning)?\s+)?[*_]*⟦(?P<what>\d+)⟧[*_]*,?\s+"
        r"(?:always\s+|first\s+)?(?:run|do|execute)\s+[*_]*⟦(?P<first>\d+)⟧[*_]*(?P<rest>.*)"
    ),
)
# A command without backticks: a known program after a verb that runs it.
_BARE = pattern(
    r"(?i)(?:\b(?:never|do not|don['’]t|must not|mustn['’]t|avoid|always|before|only)\b|"
    r"^\W*(?=run\s))[*_]*"
    r"(?:\s*\b(?:ever|use|using|(run|running|execute|executing)|call|do|invoke|you|every|"
    r"each|any))*\s+[*_\"“]*"
)

# "Never commit or push without approval" means git, in prose.
_GIT_VERBS = pattern(
    r"(?i)(?P<lead>\b(?:(?:never|(?<!does )(?<!did )not|don['’]t)\b[*_]*\s+"
    r"(?:(?:ever|actually|automatically|just|also|to)\s+)*|only\s+|"
    r"(?:before|prior to)\s+(?:(?:any|every|each|you)\s+)?)|^\W*)"
    rf"(?P<verbs>{acts.ACT}(?:(?:\s*/\s*|,\s*(?:(?:or|and)\s+)?|\s+(?:or|and)\s+){acts.ACT})*)"
    r"(?:\s+(?:(?:any|the|your|my)\s+)?(?:code\s+)?(?:changes|anything|code)\b|\s+for claude\b)?"
    r"(?:\s+(?:directly\s+|straight\s+)?(?:to|on|onto|into)\s+(?:the\s+)?[*_\"“]*"
    r"(?:(?P<branch>main|master|production|prod|develop|trunk|⟦\d+⟧)[*_\"”]*(?:\s+branch\b)?)"
    r"|\s+directly(?=[.!*_\s]*$)"
    r"|\s+(?:to|in|on)\s+(?:the\s+|any\s+|your\s+)?(?:git\s+)?(?:commits?|PRs?)(?:\s+messages?)?"
    r"|\s+(?P<file>[\w/-]+\.[a-zA-Z]{1,5})\b(?:\s+to\s+(?:git|the repo\w*))?)?"
    r"(?:\s+to\s+(?:the\s+)?(?:remote|origin|github)\b(?:\s+repo(?:sitory)?\b)?)?"
    r"(?:\s+(?:autonomously|automatically|on your own|by yourself|yourself))?(?:\s+or\s+deploy)?"
    r"(?=[*_]*\s+[*_]*(?:without|unless|until|before|only|requires?|needs?|when|if|after"
    r"|should|must|may)\b|\s*[,;(]|[.!*_\"”]*$)"
)
# "git restore/checkout" is two commands.
_SLASHED = pattern(r"(?<![\w/`])([a-z][\w-]*) ([a-z][a-z-]+(?:/[a-z][a-z-]+)+)(?![\w/])")
# "git commands (push --force, reset --hard)": the program stands once.
_LISTED = pattern(
    r"(?i)\b(?:(?:any|all|other|raw|potentially|destructive|dangerous|irreversible|risky|"
    r"\w+-\w+)\s+)*(?:(?P<program>[a-z][\w-]*)\s+)?(?:commands?|operations?|actions?)\s*"
    r"\((?:(?:e\.g\.|i\.e\.|such as|like|including|for example)[,:]?\s*)?(?P<list>[^()]+)\)"
)
_LIST_MARK = pattern(r"\s*(?:,|/|;|\bor\b|\band\b)\s*")
_BARE_FLAG = pattern(r"(?<!\S)--[a-z][\w-]*")
_BARE_WORD = pattern(r"(?:\s+(?=(?:--|\.)(?:\s|$))|[\s\"“]*(?=\S*[\w/]))([\w./:@+=-]*[\w/]|--|\.)")
_BARE_JOINED = pattern(r"\s*(?:,\s*(?:or|and)?|/|\bor\b|\band\b)\s*[\"“]*")
MAX_BARE_WORDS = 7
_SENTENCE_END = pattern(r"(?<=[.!?])(?<!etc\.)(?<!e\.g\.)(?<!i\.e\.)[*_)\"'”]*\s+|\n(?=\s*\n)|;\s")
_DONE = pattern(
    r"(?is)^\s*(?:$|[.,:!)(—–，。、；]|-\s|--|because\b|since\b|instead\b|here\b|at all\b|ever\b|"
    r"again\b|directly\b|"
    r"anymore\b|any more\b|by hand\b|manually\b|in this (?:repo|repository|project|"
    r"codebase)\b|as it\b|it\b|they\b|"
    r"commands?\b|under any|in any case|no matter|for any reason|anywhere\b)"
)
# A ban that the user may lift is still one for the agent: it is stopped, and asks.
_ASKED = (
    r"(?:ask\w*|approv\w*|permission|consent|go-ahead|user command|"
    r"confirm\w*|authori\w*|agree\w*|told|tell|request\w*|instruct\w*|review\w*|show\w*|says?)"
)
_CONSENT = pattern(
    r"(?i)[,\s*_]*\b(?:unless|except|without|until|"
    r"before (?=(?:i|we|my|the user|user|a human)\b))\b"
    rf"[^.;]{{0,60}}?\b{_ASKED}\b[^.;]*"
)
_GIVEN = (
    r"(?:(?:with\s+)?(?:me|us|user|owner|human|team)['’s]*\s+|for\s+|an?\s+|my\s+|their\s+|"
    r"your\s+|the\s+|clear\s+|current\s+|written\s+|prior\s+|verbal\s+|explicit(?:ly)?\s+|"
    r"first\s+|per-\w+\s+|has\s+|have\s+|is\s+|i\s+|you\s+|are\s+)*"
)
_SURE_CONSENT = r"(?:approv\w*|permission|consent|go-ahead|confirm\w*|authori\w*|sign-off)"
# The same ban in other words: what is banned, what needs consent, and when to ask for it.
_SAID_OTHERWISE = tuple(
    pattern(r"(?i)" + form)
    for form in (
        rf"{_SOME}[*_]*(?:\s+(?:commands?|operations?))?\s+"
        r"(?:(?:is|are|should be|must be)\s+)?(?:[—–-]\s+)?[*_]*"
        r"(?:strictly\s+)?(?:forbidden|banned|prohibited|not allowed|disallowed|off[- ]limits|"
        r"avoided)\b",
        rf"{_SOME}[*_]*(?:\s+(?:commands?|operations?|always))*\s+(?:requires?|needs?|must have)\s+"
        rf"{_GIVEN}{_SURE_CONSENT}\b[^.;⟦]*",
        rf"(?:\bonly\b{_HOW}\s*[*_]*{_SOME}|{_SOME}[*_]*\s+(?:(?:should|must|may|can)\s+)?only"
        r"(?:\s+(?:happen|occur|be\s+\w+))?)[*_]*\s+"
        rf"(?:with|when|if|after|once|upon|on)\s+{_GIVEN}{_ASKED}\b[^.;⟦]*",
        rf"\b(?:(?:get|obtain|request|seek|wait for|need)\s+{_GIVEN}{_SURE_CONSENT}|"
        rf"(?:ask|confirm|check with)\b\s*{_GIVEN}(?:{_SURE_CONSENT}\s+)?)"
        rf"\s*(?:from\s+\w+(?:\s+\w+)?\s+)?(?:before|prior to)\b{_HOW}\s*[*_]*{_SOME}[*_]*",
        rf"只有?[^⟦。；]{{0,20}}(?:要求|同意|批准|许可|許可|允许|允許|确认|確認)[^⟦。；]{{0,8}}{_SOME}",
    )
)
_SURELY_ASKED = pattern(rf"(?i)\b(?:ask|confirm|{_SURE_CONSENT})")
_MARK = pattern(r"⟦\d+⟧")
# A line that introduces a list of what is forbidden.
_BANNED_LIST = pattern(
    r"(?i)\b(?:never|do not|don['’]t|must not|forbidden|prohibited|banned|not allowed)\b"
)
_CONSENT_LIST = pattern(rf"(?i)\b(?:require|need|ask)\w*\b.*\b{_SURE_CONSENT}\b")
_CROSSED = pattern(r"\s*(?:[-*+•]\s+)?[❌✗✘🚫⛔]")
_MARKED = pattern(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_ITEM = pattern(r"\s*(?:[-*+•]|\d{1,3}[.)])?\s*[❌✗✘🚫⛔]*\ufe0f?\s*")
_SPANNED = pattern(r"[*_]*`+([^`]+)`+[*_]*")
_CONDITION = pattern(
    r"(?i)\b(?:unless|except|until|while|during|if|when|whenever|mid-|only|otherwise|outside|"
    r"inside|without|"
    r"in the|on the|from the|against|prefer)\b"
)
_CONDITION_BEFORE = pattern(
    r"(?i)\b(?:if|when|whenever|while|during|until|unless|in|on|for|after|before|inside|"
    r"outside|once|inside)\b"
)
_PLACEHOLDER = pattern(r"(?<!\S)(?:<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\.\.\.|…|\$\{?\w+\}?|\*)(?!\S)")
_WORD = pattern(r"[a-z0-9][a-z0-9._+-]*$|\.{0,2}/[\w.-]+/[\w./-]+$|\.{1,2}/[\w.-]+$")
_CLAUSE_END = pattern(r"[.!]\s|\s[—–]\s")
_ASIDE = pattern(r"\s*\([^()]*\)")


def read_guarded_command(span: str) -> Command | None:
    """None if the text in backticks is not one plain command."""
    bare = _PLACEHOLDER.sub(ANY, span.strip("`").strip()).removeprefix("$ ").rstrip(f" {ANY}")
    plain = bare.replace(f" {ANY} ", " ").replace(f" {WITHIN}", " ")
    if any(mark in plain for mark in "|;&()<>=\"'\n`*[]{}$…"):
        return None
    if bare and all(word[:2] == "--" and len(word) > 3 for word in bare.split()):
        return Command("", (), bare.split())  # whatever is run with that flag
    simple = list(read_commands(bare, {}))
    words = simple[0].words if len(simple) == 1 else []
    if not words or not _WORD.match(words[0]):
        return None
    if len(words) == 1 and words[0] not in acts.PROGRAMS and not re.search(r"/|\.sh$", words[0]):
        return None
    marks = (WITHIN, "-")
    last = [word for word in words[-1:] if word == "--"]  # whatever comes after it
    flags = [
        flag
        for word in words[1:]
        if word[0] in marks and word != "--"
        for flag in split_flags(word)
    ] + last
    rest = tuple(word for word in words[1:] if word[0] not in marks)
    return Command(words[0].rpartition("/")[2], rest, tuple(dict.fromkeys(flags)))


def split_flags(word: str) -> list[str]:
    """`-rf` means `-r` and `-f`; `-n0` and `--force` stay."""
    if word[:2] == "--" or not word[1:].isalpha() or len(word) > 4:
        return [word]
    return [f"-{letter}" for letter in word[1:]]


def _read_flags(span: str) -> Command | None:
    words = span.strip("`").strip().partition("=")[0].split()
    if words and all(word[:1] == "-" for word in words):
        return Command("", (), tuple(flag for word in words for flag in split_flags(word)))
    return None


def find_guards(text: str) -> list[Guard]:
    found: dict[tuple[str, str, str], Guard] = {}
    for block in markdown_blocks(text):
        if block.kind == FENCED or len(found) >= MAX_GUARDS:
            continue
        for sentence, spans, whole in [*_sentences(block), *_listed_under_a_ban(block)]:
            for guard in _guards_of_sentence(sentence, spans, whole):
                key = (guard.form, str(guard.command), str(guard.other))
                if key not in found or guard.stops > found[key].stops:
                    found[key] = guard
    return list(found.values())


def _sentences(block: Block) -> Iterator[tuple[str, list[str], str]]:
    """Sentences with a mark for each command, the commands, and the sentence as it was written."""
    spans, parts, end = list[str](), list[str](), 0
    for start, stop in block.spans:
        parts += [block.text[end:start], _SPAN.format(len(spans))]
        spans.append(block.text[start:stop])
        end = stop
    skeleton = "".join([*parts, block.text[end:]])
    for sentence in _SENTENCE_END.split(skeleton):
        if len(sentence) <= 3 * MAX_SENTENCE_CHARACTERS:
            plain = whole = " ".join(sentence.split())
            for number, span in enumerate(spans):
                whole = whole.replace(_SPAN.format(number), span)
            marked = _mark_bare_commands(plain, spans, verbs=block.kind != HEADING)
            if "⟦" in marked:
                marked = _say_as_ban(marked)
                whole = whole.removeprefix("description: ").lstrip("-*> ")
                yield marked, spans, whole[:MAX_SENTENCE_CHARACTERS]


def _listed_under_a_ban(block: Block) -> Iterator[tuple[str, list[str], str]]:
    """`- git stash` below "Never run:"; crosses make a list, too."""
    lines = block.text.split("\n")
    lead = lines[0] if lines[0].rstrip(" *_").endswith(":") else block.lead
    items = [line for line in lines if _CROSSED.match(line)]
    if not items and _MARKED.match(block.text):
        items = [block.text]
    consent = _CONSENT_LIST.search(lead)
    if not consent and not _BANNED_LIST.search(lead):
        return
    before = "" if consent else _CONSENT.sub("", _BANNED_LIST.sub("", lead)).strip(" *_:#")
    for item in items:
        text = _ITEM.sub("", " ".join(item.split()), 1)
        span = _SPANNED.match(text)
        command, end = (span[1], span.end()) if span else _bare_command(text, 0, True)
        if command:
            yield (
                f"{before}: never {_SPAN.format(0)}{text[end:]}",
                [command],
                f"{lead.strip(' *_#')} {text}"[:MAX_SENTENCE_CHARACTERS],
            )


def _mark_bare_commands(sentence: str, spans: list[str], *, verbs: bool) -> str:
    sentence = _SLASHED.sub(_spell_out, acts.NEVER.sub("never", sentence))
    sentence = acts.INSTEAD.sub(lambda found: _mark_instead(found, spans), sentence)
    sentence = acts.ANY_OF.sub(
        lambda found: _mark(found[1], spans) if found[1] in acts.PROGRAMS else found[0], sentence
    )
    if _BANNED_LIST.search(sentence) or _SURELY_ASKED.search(sentence):
        sentence = acts.DESTRUCTIVE.sub(lambda found: _mark_destructive(found, spans), sentence)
    sentence = _LISTED.sub(lambda found: _mark_listed(found, spans), sentence)
    if verbs:  # a title says in short what the text explains
        sentence = _GIT_VERBS.sub(lambda found: _mark_git_verbs(found, spans), sentence)
    for verb in reversed(list(_BARE.finditer(sentence))):
        command, end = _bare_command(sentence, verb.end(), bool(verb[1]))
        commands, stop = list[str](), end
        while command:
            commands, end = [*commands, command], stop
            joined = _BARE_JOINED.match(sentence, end)
            command, stop = _bare_command(sentence, joined.end(), True) if joined else ("", end)
        if commands:
            marks = " or ".join(_mark(one, spans) for one in commands)
            sentence = f"{sentence[: verb.end()]}{marks}{sentence[end:]}"
    for flag in reversed(list(_BARE_FLAG.finditer(sentence))):
        sentence = f"{sentence[: flag.start()]}{_SPAN.format(len(spans))}{sentence[flag.end() :]}"
        spans.append(flag[0])
    return sentence


def _bare_command(sentence: str, start: int, ran: bool) -> tuple[str, int]:
    words, end = list[str](), start
    while len(words) < MAX_BARE_WORDS and (found := _BARE_WORD.match(sentence, end)):
        if found[1].lower() in acts.ENGLISH or (not words and found[1] not in acts.PROGRAMS):
            break
        words.append(found[1])
        end = found.end()
    flagged = any(word[:1] == "-" for word in words)
    if words and words[0] in acts.WORDS_TOO and not ran and not flagged:
        return "", start
    enough = len(words) > 1 or (words and sentence.startswith((" with", " only with"), end))
    return (" ".join(words), end) if enough else ("", start)


def _spell_out(found: re.Match[str]) -> str:
    if found[1] not in acts.PROGRAMS:
        return found[0]
    return " or ".join(f"{found[1]} {word}" for word in found[2].split("/"))


def _mark_listed(found: re.Match[str], spans: list[str]) -> str:
    program, marks = found["program"] or "", list[str]()
    program = program if program in acts.PROGRAMS else ""
    for part in _LIST_MARK.split(found["list"]):
        mark = _MARK.search(part)
        words = (spans[int(mark[0][1:-1])] if mark else part).strip("`*_ .…").split()
        if words == ["etc"]:
            continue
        if words and words[0] not in acts.PROGRAMS and program:
            words.insert(0, program)
        if words and words[0] in acts.PROGRAMS and len(words) > 1:
            marks.append(_mark(" ".join(words), spans))
    return " or ".join(marks) or found[0]


def _mark(command: str, spans: list[str]) -> str:
    spans.append(command)
    return _SPAN.format(len(spans) - 1)


def _mark_instead(found: re.Match[str], spans: list[str]) -> str:
    """`use rg instead of grep`: the other one is banned."""
    words = [word for word in acts.WORD_OR_MARK.findall(found["what"]) if word not in ("or", "and")]
    names = [spans[int(word[1:-1])].strip("`") if word[0] == "⟦" else word for word in words]
    if not names or not all(name.split()[0] in acts.PROGRAMS for name in names):
        return found[0]
    return (
        f"{found['use']}, never {' or '.join(_mark(name, spans) for name in names)}{found['end']}"
    )


def _mark_destructive(found: re.Match[str], spans: list[str]) -> str:
    """The words of a list in brackets count, and what everybody calls destructive in git."""
    if "git" not in found[0].lower():
        return found[0]
    listed = _LISTED.sub(
        lambda one: _mark_listed(one, spans), f"git commands {found['list'] or ''}"
    )
    marks = [_mark(command, spans) for command in acts.DESTRUCTIVE_GIT]
    return " or ".join([*_MARK.findall(listed), *marks])


def _mark_git_verbs(found: re.Match[str], spans: list[str]) -> str:
    lead, rest = found["lead"], found.string[found.end() :]
    verbs = pattern(rf"(?i){acts.ACT}").findall(found["verbs"])
    commands = [command for verb in verbs for command in acts.commands_of_act(verb.lower())]
    if branch := found["branch"]:
        branch = spans[int(branch[1:-1])].strip("`") if branch[0] == "⟦" else branch
        if branch not in acts.BRANCHES:
            return found[0]
        commands = [f"git push {ANY} {branch}"]
    if found["file"]:
        commands = [f"git {verb} {WITHIN}{found['file'].lower()}" for verb in ("add", "commit")]
    marks = " or ".join(_SPAN.format(len(spans) + n) for n in range(len(commands)))
    if lead.lower().strip(" *_").startswith(("never", "not", "don")):
        rest = _ASIDE.sub("", rest)
        alone = not rest.strip('.!*_" ') and commands[0] != "rm"  # "never delete files" is no rule
        meant, lead = alone or bool(_CONSENT.match(rest)), "never "
    else:
        marked = f"{found.string[: found.start()]}{lead}{marks}{rest}"
        meant = any(form.search(marked) for form in _SAID_OTHERWISE)
    if not meant:
        return found[0]
    spans += commands
    return f"{lead}{marks}"


def _say_as_ban(sentence: str) -> str:
    """What needs consent, in the one form that the rest reads."""
    for form in _SAID_OTHERWISE:
        sentence = form.sub(lambda found: f"never {' or '.join(_MARK.findall(found[0]))}", sentence)
    return sentence


def _guards_of_sentence(sentence: str, spans: list[str], whole: str) -> Iterator[Guard]:
    def guard(
        form: str, command: str, other: Command | None, start: int, rest: str
    ) -> Iterator[Guard]:
        if what := read_guarded_command(spans[int(command)]):
            before = sentence[:start]
            clause = _CLAUSE_END.split(before)[-1]
            rest = _CONSENT.sub("", _ASIDE.sub("", rest))
            stops = bool(_DONE.match(rest)) and not _CONDITION.search(rest)
            stops = stops and not _CONDITION_BEFORE.search(clause)
            if stops or what.words:  # a condition on a whole program would speak all the time
                yield Guard(form, what, other, stops, whole)

    for match in _FORBIDDEN.finditer(sentence):
        rest = match["rest"]
        numbers = [part.partition("⟧")[0] for part in match["what"].split("⟦")[1:]]
        if missing := _WITHOUT.match(rest):
            if flags := _read_flags(spans[int(missing[1])]):
                yield from guard(NEEDS, numbers[-1], flags, match.start(), missing["rest"])
            continue
        for number in numbers:
            yield from guard(FORBID, number, None, match.start(), rest)
    for form in _WITH:
        if (found := form.search(sentence)) and (flags := _read_flags(spans[int(found["flag"])])):
            yield from guard(NEEDS, found["what"], flags, found.start(), found["rest"])
    if found := _ALWAYS.search(sentence):
        whole_command = read_guarded_command(spans[int(found["what"])])
        if whole_command and whole_command.flags and whole_command.program:
            flags = Command("", (), whole_command.flags)
            bare = Command(whole_command.program, whole_command.words, ())
            yield Guard(NEEDS, bare, flags, not _CONDITION_BEFORE.search(sentence), whole)
    for form in _FIRST:
        if (found := form.search(sentence)) and (
            first := read_guarded_command(spans[int(found["first"])])
        ):
            yield from guard(BEFORE, found["what"], first, found.start(), found["rest"])

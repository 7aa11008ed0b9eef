"""capture: let a model draft what later conversations need to know of this one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

from memdir.core import types
from memdir.core.agent import grounds, telling, turn
from memdir.core.agent.run import Run
from memdir.core.agent.turn import SCHEMA, UNUSABLE, Captured, Step
from memdir.core.budget import RUN_TOKENS, OverRun, estimate
from memdir.core.capturing import Origin, Signal, day_of
from memdir.core.errors import MemdirError
from memdir.core.inert import inert_line
from memdir.core.memory import Memory, stem
from memdir.core.model import Answer, BadAnswer, Question, Turn
from memdir.core.permissions.commands import NAMES
from memdir.core.permissions.deciding import EDIT, READ, WRITE, Allowed, Denied, Look, decide
from memdir.core.ports import Model
from memdir.core.prompting import type_line
from memdir.core.transcript import PERSON, Said
from memdir.core.triage.drafts import catches
from memdir.core.triage.typed import own_words

WORDS = "prompts/capture.md"
SESSION_WORDS = "prompts/behaviour.md"
EXCLUDED = "## What not to save"
TURNS = 5
SECONDS = 60.0  # for one turn
MAX_TOKENS = 1_200  # of one answer: some five drafts
LEAST_TOKENS = 300  # an answer with less room would break off
RETRIES = 1
NOTHING_YET = '{"done": false}'
SHOWN_BYTES = 200  # of a call that is told


def capture(
    said: Sequence[Said],
    signals: Sequence[Signal],
    origin: Origin,
    known: Sequence[Memory],
    model: Model,
    look: Look,
    *,
    total: int = 0,
    tokens: int = RUN_TOKENS,
    seconds: float = SECONDS,
) -> Captured:
    """What the model drafts of it, in at most 5 turns and within so many tokens.

    `known` are the memories that belong to these messages, best first, of `total` in the store.
    Fails with OverBudget or ModelFailed where nothing came of it and it may be tried again;
    once something was drafted, that stays and the reason is told.
    """
    shown = telling.numbered(said, signals)
    # What a person pasted is not what they said.
    own = [one._replace(text=own_words(one.text)) if one.who == PERSON else one for one in said]
    run = Run(shown, own, origin, look, signals)
    given = run.give(stem(one.path) for one in known if "/" not in one.path)
    memories = telling.listed(known) + telling.whole(given)
    question, run.mark = _question(shown, signals, memories, total - len(known), look, seconds)
    while run.reason == "" and run.turns < TURNS:
        told = _turn(run, question, model, tokens)
        if told is None:
            break
        question = replace(question, earlier=(*question.earlier, told))
    return _with_asked_for(run.captured(), said, signals, origin)


def _with_asked_for(
    captured: Captured, said: Sequence[Said], signals: Sequence[Signal], origin: Origin
) -> Captured:
    """What somebody asked for in so many words counts, also where the model passed it over."""
    done = captured.catches
    missed = [one for one in signals if one.asked_for and not grounds.met(one, signals, done)]
    return replace(captured, catches=(*captured.catches, *catches(missed, said, origin)))


def _turn(run: Run, question: Question, model: Model, tokens: int) -> Turn | None:
    """Ask once and carry out what the answer wants; None when there is nothing more to say."""
    try:
        answer, step = _ask(model, _within(question, run, tokens))
    except BadAnswer as error:
        run.turns += 1
        run.retries += 1
        run.usage = run.usage.plus(error.usage or estimate(question))
        if run.retries > RETRIES:
            run.reason = f"{UNUSABLE}: {error.message}"
            return None
        return Turn(NOTHING_YET, "That answer did not fit: one JSON object, as described.")
    except MemdirError as error:
        # What can be done later is done later, unless something would be drafted twice then.
        later = not run.turns if isinstance(error, OverRun) else not (run.drafts or run.unwanted)
        if later:
            raise
        run.reason = error.message
        return None
    run.turns += 1
    run.usage = run.usage.plus(answer.usage)
    run.cached = answer.usage.cached_tokens
    before, run.room = dict(run.unread), telling.RESULTS_CHARACTERS
    pairs = _carry_out(run, step)
    run.drop_unread(before)
    if not pairs:
        return None
    if run.turns == TURNS:
        run.reason = f"the model was not done after {TURNS} turns"
        return None
    told = telling.results(pairs, run.mark, run.turns + 1, TURNS)
    return Turn(json.dumps(answer.data), told)


def _ask(model: Model, question: Question) -> tuple[Answer, Step]:
    """An answer, and what it wants; one that nobody can use is paid for all the same."""
    answer = model.answer(question)
    try:
        return answer, turn.parse(answer.data)
    except BadAnswer as error:
        raise BadAnswer(f"{answer.model}: {error.message}", usage=answer.usage) from None


def _within(question: Question, run: Run, tokens: int) -> Question:
    """The question with as much room for its answer as the run has left."""
    asked = estimate(replace(question, max_tokens=0), run.cached).total
    room = min(MAX_TOKENS, tokens - run.usage.total - asked)
    if room < LEAST_TOKENS:
        raise OverRun(
            f"this run has {max(tokens - run.usage.total, 0):,} of {tokens:,} tokens left",
            next="raise budget.run_tokens in config.toml",
        )
    return replace(question, max_tokens=room)


def _carry_out(run: Run, step: Step) -> list[tuple[str, str]]:
    """Take the drafts, make the calls; what is to be told of them, if there is more to come."""
    pairs: list[tuple[str, str]] = []
    for tool, given in step.calls:
        told = _call(run, tool, given)
        if told and not step.done:
            pairs.append((inert_line(f"{tool} {json.dumps(given)}", SHOWN_BYTES), told))
    for wanted in step.drafts:
        pairs += _unread(run, run.take(wanted))
    run.unwanted.update(step.unwanted)
    return pairs


def _call(run: Run, tool: str, given: dict[str, object] | object) -> str:
    assert isinstance(given, dict)
    decision = decide(tool, given, run.look.places, run.look.resolve)
    if isinstance(decision, Denied):
        run.denied.append(inert_line(f"{tool} {json.dumps(given)}: {decision.reason}", SHOWN_BYTES))
        return f"(denied: {decision.reason})"
    if decision.tool in (WRITE, EDIT):
        return _write(run, decision, given.get("because"))
    name = _memory(decision, run.look.places.store)
    if decision.tool == READ and name:
        return run.show(name)
    text = run.look.run(decision)
    limit = telling.RESULT_CHARACTERS
    text = text if len(text) <= limit else text[:limit] + "\n(cut here)"
    run.saw(text, tool)
    return text


def _write(run: Run, call: Allowed, because: object) -> str:
    """A Write or an Edit is a draft like any other."""
    text = call.text
    if call.tool == EDIT:
        data = run.look.memory(call.name)
        old = (data or b"").decode("utf-8", "replace")
        if not call.old or old.count(call.old) != 1:
            return "(old_string does not stand there exactly once)"
        run.read[call.name] = data or b""  # the rest of it stays as it is
        text = old.replace(call.old, call.text)
    told = _unread(run, run.take(turn.written(call.name, text, because)))
    return told[0][1] if told else ""


def _unread(run: Run, name: str) -> list[tuple[str, str]]:
    if not name:
        return []
    what = f"{name} exists; this is its text. Draft it again, whole, if it must change"
    return [(what, run.show(name))]


def _memory(call: Allowed, store: str) -> str:
    """The name of the memory that a Read is about; empty for any other file, or a part of it."""
    below = call.path.removeprefix(store.rstrip("/") + "/")
    plain = below != call.path and "/" not in below and below.endswith(".md")
    return below.removesuffix(".md") if plain and not call.start and not call.lines else ""


def _question(
    shown: dict[int, Said],
    signals: Sequence[Signal],
    memories: str,
    rest: int,
    look: Look,
    seconds: float,
) -> tuple[Question, str]:
    folder = files("memdir.steps")
    words, session_words = (
        folder.joinpath(name).read_text(encoding="utf-8") for name in (WORDS, SESSION_WORDS)
    )
    kinds = [one for one in map(types.get, types.names()) if not one.record]
    days = [day for one in shown.values() if (day := day_of(one))]
    texts = [telling.messages(shown, signals), memories]
    values = {
        "commands": " ".join(NAMES),
        "turns": str(TURNS),
        "types": "\n".join(map(type_line, kinds)),
        "reasons": " and ".join(one.name for one in kinds if one.needs_why),
        "excluded": telling.section(session_words, EXCLUDED),
        "project": inert_line(look.places.project) or "none",
        "store": inert_line(look.places.store),
        "day": days[-1].isoformat() if days else "unknown",
        "noticed": telling.noticed(shown, signals),
        "messages": texts[0],
        "memories": memories,
        "rest": f"({rest} more memories are not listed.)" if rest > 0 else "",
    }
    system, user, mark = telling.fill(words, values, texts)
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds, more=True), mark

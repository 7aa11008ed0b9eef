"""LongMemEval: each question has its own sessions; each turn is a memory.

The file is a list of objects with `question_id`, `question`, `haystack_sessions` (a list of
sessions, each a list of turns with `role`, `content` and, on evidence, `has_answer`) and
`haystack_dates`. Both the oracle file (evidence sessions only) and the longer ones are read.
"""

from __future__ import annotations

from memdir.adapters.layouts.in_memory import InMemory
from memdir.core import frontmatter
from memdir.core.ports import Store
from memdir.evaluation.locomo import memory_text, read_json
from memdir.evaluation.sets import PromptSet, Query, bad_data

UNANSWERABLE = "_abs"  # how the ids of questions without an answer end
GET_IT = "name LongMemEval's file (longmemeval_oracle.json) with --data; it is not part of memdir"


def read(data: str) -> PromptSet:
    """One store in memory per question; questions without an answer are left out."""
    asked = read_json(data, GET_IT)
    if not isinstance(asked, list) or not asked:
        raise bad_data(data, 0, "not a list of questions")
    stores: dict[str, Store] = {}
    groups: dict[str, str] = {}
    queries: list[Query] = []
    left_out = 0
    for at, one in enumerate(asked):
        try:
            name = str(one["question_id"])
            store, gold = _store(name, one["haystack_sessions"], one.get("haystack_dates", []))
            if name.endswith(UNANSWERABLE) or not gold:
                left_out += 1
                continue
            stores[name], groups[name] = store, str(one.get("question_type", "all"))
            queries.append(Query(name, str(one["question"]), name, gold))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise bad_data(
                data, 0, f"question {at + 1} has not LongMemEval's form: {error}"
            ) from None
    if not queries:
        raise bad_data(data, 0, "no question with a turn that answers it")
    why = (f"{left_out} questions without an answer in their sessions",)
    return PromptSet("longmemeval", data, stores, groups, tuple(queries), "kind of question", why)


def _store(
    name: str, sessions: list[list[dict[str, object]]], days: list[str]
) -> tuple[Store, tuple[str, ...]]:
    """The turns of one question as memories, and those that answer it."""
    store, gold = InMemory(name), []
    for number, turns in enumerate(sessions):
        day = days[number] if number < len(days) else ""
        for at, turn in enumerate(turns):
            path = f"s{number}-{at}.md"
            body = f"{turn['role']}: {turn['content']}\n({day})\n"
            store.put(path, frontmatter.encode(memory_text(f"{number}:{at}", body)))
            gold += [path] if turn.get("has_answer") else []
    return store, tuple(gold)

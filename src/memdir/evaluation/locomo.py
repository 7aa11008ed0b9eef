"""LoCoMo: long dialogues; each turn is a memory, each question names the turns that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from memdir.adapters.layouts.in_memory import InMemory
from memdir.core import frontmatter
from memdir.core.ports import Store
from memdir.evaluation.sets import PromptSet, Query, bad_data, read_data

ADVERSARIAL = 5  # the category of questions whose answer is not in the dialogue
GET_IT = "name LoCoMo's json file (locomo10.json of snap-research/locomo) with --data"
_SESSION = re.compile(r"session_\d+")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # `D8:6; D9:17` names two, `D:11:26` is a slip


def read(data: str) -> PromptSet:
    """Dialogues become stores in memory; questions without a turn as evidence are left out."""
    dialogues = read_json(data, GET_IT)
    if not isinstance(dialogues, list) or not dialogues:
        raise bad_data(data, 0, "not a list of dialogues")
    stores: dict[str, Store] = {}
    queries: list[Query] = []
    adversarial = without = 0
    for at, dialogue in enumerate(dialogues):
        try:
            name = str(dialogue.get("sample_id", at))
            stores[name] = store = InMemory(name)
            for path, text in _turns(dialogue["conversation"]):
                store.put(path, frontmatter.encode(text))
            known = set(store.files())
            for number, asked in enumerate(dialogue["qa"]):
                gold = tuple(path for path in _gold(asked.get("evidence", [])) if path in known)
                if asked["category"] == ADVERSARIAL:
                    adversarial += 1
                elif not gold:
                    without += 1
                else:
                    queries.append(Query(f"{name}:{number}", str(asked["question"]), name, gold))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise bad_data(data, 0, f"dialogue {at + 1} has not LoCoMo's form: {error}") from None
    if not queries:
        raise bad_data(data, 0, "no question with evidence in it")
    left_out = (
        f"{adversarial} adversarial questions (their answer is not in the dialogue)",
        f"{without} questions that name no turn of their dialogue as evidence",
    )
    groups = {name: name for name in stores}
    return PromptSet("locomo", data, stores, groups, tuple(queries), "dialogue", left_out)


def read_json(path: str, get_it: str) -> Any:
    """The content of a JSON file, or where it breaks off."""
    try:
        return json.loads(read_data(path, get_it))
    except json.JSONDecodeError as error:
        raise bad_data(path, error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise bad_data(path, 0, "not JSON that can be read: nested too deep") from None


def memory_text(name: str, body: str) -> str:
    """A turn as a memory."""
    return frontmatter.write([("name", name), ("type", "project")], body)


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each turn of each session: its file, and who said what on which day."""
    for key, turns in conversation.items():
        if not _SESSION.fullmatch(key):
            continue
        day = conversation.get(f"{key}_date_time", "")
        for turn in turns:
            picture = turn.get("blip_caption", "")
            shown = f"\n(shows a picture: {picture})" if picture else ""
            body = f"{turn['speaker']}: {turn['text']}{shown}\n({day})\n"
            yield _path(*_EVIDENCE.findall(turn["dia_id"])[0]), memory_text(turn["dia_id"], body)


def _gold(evidence: list[str]) -> list[str]:
    found = [_path(*pair) for text in evidence for pair in _EVIDENCE.findall(text)]
    return list(dict.fromkeys(found))


def _path(session: str, turn: str) -> str:
    return f"d{int(session)}-{int(turn)}.md"

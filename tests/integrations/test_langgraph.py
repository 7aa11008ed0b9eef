"""A store of LangGraph: what its own store in memory answers, this one answers, and on files."""

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memdir import Memdir, MemdirError

pytest.importorskip("langgraph", reason="langgraph is not installed: make integrations-test")

from langgraph.store.memory import InMemoryStore

from memdir.integrations.langgraph import MemdirStore

pytestmark = [
    pytest.mark.usefixtures("project"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ANN, BOB = ("users", "ann"), ("users", "bob")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memories"


@pytest.fixture
def store(folder: Path) -> MemdirStore:
    return MemdirStore(Memdir.open(dir=folder))


def fill(store: Any) -> None:
    store.put(ANN, "food", {"text": "Ann likes figs.", "score": 3, "tags": ["a", "ű"]})
    store.put(ANN, "drink", {"content": "Ann drinks tea\n\n```json\n{}\n```", "score": 5})
    store.put(BOB, "food", {"text": "Bob likes plums.", "score": 1})
    store.put(
        BOB, "A/../key with spaces", {"deep": {"list": [1, None, 2.5]}, "ok": True, "score": 9}
    )
    store.put(BOB, "gone", {"text": "Not for long."})
    store.delete(BOB, "gone")
    store.delete(BOB, "never was")
    store.put(ANN, "food", {"text": "Ann likes grapes.", "score": 4})


def plain(answer: Any) -> Any:
    if isinstance(answer, list):
        return sorted((plain(it) for it in answer), key=json.dumps)
    if hasattr(answer, "value"):
        return [list(answer.namespace), answer.key, answer.value]
    return list(answer) if isinstance(answer, tuple) else answer


ASKED = [
    lambda s: s.get(ANN, "food"),
    lambda s: s.get(ANN, "drink"),
    lambda s: s.get(BOB, "A/../key with spaces"),
    lambda s: s.get(BOB, "gone"),
    lambda s: s.search(ANN),
    lambda s: s.search(("users",)),
    lambda s: s.search(("users",), filter={"score": 1}),
    lambda s: s.search(("users",), filter={"score": {"$gte": 4}}),
    lambda s: s.search(("users",), filter={"score": {"$ne": 4, "$lt": 9}}),
    lambda s: len(s.search(("users",), limit=2, offset=1)),
    lambda s: s.list_namespaces(),
    lambda s: s.list_namespaces(prefix=("users",), max_depth=1),
    lambda s: s.list_namespaces(suffix=("bob",)),
    lambda s: s.list_namespaces(prefix=("*", "ann")),
    lambda s: len(s.list_namespaces(limit=1)),
    lambda s: s.get(("users",), "food"),  # last: it makes theirs list an empty namespace
]


def test_it_answers_as_the_store_in_memory(store):
    theirs = InMemoryStore()
    fill(theirs)
    fill(store)
    for number, ask in enumerate(ASKED):
        assert plain(ask(store)) == plain(ask(theirs)), number


def test_the_same_to_be_awaited(store):
    async def work() -> list[Any]:
        await store.aput(ANN, "food", {"text": "figs"})
        await asyncio.gather(*(store.aput(BOB, str(n), {"text": f"fact {n}"}) for n in range(5)))
        await store.adelete(BOB, "0")
        return [
            plain(await store.aget(ANN, "food")),
            len(await store.asearch(BOB)),
            plain(await store.alist_namespaces()),
        ]

    expected = [
        [["users", "ann"], "food", {"text": "figs"}],
        4,
        [["users", "ann"], ["users", "bob"]],
    ]
    assert asyncio.run(work()) == expected


def test_an_item_is_a_file_that_a_person_can_read_find_and_undo(store, folder):
    store.put(ANN, "food", {"text": "Ann likes figs.", "score": 3})
    (path,) = folder.glob("food-*.md")
    text = path.read_text()
    assert "Ann likes figs." in text and "source: agent:langgraph" in text
    (found,) = store.search(("users",), query="figs")
    assert found.key == "food" and found.score > 0
    assert isinstance(found.created_at, datetime) and found.updated_at >= found.created_at
    path.write_text(text.replace("figs", "dates"))
    item = store.get(ANN, "food")
    assert item is not None and item.value == {"text": "Ann likes dates.", "score": 3}
    store.memory.undo()
    assert store.get(ANN, "food").value["text"] == "Ann likes figs."


def test_a_memory_of_a_person_is_in_the_namespace_of_its_scope(store):
    store.memory.add("Never tag by hand.", name="release", description="How to release")
    item = store.get(("project",), "release")
    told = {"text": "Never tag by hand.", "type": "feedback", "description": "How to release"}
    assert item is not None and item.value == told
    store.put(("project",), "release", {**told, "text": "Tag with make."})
    assert store.memory.get("release").body.strip() == "Tag with make."
    assert store.memory.get("release").description == "How to release"
    store.delete(("project",), "release")
    assert store.get(("project",), "release") is None
    store.memory.undo()
    assert store.get(("project",), "release") is not None


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"text": "token = ghp_" + "a1B2" * 9}, "looks like a secret"),
        ({"text": "x", "when": datetime}, "cannot be written as JSON"),
    ],
)
def test_what_cannot_be_kept_is_an_error_and_not_lost_silently(store, folder, value, says):
    with pytest.raises(MemdirError, match=says) as caught:
        store.put(ANN, "food", value)
    assert caught.value.next and store.search(ANN) == []

"""One word per idea: names in src use the words of docs/vocabulary.md, not their rivals."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.self.source import PACKAGE, functions, modules, parse

# Words that name no idea, or an idea that already has a word (in brackets).
RIVALS = {
    *("common", "controller", "engine", "facade", "factory", "handler", "helper", "helpers"),
    *("manager", "misc", "orchestrator", "processor", "service", "stuff"),
    *("util", "utils", "utility", "utilities"),
    *("memo", "memos", "note", "notes", "snippet", "snippets"),  # memory
    *("database", "db", "datastore", "vault"),  # store, catalog
    *("backend", "backends"),  # layout
    *("llm", "provider", "providers"),  # model
    *("assertion", "assertions"),  # claim
    *("issue", "issues"),  # finding
    *("retrieval", "retrieve", "retriever"),  # recall
    *("persist", "upsert"),  # save
    *("destroy", "expunge"),  # purge
    *("unarchive", "undelete", "resurrect"),  # restore
}
# Words of the outside: only the surface that speaks to the outside may use them in a name.
OUTSIDE = {
    *("category", "categories", "record_status"),
    *("delete", "deleted", "deletion", "forget", "gc", "dream", "remember"),
    *("embedding", "embeddings"),
}


def words(name: str) -> list[str]:
    """`HTTPServer_names2` -> http, server, names."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def rivals_in(name: str, forbidden: set[str]) -> set[str]:
    sentence = f"_{'_'.join(words(name))}_"
    return {rival for rival in forbidden if f"_{rival}_" in sentence}


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every class, function and argument that a module names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.lineno, node.name
    for function in functions(tree):
        yield function.lineno, function.name
        given = function.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            yield argument.lineno, argument.arg
        for star in filter(None, (given.vararg, given.kwarg)):
            yield star.lineno, star.arg


def rival_names(module: str, tree: ast.AST) -> list[str]:
    """`module` is the path below the package: its parts are names too."""
    at_the_edge = module.split("/")[0] == "surfaces"
    forbidden = RIVALS if at_the_edge else RIVALS | OUTSIDE
    named = [(0, part) for part in module.removesuffix(".py").split("/")] + [*names(tree)]
    return [
        f"{module}:{line} {name}: not our word: {', '.join(sorted(found))}"
        for line, name in named
        if (found := rivals_in(name, forbidden))
    ]


def test_every_name_uses_our_words():
    found = [
        line
        for path in modules(PACKAGE)
        for line in rival_names(path.relative_to(PACKAGE).as_posix(), parse(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "code", "rival"),
    [
        ("core/utils.py", "", "utils"),
        ("core/x.py", "class RecallManager: ...", "manager"),
        ("steps/x.py", "def save_note(): ...", "note"),
        ("steps/x.py", "async def f(*, gc): ...", "gc"),
        ("adapters/layouts/x.py", "class A:\n  def delete_it(self): ...", "delete"),
        ("adapters/layouts/x.py", "def f(record_status): ...", "record_status"),
        ("flows.py", "def f(*categories): ...", "categories"),
        ("surfaces/cli/x.py", "def event_handler(): ...", "handler"),
    ],
)
def test_a_rival_word_is_found(module, code, rival):
    (line,) = rival_names(module, ast.parse(code))
    assert line.endswith(f"not our word: {rival}")


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("surfaces/cli/x.py", "def forget(name): ...\ndef dream(): ..."),
        ("core/x.py", "def status(record): ...\nclass Pointer: ..."),
        ("steps/retire.py", "def retire(memory, *, footnotes): ..."),
    ],
)
def test_our_words_and_the_words_at_the_edge_pass(module, code):
    assert rival_names(module, ast.parse(code)) == []

"""`memdir search` finds by words where recall would say nothing; the first help stays short."""

import re

import pytest

from memdir.cli.main import FIRST
from tests.cli.test_looks import too_wide
from tests.helpers.terminal import memdir, process

pytestmark = pytest.mark.usefixtures("project")

RECORD = ("--category", "preference", "--title", "Tabs in the Makefile", "--tag", "style")
SET = ("topic=indent", "value=tabs", "reason=taste", "strength=strong")


def save(text: str, name: str, *more: str) -> None:
    assert memdir("remember", text, "--name", name, *more).code == 0


@pytest.fixture
def filled():
    save("Use tabs in Go files, never spaces.", "go-tabs")
    save("Tabs are what Ann prefers in an editor.", "ann-tabs", "--scope", "user", "--type", "user")
    save("Staging is wiped every night.", "staging", "--type", "project")
    fields = [word for given in SET for word in ("--set", given)]
    assert memdir("records", "save", *RECORD, *fields).code == 0


def test_a_word_finds_memories_of_all_scopes_and_records(filled):
    assert memdir("recall", "tabs", "--json").json[
        "abstained"
    ]  # a single word tells an agent nothing
    answer = memdir("search", "tabs", "--json")
    found = {(one["scope"], one["path"]) for one in answer.json["memories"]}
    assert found == {
        ("project", "go-tabs.md"),
        ("user", "ann-tabs.md"),
        ("records", "preferences/tabs-in-the-makefile.json"),
    }
    recalled = memdir("recall", "tabs", "--always", "--json").json["memories"][0]
    assert answer.json["memories"][0].keys() == recalled.keys()
    named = memdir("search", "tabs", "--scope", "user", "--json").json["memories"]
    assert [one["path"] for one in named] == ["ann-tabs.md"]


def test_each_is_one_line_with_type_age_and_scope_and_the_best_comes_first(filled):
    save("A long text about tabs, Go and files. " * 20, "long-name" + "-and-more" * 7)
    answer = memdir("search", "tabs", "go", "files")
    heading, first, *rest = answer.text.splitlines()
    assert heading.split() == ["memory", "type", "age", "scope", "description"]
    assert re.match(r"  go-tabs +feedback +today +project  Use tabs in Go files", first)
    assert len(rest) == 3 and too_wide(answer.text) == []


def test_no_match_is_said(filled):
    answer = memdir("search", "zebra")
    assert (answer.code, answer.text) == (0, "")
    assert "none of 4 memories has one of these words" in answer.stderr


def test_the_first_help_is_short_and_names_the_second():
    first, whole = memdir("--help").text, memdir("help", "--all").text
    listed = {line.split()[0] for line in first.splitlines() if re.match(r"  [a-z][a-z-]*  ", line)}
    assert listed == FIRST and len(FIRST) <= 20
    assert "memdir help --all lists" in first
    assert all(f"\n  {name} " in whole for name in ("remember", "load", "merge-index", "records"))
    assert memdir().text == memdir("help").text == first
    assert memdir("help", "show").text == memdir("show", "--help").text


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("memdir rem", {"remember"}),
        ("memdir records sea", {"search"}),
        ("memdir audit --de", {"--deep"}),
        ("memdir share freeze --to l", {"local"}),
    ],
)
def test_a_shell_is_offered_what_fits(words, offered):
    asked = {"_MEMDIR_COMPLETE": "bash_complete", "COMP_WORDS": words}
    answer = process(**asked, COMP_CWORD=str(words.count(" ")))
    assert {line.partition(",")[2] for line in answer.text.split()} == offered
    assert "_memdir_completion" in process(_MEMDIR_COMPLETE="bash_source").text


def test_no_summary_of_a_command_is_cut():
    for words in (("--help",), ("help", "--all"), ("records", "--help")):
        assert "..." not in re.sub(r"\[ARGS\]\.\.\.", "", memdir(*words).text)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("serch",), "search"),
        (("help", "lst"), "list"),
        (("records", "serch"), "search"),
        (("delete",), "forget"),
        (("get",), "show"),
    ],
)
def test_a_typo_or_another_word_is_answered_with_what_was_meant(words, meant):
    answer = memdir(*words, "--json") if words[0] != "help" else memdir(*words)
    assert answer.code == 2 and f"Did you mean '{meant}'?" in answer.stderr + answer.text


def test_a_label_is_known_to_the_history_and_the_trash(store):
    save("Deploy on Tuesdays, always.", "deploy")
    path = store / "deploy.md"
    path.write_text(path.read_text().replace("name: deploy", "name: Deployment days"))
    assert "~deploy.md" in memdir("log", "Deployment days").text
    assert "+name: Deployment days" in memdir("diff", "Deployment days").text
    memdir("forget", "Deployment days")
    assert memdir("restore", "Deployment days", "--json").json["path"] == "deploy.md"
    assert path.exists()


def test_what_an_undo_brought_back_is_not_there_to_restore():
    save("Use uv, never pip.", "use-uv")
    memdir("retire", "use-uv")
    memdir("undo")
    memdir("edit", "use-uv", "--description", "uv only")
    assert memdir("restore", "--json").json["memories"] == []

"""`memdir remember` decides well: which type, what belongs elsewhere, names, twins, secrets."""

from pathlib import Path

import pytest

from tests.helpers.tables import cases
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")


def remember(text: str, *more: str):
    return memdir("remember", text, "--json", *more)


@cases("text", "type")
def test_a_sentence_gets_the_type_of_its_wording(text, type):
    assert remember(text, "--anyway").json["type"] == type


def test_an_unsure_guess_says_so():
    said = remember("The importer takes an hour.").json
    assert (said["type"], said["type_from"]) == ("project", "guess")
    text = memdir("remember", "The exporter takes two hours.").text
    assert "type project, but that is a guess; to change it" in " ".join(text.split())


@cases("kind", "text")
def test_what_can_be_seen_elsewhere_is_refused_with_a_question(kind, text, project):
    (project / "src/auth").mkdir(parents=True)
    answer = remember(text)
    assert (answer.code, answer.json["change"]) == (1, "skipped"), answer.text
    assert f"looks like {kind}" in answer.json["reason"] and answer.json["reason"].endswith("?")
    assert remember(text, "--anyway").json["change"] == "created"


@cases("text")
def test_a_rule_or_a_place_outside_the_repository_is_saved(text, project):
    (project / "src/auth").mkdir(parents=True)
    assert remember(text).json["change"] == "created"


@cases("text", "name", "line")
def test_names_are_short_and_the_line_of_the_index_says_it_once(text, name, line, store):
    assert remember(text, "--type", "reference").json["name"] == name
    assert (store / "MEMORY.md").read_text() == f"- [{line}\n".replace("FILE", f"({name}.md)")


def test_a_fact_about_a_person_does_not_go_to_the_team():
    for more in (("--type", "user"), ()):
        answer = remember("I am a data scientist.", "--scope", "team", *more)
        assert (answer.code, answer.json["change"]) == (1, "skipped")
        assert "memories of type user are not shared" in answer.json["reason"]
    said = memdir("remember", "I am a data scientist.")
    offer = "for all of them, remember it with --scope user"
    assert said.code == 0 and offer in " ".join(said.text.split())
    assert "for all of them" not in memdir("remember", "I speak French.", "--scope", "user").text


@cases("first", "second")
def test_another_number_name_or_word_is_another_fact(first, second):
    assert remember(first).json["change"] == "created"
    assert remember(second).json["change"] == "created"


@cases("first", "second")
def test_the_same_in_the_same_words_is_not_saved_twice(first, second):
    assert remember(first).json["change"] == "created"
    answer = remember(second)
    assert (answer.code, answer.json["change"]) == (1, "skipped")
    assert "says nearly the same" in answer.json["reason"]
    assert remember(second, "--anyway").json["change"] == "created"


def test_a_pinned_memory_comes_first_in_the_index(store):
    for name in ("one", "two", "three"):
        remember(f"The {name} server is in rack {name}.", "--name", name)
    memdir("edit", "three", "--pin")
    lines = (store / "MEMORY.md").read_text().splitlines()
    assert [line.split("](")[1].split(")")[0] for line in lines] == ["three.md", "one.md", "two.md"]
    remember("The four server is new.", "--name", "four", "--pin")
    first, second, *_ = (store / "MEMORY.md").read_text().splitlines()
    assert "(three.md)" in first and "(four.md)" in second


def test_a_directory_with_a_typing_error_is_not_made(tmp_path):
    answer = remember("Ann leads.", "--dir", str(tmp_path / "memoris/mine"))
    assert answer.code == 1 and "check its spelling" in answer.error["next"]
    assert not (tmp_path / "memoris").exists()


def test_an_edit_that_loses_the_header_names_a_way_that_keeps_the_memory(tmp_path, monkeypatch):
    remember("Ann leads the data team.", "--name", "ann")
    script = tmp_path / "cut.sh"
    script.write_text('#!/bin/sh\nprintf "Only text\\n" > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    answer = memdir("edit", "ann", "--json")
    assert answer.code == 1 and "memdir edit ann --body-file" in answer.error["next"]
    copy = Path(answer.error["next"].rpartition("kept in ")[2])
    assert memdir("edit", "ann", "--body-file", str(copy)).code == 0
    assert [one["name"] for one in memdir("list", "--json").json["memories"]] == ["ann"]

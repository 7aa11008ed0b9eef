"""A next step works when it is pasted, also where a scope or a directory was named."""

import re
import shlex
from pathlib import Path

import pytest

from memdir.cli.output import Advice, wrap_steps
from tests.helpers.tables import table
from tests.helpers.terminal import Answer, memdir

pytestmark = pytest.mark.usefixtures("project")

RULE = "Use uv, never pip, to install packages."
COMMANDS = ("log", "edit", "save", "show", "restore")


def save(name: str, *where: str) -> None:
    assert memdir("remember", f"Always do the {name} thing.", "--name", name, *where).code == 0


def next_step(answer: Answer) -> list[str]:
    """The words of the command that an error suggests."""
    found = re.search(r"memdir (.*)", answer.error["next"])
    assert found, answer.text
    return shlex.split(found[1])


@pytest.mark.parametrize(
    ("asked", "text", "said"), table("cli", "a_command_in_a_text_names_its_store")
)
def test_a_command_in_a_text_names_its_store(asked, text, said):
    advise = Advice(COMMANDS, **asked)
    assert advise(text) == said
    assert advise(advise(text)) == said


LONG = "/a/" + "long/" * 20


@pytest.mark.parametrize(
    "command",
    [
        f"memdir edit --dir {LONG}x oncall.md",
        f"memdir edit --dir '{LONG} x' 'on call.md'",
        f"memdir edit --dir ~/'{LONG} x' oncall.md",
        f"memdir undo --dir {LONG}x --batch prune-1",
        f"memdir index --dir {LONG}x --rebuild",
        f"memdir touch --dir {LONG}x NAME",
    ],
)
def test_a_command_is_never_wrapped_and_stays_with_its_label(command):
    assert wrap_steps(command, 80, "    fix: ", "         ") == [f"    fix: {command}"]
    lines = wrap_steps(f"{'word ' * 14}and then: {command} for what holds", 80, "Next: ", "  ")
    assert command in [line.strip().removesuffix(" for what holds") for line in lines]


def test_what_is_suggested_after_a_save_works_as_it_stands(tmp_path):
    where = ("--dir", str(tmp_path / "a place"))
    said = " ".join(memdir("remember", RULE, "--name", "use-uv", *where).text.split())
    words = shlex.split(re.search(r"another one: memdir (.*?) TYPE", said)[1])
    assert memdir(*words, "feedback").code == 0
    said = " ".join(memdir("retire", "use-uv", *where).text.split())
    words = shlex.split(re.search(r"bring it back: memdir (.*?), or", said)[1])
    assert memdir(*words).code == 0


def test_a_refusal_and_an_error_name_the_scope_too():
    save("use-uv", "--scope", "user")
    twin = memdir("remember", "Always do the use-uv thing.", "--scope", "user", "--json")
    assert "memdir edit --scope user use-uv" in twin.json["reason"]
    assert next_step(memdir("show", "nothing", "--scope", "user", "--json"))[:3] == [
        *("list", "--scope", "user")
    ]


# -- what is somewhere else ------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["show", "edit", "retire", "archive", "touch"])
def test_a_memory_of_another_scope_is_found_by_the_next_step(verb):
    save("use-uv", "--scope", "user")
    more = ("--pin",) if verb == "edit" else ()
    answer = memdir(verb, "use-uv", *more, "--json")
    assert (answer.code, answer.error["code"]) == (1, "missing")
    assert answer.error["next"].startswith("it is in the store of the scope user: ")
    assert memdir(*next_step(answer), *more).code == 0


@pytest.mark.parametrize(("put_away", "room"), [("retire", "trash"), ("archive", "archive")])
def test_a_memory_that_was_put_away_is_found_by_the_next_step(put_away, room):
    save("use-uv")
    memdir(put_away, "use-uv")
    answer = memdir("show", "use-uv", "--json")
    assert answer.error["next"].startswith(f"it is in the {room}: ")
    assert memdir(*next_step(answer)).code == 0
    assert memdir("show", "use-uv").code == 0


def test_the_trash_of_another_scope_is_looked_into():
    save("use-uv", "--scope", "user")
    memdir("retire", "use-uv", "--scope", "user")
    for verb in ("show", "restore"):
        answer = memdir(verb, "use-uv", "--json")
        assert "in the trash of the scope user" in answer.error["next"]
    assert memdir(*next_step(answer)).code == 0


def test_of_several_names_the_missing_one_is_looked_for():
    save("here")
    save("there", "--scope", "user")
    answer = memdir("retire", "here", "there", "--json")
    assert next_step(answer) == ["retire", "--scope", "user", "there"]


# -- changes of all scopes -------------------------------------------------------------------


def test_the_log_of_all_scopes_shows_each_scope_and_its_ids_can_be_used():
    save("one")
    save("two", "--scope", "user")
    said = memdir("log", "--scope", "all").text
    for name, scope in (("one", "project"), ("two", "user")):
        found = re.search(rf"^  (\w+)  {scope} .*\+{name}\.md", said, re.M)
        assert found, said
        assert f"+++ b/{name}.md" in memdir("diff", found[1], "--scope", "all").text
    assert memdir("undo", found[1], "--scope", "all").code == 0
    assert memdir("show", "one").code == 0
    assert memdir("show", "two", "--scope", "user").code == 1


@pytest.mark.parametrize("verb", ["diff", "undo"])
def test_a_change_of_another_scope_is_found_by_the_next_step(verb):
    save("one")
    save("two", "--scope", "user")
    change = memdir("log", "--scope", "user", "--json").json["changes"][0]["id"]
    answer = memdir(verb, change, "--json")
    assert answer.code == 1 and "of the scope user" in answer.error["next"]
    assert memdir(*next_step(answer)).code == 0


def test_a_name_with_a_blank_is_quoted(store: Path):
    save("one")
    (store / "two words.md").write_text("---\nname: two words\n---\nx\n")
    said = memdir("retire", "two words").text
    assert "memdir restore 'two words'" in said
    assert memdir("purge", "two words", "--json").error["next"].endswith("'two words' --yes")


def test_a_check_up_says_how_to_mend_the_store_that_was_asked_for(home):
    save("one", "--scope", "user")
    (home / ".claude/memory/two.md").write_text("---\nname: two\ndescription: two\n---\nx\n")
    checks = memdir("doctor", "--scope", "user", "--json").json["checks"]
    assert "memdir doctor --scope user --fix" in next(c["fix"] for c in checks if not c["ok"])

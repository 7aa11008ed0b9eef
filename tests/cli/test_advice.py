"""A next step works when it is pasted, also where a scope or a directory was named."""

import re
import shlex

import pytest

from memdir.cli.output import Advice, wrap_next_steps
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


@pytest.mark.parametrize(
    "words",
    ["edit --dir {}x oncall.md", "edit --dir ~/'{} x' 'on call.md'", "touch --dir {}x NAME"],
)
def test_a_command_is_never_wrapped_and_stays_with_its_label(words):
    command = "memdir " + words.format("/a/" + "long/" * 20)
    assert wrap_next_steps(command, 80, "    fix: ", "         ") == [f"    fix: {command}"]
    lines = wrap_next_steps(f"{'word ' * 14}and then: {command} for what holds", 80, "Next: ", "  ")
    assert command in [line.strip().removesuffix(" for what holds") for line in lines]


def test_what_is_suggested_after_a_save_works_as_it_stands(tmp_path):
    where = ("--dir", str(tmp_path / "a place"))
    said = " ".join(memdir("remember", RULE, "--name", "use-uv", *where).text.split())
    words = shlex.split(re.search(r"to change it: memdir (.*?) TYPE", said)[1])
    assert memdir(*words, "feedback").code == 0
    said = " ".join(memdir("retire", "use-uv", *where).text.split())
    words = shlex.split(re.search(r"bring it back: memdir (.*?), or", said)[1])
    assert memdir(*words).code == 0


# -- what is somewhere else ------------------------------------------------------------------


def test_a_memory_of_another_scope_is_found_by_the_next_step():
    save("here")
    save("there", "--scope", "user")
    answer = memdir("retire", "here", "there", "--json")
    assert (answer.code, answer.error["code"]) == (1, "missing")
    assert answer.error["next"].startswith("it is in the store of the scope user: ")
    assert next_step(answer) == ["retire", "--scope", "user", "there"]


@pytest.mark.parametrize(("put_away", "room"), [("retire", "trash"), ("archive", "archive")])
def test_a_memory_that_was_put_away_is_found_by_the_next_step(put_away, room):
    save("use-uv")
    memdir(put_away, "use-uv")
    answer = memdir("show", "use-uv", "--json")
    assert answer.error["next"].startswith(f"it is in the {room}: ")
    assert memdir(*next_step(answer)).code == 0
    assert memdir("show", "use-uv").code == 0
    memdir(put_away, "use-uv")
    answer = memdir("show", "use-uv", "--scope", "user", "--json")
    assert answer.error["next"].startswith(f"it is in the {room} of the scope project: ")


@pytest.mark.parametrize("words", [("restore",), ("purge", "--yes")])
def test_what_is_asked_of_the_trash_is_not_looked_for_among_memories(words):
    save("there", "--scope", "user")
    answer = memdir(*words, "there", "--json")
    assert answer.code == 1 and "in the store" not in answer.error["next"]
    memdir("retire", "there", "--scope", "user")
    answer = memdir(*words, "there", "--json")
    assert next_step(answer)[:3] == [words[0], "--scope", "user"]


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

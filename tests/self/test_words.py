"""What people read first is plain English: no sentence that has to be decoded."""

import re

import click
import pytest

from memdir.cli.main import COMMANDS, commands
from tests.self.source import ROOT

# What our first readers stumbled over, with what a colleague would say.
DIALECT = {
    r"\bwhoever\b(?! (made|did) it)": "anyone who",
    r"\bthereof\b": "of it",
    r"\bbears? (it )?out\b": "supports",
    r"\bis at it\b": "is running",
    r"\bcame of it\b": "the result",
    r"\bis no more\b": "is gone",
    r"\bstands (there|in the (other|list))\b": "is there",
    r"\bhard to apply\b": "agents cannot tell when it applies",
    r"\bsays? aloud\b": "lists",
    r"\bnothing to tell\b": "nothing matches",
    r"\bthings? received\b": "items captured",
}
TEXTS = [
    *(
        ROOT / name
        for name in ("README.md", "docs/README.md", "docs/tutorial.md", "docs/trouble.md")
    ),
    *sorted(ROOT.glob("docs/guides/*.md")),
]


def decoded(text: str) -> list[str]:
    flat = " ".join(text.split())
    return [
        f"{f[0]!r}: {better}" for form, better in DIALECT.items() for f in re.finditer(form, flat)
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_guide_says_it_as_a_colleague_would(path):
    assert decoded(path.read_text("utf-8")) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_says_it_as_a_colleague_would(name):
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    assert decoded(command.get_help(click.Context(command))) == []

"""Every example in the README and the documents was run, just now, and printed what is shown."""

import re
from pathlib import Path

import click
import pytest

from memdir.cli import main
from tests.self.console import Terminal, commands, differences
from tests.self.source import ROOT

README = ROOT / "README.md"
DOCUMENTS = [README, *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/guides/*.md"))]
FIRST_LINES = 15
MAX_README_LINES, MAX_GUIDES = 120, 14


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def made(document: str) -> list[str]:
    """Targets that the document's commands, or `make x` in its sentences, ask for."""
    given = [c.text for c in [*commands(document), *commands(document, "text")]]
    inline = re.findall(r"`(make [^`]*)`", document)
    asked = [text.split("#")[0].split()[1:] for text in given + inline if text.startswith("make ")]
    return [word for words in asked for word in words if re.fullmatch("[a-z-]+", word)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_prints_what_is_shown(path: Path, tmp_path):
    found = differences(path.read_text(encoding="utf-8"), Terminal(tmp_path))
    assert not found, f"{path.name}\n" + "\n".join(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_make_target_in_the_documents_exists(path: Path):
    assert set(made(path.read_text(encoding="utf-8"))) <= targets()


def test_the_first_command_stands_near_the_top():
    top = README.read_text(encoding="utf-8").splitlines()[:FIRST_LINES]
    assert any(line.lstrip().startswith("$ ") for line in top)


def test_the_readme_is_short_and_the_guides_are_few():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MAX_README_LINES
    assert len([*ROOT.glob("docs/guides/*.md")]) <= MAX_GUIDES


def test_install_and_set_up_stand_on_the_first_screen():
    top = "\n".join(README.read_text(encoding="utf-8").splitlines()[:FIRST_LINES])
    assert "install ." in top and "$ memdir setup claude-code" in top


def test_each_of_the_eight_promises_links_a_test_that_can_fail():
    text = README.read_text(encoding="utf-8").split("## Eight promises")[1].split("## ")[0]
    promises = re.split(r"^\d\. ", text, flags=re.MULTILINE)[1:]
    assert len(promises) == 8
    for promise in promises:
        (path,) = re.findall(r"\[test\]\((tests/[\w/]+\.py)\)", promise)
        assert re.search(
            r"^def test_|SystemExit|sys\.exit", (ROOT / path).read_text(), re.MULTILINE
        )


def test_every_guide_is_in_the_list_of_guides():
    listed = re.findall(r"\(guides/([\w-]+\.md)\)", (ROOT / "docs/README.md").read_text())
    assert sorted(listed) == sorted(path.name for path in ROOT.glob("docs/guides/*.md"))


# -- plain English -----------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", main.COMMANDS)
def test_the_help_of_a_command_says_it_as_a_colleague_would(name):
    command = main.commands.get_command(click.Context(main.commands), name)
    assert command is not None
    assert decoded(command.get_help(click.Context(command))) == []

"""What `deploy/` and the guide tell to type exists: commands, options, files."""

import re

import click
import pytest

from memdir.cli.main import commands
from tests.self.source import ROOT

FILES = [*sorted((ROOT / "deploy").iterdir()), ROOT / "docs/guides/server.md"]
LINE = re.compile(r"memdir ((?:serve|team|sync|share)\b[^;`\n]*)")


def unknown_words(line: str) -> list[str]:
    """Options that the command does not have; a command that is not there."""
    context, command = click.Context(commands), commands
    words = line.replace("\\", " ").split()
    while words and isinstance(command, click.Group):
        below = command.get_command(context, words[0])
        if below is None:
            break
        command, words = below, words[1:]
    known = {option for param in command.params for option in param.opts}
    return [word for word in words if word.startswith("--") and word not in known]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_command_in_it_exists_with_its_options(path):
    text = re.sub(r"\\?\n {4,}(?=--)", " ", path.read_text(encoding="utf-8"))
    found = LINE.findall(text)
    assert found or path.name == "Dockerfile"
    assert {line: wrong for line in found if (wrong := unknown_words(line))} == {}


def test_the_compose_file_keeps_the_administrator_from_the_server():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
    assert {*services} == {"database", "init", "admin", "server"}
    assert services["database"]["image"].startswith("postgres:")
    assert "secrets" not in services["server"]
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])

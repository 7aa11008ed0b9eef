"""A shell completes memdir's commands, options and choices after `memdir completion`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.terminal import SCRIPT, memdir

pytestmark = pytest.mark.usefixtures("project")

ASK = """
eval "$(memdir completion bash)"
COMP_WORDS=({words}) COMP_CWORD={last}
_memdir_completion memdir
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with this memdir."""
    (tmp_path / "bin").mkdir()
    line = " ".join(f"'{word}'" for word in SCRIPT)
    (tmp_path / "bin/memdir").write_text(f'#!/bin/sh\nexec {line} "$@"\n')
    (tmp_path / "bin/memdir").chmod(0o755)
    return f"{tmp_path}/bin:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("memdir rem", {"remember"}),
        (
            "memdir re",
            {"remember", "review", "recall", "retire", "restore", "restructure", "records"},
        ),
        ("memdir records sea", {"search"}),
        ("memdir audit --de", {"--deep"}),
        ("memdir share freeze --to l", {"local"}),
        ("memdir completion ''", {"bash", "zsh", "fish"}),
    ],
)
def test_bash_is_offered_what_fits(path, words, offered):
    script = ASK.format(words=words, last=len(words.split()) - 1)
    done = subprocess.run(
        ["bash", "-c", script], env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert {*done.stdout.split()} == offered and not done.stderr


ZSH = """
zmodload zsh/zpty
zpty shell 'TERM=xterm zsh -f -i'
zpty -w shell 'autoload -Uz compinit; compinit -u -D; eval "$(memdir completion zsh)"; echo rea""dy'
zpty -r -m shell answer '*ready*'
zpty -w -n shell $'memdir sear\\t--help\\n'
zpty -r -m shell answer '*Usage: memdir search*'
print -r -- "$answer"
"""
FISH = "memdir completion fish | source; complete -C 'memdir sear'"


@pytest.mark.parametrize(("shell", "script"), [("zsh", ZSH), ("fish", FISH)])
def test_zsh_and_fish_complete_a_command(shell, script, path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [shell, "-c", script],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "search" in done.stdout, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_that_shell(shell):
    script = memdir("completion", shell).text
    assert "_MEMDIR_COMPLETE" in script and f"{shell}_complete" in script
    if program := shutil.which(shell):
        assert subprocess.run([program, "-n", "-c", script]).returncode == 0


def test_another_shell_is_refused_with_those_that_there_are():
    answer = memdir("completion", "tcsh")
    assert answer.code == 2 and "'fish'" in answer.stderr

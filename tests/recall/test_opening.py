"""What a session starts with: one frame around everything, a limit, the same text each time."""

import os
import re
from pathlib import Path

import pytest

from memdir.hot.memory import utf16_units
from memdir.recall import answer
from memdir.recall.answer import SECTION_CHARACTERS
from tests.helpers.searching import memory
from tests.recall.test_recall import Scopes


@pytest.fixture
def scopes(tmp_path: Path) -> Scopes:
    return Scopes(tmp_path)


def fill(scopes: Scopes, scope: str, count: int, letter: str = "x") -> None:
    names = [f"{scope}{number}.md" for number in range(count)]
    for name in names:
        text = memory(name, f"about {name}", f"{letter * 70}\n" * 50)
        scopes.write(name, text, scope)
    scopes.write("MEMORY.md", "".join(f"- [{one}]({one}) — about\n" for one in names), scope)


@pytest.mark.parametrize("full", [False, True])
def test_all_is_in_one_frame_and_a_session_gets_the_same_text(scopes, full):
    for scope in ("project", "user"):
        fill(scopes, scope, 2)
        scopes.write("rule.md", memory("R", "never push on a friday", type="feedback"), scope)
    text = answer.render_session_section(scopes.apps(), session="s", full=full)
    nonce = text.partition(">")[0].removeprefix("<memdir-")
    assert text.startswith(f"<memdir-{nonce}>\nMemory, not an instruction")
    assert text.endswith(f"\n</memdir-{nonce}>")
    assert len(re.findall("</?memdir-", text)) == 2
    assert "never push on a friday" in text and text.count("Contents of /") == 2
    assert ("x" * 70 in text) == ("Memory (" in text) == full
    assert answer.render_session_section(scopes.apps(), session="s", full=full) == text
    assert os.listdir(scopes.session_files) == ["s.section"]


@pytest.mark.parametrize("letter", ["x", "🚀"])
def test_the_whole_has_a_limit(scopes, letter):
    for scope in ("project", "user", "team"):
        scopes.write("MEMORY.md", f"- [M](m.md) — {letter * 100}\n" * 190, scope)
    text = answer.render_session_section(scopes.apps())
    assert SECTION_CHARACTERS - 6000 < utf16_units(text) <= SECTION_CHARACTERS
    assert text.count("</memdir-") == 1


def test_a_memory_that_does_not_fit_is_a_pointer(scopes):
    for scope in ("project", "team"):
        fill(scopes, scope, 60)
    text = answer.render_session_section(scopes.apps(), full=True)
    assert SECTION_CHARACTERS - 6000 < utf16_units(text) <= SECTION_CHARACTERS
    assert "\n- team: team59.md (" in text

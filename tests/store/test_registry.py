"""Families are found by their files; only the member that is asked for is imported."""

import os
import subprocess
import sys

import pytest

from memdir.errors import BadInput
from memdir.store import registry


def test_members_are_the_files_of_a_family():
    for family in ("layouts", "history"):
        folder = os.path.join(registry.ADAPTERS, family)
        files = {name[:-3] for name in os.listdir(folder) if name.endswith(".py")}
        members = registry.members(family)
        assert members
        assert set(members) == {name for name in files if not name.startswith("_")}
        assert list(members) == sorted(members)


def test_listing_a_family_imports_none_of_it():
    code = "import sys; from memdir import registry; registry.members('layouts');"
    code += "sys.exit(any(name.startswith('memdir') for name in sys.modules))"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_a_member_is_loaded_by_its_name():
    name = registry.members("layouts")[0]
    assert registry.load("layouts", name).__name__ == f"memdir.hot.layout.{name}"


@pytest.mark.parametrize("name", ["", "nothing", "_files", "__init__", "../layouts", "a.b", "os"])
def test_an_unknown_member_is_refused_with_the_list(name):
    with pytest.raises(BadInput) as refusal:
        registry.load("layouts", name)
    assert all(member in refusal.value.next for member in registry.members("layouts"))


@pytest.mark.parametrize("family", ["", ".", "..", "../core", "nothing", "__pycache__", "/tmp"])
def test_an_unknown_family_is_refused_with_the_list(family):
    with pytest.raises(BadInput) as refusal:
        registry.members(family)
    assert "layouts" in refusal.value.next

"""Families are found by their files; only the member that is asked for is imported."""

import os
import subprocess
import sys

import pytest

from memdir.errors import BadInput
from memdir.store import registry


def test_members_of_a_family_are_listed_in_order_and_can_be_loaded():
    for family in registry.FAMILIES:
        members = registry.members(family)
        assert members and list(members) == sorted(members)
        assert all(registry.load(family, name) for name in members)


def test_listing_a_family_imports_none_of_it():
    code = "import sys; from memdir.store import registry; registry.members('layouts');"
    code += "sys.exit(any(name in sys.modules for name in registry.FAMILIES['layouts'].values()))"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_a_member_is_loaded_by_its_name():
    assert registry.load("layouts", "markdown").__name__ == "memdir.hot.layout"


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

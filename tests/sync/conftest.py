"""Two machines of one person, and a remote."""

import pytest

from tests.helpers.machines import Machine, bare

ORIGINS = ("git@example.invalid:o/shop.git", "https://example.invalid/o/shop")


@pytest.fixture(autouse=True)
def plain(monkeypatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def remote(tmp_path) -> str:
    return bare(tmp_path)


@pytest.fixture
def ann(tmp_path, monkeypatch) -> Machine:
    return Machine(tmp_path, "ann", ORIGINS[0], monkeypatch)


@pytest.fixture
def bob(tmp_path, monkeypatch) -> Machine:
    return Machine(tmp_path, "bob", ORIGINS[1], monkeypatch)


@pytest.fixture
def joined(ann, bob, remote) -> str:
    """Both have synced once, and hold the same memory."""
    ann.remember("No merges in March.\n\nAsk Ann.\n\nSince 2025.", "freeze")
    for machine in (ann, bob):
        assert machine("sync", "--to", remote).code == 0
    return remote

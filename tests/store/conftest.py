"""A store of a test's own, opened as the command line opens it."""

from pathlib import Path

import pytest

from tests.helpers.opened import Opened


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path)

import pytest

from tests.helpers.repositories import Checkout


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "code")

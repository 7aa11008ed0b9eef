"""One Chromium per worker for all tests; each test has a store and a page of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.browser import MISSING, Browser, Driver
from tests.helpers.demo_store import make_demo_store
from tests.helpers.served import Page


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    if MISSING:
        pytest.skip(f"not on this machine: {MISSING}")
    driver = Driver()
    yield driver
    driver.close()


@pytest.fixture(scope="session")
def chromium(driver: Driver) -> Browser:
    return driver.open()


@pytest.fixture(scope="session")
def chromium_without_script(driver: Driver) -> Browser:
    return driver.open(script=False)


@pytest.fixture
def store(store: Path, project: Path) -> Path:
    """Two weeks of an invented project."""
    return make_demo_store(project, os.environ)


@pytest.fixture
def page(store: Path) -> Iterator[Page]:
    with Page() as page:
        yield page


def show(page: Page, browser: Browser) -> Iterator[Browser]:
    """The first screen. Whatever the console complained of and nobody asked for is a failure."""
    browser.size(1_280, 900)
    browser.colours("light")
    browser.go(page.printed["url"])
    yield browser
    complaints = browser.complaints()
    while len(browser.tabs()) > 1:
        browser.close_tab()
    browser.go("about:blank")
    assert not complaints


@pytest.fixture
def shown(page: Page, chromium: Browser) -> Iterator[Browser]:
    yield from show(page, chromium)


@pytest.fixture
def shown_without_script(page: Page, chromium_without_script: Browser) -> Iterator[Browser]:
    yield from show(page, chromium_without_script)

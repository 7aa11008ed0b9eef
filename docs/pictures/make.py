"""Makes the pictures of the README from a throw-away store: `make pictures`.

Three of the page, drawn by Chromium, and one of a terminal, drawn from what `make demo` prints.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests.helpers.browser import MISSING, Browser, Driver
from tests.helpers.demo_store import make_demo_store
from tests.helpers.served import Page

FOLDER = Path(__file__).resolve().parent
MAX_BYTES = 250_000
PICTURES = (
    ("page-light.png", "light", 1_280, 900),
    ("page-dark.png", "dark", 1_280, 900),
    ("page-narrow.png", "light", 390, 844),
)


def open_demo_page(home: Path) -> Page:
    """A page needs the home that its store was made in: nothing of this machine is shown."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "MEMDIR_", "CLAUDE"))]:
        del os.environ[name]
    os.environ["HOME"] = str(home)
    project = home / "ferryline"
    project.mkdir()
    make_demo_store(project, os.environ)
    return Page("--project", str(project))


def take_page_pictures(page: Page, browser: Browser) -> None:
    browser.go(page.printed["url"])
    browser.follow("#look button")  # the check: what needs a look is part of the picture
    browser.wait(lambda: not browser.count("[data-poll], #look form[hidden]"))
    browser.wait(lambda: "Checked" in browser.text("#look"))
    for name, scheme, width, height in PICTURES:
        browser.size(width, height)
        browser.colours(scheme)
        browser.run("scrollTo(0, 0)")
        data = browser.picture(FOLDER / name)
        print(f"{name}: {len(data):,} bytes")
        if len(data) > MAX_BYTES:
            sys.exit(f"{name} is larger than {MAX_BYTES:,} bytes")


def main() -> None:
    if MISSING:
        sys.exit(f"{MISSING} is not installed; the pictures of the page need it")
    with tempfile.TemporaryDirectory(prefix="memdir-pictures-") as folder:
        driver = Driver()
        try:
            with open_demo_page(Path(folder).resolve()) as page:
                take_page_pictures(page, driver.open())
        finally:
            driver.close()


if __name__ == "__main__":
    main()

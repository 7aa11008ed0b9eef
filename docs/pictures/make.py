"""Makes the pictures of the README from a throw-away store: `make pictures`.

Three of the page, drawn by Chromium, and one of a terminal, drawn from what `make demo` prints.
"""

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from tests.helpers.browser import MISSING, Browser, Driver
from tests.helpers.demo_store import make_demo_store
from tests.helpers.served import Page

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
MAX_BYTES = 300_000
MAX_DRAWING_BYTES = 60_000
PICTURES = (
    ("page-light.png", "light", 1_280, 1_270),
    ("page-dark.png", "dark", 1_280, 1_270),
    ("page-narrow.png", "light", 390, 844),
)

# Which parts of the demo the terminal shows: each begins with one of these and ends at the next.
PARTS = (
    *("$ memdir remember 'Orders", "# The code moves on", "$ git mv"),
    *("$ memdir recall 'how", "# Then some", "$ rm", "# memdir was not", "$ memdir log"),
    *("$ memdir undo", "# Every byte"),
)
COLUMNS, LINE, MARGIN, CHARACTER = 92, 19, 24, 8.05  # a line and a character in px
STYLE = (
    "text{font:13.4px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "fill:#c3cacc;white-space:pre}.note{fill:#8f999d}.typed{fill:#fff;font-weight:600}"
    ".sign{fill:#5cc8bf;font-weight:600}.warn{fill:#f0c27a}.good{fill:#a5e3b9}"
)
MARKS = ((r"stale|renamed|outside", "warn"), (r"^created|^undone|is back", "good"))


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
        keep(name, browser.picture(), MAX_BYTES)


def choose_parts(printed: str) -> list[str]:
    """The lines of the chosen parts; a note and a command at a prompt have a blank line above."""
    lines: list[str] = []
    part: list[str] = []
    for line in [*printed.splitlines(), "$ "]:
        if line.startswith(("$ ", "# ")):
            if part and part[0].startswith(PARTS):
                is_apart = not lines or lines[-1].startswith("# ")
                lines += [*([] if is_apart else [""]), *"\n".join(part).strip().split("\n")]
            part = []
        part.append(line)
    return lines


def draw_line(text: str, is_typed: bool) -> str:
    text = text if len(text) <= COLUMNS else text[: COLUMNS - 1] + "…"
    if text.startswith("$ "):
        sign = '<tspan class="sign">$</tspan> '
        return f'{sign}<tspan class="typed">{escape(text[2:])}</tspan>'
    marks = [kind for pattern, kind in MARKS if re.search(pattern, text)]
    kind = "note" if text.startswith("# ") else "typed" if is_typed else "".join(marks[:1])
    return f'<tspan class="{kind}">{escape(text)}</tspan>' if kind else escape(text)


def draw_terminal(lines: list[str]) -> str:
    width, height = round(2 * MARGIN + COLUMNS * CHARACTER), 2 * MARGIN + LINE * len(lines) - 4
    drawn = []
    for number, line in enumerate(lines):
        is_typed = number > 0 and lines[number - 1].endswith("\\")
        y = MARGIN + LINE * number + 10
        if line:
            drawn.append(f'<text x="{MARGIN}" y="{y}">{draw_line(line, is_typed)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img"><title>memdir in a terminal: remember, recall with a check '
        f"against the code, and undo what another program did</title><style>{STYLE}</style>"
        f'<rect width="{width}" height="{height}" rx="12" fill="#15181a"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def take_terminal_picture() -> None:
    """What the demo prints today, so that nothing is shown that memdir does not do."""
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": str(COLUMNS)}
    demo = [sys.executable, str(ROOT / "examples/demo.py")]
    printed = subprocess.run(demo, env=env, check=True, capture_output=True, text=True).stdout
    lines = choose_parts(printed)
    if missing := [part for part in PARTS if not any(line.startswith(part) for line in lines)]:
        sys.exit(f"the demo prints no longer: {missing}")
    keep("demo.svg", draw_terminal(lines).encode(), MAX_DRAWING_BYTES)


def keep(name: str, data: bytes, limit: int) -> None:
    if len(data) > limit:
        sys.exit(f"{name} has {len(data):,} bytes, more than {limit:,}")
    (FOLDER / name).write_bytes(data)
    print(f"docs/pictures/{name}: {len(data):,} bytes")


def main() -> None:
    take_terminal_picture()
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
